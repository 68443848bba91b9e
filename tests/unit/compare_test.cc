// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "compare/setup.h"
#include "compare_fixture.h"

namespace inferdiff {
namespace {

/// MoE and attention on two streams, 7 steps.
FakeLedger Slow() {
  FakeLedger ledger(7);
  ledger.Kernel("moe_gemm_a", Category::kMoeGemm, 406, 9'800'003)
      .Kernel("moe_route", Category::kMoeRouting, 406, 700'001)
      .Kernel("attn", Category::kAttention, 406, 4'200'000, 0, 70'000)
      .Walls(0, 1'400'001, 3);
  return ledger;
}

/// The same work, more of it beside other streams, 3 steps.
FakeLedger Fast() {
  FakeLedger ledger(3);
  ledger.Kernel("bmm", Category::kMoeGemm, 348, 2'100'000, 40'000, 600'001)
      .Kernel("attn", Category::kAttention, 174, 1'500'001)
      .Kernel("memcpy", Category::kMemcpy, 3, 3'000)
      .Walls(200'002, 100'000, 0);
  return ledger;
}

CompareResult CompareFakes(FakeLedger a, FakeLedger b,
                           const SetupFacts& facts_a = {},
                           const SetupFacts& facts_b = {}) {
  return Compare(std::move(a.get()), facts_a, std::move(b.get()), facts_b, {});
}

TEST(Gap, PartsAddUpExactly) {
  const CompareResult result = CompareFakes(Slow(), Fast());
  const Gap& gap = result.gap;
  EXPECT_EQ(gap.basis, Basis::kWall);
  EXPECT_EQ(gap.slower, Side::kA);
  const Rational wall_a{9'800'003 + 700'001 + 4'130'000 + 1'400'001 + 3, 7};
  const Rational wall_b{1'459'999 + 1'500'001 + 3'000 + 300'002, 3};
  EXPECT_TRUE(gap.a_total == wall_a);
  EXPECT_TRUE(gap.b_total == wall_b);
  EXPECT_TRUE(gap.total == wall_b - wall_a);
  EXPECT_TRUE(gap.work + gap.rank_wait + gap.concurrency + gap.foreign +
                  gap.idle ==
              gap.total);
  // concurrency = -(hidden on other lanes), B - A
  EXPECT_TRUE((gap.concurrency == Rational{70'000, 7} - Rational{600'001, 3}));
  EXPECT_TRUE((gap.idle == Rational{100'000, 3} - Rational{1'400'001, 7}));
  EXPECT_TRUE((gap.idle_inside == Rational{200'002, 3}));
}

TEST(Gap, PartsOfTheWaterfallAddUpToo) {
  const CompareResult result = CompareFakes(Slow(), Fast());
  Rational sum{0, 1}, work{0, 1}, concurrency{0, 1};
  for (const GapPart& part : result.gap_parts) sum = sum + part.delta;
  EXPECT_TRUE(sum == result.gap.total);
  for (const CategoryComparison& row : result.categories) {
    work = work + row.work;
    concurrency = concurrency + row.concurrency;
  }
  EXPECT_TRUE(work + result.gap.idle_inside == result.gap.work);
  EXPECT_TRUE(concurrency == result.gap.concurrency);
}

TEST(Gap, IsAntisymmetric) {
  const Gap ab = CompareFakes(Slow(), Fast()).gap;
  const Gap ba = CompareFakes(Fast(), Slow()).gap;
  EXPECT_TRUE(ab.total + ba.total == Rational{});
  EXPECT_TRUE(ab.work + ba.work == Rational{});
  EXPECT_TRUE(ab.concurrency + ba.concurrency == Rational{});
  EXPECT_EQ(ba.slower, Side::kB);
}

TEST(Gap, OfASideWithItselfIsNothing) {
  const CompareResult result = CompareFakes(Slow(), Slow());
  EXPECT_EQ(result.gap.slower, Side::kNeither);
  for (const GapPart& part : result.gap_parts) EXPECT_EQ(part.delta.num, 0);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().id, "same-speed");
}

TEST(Gap, RefusesALedgerThatDoesNotAddUp) {
  FakeLedger wrong = Slow();
  wrong.get().per_step.wall.total += 1;
  EXPECT_THROW(CompareFakes(std::move(wrong), Fast()), ContractError);
  FakeLedger negative = Slow();
  negative.get().per_step.foreign.total -= 4;
  negative.get().per_step.wall.total -= 4;
  EXPECT_THROW(CompareFakes(std::move(negative), Fast()), ContractError);
}

/// 4 steps that wait 400 ns each, and transfer 100.
FakeLedger Waiting(WaitBasis basis) {
  FakeLedger ledger(4);
  ledger.Kernel("gemm", Category::kDenseGemm, 4, 4'000)
      .Kernel("nccl", Category::kCommunication, 4, 400, 0, 40)
      .Wait(basis, 1'600, 300, 200)
      .Walls(0, 0, 0);
  return ledger;
}

/// The same work without the waiting.
FakeLedger Prompt() {
  FakeLedger ledger(4);
  ledger.Kernel("gemm", Category::kDenseGemm, 4, 4'000)
      .Kernel("nccl", Category::kCommunication, 4, 400)
      .Wait(WaitBasis::kRankSet, 0)
      .Walls(0, 0, 0);
  return ledger;
}

const GapPart& PartOf(const CompareResult& result, std::string_view id) {
  for (const GapPart& part : result.gap_parts)
    if (part.id == id) return part;
  throw std::out_of_range(std::string(id));
}

TEST(Gap, RankWaitIsWhatItIsAttributed) {
  const CompareResult result =
      CompareFakes(Waiting(WaitBasis::kRankSet), Prompt());
  const Gap& gap = result.gap;
  EXPECT_TRUE((gap.rank_wait == Rational{-1'100, 4}));
  EXPECT_TRUE((gap.work == Rational{}));
  EXPECT_TRUE((gap.concurrency == Rational{40, 4}));
  EXPECT_TRUE(gap.work + gap.rank_wait + gap.concurrency == gap.total);
  EXPECT_EQ(result.a_totals.all.sum_ns, 6'000);
  EXPECT_EQ(result.a_totals.all.count, 8);
  Rational sum{0, 1};
  for (const GapPart& part : result.gap_parts) sum = sum + part.delta;
  EXPECT_TRUE(sum == gap.total);
}

TEST(Gap, SaysHowADifferenceInRankWaitIsKnown) {
  using Sense = GapPart::Sense;
  struct Row {
    WaitBasis a, b;
    HowKnown how;
    Sense wait, work;  // of the surplus of A, the slower side
  };
  for (const Row& row : std::initializer_list<Row>{
           {WaitBasis::kRankSet, WaitBasis::kNoCalls, HowKnown::kMeasured,
            Sense::kExact, Sense::kExact},
           {WaitBasis::kOneRank, WaitBasis::kRankSet, HowKnown::kBound,
            Sense::kLowerBound, Sense::kUpperBound},
           {WaitBasis::kRankSet, WaitBasis::kUnknown, HowKnown::kBound,
            Sense::kUpperBound, Sense::kLowerBound},
           {WaitBasis::kOneRank, WaitBasis::kOneRank, HowKnown::kEstimate,
            Sense::kRough, Sense::kRough}}) {
    FakeLedger b = Prompt();
    b.get().wait_basis = row.b;
    const CompareResult result = CompareFakes(Waiting(row.a), std::move(b));
    ASSERT_EQ(result.gap.slower, Side::kA);
    const GapPart& wait = PartOf(result, "rank_wait");
    const GapPart& work = PartOf(result, "work.communication");
    EXPECT_EQ(wait.how, row.how);
    EXPECT_EQ(work.how, row.how);
    EXPECT_EQ(wait.sense, row.wait);
    EXPECT_EQ(work.sense, row.work);
    EXPECT_EQ(PartOf(result, "work.dense_gemm").how, HowKnown::kMeasured);
    const auto finding = std::find_if(
        result.findings.begin(), result.findings.end(),
        [](const Finding& f) { return f.id == "contributor.rank_wait"; });
    ASSERT_NE(finding, result.findings.end());
    EXPECT_EQ(finding->prize.has_value(), row.how == HowKnown::kMeasured);
  }
}

/// One replay [0, 100) with a gap [40, 50), an eager op before and one that
/// runs during it on another stream, and a last one after it.
FakeLedger OneStep(int64_t scale) {
  FakeLedger ledger(1);
  ledger.Kernel("gemm", Category::kDenseGemm, 2, 90 * scale, 0, 5 * scale)
      .Kernel("sample", Category::kSampling, 3, 45 * scale, 0, 5 * scale)
      .Op(1, -20 * scale, 10 * scale, kNone)
      .Op(0, 0, 40 * scale)
      .Op(0, 50 * scale, 50 * scale, 0, 0, 5 * scale)
      .Op(1, 38 * scale, 7 * scale, kNone, 0, 2 * scale)
      .Op(1, 110 * scale, 20 * scale, kNone);
  // Ops before the step's begin are clipped away by the ledger.
  ledger.get().sequence[0].attributed_ns = 0;
  return ledger;
}

TEST(Gap, OfOneStepIsOfTheReplaySpan) {
  FakeLedger a = OneStep(10), b = OneStep(7);
  // The op that runs during the replay takes [40, 45) alone.
  for (FakeLedger* side : {&a, &b}) {
    SequenceOp& gemm = side->get().sequence[2];
    gemm.attributed_ns += gemm.hidden_cross_lane_ns;
    gemm.hidden_cross_lane_ns = 0;
  }
  const CompareResult result = CompareFakes(std::move(a), std::move(b));
  EXPECT_EQ(result.gap.basis, Basis::kReplaySpan);
  EXPECT_TRUE((result.gap.a_total == Rational{1000, 1}));
  EXPECT_TRUE((result.gap.b_total == Rational{700, 1}));
  EXPECT_EQ(result.a_totals.all.attributed_ns, 900);
  EXPECT_EQ(result.a_totals.foreign_ns, 50);
  EXPECT_EQ(result.a_totals.idle_inside_ns, 50);
  EXPECT_EQ(result.a_totals.idle_outside_ns, 0);
  EXPECT_EQ(result.a_totals.left_out_ops, 3);
  EXPECT_EQ(result.a_totals.left_out_ns, 200);
  EXPECT_EQ(result.comparable.verdict, Comparability::kWithReservations);
}

TEST(Gap, OfAReplayHasTheWaitOfItsCollectives) {
  FakeLedger ledger(1);
  ledger.Kernel("gemm", Category::kDenseGemm, 1, 50)
      .Kernel("nccl", Category::kCommunication, 1, 20)
      .Wait(WaitBasis::kOneRank, 30)
      .Op(0, 0, 50)
      .Op(1, 50, 50);
  SequenceOp& call = ledger.get().sequence[1];
  call.attributed_ns = 20;
  call.wait_attributed_ns = 25;
  call.wait_cross_lane_ns = 5;
  // The other lane's part of those 5 ns.
  ledger.Op(0, 90, 5, 0, 0, 0);
  const CompareResult result = CompareFakes(ledger, ledger);
  EXPECT_EQ(result.gap.basis, Basis::kReplaySpan);
  EXPECT_EQ(result.a_totals.headline_ns, 100);
  EXPECT_EQ(result.a_totals.rank_wait.attributed_ns, 25);
  EXPECT_EQ(result.a_totals.all.sum_ns, 105);
}

TEST(Gap, WithoutReplaysIsOfTheSpan) {
  FakeLedger eager(1);
  eager.Kernel("gemm", Category::kDenseGemm, 2, 90)
      .Op(0, 0, 40, kNone)
      .Op(0, 60, 50, kNone);
  const CompareResult result = CompareFakes(std::move(eager), OneStep(1));
  EXPECT_EQ(result.gap.basis, Basis::kSpan);
  EXPECT_TRUE((result.gap.a_total == Rational{110, 1}));
  EXPECT_EQ(result.a_totals.idle_inside_ns, 0);
  EXPECT_EQ(result.a_totals.idle_outside_ns, 20);
  EXPECT_EQ(result.b_totals.idle_inside_ns, 5);
  EXPECT_EQ(result.b_totals.idle_outside_ns, 10);
}

TEST(Comparable, DifferentWorkIsRefused) {
  FakeLedger prefill(3, StepKind::kPrefill);
  prefill.Kernel("bmm", Category::kMoeGemm, 348, 2'100'000).Walls(0, 0, 0);
  const CompareResult result = CompareFakes(Slow(), std::move(prefill));
  EXPECT_EQ(result.comparable.verdict, Comparability::kNo);
  ASSERT_FALSE(result.comparable.reasons.empty());
  EXPECT_EQ(result.comparable.reasons[0],
            "step kind: decode on A, prefill on B");
  for (const Finding& finding : result.findings)
    EXPECT_EQ(finding.kind, FindingKind::kDoubt) << finding.id;
}

TEST(Comparable, AnotherModelIsRefusedAnotherPrecisionIsNot) {
  const CompareResult other = CompareFakes(
      Slow(), Fast(), {{"model", "DeepSeek-R1"}}, {{"model", "Qwen3-8B"}});
  EXPECT_EQ(other.comparable.verdict, Comparability::kNo);
  const CompareResult same =
      CompareFakes(Slow(), Fast(), {{"model", "DeepSeek-R1-FP8"}},
                   {{"model", "deepseek-r1-mxfp4"}});
  EXPECT_EQ(same.comparable.verdict, Comparability::kWithReservations);
  EXPECT_EQ(ModelKey("FP8"), "");
}

TEST(Comparable, UnknownIsNeverEqual) {
  const CompareResult result =
      CompareFakes(Slow(), Fast(), {{"dtype", "bfloat16"}});
  EXPECT_EQ(result.comparable.verdict, Comparability::kWithReservations);
  const auto& unknown = result.comparable.unknown;
  EXPECT_NE(std::find(unknown.begin(), unknown.end(), "dtype"), unknown.end());
  EXPECT_NE(std::find(unknown.begin(), unknown.end(), "model"), unknown.end());
  EXPECT_EQ(std::find(unknown.begin(), unknown.end(), "batch"), unknown.end());
}

TEST(Comparable, YesNeedsEveryField) {
  FakeLedger a = Slow(), b = Slow();
  for (FakeLedger* side : {&a, &b}) {
    side->get().source.framework_hint = {"SGLang", HintBasis::kKernels};
    side->get().source.info.world_size = 8;
    side->Op(0, 0, 10);
  }
  SetupFacts facts;
  for (const auto field :
       {kFactModel, kFactVersion, kFactTp, kFactEp, kFactDp, kFactPp,
        kFactDtype, kFactQuantization, kFactKvDtype, kFactSpeculative})
    facts.emplace_back(std::string(field), "x");
  const CompareResult result =
      CompareFakes(std::move(a), std::move(b), facts, facts);
  EXPECT_EQ(result.comparable.verdict, Comparability::kYes)
      << testing::PrintToString(result.comparable.unknown)
      << testing::PrintToString(result.comparable.reasons);
}

const SetupRow& Framework(const CompareResult& result) {
  return *std::find_if(
      result.setup.begin(), result.setup.end(),
      [](const SetupRow& row) { return row.field == kFactFramework; });
}

TEST(Comparable, MarkersInAFormProveNoFramework) {
  FakeLedger a = Slow(), b = Slow();
  a.get().source.framework_hint = {"SGLang", HintBasis::kMarkerForm};
  b.get().source.framework_hint = {"SGLang", HintBasis::kMarkerForm};
  const CompareResult result = CompareFakes(std::move(a), std::move(b));
  EXPECT_EQ(Framework(result).a, "unknown (marker form: SGLang)");
  EXPECT_FALSE(Framework(result).same.has_value());
}

TEST(Comparable, AStatedFrameworkCountsMoreThanAForm) {
  FakeLedger a = Slow(), b = Slow();
  a.get().source.framework_hint = {"SGLang", HintBasis::kMarkerForm};
  b.get().source.framework_hint = {"vLLM", HintBasis::kKernels};
  const CompareResult result =
      CompareFakes(std::move(a), std::move(b), {{"framework", "SGLang"}}, {});
  EXPECT_EQ(Framework(result).a, "SGLang");
  EXPECT_EQ(Framework(result).same, false);
}

Steps StepsOf(const std::vector<StepGroup>& groups, uint32_t main = 0) {
  Steps steps;
  steps.groups = groups;
  steps.main_group = main;
  return steps;
}

StepGroup Group(StepKind kind, int64_t batch, int64_t context, uint32_t used) {
  StepGroup group;
  group.shape = {kind, batch, {}, context};
  group.context_min = group.context_max = context;
  group.steps = group.used = used;
  return group;
}

TEST(ChooseGroups, TakesTheEqualPairWithMostSteps) {
  const Steps a = StepsOf({Group(StepKind::kPrefill, 1, 4000, 50),
                           Group(StepKind::kDecode, 4, 8000, 20),
                           Group(StepKind::kDecode, 8, 8000, 30)});
  const Steps b = StepsOf({Group(StepKind::kDecode, 8, 8700, 5),
                           Group(StepKind::kDecode, 4, 8100, 9)});
  const GroupChoice choice = ChooseGroups(a, b);
  EXPECT_TRUE(choice.match);
  EXPECT_EQ(choice.a, 1u);
  EXPECT_EQ(choice.b, 1u);
}

TEST(ChooseGroups, ContextMayDifferByATenth) {
  const auto match = [](int64_t context_a, int64_t context_b) {
    return ChooseGroups(StepsOf({Group(StepKind::kDecode, 1, context_a, 1)}),
                        StepsOf({Group(StepKind::kDecode, 1, context_b, 1)}))
        .match;
  };
  EXPECT_TRUE(match(900, 1000));
  EXPECT_TRUE(match(1000, 900));
  EXPECT_FALSE(match(890, 1000));
  EXPECT_TRUE(match(0, 0));
  EXPECT_FALSE(match(-5, 5));
  EXPECT_FALSE(match(INT64_MIN, INT64_MAX));
}

TEST(ChooseGroups, FallsBackToTheMainGroups) {
  const Steps a = StepsOf({Group(StepKind::kPrefill, 1, 10, 5),
                           Group(StepKind::kPrefill, 2, 10, 9)},
                          1);
  const Steps b = StepsOf({Group(StepKind::kDecode, 1, 10, 5)});
  const GroupChoice choice = ChooseGroups(a, b);
  EXPECT_FALSE(choice.match);
  EXPECT_EQ(choice.a, 1u);
  EXPECT_EQ(choice.b, 0u);
  EXPECT_FALSE(ChooseGroups(StepsOf({}), StepsOf({})).match);
}

TEST(ChooseGroups, StaysQuickWithAShapeAStep) {
  std::vector<StepGroup> groups;
  for (int64_t i = 0; i < 200'000; ++i)
    groups.push_back(Group(StepKind::kDecode, i, i, 1));
  const Steps steps = StepsOf(groups);
  EXPECT_TRUE(ChooseGroups(steps, steps).match);
}

}  // namespace
}  // namespace inferdiff
