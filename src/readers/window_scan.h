// SPDX-License-Identifier: Apache-2.0
// A plain file read by several threads, window by window, with the result of
// one walk from the beginning.
//
//   file    ....[row row row|row row row|row row row]....
//                           ^           ^
//   Each thread takes a window, guesses where its first record starts, and
//   walks to the first record of the next window. A window counts only when
//   its guess is where the one in front ended; else it is walked again from
//   there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/crc32.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "readers/kineto_walker.h"
#include "readers/reader.h"
#include "readers/text_blocks.h"
#include "readers/walk_end.h"

namespace inferdiff {

/// The batches of a file, and the walkers that made them.
template <typename Walker>
struct Scanned {
  std::vector<typename Walker::Batch> batches;  // in file order
  std::vector<std::unique_ptr<Walker>> walkers;
  uint32_t crc32 = 0;  // of the file
};

/// Walker is one thread's:
///   struct Batch                   what a stretch gives; movable
///   struct State                   what is known between two records, at the
///                                  file's begin as constructed; has ==
///   size_t Guess(text, from, State*)   a record's start, or npos
///   WalkEnd Walk(text, from, limit, final, State*, Batch*)
///   void Keep(Batch*)              behind the last walk of a batch
/// with the text readable for kTextPadding bytes behind its end.
template <typename Walker>
class WindowScan {
 public:
  /// `make` gives a walker for each thread.
  WindowScan(const InputFile& file, uint64_t begin, size_t window,
             const ReadOptions& options,
             std::function<std::unique_ptr<Walker>()> make)
      : file_(file),
        begin_(begin),
        window_(window),
        options_(options),
        make_(std::move(make)) {}

  Scanned<Walker> Run();

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr size_t kBehind = 4096;

  using State = typename Walker::State;
  /// Where to go on, and knowing what.
  struct Place {
    uint64_t at = kNone;
    State state;
    bool operator==(const Place&) const = default;
  };
  struct Window {
    Place begin;
    Place end;
    bool over = false;
    typename Walker::Batch batch;
    uint32_t crc32 = 0;
  };
  /// What one thread reads into.
  struct Memory {
    std::vector<char> bytes;
    uint64_t offset = 0;
    size_t size = 0;
    bool final = false;
    std::string_view text() const { return {bytes.data(), size}; }
  };

  void ReadMore(size_t size, Memory* memory) const;
  Window Run(uint64_t index, const Place& from, Walker* walker,
             Memory* memory) const;
  void Work(unsigned worker, Walker* walker, Memory* memory, bool in_order);

  const InputFile& file_;
  uint64_t begin_;
  size_t window_;
  const ReadOptions& options_;
  std::function<std::unique_ptr<Walker>()> make_;
  std::vector<Window> windows_;
  std::atomic<uint64_t> next_{0};
};

template <typename Walker>
void WindowScan<Walker>::ReadMore(size_t size, Memory* memory) const {
  const size_t needed = memory->size + size + kTextPadding;
  if (memory->bytes.size() < needed) memory->bytes.resize(needed);
  const size_t got = file_.ReadAt(memory->offset + memory->size,
                                  memory->bytes.data() + memory->size, size);
  memory->size += got;
  memory->final = memory->offset + memory->size >= file_.size() || got < size;
}

/// Window number `index`, from a guess where `from` is nowhere.
template <typename Walker>
typename WindowScan<Walker>::Window WindowScan<Walker>::Run(
    uint64_t index, const Place& from, Walker* walker, Memory* memory) const {
  Window result;
  const uint64_t first = index * window_;
  memory->offset = first - std::min<uint64_t>(first, kTextBefore);
  memory->offset = std::min(memory->offset, from.at);
  memory->size = 0;
  const auto before = static_cast<size_t>(first - memory->offset);
  ReadMore(before + window_ + kBehind, memory);
  const size_t limit = std::min(before + window_, memory->size);
  result.crc32 = Crc32(0, memory->bytes.data() + before, limit - before);
  State state = from.state;
  size_t at = from.at == kNone ? walker->Guess(memory->text(), before, &state)
                               : static_cast<size_t>(from.at - memory->offset);
  if (at >= limit) return result;  // no record starts here
  result.begin = {memory->offset + at, state};
  const bool last = memory->offset + limit >= file_.size();
  WalkEnd walked;
  for (size_t more = kBehind;; more *= 2) {
    walked = walker->Walk(memory->text(), at, last ? memory->size + 1 : limit,
                          memory->final, &state, &result.batch);
    if (walked.stop != WalkEnd::Stop::kNeedText) break;
    at = walked.at;
    if (at >= limit && !last) break;  // between two records
    ReadMore(more, memory);
  }
  walker->Keep(&result.batch);
  result.over = walked.stop == WalkEnd::Stop::kEnd;
  result.end = {memory->offset + walked.at, state};
  return result;
}

/// Takes windows until none is left. With one thread the start of each is
/// known when its turn comes.
template <typename Walker>
void WindowScan<Walker>::Work(unsigned worker, Walker* walker, Memory* memory,
                              bool in_order) {
  Place at{begin_, {}};
  while (true) {
    const uint64_t index = next_++;
    if (index >= windows_.size()) return;
    const bool first = index == begin_ / window_;
    const bool here = at.at / window_ == index && at.at < file_.size();
    windows_[index] =
        Run(index, (in_order && here) || first ? at : Place{}, walker, memory);
    if (in_order && here) at = windows_[index].end;
    if (worker == 0 && options_.progress) {
      options_.progress(static_cast<double>(index) /
                        static_cast<double>(windows_.size()));
    }
  }
}

template <typename Walker>
Scanned<Walker> WindowScan<Walker>::Run() {
  windows_.resize((file_.size() + window_ - 1) / window_);
  const auto workers = static_cast<unsigned>(
      std::min<uint64_t>(ThreadCount(options_.threads), windows_.size()));
  Scanned<Walker> out;
  for (unsigned i = 0; i < workers; ++i) out.walkers.push_back(make_());
  std::vector<Memory> memories(workers);
  InParallel(workers, [&](unsigned i) {
    Work(i, out.walkers[i].get(), &memories[i], workers == 1);
  });
  Place at{begin_, {}};
  bool over = false;
  for (uint64_t i = 0; i < windows_.size(); ++i) {
    Window& window = windows_[i];
    const uint64_t from = i * window_;
    const uint64_t bytes = std::min<uint64_t>(window_, file_.size() - from);
    out.crc32 = CombineCrc32(out.crc32, window.crc32, bytes);
    if (over || at.at >= from + window_) continue;  // one record spans it
    if (!(window.begin == at)) {
      window = Run(i, at, out.walkers[0].get(), &memories[0]);
    }
    at = window.end;
    over = window.over;
    out.batches.push_back(std::move(window.batch));
  }
  return out;
}

/// The same of a stream, in blocks of `block` bytes at least; the first `begin`
/// bytes are no records. Without the checksum.
template <typename Walker>
Scanned<Walker> ScanStream(ByteSource* source, size_t begin, size_t block,
                           const ReadOptions& options,
                           std::unique_ptr<Walker> walker) {
  Scanned<Walker> out;
  TextBlocks blocks(source, std::max(block, begin), options.threads != 1);
  std::string_view text = blocks.Next({});
  text.remove_prefix(std::min(begin, text.size()));
  typename Walker::State state;
  while (true) {
    auto* const batch = &out.batches.emplace_back();
    const WalkEnd walked =
        walker->Walk(text, 0, text.size() + 1, blocks.final(), &state, batch);
    walker->Keep(batch);
    if (walked.stop == WalkEnd::Stop::kEnd) break;
    const size_t carried = text.size() - walked.at;
    text = blocks.Next(text.substr(walked.at));
    // A long carry doubles, so that every byte is looked at twice at most.
    while (text.size() < 2 * carried && !blocks.final()) {
      text = blocks.Next(text);
    }
    if (options.progress) options.progress(blocks.progress());
  }
  blocks.Finish();
  out.walkers.push_back(std::move(walker));
  return out;
}

}  // namespace inferdiff
