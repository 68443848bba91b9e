// SPDX-License-Identifier: Apache-2.0
// Process groups that a trace states of its collectives.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kineto_fixture.h"

namespace inferdiff {
namespace {

std::string InGroup(std::string event, const std::string& name,
                    const std::string& ranks) {
  const std::string args = R"("Process Group Name": ")" + name +
                           R"(", "Process Group Ranks": ")" + ranks + R"(", )";
  return event.insert(event.find("\"correlation\""), args);
}

/// Every second kernel is of a group, of "0" and "7" in turn.
std::vector<std::string> Grouped(int count) {
  std::vector<std::string> events;
  for (int i = 0; i < count; ++i) {
    events.push_back(Launch(i));
    const std::string kernel = Kernel(i, "ncclDevKernel");
    if (i % 2 == 0) {
      events.push_back(kernel);
    } else {
      events.push_back(InGroup(kernel, i % 4 == 1 ? "0" : "7", "[0, 1]"));
    }
  }
  return events;
}

TEST(ProcessGroups, BelongToTheirOps) {
  const SourceFile file = Read(TraceOf(Grouped(40)));
  ASSERT_EQ(file.traces.size(), 1U);
  const Trace& trace = file.traces[0];
  EXPECT_EQ(trace.process_groups,
            (std::vector<std::string>{"0 [0, 1]", "7 [0, 1]"}));
  ASSERT_EQ(trace.op_groups.size(), 20U);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(trace.op_groups[i].op, 2 * i + 1);
    EXPECT_EQ(trace.op_groups[i].group, i % 2);
  }
}

TEST(ProcessGroups, AreTheSameForEveryWayOfReading) {
  ExpectOneOutcome(TraceOf(Grouped(200)));
}

TEST(ProcessGroups, OfOpsThatStartTogetherStayApart) {
  std::vector<std::string> events;
  for (int i = 0; i < 50; ++i)
    events.push_back(i % 3 == 0 ? InGroup(Kernel(0, "k"), "g", "[0]")
                                : Kernel(0, "k"));
  const Trace trace = Read(TraceOf(events)).traces.at(0);
  ASSERT_EQ(trace.op_groups.size(), 17U);
  for (const OpGroup& group : trace.op_groups)
    EXPECT_EQ(trace.ops.ordinal[group.op] % 3, 0U);
}

TEST(ProcessGroups, AreNotStatedByMostTraces) {
  const Trace trace = Read(TraceOf(Plain(20))).traces.at(0);
  EXPECT_TRUE(trace.process_groups.empty());
  EXPECT_TRUE(trace.op_groups.empty());
}

}  // namespace
}  // namespace inferdiff
