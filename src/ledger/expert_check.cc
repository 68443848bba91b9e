// SPDX-License-Identifier: Apache-2.0
#include "ledger/expert_check.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/checked.h"
#include "base/rational.h"
#include "base/stat.h"

namespace inferdiff {
namespace {

/// Durations of GEMMs by their place in the step: kernel, and how many
/// of its calls came before.
class CallsByPlace {
 public:
  void BeginStep() { nth_.assign(nth_.size(), 0); }
  void Add(NameId name, int64_t dur_ns) {
    const auto [it, added] = number_.emplace(name, places_.size());
    if (added) {
      places_.emplace_back();
      nth_.push_back(0);
    }
    std::vector<std::vector<int64_t>>& places = places_[it->second];
    const size_t nth = nth_[it->second]++;
    if (nth == places.size()) places.emplace_back();
    places[nth].push_back(dur_ns);
  }
  /// Of the places that four steps have: count; spread and median, summed.
  struct Spread {
    int64_t places = 0, spread_ns = 0, median_ns = 0;
    Rational Share() const {
      return {spread_ns, std::max<int64_t>(median_ns, 1)};
    }
  };
  Spread Sum() {
    constexpr size_t kLeastSteps = 4;
    Spread sum;
    for (auto& places : places_) {
      for (std::vector<int64_t>& calls : places) {
        if (calls.size() < kLeastSteps) continue;
        const Stat stat = SummariseInPlace(calls);
        ++sum.places;
        sum.spread_ns = SaturatingAdd(sum.spread_ns, stat.p90 - stat.p10);
        sum.median_ns = SaturatingAdd(sum.median_ns, stat.median);
      }
    }
    return sum;
  }

 private:
  std::unordered_map<NameId, size_t> number_;
  std::vector<std::vector<std::vector<int64_t>>> places_;  // kernel, place
  std::vector<size_t> nth_;  // by kernel: its calls in this step
};

}  // namespace

std::optional<CaptureCheck> CheckUnevenExperts(const StepOps& index,
                                               const Classification& classes) {
  const GpuOps& ops = index.trace().ops;
  CallsByPlace experts, dense;
  for (const uint32_t step : index.wanted()) {
    experts.BeginStep();
    dense.BeginStep();
    for (const uint32_t op : index.of(step)) {
      if (classes.of_op[op] == Category::kMoeGemm)
        experts.Add(ops.name[op], ops.dur_ns[op]);
      if (classes.of_op[op] == Category::kDenseGemm)
        dense.Add(ops.name[op], ops.dur_ns[op]);
    }
  }
  const CallsByPlace::Spread sum = experts.Sum();
  const CallsByPlace::Spread control = dense.Sum();
  const Rational twice = control.Share() + control.Share();
  if (sum.places == 0 || sum.Share() < Rational{15, 100} || sum.Share() < twice)
    return std::nullopt;
  CaptureCheck check;
  check.kind = CheckKind::kUnevenExperts;
  check.weight = Weight::kReservation;
  check.count = sum.places;
  check.time_ns = sum.spread_ns;
  check.of_ns = sum.median_ns;
  return check;
}

}  // namespace inferdiff
