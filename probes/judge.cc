// SPDX-License-Identifier: Apache-2.0
#include "probes/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace inferdiff {
namespace {

constexpr double kLeastChange = 0.03;

bool IsBandwidth(const Result& result) {
  return (result.id == "bandwidth" || result.id == "host_bandwidth") &&
         result.measured.median > 0;
}

const Result* Same(const Report& report, const Result& wanted) {
  for (const Result& result : report.results)
    if (result.id == wanted.id && result.name == wanted.name &&
        IsBandwidth(result))
      return &result;
  return nullptr;
}

// The factor by which the bandwidth changed, as far as it is no noise; else 1.
double Change(const Measured& then, const Measured& now) {
  const double noise = then.spread / then.median + now.spread / now.median;
  const double factor = now.median / then.median;
  return std::abs(factor - 1) > std::max(kLeastChange, noise) ? factor : 1;
}

}  // namespace

void JudgeCanary(const Report& baseline, Report* report) {
  if (baseline.device != report->device)
    throw std::runtime_error(fmt::format("the baseline is of {}, this is {}",
                                         baseline.device, report->device));
  bool any = false, slower = false, faster = false;
  report->reasons.clear();
  for (const Result& now : report->results) {
    const Result* then = IsBandwidth(now) ? Same(baseline, now) : nullptr;
    if (then == nullptr) continue;
    any = true;
    const double factor = Change(then->measured, now.measured);
    slower |= factor < 1;
    faster |= factor > 1;
    if (factor != 1)
      report->reasons.push_back(fmt::format(
          "{}{}{}: {:.1f} GB/s, {:+.1f}% against the baseline's {:.1f}", now.id,
          now.name.empty() ? "" : " ", now.name, now.measured.median,
          100 * (factor - 1), then->measured.median));
  }
  if (!any)
    throw std::runtime_error("the baseline has none of these bandwidths");
  report->verdict =
      slower ? "contended" : (faster ? "baseline-suspect" : "clean");
}

double AddedByTracer(const std::vector<TraceCost>& measured,
                     double untraced_ns) {
  const auto above = std::find_if(
      measured.begin(), measured.end(),
      [&](const TraceCost& cost) { return cost.untraced_ns >= untraced_ns; });
  if (above == measured.begin()) return above->added_ns;
  const auto below = above - 1;
  if (above == measured.end()) return below->added_ns;
  const double part = (untraced_ns - below->untraced_ns) /
                      (above->untraced_ns - below->untraced_ns);
  return below->added_ns + part * (above->added_ns - below->added_ns);
}

bool Believed(const Recorded& recorded) {
  return recorded.recorded_ns <= 1.1 * recorded.untraced_ns;
}

std::optional<double> BelievedFrom(const std::vector<Recorded>& sizes) {
  std::optional<double> from;
  double longest_doubted = 0;
  for (const Recorded& size : sizes)
    if (!Believed(size))
      longest_doubted = std::max(longest_doubted, size.untraced_ns);
  for (const Recorded& size : sizes)
    if (size.untraced_ns > longest_doubted)
      from = std::min(from.value_or(size.untraced_ns), size.untraced_ns);
  return from;
}

}  // namespace inferdiff
