// SPDX-License-Identifier: Apache-2.0
#include "ledger/amount_checks.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/text.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

/// part / whole >= percent / 100, exactly.
bool IsShare(int64_t part, int64_t whole, int64_t percent) {
  return whole > 0 && Wide{part} * 100 >= Wide{whole} * percent;
}

CaptureCheck Check(CheckKind kind, Weight weight, int64_t count) {
  CaptureCheck check;
  check.kind = kind;
  check.weight = weight;
  check.count = count;
  return check;
}

/// Walls, or spans where no step has a wall.
const Stat& LengthOf(const LedgerResult& ledger) {
  return ledger.per_step.wall.n > 0 ? ledger.per_step.wall
                                    : ledger.per_step.span;
}

struct ContextStep {
  int64_t context = 0, wall_ns = 0;
};

bool SameWork(const StepShape& a, const StepShape& b) {
  return a.kind == b.kind && a.batch == b.batch && a.tokens == b.tokens;
}

/// By context, or by time where no step says its own; at most 1024, evenly
/// spread. Steps of unlike context are in unlike groups: all that do the work
/// of the accounted one are looked at.
std::vector<ContextStep> ContextSteps(const LedgerResult& ledger, bool known) {
  constexpr size_t kMost = 1024;
  std::vector<ContextStep> all;
  if (ledger.group >= ledger.steps.groups.size()) return all;
  const StepShape& wanted = ledger.steps.groups[ledger.group].shape;
  for (const Step& step : ledger.steps.steps) {
    if (!step.excluded_id.empty() || !step.next_begin_ns ||
        !SameWork(step.shape, wanted) ||
        step.shape.context.has_value() != known)
      continue;
    all.push_back(
        {known ? *step.shape.context : static_cast<int64_t>(all.size()),
         SaturatingSub(*step.next_begin_ns, step.begin_ns)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ContextStep& a, const ContextStep& b) {
                     return a.context < b.context;
                   });
  if (all.size() <= kMost) return all;
  std::vector<ContextStep> some;
  for (size_t i = 0; i < kMost; ++i)
    some.push_back(all[i * all.size() / kMost]);
  return some;
}

/// Pairs of steps with unlike contexts.
struct Pairs {
  int64_t all = 0;
  int64_t ordered = 0;   // the step with more context takes longer
  int64_t reversed = 0;  // it takes less
};

Pairs CountPairs(const std::vector<ContextStep>& all) {
  Pairs pairs;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i + 1; j < all.size(); ++j) {
      if (all[i].context == all[j].context) continue;
      ++pairs.all;
      pairs.ordered += all[i].wall_ns < all[j].wall_ns;
      pairs.reversed += all[i].wall_ns > all[j].wall_ns;
    }
  }
  return pairs;
}

/// Kendall's rank correlation, one-sided at 1 %: a normal variable exceeds
/// 2.33, whose square is 5.43. S = ordered - reversed has, without ties, the
/// variance n (n - 1) (2 n + 5) / 18 (Kendall, Rank Correlation Methods, 1948).
bool RanksCorrelate(const Pairs& pairs, size_t steps) {
  const auto n = static_cast<int64_t>(steps);
  const int64_t s = pairs.ordered - pairs.reversed;
  return s > 0 &&
         Wide{s} * s * 18 * 100 >= Wide{n} * (n - 1) * (2 * n + 5) * 543;
}

int64_t WallsOf(const std::vector<ContextStep>& all, size_t first,
                size_t count) {
  int64_t sum = 0;
  for (size_t i = first; i < first + count; ++i)
    sum = SaturatingAdd(sum, all[i].wall_ns);
  return sum;
}

}  // namespace

std::optional<CaptureCheck> CheckCopyOnly(const LedgerResult& ledger) {
  const int64_t copies = ledger.per_step.copy_only.total;
  const int64_t whole = LengthOf(ledger).total;
  if (!IsShare(copies, whole, 2)) return std::nullopt;
  CaptureCheck check =
      Check(CheckKind::kCopyOnly,
            IsShare(copies, whole, 10) ? Weight::kReservation : Weight::kNote,
            ledger.used_steps);
  check.time_ns = copies;
  check.of_ns = whole;
  return check;
}

std::optional<CaptureCheck> CheckWholeStepKernel(const LedgerResult& ledger) {
  constexpr int64_t kLeastKernels = 8;
  const Stat& length = LengthOf(ledger);
  if (length.n == 0 ||
      ledger.per_step.kernels.total / kLeastKernels < ledger.used_steps)
    return std::nullopt;
  for (const KernelRow& row : ledger.kernels) {
    const int64_t call = row.call_ns.median;
    if (row.category == Category::kCommunication || row.call_ns.n == 0 ||
        row.amounts.count < ledger.used_steps ||
        Wide{call} * 2 * length.n < length.total)
      continue;
    CaptureCheck check = Check(CheckKind::kWholeStepKernel,
                               Weight::kReservation, row.amounts.count);
    check.time_ns = row.amounts.sum_ns;
    check.of_ns = length.total;
    check.detail = ElideMiddle(row.family, 60);
    return check;
  }
  return std::nullopt;
}

std::optional<CaptureCheck> CheckContextTrend(const LedgerResult& ledger) {
  const std::vector<CaptureCheck>& checks = ledger.capture_checks;
  if (std::any_of(checks.begin(), checks.end(), [](const CaptureCheck& one) {
        return one.kind == CheckKind::kContextTrend;
      }))
    return std::nullopt;  // attention has said so
  std::vector<ContextStep> all = ContextSteps(ledger, true);
  const bool known = !all.empty();
  if (!known) all = ContextSteps(ledger, false);
  // The order in time has more causes, and any short series may rise.
  if (all.size() < (known ? 8 : 16)) return std::nullopt;
  const Pairs pairs = CountPairs(all);
  if (!RanksCorrelate(pairs, all.size()) ||
      (!known && pairs.ordered * 100 < pairs.all * 85))
    return std::nullopt;
  const size_t third = all.size() / 3;
  const int64_t least = WallsOf(all, 0, third);
  const int64_t most = WallsOf(all, all.size() - third, third);
  if (!IsShare(SaturatingSub(most, least), least, 2)) return std::nullopt;
  CaptureCheck check = Check(CheckKind::kContextTrend, Weight::kNote,
                             static_cast<int64_t>(third));
  check.of = static_cast<int64_t>(all.size());
  check.time_ns = most - least;
  check.of_ns = least;
  if (!known) check.detail = kTrendByTime;
  return check;
}

std::optional<CaptureCheck> CheckDilation(const LedgerResult& ledger,
                                          int64_t untraced_ns) {
  const Stat& wall = ledger.per_step.wall;
  int64_t untraced = 0;
  if (wall.n == 0 || __builtin_mul_overflow(untraced_ns, wall.n, &untraced))
    return std::nullopt;
  CaptureCheck check =
      Check(CheckKind::kDilation,
            IsShare(SaturatingSub(wall.total, untraced), untraced, 5)
                ? Weight::kReservation
                : Weight::kNote,
            wall.n);
  check.time_ns = wall.total;
  check.of_ns = untraced;
  return check;
}

void AddAmountChecks(LedgerResult* ledger) {
  for (std::optional<CaptureCheck>& check :
       std::vector{CheckCopyOnly(*ledger), CheckWholeStepKernel(*ledger),
                   CheckContextTrend(*ledger)})
    if (check) MergeChecks({*std::move(check)}, &ledger->capture_checks);
}

void AddDilation(std::optional<int64_t> untraced_ns, LedgerResult* ledger) {
  if (!untraced_ns) return;
  if (std::optional<CaptureCheck> check = CheckDilation(*ledger, *untraced_ns))
    MergeChecks({*std::move(check)}, &ledger->capture_checks);
}

}  // namespace inferdiff
