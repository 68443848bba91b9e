// SPDX-License-Identifier: Apache-2.0
// Damaged JSON of rocprofv3: one bad record costs one record, whatever the
// blocks in which the text comes.
#include "readers/rocprof_json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "temp_text.h"

namespace inferdiff {
namespace {

std::string Record(int i) {
  return R"({"size":184,"kind":1,"operation":2,"thread_id":9,)"
         R"("correlation_id":{"internal":)" +
         std::to_string(i) + R"(,"external":0},"start_timestamp":)" +
         std::to_string(63857982592000 + i * 100) + R"(,"end_timestamp":)" +
         std::to_string(63857982592090 + i * 100) +
         R"(,"dispatch_info":{"size":72,"agent_id":{"handle":7},)"
         R"("queue_id":{"handle":16},"kernel_id":)" +
         std::to_string(i % 2) + R"(},"stream_id":{"handle":3}})";
}

std::string FileOf(int records, size_t* first = nullptr) {
  std::string text =
      R"x({"rocprofiler-sdk-tool":[{"metadata":{"pid":5,"command":["{\""]},)x"
      R"x("agents":[{"size":3,"id":{"handle":7},"type":2,"node_id":4}],)x"
      R"x("strings":{"buffer_records":[{"kind":"NONE","operations":[]},)x"
      R"x({"kind":"KERNEL_DISPATCH","operations":["A","B","C"]}]},)x"
      R"x("kernel_symbols":[{"size":1,"kernel_id":0,)x"
      R"x("formatted_kernel_name":"f<a>({})"},{"size":1,"kernel_id":1,)x"
      R"x("formatted_kernel_name":"g \"x\" \\"}],)x"
      R"x("buffer_records":{"kernel_dispatch":[)x";
  if (first != nullptr) *first = text.size();
  for (int i = 0; i < records; ++i) {
    text.append(i == 0 ? "" : ",").append(Record(i));
  }
  return text + "],\"memory_copy\":[]}}]}";
}

std::string Outcome(const std::string& text, size_t block) {
  return OutcomeOf(text, [&](const InputFile& file) {
    ReadOptions options;
    options.threads = block % 2 == 0 ? 1 : 2;
    return ReadRocprofJson(file, DetectCompression(file), options, {block});
  });
}

std::string OneOutcome(const std::string& text) {
  const std::string whole = Outcome(text, 1 << 20);
  EXPECT_EQ(Outcome(text, 64), whole) << text;
  EXPECT_EQ(Outcome(text, 301), whole) << text;
  return whole;
}

TEST(RocprofJson, ReadsTheSameInAnyBlocks) {
  const std::string outcome = OneOutcome(FileOf(100));
  EXPECT_EQ(CountOps(outcome), 100U);
  EXPECT_NE(outcome.find(":g \"x\" \\ "), outcome.npos);
  EXPECT_EQ(outcome.find("malformed"), outcome.npos);
  EXPECT_EQ(outcome.find("truncated"), outcome.npos);
}

/// Each thread numbers places on its own; what kinds and symbols mean may be
/// said behind the records, as may where a copy ran.
TEST(RocprofJson, NumbersThatComeAgainInOtherWindows) {
  std::string text = FileOf(0);
  const std::string symbols = R"("kernel_symbols":)";
  const size_t from = text.find(symbols);
  const size_t until = text.find(R"("buffer_records":{)", from);
  const std::string late = text.substr(from, until - from);
  text.erase(from, until - from);
  std::string records, copies;
  for (int i = 0; i < 200; ++i) {
    std::string record = Record(i);
    record.replace(record.find(R"("handle":3)"), 10,
                   R"("handle":)" + std::to_string(i * i % 5));
    if (i % 3 == 0) {
      record.replace(record.find(R"("handle":7)"), 10, R"("handle":8)");
    }
    records.append(i == 0 ? "" : ",").append(record);
    record.replace(record.find(R"("agent_id")"), 10, R"("src_agent_id")");
    copies.append(i == 0 ? "" : ",").append(record);
  }
  const std::string empty = R"("kernel_dispatch":[],"memory_copy":[)";
  text.replace(
      text.find(empty), empty.size(),
      R"("memory_copy":[)" + copies + R"(],"kernel_dispatch":[)" + records);
  text.insert(text.size() - 3, "," + late.substr(0, late.size() - 1));
  const std::string outcome = OneOutcome(text);
  EXPECT_EQ(CountOps(outcome), 400U);
  EXPECT_NE(outcome.find(" 0:f<a>({}) "), outcome.npos) << outcome;
  EXPECT_NE(outcome.find("device 8 "), outcome.npos);
}

/// Records are told by the text of those in front, which may seem to go on
/// behind the end of the file in what was read there before.
TEST(RocprofJson, EndsWithinAnyRecord) {
  size_t first = 0;
  const std::string text = FileOf(6, &first);
  const size_t record = Record(0).size() + 1;
  std::string filled = text;
  filled.insert(first, Record(0) + "," + std::string(400, '7') + ",");
  for (size_t cut = first + 4 * record; cut < first + 5 * record; ++cut) {
    const std::string outcome = OneOutcome(text.substr(0, cut));
    EXPECT_EQ(CountOps(outcome), cut + 1 == first + 5 * record ? 5U : 4U);
    OneOutcome(filled.substr(0, cut + record + 402));
  }
}

/// Numbers are compared with the records in front.
TEST(RocprofJson, RecordsOfManyForms) {
  const auto replaced = [](std::string text, const std::string& from,
                           const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto record_of = [&](int form, int i) {
    const std::string record = Record(i);
    const std::string id = std::to_string(i);
    switch (form) {
      case 1:
        return replaced(record, "\"size\":184,", "\"size\": 184 ,\n ");
      case 2:
        return replaced(record, ",\"external\":0", "");
      case 3:
        return replaced(record, "\"thread_id\":9", "\"thread_id\":-9");
      case 4:
        return replaced(record, "\"operation\":2", "\"operation\":\"2\"");
      case 5:
        return replaced(record, "\"internal\":" + id,
                        "\"internal\":4,\"internal\":" + id);
      case 6:
        return replaced(record, "\"size\":72", "\"list\":[1,2]");
      case 7:
        return replaced(record, "}}", "},\"none\":null}");
      case 8:
        return replaced(record, "\"kind\":1",
                        "\"kind\":1,\"more\":" + std::string(19, '1'));
      default:
        return record;
    }
  };
  std::string text = FileOf(0);
  const size_t at = text.find("],\"memory_copy\"");
  std::string records;
  int count = 0;
  for (int first = 0; first < 9; ++first) {
    for (int second = 0; second < 9; ++second) {
      for (const int which : {first, first, first, second}) {
        if (count != 0) records += ',';
        records += record_of(which, count + 1);
        ++count;
      }
    }
  }
  const std::string outcome = OneOutcome(text.insert(at, records));
  EXPECT_EQ(CountOps(outcome), static_cast<size_t>(count));
  for (int i = 1; i <= count; ++i) {
    const std::string op = "\nop " + std::to_string(63857982592000 + i * 100) +
                           " 90 " + std::to_string(i) + " ";
    EXPECT_NE(outcome.find(op), outcome.npos) << op;
  }
}

/// A process whose calls have the number `kind`.
std::string ProcessOf(int pid, int kind, int calls) {
  std::string text = R"({"metadata":{"pid":)" + std::to_string(pid) +
                     R"(},"strings":{"buffer_records":[)";
  for (int i = 0; i < kind; ++i) {
    text += R"({"kind":"OTHER","operations":["hipLaunchKernel"]},)";
  }
  text += R"({"kind":"HIP_RUNTIME_API","operations":)"
          R"(["hipGetDevice","hipLaunchKernel"]}]},"buffer_records":{)"
          R"("kernel_dispatch":[)";
  for (int i = 0; i < calls; ++i) {
    text.append(i == 0 ? "" : ",").append(Record(i));
  }
  text += R"(],"hip_api":[)";
  for (int i = 0; i < calls; ++i) {
    text += (i == 0 ? R"({"size":48,"kind":)" : R"(,{"size":48,"kind":)") +
            std::to_string(kind) + R"(,"operation":)" + std::to_string(i % 2) +
            R"(,"correlation_id":{"internal":)" + std::to_string(i) +
            R"(},"start_timestamp":5,"end_timestamp":6,"thread_id":9})";
  }
  return text + "]}}";
}

TEST(RocprofJson, ProcessesNumberTheirKindsOnTheirOwn) {
  const std::string outcome =
      OneOutcome("{\"rocprofiler-sdk-tool\":[" + ProcessOf(5, 0, 40) + "," +
                 ProcessOf(6, 2, 40) + "]}");
  size_t calls = 0;
  for (size_t at = 0; (at = outcome.find("\ncall ", at)) != outcome.npos;
       ++at) {
    ++calls;
  }
  EXPECT_EQ(calls, 40U) << outcome;  // half of them launch something
}

TEST(RocprofJson, EveryPrefixIsReadUpToTheCut) {
  size_t first = 0;
  const std::string text = FileOf(3, &first);
  for (size_t size = 1; size < text.size(); ++size) {
    const std::string outcome = OneOutcome(text.substr(0, size));
    EXPECT_NE(outcome.find("truncated_input 1"), outcome.npos) << size;
    const size_t length = Record(0).size() + 1;
    const size_t whole = size < first ? 0 : (size - first + 1) / length;
    EXPECT_EQ(CountOps(outcome), std::min<size_t>(whole, 3)) << size;
  }
}

TEST(RocprofJson, FlippedBytesCostAFewRecords) {
  size_t first = 0;
  const std::string good = FileOf(40, &first);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    text[first + random() % (text.size() - first - 30)] =
        static_cast<char>(random());
    EXPECT_GE(CountOps(OneOutcome(text)), 36U) << text;
  }
}

TEST(RocprofJson, SurvivesHugeNumbersAndObjects) {
  std::string text = FileOf(2);
  text.replace(text.find("63857982592000"), 14, "99999999999999999999");
  EXPECT_NE(OneOutcome(text).find("time_out_of_range 1"), text.npos);
  text = FileOf(2);
  text.insert(text.find("\"pid\""),
              "\"x\":\"" + std::string(6 << 20, 'y') + "\",");
  const std::string outcome = Outcome(text, 1 << 16);
  EXPECT_EQ(CountOps(outcome), 2U);
  EXPECT_NE(outcome.find("malformed_record 1"), outcome.npos);
}

}  // namespace
}  // namespace inferdiff
