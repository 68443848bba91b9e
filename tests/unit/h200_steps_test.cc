// SPDX-License-Identifier: Apache-2.0
// Steps of real traces against step times measured without the profiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "readers/reader.h"
#include "steps/steps.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

struct Found {
  Trace trace;
  Steps steps;
};

std::optional<Found> Find(const std::string& name) {
  const char* folder = std::getenv("INFERDIFF_TRACES");
  const std::filesystem::path path =
      std::filesystem::path(folder != nullptr ? folder
                                              : INFERDIFF_SOURCE_DIR
                                "/../shared/traces") /
      name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  Found found;
  found.trace = std::move(ReadTrace(path.string(), {}).traces.at(0));
  found.steps = FindSteps(found.trace, ClassesByWord(found.trace));
  return found;
}

#define FIND_OR_SKIP(variable, name)                           \
  const std::optional<Found> variable##_found = Find(name);    \
  if (!variable##_found) GTEST_SKIP() << name << " is absent"; \
  const Found& variable = *variable##_found

struct Bar {
  const char* name;
  int64_t untraced_ns;  // truth.json
  const char* first;    // why the first step is left out; "" = it is used
  size_t steps;
};

// truth.json: untraced_ms_per_step_median, or untraced_ms_back_to_back.
const Bar kGraphTraces[] = {
    {"graph-serial-TP-0", 8057000, "rank-entered-early", 8},
    {"graph-serial-TP-1", 8057000, "", 8},
    {"graph-overlap-TP-0", 7954000, "rank-entered-early", 8},
    {"graph-overlap-TP-1", 7954000, "", 8},
    {"verify-serial-TP-0", 17122000, "", 8},
    {"spec-real-TP-0", 15123000, "", 10},
    {"spec-real-TP-1", 15123000, "rank-entered-early", 10},
};

class H200 : public testing::TestWithParam<Bar> {};

TEST_P(H200, MeanWallIsWithinFourPercentOfTheUntracedStep) {
  const Bar& bar = GetParam();
  FIND_OR_SKIP(f, std::string("h200/") + bar.name + ".trace.json.gz");
  EXPECT_EQ(f.steps.steps.size(), bar.steps);
  EXPECT_EQ(f.steps.steps.front().excluded_id, bar.first);
  EXPECT_EQ(f.steps.steps.back().excluded_id, "no-successor");
  int64_t total = 0, n = 0;
  for (const Step& step : f.steps.steps) {
    if (!step.excluded_id.empty()) continue;
    total += *step.next_begin_ns - step.begin_ns;
    ++n;
  }
  EXPECT_EQ(static_cast<size_t>(n),
            bar.steps - (std::string(bar.first).empty() ? 1 : 2));
  EXPECT_LE(std::abs(total - n * bar.untraced_ns), n * bar.untraced_ns / 25);
}

// The untraced step is the replay's span and the host's part of it: at least
// nothing, at most what launching takes in the trace.
TEST_P(H200, MedianSpanIsWithinOnePercentOfTheStepLessItsHostTime) {
  const Bar& bar = GetParam();
  if (std::string(bar.name).substr(0, 4) == "spec") return;  // six replays
  FIND_OR_SKIP(f, std::string("h200/") + bar.name + ".trace.json.gz");
  std::vector<int64_t> spans, leads;
  for (const Replay& replay : f.steps.replays) {
    if (f.steps.steps[replay.step].excluded_id == "rank-entered-early") {
      continue;
    }
    spans.push_back(replay.end_ns - replay.begin_ns);
    leads.push_back(replay.begin_ns - f.trace.calls.start_ns[replay.launch]);
  }
  std::sort(spans.begin(), spans.end());
  std::sort(leads.begin(), leads.end());
  const int64_t span = spans[spans.size() / 2], lead = leads[leads.size() / 2];
  EXPECT_LE(span, bar.untraced_ns / 100 * 101);
  EXPECT_GE(span, (bar.untraced_ns - lead) / 100 * 99);
}

INSTANTIATE_TEST_SUITE_P(Traces, H200, testing::ValuesIn(kGraphTraces),
                         [](const auto& bar) {
                           std::string name = bar.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(RealTraces, TheWaitBeforeTheForwardPassIsNotTheSteps) {
  FIND_OR_SKIP(f, "tl_sglang_qwen3-8b_decode_replay.json.gz");
  ASSERT_EQ(f.steps.steps.size(), 1U);
  const Step& step = f.steps.steps[0];
  EXPECT_EQ(step.shape.kind, StepKind::kDecode);
  EXPECT_EQ(step.shape.batch, 32);
  EXPECT_EQ(step.shape.context, 32785);
  EXPECT_EQ(step.excluded_id, "");
  EXPECT_FALSE(step.next_begin_ns);
  EXPECT_EQ(step.begin_ns - f.trace.ops.start_ns[0], 463299651);
}

TEST(RealTraces, NestedFamiliesGiveOneStep) {
  for (const char* name :
       {"tl_sglang_deepseek_r1_B300_TP0_DECODE.trace.json.gz",
        "tl_sglang_deepseek_r1_MI300_TP0_DECODE.trace.json.gz"}) {
    FIND_OR_SKIP(f, name);
    ASSERT_EQ(f.steps.steps.size(), 1U);
    EXPECT_EQ(f.steps.steps[0].shape.context, 8209);
    EXPECT_TRUE(f.steps.cross_check_agrees);
  }
}

TEST(RealTraces, AnEagerTraceIsCutAlikeByMarkersAndByItsKernels) {
  FIND_OR_SKIP(f, "h200/eager-serial-TP-0.trace.json.gz");
  EXPECT_EQ(f.steps.evidence, Evidence::kMarkers);
  EXPECT_EQ(f.steps.steps.size(), 8U);
  EXPECT_TRUE(f.steps.cross_check_agrees);
  Trace unmarked = f.trace;
  unmarked.annotations.clear();
  const Steps other = FindSteps(unmarked, ClassesByWord(unmarked));
  EXPECT_EQ(other.evidence, Evidence::kKernelPeriod);
  EXPECT_EQ(other.step_of_op, f.steps.step_of_op);
}

TEST(RealTraces, OnePassWithoutMarkersIsNotCutIntoLayers) {
  for (const char* name :
       {"tl_mi210_gpu_only.json.gz", "tl_b200_eager.json.gz",
        "tl_h100_qwen1.5-0.5b.json.gz", "tl_mi300_qwen1.5-0.5b.json.gz"}) {
    FIND_OR_SKIP(f, name);
    Trace unmarked = f.trace;
    unmarked.annotations.clear();
    const Steps steps = FindSteps(unmarked, ClassesByWord(unmarked));
    EXPECT_EQ(steps.evidence, Evidence::kWholeTrace) << name;
    EXPECT_EQ(steps.steps.size(), 1U) << name;
  }
}

TEST(RealTraces, MarkersThatAreReplayStepsAgree) {
  for (const char* name : {"graph-serial-TP-0", "verify-serial-TP-0"}) {
    FIND_OR_SKIP(f, std::string("h200/") + name + ".trace.json.gz");
    EXPECT_TRUE(f.steps.cross_check_agrees);
    Trace unmarked = f.trace;
    unmarked.annotations.clear();
    const Steps other = FindSteps(unmarked, ClassesByWord(unmarked));
    EXPECT_EQ(other.evidence, Evidence::kGraphReplays);
    EXPECT_EQ(other.step_of_op, f.steps.step_of_op);
  }
}

}  // namespace
}  // namespace inferdiff
