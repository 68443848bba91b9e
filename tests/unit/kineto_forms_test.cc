// SPDX-License-Identifier: Apache-2.0
// Other ways to write the same trace, and what is left where there is no
// sound reading: a count, never a guess in silence.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kineto_fixture.h"

namespace inferdiff {
namespace {

std::string With(std::string text, const std::string& from,
                 const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Data loss and repairs, unlinked ops left out.
std::string Counts(const SourceFile& file) {
  std::string text;
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    const auto counter = static_cast<Counter>(i);
    const uint64_t count = file.counters[counter];
    if (count == 0 || counter == Counter::kUnlinkedOp) continue;
    text += std::string(InfoOf(counter).id) + " " + std::to_string(count) + " ";
  }
  return text;
}

TEST(KinetoForms, EscapesInKeysAndCategories) {
  const struct {
    const char* from;
    const char* to;
  } kSpellings[] = {
      {R"("kernel")", R"("kern\u0065l")"},
      {R"("kernel")", R"("\u006b\u0065\u0072\u006e\u0065\u006c")"},
      {R"("cat")", R"("\u0063at")"},
      {R"("ph")", R"("p\u0068")"},
      {R"("X")", R"("\u0058")"},
      {R"("ts")", R"("t\u0073")"},
      {R"("dur")", R"("\u0064ur")"},
      {R"("name")", R"("n\u0061me")"},
      {R"("pid")", R"("p\u0069d")"},
      {R"("tid")", R"("\u0074id")"},
      {R"("args")", R"("\u0061rgs")"},
      {R"("correlation")", R"("correl\u0061tion")"},
  };
  const std::string plain = TextOf(Read(TraceOf(Plain(9))));
  for (const auto& [from, to] : kSpellings) {
    SCOPED_TRACE(to);
    // One event among others, and several in a row.
    for (const size_t last : {17, 29}) {
      std::vector<std::string> events = Plain(9);
      for (size_t i = 17; i <= last; i += 4)
        events[i] = With(events[i], from, to);
      const std::string text = TraceOf(events);
      ExpectOneOutcome(text);
      const std::string read = TextOf(Read(text));
      EXPECT_EQ(read.substr(read.find('\n')), plain.substr(plain.find('\n')));
    }
  }
}

TEST(KinetoForms, EscapedNamesOfCallsLaunch) {
  std::vector<std::string> events = Plain(9);
  events[16] = With(events[16], "cudaLaunch", R"(cuda\u004caunch)");
  const SourceFile file = Read(TraceOf(events));
  EXPECT_EQ(file.traces[0].calls.size(), 9U);
  EXPECT_EQ(file.counters[Counter::kUnlinkedOp], 0U);
}

TEST(KinetoForms, TheOutermostArrayOfEventsIsRead) {
  const std::string nested = R"({"tool": {"traceEvents": [)" +
                             Kernel(50, "nested") +
                             R"(]}, "log": ["\"traceEvents\": [", "a"], )";
  const std::string text = nested + TraceOf(Plain(9)).substr(1);
  ExpectOneOutcome(text);
  const SourceFile file = Read(text);
  EXPECT_EQ(file.traces[0].ops.size(), 9U);
  EXPECT_EQ(Counts(file), "");
  // Where there is no other, a tool has wrapped the trace.
  const std::string wrapped = R"({"trace": )" + TraceOf(Plain(9)) + "}";
  ExpectOneOutcome(wrapped);
  EXPECT_EQ(Read(wrapped).traces[0].ops.size(), 9U);
  // A stray quote in front makes the nesting a guess.
  const std::string quote = R"({"note": "5" disk", )" + nested.substr(1);
  EXPECT_EQ(Read(quote + TraceOf(Plain(9)).substr(1)).traces.size(), 1U);
  EXPECT_EQ(Read(R"({"note": "5" disk", )" + TraceOf(Plain(9)).substr(1))
                .traces[0]
                .ops.size(),
            9U);
}

TEST(KinetoForms, EventsBehindTheArrayAreCounted) {
  const std::string one = TraceOf({Kernel(1, "k")});
  for (const std::string& rest :
       {one, R"({"a": 1})" + one,
        R"(, "traceEvents": [)" + Kernel(2, "k") + "]}"}) {
    const std::string text =
        rest[0] == ',' ? one.substr(0, one.rfind('}')) + rest : one + rest;
    const SourceFile file = Read(text);
    EXPECT_EQ(file.traces[0].ops.size(), 1U);
    EXPECT_GE(file.counters[Counter::kSkippedBytes], 100U) << text;
  }
}

/// A kernel whose pid, tid or device is written as `to`.
struct Form {
  const char* from;
  const char* to;
  int64_t device;  // -1: dropped
  int64_t lane;
  const char* counts;
};

TEST(KinetoForms, DevicesAndStreamsAsTheyAreWritten) {
  const Form kForms[] = {
      {R"("pid": 0)", R"("pid": 3)", 3, 7, ""},
      {R"("pid": 0)", R"("pid": "3")", 3, 7, ""},
      {R"("pid": 0)", R"("pid": 3.0)", 3, 7, ""},
      {R"("pid": 0)", R"("pid": "3.00")", 3, 7, ""},
      {R"("pid": 0)", R"("pid": 3e0)", 3, 7, ""},
      {R"("pid": 0)", R"("pid": 0.3e1)", 3, 7, ""},
      {R"("pid": 0)", R"("pid": "\u0033")", 3, 7, ""},
      {R"("pid": 0)", R"("pid": "GPU 3")", 3, 7, ""},
      {R"("pid": 0)", R"("pid": "GPU3")", 3, 7, ""},
      // Where the pid names none, args.device does.
      {R"("pid": 0)", R"("pid": 3.5)", 0, 7, ""},
      {R"("pid": 0)", R"("pid": "GPU")", 0, 7, ""},
      {R"("pid": 0)", R"("pid": null)", 0, 7, ""},
      {R"("pid": 0)", R"("pid": [3])", 0, 7, ""},
      {R"("pid": 0)", R"("pid": 98765432109876543210)", 0, 7,
       "huge_integer 1 "},
      {R"("pid": 0, )", "", 0, 7, ""},
      {R"("pid": 0)", R"("pid": "[TP01] x")", 0, 7, ""},
      {R"("tid": 7)", R"("tid": 9)", 0, 9, ""},
      {R"("tid": 7)", R"("tid": 9.0)", 0, 9, ""},
      {R"("tid": 7)", R"("tid": "9")", 0, 9, ""},
      {R"("tid": 7)", R"("tid": "stream 9")", 0, 9, ""},
      {R"("tid": 7)", R"("tid": 9.5)", 0, 0, ""},
      {R"("tid": 7)", R"("tid": null)", 0, 0, "unclear_lane 1 "},
      {R"("tid": 7, )", "", 0, 0, "unclear_lane 1 "},
  };
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.to);
    std::vector<std::string> events = Plain(9);
    events[17] = With(Kernel(4, "odd"), form.from, form.to);
    const std::string text = TraceOf(events);
    ExpectOneOutcome(text);
    const SourceFile file = Read(text);
    size_t found = 0;
    for (const Trace& trace : file.traces) {
      for (size_t i = 0; i < trace.ops.size(); ++i) {
        if ((*trace.names)[trace.ops.name[i]] != "odd") continue;
        ++found;
        EXPECT_EQ(trace.info.device, form.device);
        EXPECT_EQ(trace.lanes[trace.ops.lane[i]].id, form.lane);
      }
    }
    EXPECT_EQ(found, 1U);
    EXPECT_EQ(Counts(file), form.counts);
  }
}

TEST(KinetoForms, AnEmptyNameIsAName) {
  std::vector<std::string> events = Plain(9);
  events[17] = Kernel(4, "");
  const std::string text = TraceOf(events);
  ExpectOneOutcome(text);
  const SourceFile file = Read(text);
  EXPECT_EQ(file.traces[0].ops.size(), 9U);
  EXPECT_EQ(Counts(file), "");
}

TEST(KinetoForms, OneLaneHoweverItsNumberIsWritten) {
  std::vector<std::string> events = Plain(9);
  events[5] =
      With(events[5], R"("pid": 0, "tid": 7)", R"("pid": "0", "tid": "7")");
  events[9] =
      With(events[9], R"("pid": 0, "tid": 7)", R"("pid": 0.0, "tid": 7.0)");
  const SourceFile file = Read(TraceOf(events));
  ASSERT_EQ(file.traces.size(), 1U);
  EXPECT_EQ(file.traces[0].lanes.size(), 1U);
}

TEST(KinetoForms, WithoutADeviceARecordIsCounted) {
  for (const char* const pid : {R"("pid": "GPU")", R"("pid": 1.5)",
                                R"("pid": null)", R"("pid": {"a": 1})"}) {
    for (const char* const device :
         {R"("stream")", R"("device": 0.5, "x")", R"("device": "x", "x")",
          R"("device": null, "x")"}) {
      SCOPED_TRACE(std::string(pid) + " " + device);
      std::vector<std::string> events = Plain(9);
      std::string odd = With(Kernel(4, "odd"), R"("pid": 0)", pid);
      events[17] = With(odd, R"("device": 0, "stream")", device);
      const std::string text = TraceOf(events);
      ExpectOneOutcome(text);
      const SourceFile file = Read(text);
      ASSERT_EQ(file.traces.size(), 1U);
      EXPECT_EQ(file.traces[0].ops.size(), 8U);
      EXPECT_EQ(Counts(file), "missing_field 1 ");
    }
  }
}

TEST(KinetoForms, Correlations) {
  const struct {
    const char* text;
    int64_t value;
    const char* counts;
  } kForms[] = {
      {"104", 104, ""},
      {R"("104")", 104, ""},
      {"104.0", 104, ""},
      {"1.04e2", 104, ""},
      {"0", 0, ""},
      {"-1", -1, ""},
      {"null", 0, ""},
      {R"("none")", 0, ""},
      {R"("")", 0, ""},
      {"104.5", 0, ""},
      {"[104]", 0, ""},
      {"98765432109876543210", 0, "huge_integer 1 "},
      {R"("98765432109876543210")", 0, "huge_integer 1 "},
  };
  for (const auto& form : kForms) {
    SCOPED_TRACE(form.text);
    std::vector<std::string> events = Plain(9);
    events[17] = With(events[17], ": 104", std::string(": ") + form.text);
    const std::string text = TraceOf(events);
    ExpectOneOutcome(text);
    const SourceFile file = Read(text);
    EXPECT_EQ(file.traces[0].ops.correlation[4], form.value);
    EXPECT_EQ(Counts(file), form.counts);
    EXPECT_EQ(file.counters[Counter::kUnlinkedOp], form.value == 104 ? 0U : 1U);
  }
}

/// Args are compared with those of the events in front.
TEST(KinetoForms, ArgsOfManyForms) {
  std::string many = R"("a0": 0)";
  for (int i = 1; i < 40; ++i) {
    many += ", \"a" + std::to_string(i) + "\": " + std::to_string(i * i);
  }
  const std::string kForms[] = {
      R"("device": 0, "stream": 7, "correlation": #)",
      R"("device":0,"stream":7,"correlation":#)",
      R"( "device": 0 , "correlation": # , "stream": 7 )",
      R"("correlation": #, "device": 0)",
      R"("correlation": "#", "grid": [1, 2, 3])",
      R"("correlation": #, "grid": [1,2,3], "share": 0.5)",
      R"("text": "\", \"correlation\": 5", "correlation": #)",
      R"("text": "}, {", "correlation": #)",
      R"("correlation": 5, "correlation": #)",
      R"("correlation": #, "nested": {"correlation": 5})",
      R"("correlation": #, "share": NaN)",
      R"("\u0063orrelation": #)",
      R"("text": "", "correlation": #, "on": true)",
      R"(")" + std::string(80, 'k') + R"(": 1, "correlation": #)",
      many + R"(, "correlation": #)",
  };
  // Each form behind each other one, thrice and once in a row.
  std::vector<std::string> events;
  for (const std::string& first : kForms) {
    for (const std::string& second : kForms) {
      for (const std::string* form : {&first, &first, &first, &second}) {
        const int i = static_cast<int>(events.size());
        std::string event = Kernel(i, "k");
        event = event.substr(0, event.find("{", 1) + 1) + *form + "}}";
        const size_t at = event.find('#');
        events.push_back(event.replace(at, 1, std::to_string(100 + i)));
      }
    }
  }
  const std::string text = TraceOf(events);
  ExpectOneOutcome(text);
  const std::vector<int64_t> got = Read(text).traces[0].ops.correlation;
  ASSERT_EQ(got.size(), events.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], static_cast<int64_t>(100 + i)) << events[i];
}

TEST(KinetoForms, StrangeArgsInARowAreNotLearned) {
  for (const std::string strange :
       {"100-", "100 1", "100.5.5", "1e2x", "\"100\"1", "[100]]", "+100"}) {
    SCOPED_TRACE(strange);
    std::vector<std::string> events;
    for (int i = 0; i < 12; ++i) {
      events.push_back(With(Kernel(i, "k"),
                            ": " + std::to_string(100 + i) + "}",
                            ": " + strange + "}"));
    }
    events.push_back(Kernel(12, "k"));
    const std::string text = TraceOf(events);
    ExpectOneOutcome(text);
    const SourceFile file = Read(text);
    const std::vector<int64_t>& got = file.traces[0].ops.correlation;
    EXPECT_EQ(got.back(), 112);
    EXPECT_EQ(std::count(got.begin(), got.end(), 0),
              static_cast<ptrdiff_t>(got.size() - 1));
  }
}

TEST(KinetoForms, JunkBetweenEventsIsCounted) {
  for (const std::string junk :
       {"[", "]", "[[", "}", "]]", ":", "x", "\"", "\\", "1 2", "[]", "\x01",
        "\xff", "\xef\xbb\xbf", "null", "{", "\"name\"", "[{"}) {
    SCOPED_TRACE(junk);
    const std::vector<std::string> events = Plain(9);
    for (const bool before_comma : {true, false}) {
      std::string text = events[0];
      for (size_t i = 1; i < events.size(); ++i) {
        if (i == 17 && before_comma) text += junk;
        text += ",\n ";
        if (i == 17 && !before_comma) text += junk;
        text += events[i];
      }
      text = "{\"traceEvents\": [" + text + "]}";
      ExpectOneOutcome(text);
      const SourceFile file = Read(text);
      EXPECT_GE(file.traces[0].ops.size(), 8U) << before_comma;
      EXPECT_GT(file.counters.Total(Severity::kDataLoss), 0U) << before_comma;
    }
  }
}

}  // namespace
}  // namespace inferdiff
