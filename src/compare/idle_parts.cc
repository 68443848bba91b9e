// SPDX-License-Identifier: Apache-2.0
#include "compare/causes.h"

namespace inferdiff {

std::vector<IdlePart> IdleParts(const SideTotals& a, const SideTotals& b) {
  if (!a.idle_causes || !b.idle_causes) return {};
  std::vector<IdlePart> parts;
  const auto add = [&](std::string_view id, std::string_view title,
                       int64_t of_a, int64_t of_b) {
    if (of_a != 0 || of_b != 0)
      parts.push_back({id, title, a.PerStep(of_a), b.PerStep(of_b)});
  };
  const IdleCauses& x = *a.idle_causes;
  const IdleCauses& y = *b.idle_causes;
  add("between", "between replays", x.between.total(), y.between.total());
  add("tail", "host-launched tail", x.tail.total(), y.tail.total());
  add("host_late", "host late", x.rest.host_late, y.rest.host_late);
  add("queued", "queued", x.rest.queued, y.rest.queued);
  add("unknown", "cause unknown", x.rest.unknown, y.rest.unknown);
  return parts;
}

}  // namespace inferdiff
