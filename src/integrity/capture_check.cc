// SPDX-License-Identifier: Apache-2.0
#include "integrity/capture_check.h"

#include <algorithm>
#include <tuple>

#include "base/checked.h"

namespace inferdiff {

std::string_view IdOf(Weight weight) {
  constexpr std::string_view kIds[] = {"note", "reservation", "refusal"};
  return kIds[static_cast<size_t>(weight)];
}

std::string_view IdOf(CheckKind kind) {
  constexpr std::string_view kIds[] = {
#define X(constant, id, title) id,
      INFERDIFF_CAPTURE_CHECKS(X)
#undef X
  };
  return kIds[static_cast<size_t>(kind)];
}

std::string_view TitleOf(CheckKind kind) {
  constexpr std::string_view kTitles[] = {
#define X(constant, id, title) title,
      INFERDIFF_CAPTURE_CHECKS(X)
#undef X
  };
  return kTitles[static_cast<size_t>(kind)];
}

void SortChecks(std::vector<CaptureCheck>* checks) {
  std::stable_sort(checks->begin(), checks->end(),
                   [](const CaptureCheck& a, const CaptureCheck& b) {
                     return std::tie(b.weight, a.kind) <
                            std::tie(a.weight, b.kind);
                   });
}

void MergeChecks(const std::vector<CaptureCheck>& more,
                 std::vector<CaptureCheck>* checks) {
  for (const CaptureCheck& check : more) {
    const auto same = std::find_if(
        checks->begin(), checks->end(),
        [&](const CaptureCheck& one) { return one.kind == check.kind; });
    if (same == checks->end()) {
      checks->push_back(check);
      continue;
    }
    // The detail is that of the gravest, and of equals of the first.
    if (check.weight > same->weight) same->detail = check.detail;
    same->weight = std::max(same->weight, check.weight);
    same->count = SaturatingAdd(same->count, check.count);
    same->of = SaturatingAdd(same->of, check.of);
    same->time_ns = SaturatingAdd(same->time_ns, check.time_ns);
    same->of_ns = SaturatingAdd(same->of_ns, check.of_ns);
    same->ranks.insert(same->ranks.end(), check.ranks.begin(),
                       check.ranks.end());
  }
  SortChecks(checks);
}

bool HasGraveCheck(const std::vector<CaptureCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const CaptureCheck& one) {
    return one.weight != Weight::kNote;
  });
}

}  // namespace inferdiff
