// SPDX-License-Identifier: Apache-2.0
#include "probes/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace inferdiff {

double Quantile(std::vector<double> samples, double fraction) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(samples.begin(), samples.end());
  const double place = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double part = place - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

double Median(std::vector<double> samples) {
  return Quantile(std::move(samples), 0.5);
}

double MedianHalfWidth(std::vector<double> samples) {
  if (samples.size() < 6) return std::numeric_limits<double>::infinity();
  std::sort(samples.begin(), samples.end());
  const double n = static_cast<double>(samples.size());
  // 1.96 standard deviations of a binomial of n halves.
  const double reach = 0.98 * std::sqrt(n);
  const double low = std::max(0.0, std::floor((n - 1) / 2 - reach));
  const double high = std::min(n - 1, std::ceil((n - 1) / 2 + reach));
  return (samples[static_cast<size_t>(high)] -
          samples[static_cast<size_t>(low)]) /
         2;
}

Measured Summary(const std::vector<double>& samples, const StopRule& rule) {
  Measured measured;
  measured.rounds = static_cast<int>(samples.size());
  if (samples.empty()) return measured;
  measured.median = Median(samples);
  measured.spread = Quantile(samples, 0.75) - Quantile(samples, 0.25);
  measured.steady =
      measured.rounds >= rule.least &&
      MedianHalfWidth(samples) <=
          std::max(rule.near, rule.precision * std::abs(measured.median));
  return measured;
}

Measured Measure(const StopRule& rule, const std::function<double()>& round) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(rule.seconds));
  std::vector<double> samples;
  for (int i = 0; i < rule.most; ++i) {
    if (i > 0 && Clock::now() > end) break;
    const double sample = round();
    if (!std::isfinite(sample)) continue;
    samples.push_back(sample);
    if (Summary(samples, rule).steady) break;
  }
  return Summary(samples, rule);
}

}  // namespace inferdiff
