// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <numeric>

#include "cli/output.h"

namespace inferdiff {

Progress::Progress(size_t files)
    : on_terminal_(isatty(STDERR_FILENO) != 0),
      begin_(std::chrono::steady_clock::now()),
      shares_(files, 0.0) {}

Progress::~Progress() {
  if (shown_pct_ >= 0) WriteMessage(fmt::format("\r{:<20}\r", ""));
}

std::function<void(double)> Progress::ForFile(size_t i) {
  if (!on_terminal_) return {};
  return [this, i](double share) {
    const std::lock_guard lock(mutex_);
    shares_[i] = share;
    Show();
  };
}

void Progress::Show() {
  if (std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(1))
    return;
  const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  const int pct =
      static_cast<int>(100.0 * sum / static_cast<double>(shares_.size()));
  if (pct == shown_pct_) return;
  shown_pct_ = pct;
  WriteMessage(fmt::format("\rreading {:3} %", pct));
}

}  // namespace inferdiff
