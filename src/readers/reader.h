// SPDX-License-Identifier: Apache-2.0
// Opening a trace of any known format.
#pragma once

#include <functional>
#include <string>

#include "model/trace.h"

namespace inferdiff {

struct ReadOptions {
  /// Threads for scanning; the result is the same for any number. 0 = all.
  unsigned threads = 0;
  /// Called now and then, from one thread at a time, with the share of the
  /// file read so far (0..1). Empty = no progress wanted.
  std::function<void(double)> progress;
};

/// Reads a whole trace. Throws InputError when the file cannot be used:
/// unreadable, empty, no known format, no GPU activity.
SourceFile ReadTrace(const std::string& path, const ReadOptions& options);

/// Whether ReadTrace would try to read it, by its first 64 KiB. Throws
/// InputError where these cannot be had.
bool IsTrace(const std::string& path);

}  // namespace inferdiff
