// SPDX-License-Identifier: Apache-2.0
// Damaged traces: one bad record costs one record.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kineto_fixture.h"

namespace inferdiff {
namespace {

TEST(KinetoFaults, GiantEventCostsItselfAlone) {
  for (const std::string item : {"1", "[1]", R"({"a": 1})", R"("]},")"}) {
    std::vector<std::string> events = Plain(20);
    events.insert(events.begin() + 40, Giant(item, (size_t{5} << 20) + 7));
    const std::string text = TraceOf(events);
    const SourceFile file = Read(text);
    ASSERT_EQ(file.traces.size(), 1U) << item;
    EXPECT_EQ(file.traces[0].ops.size(), 20U) << item;
    EXPECT_EQ(file.traces[0].ops.ordinal[19], 19U * 4 + 1 + 1) << item;
    EXPECT_GT(file.counters[Counter::kSkippedBytes], size_t{1} << 20) << item;
    const std::string whole = TextOf(file);
    EXPECT_EQ(Outcome(text, 1, 100'000), whole) << item;
    EXPECT_EQ(Outcome(text, 2, 4'096), whole) << item;
    EXPECT_EQ(Outcome(text, 5, size_t{1} << 20), whole) << item;
  }
}

TEST(KinetoFaults, GiantLastEventEndsTheArray) {
  std::vector<std::string> events = Plain(20);
  events.push_back(Giant("1", size_t{5} << 20));
  const std::string text = TraceOf(events);
  const SourceFile file = Read(text);
  EXPECT_EQ(file.traces[0].ops.size(), 20U);
  EXPECT_EQ(file.counters[Counter::kTruncatedInput], 0U);
  EXPECT_EQ(Outcome(text, 2, 4'096), TextOf(file));
}

TEST(KinetoFaults, PlainTraceIsWhole) {
  const SourceFile file = Read(TraceOf(Plain(40)));
  ASSERT_EQ(file.traces.size(), 1U);
  EXPECT_EQ(file.traces[0].ops.size(), 40U);
  EXPECT_EQ(file.traces[0].calls.size(), 40U);
  EXPECT_EQ(file.traces[0].ops.ordinal[39], 39U * 4 + 1);
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    EXPECT_EQ(file.counters[static_cast<Counter>(i)], 0U)
        << InfoOf(static_cast<Counter>(i)).id;
  }
}

/// One event among good ones, each way of breaking it, and what it may cost.
struct Fault {
  const char* what;
  std::string event;
  Counter counter;
  bool kept;
};

std::vector<Fault> Faults() {
  const std::string good = Kernel(20, "name");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  return {
      {"two stray quotes", Kernel(20, "foo\"bar\"baz"),
       Counter::kUnescapedQuote, true},
      {"one stray quote", Kernel(20, "foo\"bar"), Counter::kUnescapedQuote,
       true},
      {"a stray quote and a brace", Kernel(20, "f\"{x"),
       Counter::kUnescapedQuote, true},
      {"quotes around a list", Kernel(20, "f(\"a\", \"b\")"),
       Counter::kUnescapedQuote, true},
      {"a backslash at the end", Kernel(20, "C:\\"), Counter::kUnescapedQuote,
       true},
      {"a missing brace", good.substr(0, good.size() - 1),
       Counter::kMalformedRecord, false},
      {"a brace too many", good + "}", Counter::kSkippedBytes, true},
      {"a missing colon", with("\"pid\": 0", "\"pid\" 0"),
       Counter::kMalformedRecord, false},
      {"a missing comma", with("0, \"tid\"", "0 \"tid\""),
       Counter::kMalformedRecord, false},
      {"no time", with("\"ts\"", "\"tz\""), Counter::kMissingField, false},
      {"no duration", with("\"dur\"", "\"d\""), Counter::kMissingField, false},
      {"a word for a time", with("1020.250", "null"), Counter::kMissingField,
       false},
      {"an absurd time", with("1020.250", "99999999999999999999"),
       Counter::kTimeOutOfRange, false},
      {"a negative duration", with("0.5", "-0.5"), Counter::kNegativeDuration,
       true},
      {"bare inf", with("\"stream\": 7", "\"warps\": inf"),
       Counter::kNonFiniteNumber, true},
      {"bare -nan", with("\"stream\": 7", "\"warps\": -nan"),
       Counter::kNonFiniteNumber, true},
      {"beyond 64 bits", with("\"stream\": 7", "\"x\": 101599708867660844230"),
       Counter::kHugeInteger, true},
      {"invalid UTF-8", Kernel(20, "a\xff\xc3"), Counter::kInvalidUtf8, true},
      {"a control character", Kernel(20, "a\nb\x01"),
       Counter::kControlCharacter, true},
      {"a long name", Kernel(20, std::string(20'000, 'k')), Counter::kLongName,
       true},
      {"a number", "17", Counter::kMalformedRecord, false},
  };
}

TEST(KinetoFaults, OneBadRecordCostsOneRecord) {
  for (const Fault& fault : Faults()) {
    SCOPED_TRACE(fault.what);
    std::vector<std::string> events = Plain(40);
    events[81] = fault.event;
    for (const char* between : {",\n  ", ","}) {
      const std::string text = TraceOf(events, between);
      ExpectOneOutcome(text);
      const SourceFile file = Read(text);
      ASSERT_EQ(file.traces.size(), 1U);
      const GpuOps& ops = file.traces[0].ops;
      EXPECT_EQ(ops.size(), fault.kept ? 40U : 39U);
      EXPECT_EQ(ops.ordinal.back(), 39U * 4 + 1);
      EXPECT_GE(file.counters[fault.counter], 1U)
          << TextOf(file).substr(0, 200);
      EXPECT_EQ(file.counters[Counter::kTruncatedInput], 0U);
    }
  }
}

TEST(KinetoFaults, StrayQuotesInOneEventOfSkippedKindCostNothing) {
  std::vector<std::string> events = Plain(40);
  events[83].replace(events[83].find("<lambda>"), 8, "\"x\", {\"");
  const std::string text = TraceOf(events);
  ExpectOneOutcome(text);
  EXPECT_EQ(Read(text).traces[0].ops.size(), 40U);
}

TEST(KinetoFaults, FormsThatAreNoFaults) {
  std::vector<std::string> events = Plain(4);
  events.push_back("{}");
  events.push_back(
      R"({"ph":"X","cat":"kernel","name":"q","pid":"0","tid":"stream 7",)"
      R"("ts":"2000.125","dur":"1","args":{"correlation":"7","correlation":8}})");
  events.push_back("");  // a trailing comma
  const SourceFile file = Read(TraceOf(events));
  const GpuOps& ops = file.traces[0].ops;
  ASSERT_EQ(ops.size(), 5U);
  EXPECT_EQ(ops.start_ns[4], 2'000'125);
  EXPECT_EQ(ops.dur_ns[4], 1000);
  EXPECT_EQ(ops.correlation[4], 8);
  EXPECT_EQ(ops.ordinal[4], 17U);
  EXPECT_EQ(file.counters[Counter::kMalformedRecord], 0U);
}

TEST(KinetoFaults, ForeignDescriptionsOfTheMachine) {
  // Versions nested in what another tool wrote are not the trace's own.
  const std::string wrapped =
      R"({"system": {"hip_runtime_version": "N/A", "cuda_runtime_version": )"
      R"("12.8.93"}, "log": "a \" quote", "traceEvents": [)" +
      Kernel(1, "k") +
      R"(], "cuda_runtime_version": 12040, "more": {"cuda_runtime_version": )"
      R"(9000, "baseTimeNanoseconds": 7}, "baseTimeNanoseconds": 1000000})";
  const TraceInfo info = Read(wrapped).traces[0].info;
  EXPECT_EQ(info.vendor, Vendor::kNvidia);
  EXPECT_EQ(info.runtime_version, "CUDA 12.4");
  EXPECT_EQ(info.base_time_ns, 1'000'000);
}

TEST(KinetoFaults, OnlyArgsAreReadAsArgs) {
  // A layout learned from the first would give the second a correlation.
  std::vector<std::string> events = {Kernel(1, "k"), Kernel(2, "k")};
  for (std::string& event : events)
    event.replace(event.find("args"), 4, "arcs");
  const std::string text = TraceOf(events);
  ExpectOneOutcome(text);
  EXPECT_EQ(Read(text).traces[0].ops.correlation, (std::vector<int64_t>{0, 0}));
}

TEST(KinetoFaults, MergedRanksStayApart) {
  const auto on_rank = [](std::string event, const std::string& rank) {
    for (const char* pid : {"0", "9"}) {
      const std::string from = std::string("\"pid\": ") + pid;
      const size_t at = event.find(from + ",");
      if (at == std::string::npos) continue;
      event.replace(at, from.size(), "\"pid\": \"[" + rank + "] " + pid + "\"");
    }
    return event;
  };
  std::vector<std::string> events;
  for (int i = 0; i < 6; ++i) {
    for (const char* rank : {"TP00-DP00", "TP01-DP00"}) {
      events.push_back(on_rank(Launch(i), rank));
      events.push_back(on_rank(Kernel(i, "k"), rank));
    }
  }
  const SourceFile file = Read(TraceOf(events));
  ASSERT_EQ(file.traces.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const Trace& trace = file.traces[i];
    EXPECT_EQ(trace.info.rank, static_cast<int64_t>(i));
    EXPECT_EQ(trace.info.device, 0);
    EXPECT_EQ(trace.ops.size(), 6U);
    EXPECT_EQ(trace.calls.size(), 6U);
    EXPECT_EQ(trace.calls.correlation[trace.ops.launch[3]], 103);
  }
  EXPECT_EQ(file.counters[Counter::kDuplicateCorrelation], 0U);
}

TEST(KinetoFaults, UnpaddedFractions) {
  const auto at = [](const char* ts) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" +
           std::string(ts) + R"(,"dur":1,"args":{}})";
  };
  // .50 can only be 50 ns: a writer that drops zeros at the end prints .5.
  const SourceFile unpadded =
      Read(TraceOf({at("1.5"), at("1.50"), at("1.120")}));
  EXPECT_EQ(unpadded.traces[0].ops.start_ns,
            (std::vector<int64_t>{1005, 1050, 1120}));
  const SourceFile padded = Read(TraceOf({at("1.5"), at("1.05"), at("1.125")}));
  EXPECT_EQ(padded.traces[0].ops.start_ns,
            (std::vector<int64_t>{1050, 1125, 1500}));
  EXPECT_EQ(padded.counters[Counter::kUnclearFraction], 0U);
  const SourceFile unclear = Read(TraceOf({at("1.5"), at("1.125")}));
  EXPECT_EQ(unclear.counters[Counter::kUnclearFraction], 1U);
}

TEST(KinetoFaults, EveryPrefix) {
  const std::string text = TraceOf(Plain(3));
  for (size_t size = 1; size < text.size(); ++size) {
    SCOPED_TRACE(size);
    const std::string prefix = text.substr(0, size);
    const std::string whole = Outcome(prefix, 1, 1 << 16);
    ASSERT_EQ(Outcome(prefix, 2, 200), whole);
    // What is complete is read, and the cut is told.
    if (whole.find("op ") == std::string::npos) continue;
    const bool lost_newline = size + 1 == text.size();
    ASSERT_EQ(whole.find("truncated_input 1") != std::string::npos,
              !lost_newline);
  }
}

TEST(KinetoFaults, RandomFlips) {
  const std::string text = TraceOf(Plain(12));
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string damaged = text;
    for (auto flips = random() % 3 + 1; flips != 0; --flips) {
      damaged[random() % damaged.size()] ^=
          static_cast<char>(1U << (random() % 8));
    }
    ASSERT_EQ(Outcome(damaged, 2, 256), Outcome(damaged, 1, 1 << 16))
        << damaged;
  }
}

}  // namespace
}  // namespace inferdiff
