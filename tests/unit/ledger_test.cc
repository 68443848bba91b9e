// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <tuple>

namespace inferdiff {
namespace {

/// Many steps of overlapping kernels on a few lanes.
struct Large {
  static constexpr uint32_t kOps = 80000, kOpsAStep = 500, kNames = 40;

  Large() {
    auto names = std::make_shared<StringPool>();
    for (uint32_t i = 0; i < kNames; ++i) {
      const std::string name = "kernel_" + std::to_string(i);
      names->Intern(name);
      classes.names.push_back({Category::kOther, 0, name, "kernel_*"});
    }
    trace.names = names;
    trace.lanes.resize(4);
    std::mt19937 random(1);
    int64_t start = 0;
    for (uint32_t op = 0; op < kOps; ++op) {
      start += static_cast<int64_t>(random() % 100);
      if (op % kOpsAStep == 0) AddStep(start);
      AddOp(op, start, static_cast<int64_t>(random() % 300),
            op % kOpsAStep == 0 ? 0 : static_cast<uint32_t>(random() % 4));
    }
    steps.groups.resize(1);
  }

  void AddStep(int64_t begin) {
    if (!steps.steps.empty()) steps.steps.back().next_begin_ns = begin;
    steps.steps.emplace_back();
    steps.steps.back().begin_ns = begin;
  }

  void AddOp(uint32_t op, int64_t start, int64_t duration, uint32_t lane) {
    trace.ops.ordinal.push_back(op);
    trace.ops.start_ns.push_back(start);
    trace.ops.dur_ns.push_back(duration);
    trace.ops.correlation.push_back(0);
    trace.ops.name.push_back(op % kNames);
    trace.ops.lane.push_back(lane);
    trace.ops.launch.push_back(kNone);
    trace.ops.kind.push_back(OpKind::kKernel);
    steps.step_of_op.push_back(op / kOpsAStep);
    steps.replay_of_op.push_back(kNone);
    steps.normal_lane.push_back(lane);
    classes.of_op.push_back(static_cast<Category>(op % 7));
    classes.rule_of_op.push_back(0);
  }

  LedgerResult Ledger(unsigned threads) {
    LedgerOptions options;
    options.threads = threads;
    return BuildLedger(trace, classes, RuleSet::Load(), steps, options);
  }

  Trace trace;
  Classification classes;
  Steps steps;
};

auto Fields(const Amounts& a) {
  return std::tuple(a.count, a.sum_ns, a.attributed_ns, a.exclusive_ns,
                    a.hidden_same_lane_ns, a.hidden_cross_lane_ns);
}

TEST(BuildLedger, AnyNumberOfThreadsGivesTheSame) {
  Large large;
  const LedgerResult one = large.Ledger(1);
  const LedgerResult three = large.Ledger(3);
  for (size_t i = 0; i < kCategoryCount; ++i)
    EXPECT_EQ(Fields(one.categories[i]), Fields(three.categories[i]));
  ASSERT_EQ(one.kernels.size(), three.kernels.size());
  for (size_t i = 0; i < one.kernels.size(); ++i) {
    EXPECT_EQ(one.kernels[i].name, three.kernels[i].name);
    EXPECT_EQ(Fields(one.kernels[i].amounts), Fields(three.kernels[i].amounts));
    EXPECT_EQ(one.kernels[i].call_ns.median, three.kernels[i].call_ns.median);
  }
  ASSERT_EQ(one.step_amounts.size(), Large::kOps / Large::kOpsAStep);
  ASSERT_EQ(three.step_amounts.size(), one.step_amounts.size());
  for (size_t i = 0; i < one.step_amounts.size(); ++i)
    EXPECT_EQ(one.step_amounts[i].busy, three.step_amounts[i].busy);
  EXPECT_EQ(one.representative_step, three.representative_step);
}

TEST(BuildLedger, ANameMayHaveSeveralCategories) {
  Large large;
  const LedgerResult ledger = large.Ledger(1);
  int64_t ops = 0;
  for (const KernelRow& row : ledger.kernels) ops += row.amounts.count;
  EXPECT_EQ(ops, Large::kOps);
  EXPECT_EQ(ledger.kernels.size(), Large::kNames * 7);
  EXPECT_EQ(ledger.families.size(), 7);  // one family, by category
}

TEST(BuildLedger, TheSequenceIsTheStepOfMedianWall) {
  Large large;
  const LedgerResult ledger = large.Ledger(1);
  const StepAmounts& step = ledger.step_amounts[ledger.representative_step];
  EXPECT_EQ(step.wall, ledger.per_step.wall.median);
  ASSERT_EQ(ledger.sequence.size(), Large::kOpsAStep);
  int64_t attributed = 0;
  for (const SequenceOp& op : ledger.sequence) attributed += op.attributed_ns;
  EXPECT_EQ(attributed, step.busy);
}

TEST(BuildLedger, WithoutAUsedStepOnlyTheDeviceIsCounted) {
  Large large;
  for (Step& step : large.steps.steps) step.excluded_id = "missing-kernels";
  const LedgerResult ledger = large.Ledger(1);
  EXPECT_EQ(ledger.used_steps, 0);
  EXPECT_TRUE(ledger.kernels.empty());
  EXPECT_EQ(ledger.devices.at(0).ops, Large::kOps);
  EXPECT_EQ(ledger.coverage.outside_steps_ns, ledger.coverage.total_ns);
}

}  // namespace
}  // namespace inferdiff
