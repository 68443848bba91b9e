// SPDX-License-Identifier: Apache-2.0
// Long text on its way out, handed on in pieces: no result is ever held as
// text as a whole.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace inferdiff {

/// Takes the next piece of a text. Does not throw.
using TextSink = std::function<void(std::string_view)>;

/// Collects small pieces into large ones. `sink` outlives it and has all of
/// the text once this is destroyed.
class TextPieces {
 public:
  explicit TextPieces(const TextSink& sink) : sink_(sink) {}
  ~TextPieces() { Flush(); }
  TextPieces(const TextPieces&) = delete;
  TextPieces& operator=(const TextPieces&) = delete;

  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format,
                   std::forward<Args>(args)...);
    FlushIfFull();
  }
  void Append(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    FlushIfFull();
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 16;
  void FlushIfFull() {
    if (buffer_.size() >= kPiece) Flush();
  }
  void Flush() {
    sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  const TextSink& sink_;
  fmt::memory_buffer buffer_;
};

}  // namespace inferdiff
