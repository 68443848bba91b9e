// SPDX-License-Identifier: Apache-2.0
// Where results go: one format to stdout, files by their endings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace inferdiff {

enum class Format : uint8_t { kTerminal, kMarkdown, kJson, kTsv };

using TextSink = std::function<void(std::string_view)>;
/// Writes the result in one format; called once a destination.
using ResultWriter =
    std::function<void(Format, const TerminalStyle&, const TextSink&)>;

/// Opened before the work, so that a path that cannot be written fails at
/// once. A file is written beside its place and renamed into it when whole;
/// what is not whole is removed, on SIGINT too.
class Outputs {
 public:
  /// `format` as typed, empty for the first of `allowed` where `paths` is
  /// empty and for none otherwise. Throws InputError "usage" or
  /// "cannot-write".
  Outputs(const std::string& format, const std::vector<std::string>& paths,
          std::vector<Format> allowed);
  ~Outputs();
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// Files first, then stdout, whose reader may have gone: that is no error.
  void Write(const ResultWriter& writer);

 private:
  struct Destination;
  std::vector<std::unique_ptr<Destination>> destinations_;
};

}  // namespace inferdiff
