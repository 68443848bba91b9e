// SPDX-License-Identifier: Apache-2.0
#include "report/step_parts.h"

#include <initializer_list>

namespace inferdiff {

StepParts TotalsOf(const PerStep& q) {
  StepParts totals;
  totals.sum = q.sum.total;
  totals.busy = q.busy.total;
  totals.foreign = q.foreign.total;
  totals.whole = q.wall.n > 0 ? q.wall.total : totals.busy + totals.foreign;
  totals.idle = q.idle.total;
  totals.inside = q.idle_inside.total;
  totals.outside = totals.idle - totals.inside;
  totals.between = q.idle_between.total;
  totals.tail = q.idle_tail.total;
  totals.host_late = q.rest_host_late.total;
  totals.queued = q.rest_queued.total;
  totals.unknown = q.rest_unknown.total;
  totals.hidden_same_lane = q.hidden_same_lane.total;
  totals.hidden_cross_lane = q.hidden_cross_lane.total;
  totals.hidden = totals.hidden_same_lane + totals.hidden_cross_lane;
  return totals;
}

StepParts RoundParts(const StepParts& totals, int64_t steps,
                     Precision precision) {
  StepParts digits;
  const auto round = [&](int64_t StepParts::*part) {
    digits.*part = RoundedTo({totals.*part, steps}, precision);
  };
  const auto split = [&](int64_t whole,
                         std::initializer_list<int64_t StepParts::*> parts) {
    std::vector<Rational> values;
    for (const auto part : parts) values.push_back({totals.*part, steps});
    const std::vector<int64_t> shares = ApportionWithin(
        values, std::vector<size_t>(parts.size(), 0), {whole}, precision);
    size_t i = 0;
    for (const auto part : parts) digits.*part = shares[i++];
  };
  for (const auto part : {&StepParts::whole, &StepParts::sum, &StepParts::busy})
    round(part);
  // Differences of rounded values: the exact ones rounded up or down.
  split(digits.whole - digits.busy, {&StepParts::foreign, &StepParts::idle});
  split(digits.idle, {&StepParts::inside, &StepParts::outside});
  split(digits.outside,
        {&StepParts::between, &StepParts::tail, &StepParts::host_late,
         &StepParts::queued, &StepParts::unknown});
  digits.hidden = digits.sum - digits.busy;
  split(digits.hidden,
        {&StepParts::hidden_same_lane, &StepParts::hidden_cross_lane});
  return digits;
}

}  // namespace inferdiff
