// SPDX-License-Identifier: Apache-2.0
// "reading 45 %" on a terminal, for work that takes over a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace inferdiff {

/// One line on stderr for any number of files read at once; gone when the
/// work is done. Silent where stderr is no terminal.
class Progress {
 public:
  explicit Progress(size_t files);
  ~Progress();
  /// The callback of file i; empty where nothing would be shown.
  std::function<void(double)> ForFile(size_t i);

 private:
  void Show();

  const bool on_terminal_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::vector<double> shares_;  // 0..1
  int shown_pct_ = -1;
};

}  // namespace inferdiff
