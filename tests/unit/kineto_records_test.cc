// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_records.h"

#include <gtest/gtest.h>

#include <string>

#include "readers/digits.h"

namespace inferdiff {
namespace {

TEST(Digits, EndWhereALoopWouldEnd) {
  for (size_t digits = 0; digits < 20; ++digits) {
    for (int c = 0; c < 256; ++c) {
      if (IsDigit(static_cast<char>(c))) continue;
      std::string text = std::string("01234567890123456789").substr(0, digits);
      text += std::string(9, static_cast<char>(c));
      EXPECT_EQ(SkipDigits(text.data()) - text.data(),
                static_cast<ptrdiff_t>(digits))
          << c;
    }
  }
  const std::string number = "123456789.25,         ";
  EXPECT_EQ(SkipNumber(number.data()) - number.data(), 12);
}

TEST(Lexicon, NamesAreOneInAnyOrder) {
  Lexicon lexicon;
  const uint32_t a = lexicon.NameOf("a", true);
  const uint32_t b = lexicon.NameOf("b", true);
  EXPECT_NE(a, b);
  EXPECT_EQ(lexicon.NameOf("a", true), a);
  EXPECT_EQ(lexicon.NameOf("b", true), b);  // as foreseen
  EXPECT_EQ(lexicon.NameOf("a", true), a);
  EXPECT_EQ(lexicon.NameOf("c", true), 2U);  // b was foreseen
  EXPECT_EQ(lexicon.NameOf("c", false), 2U);
  EXPECT_EQ(lexicon.NameOf("a", false), a);
  EXPECT_EQ(lexicon.names.size(), 3U);
}

TEST(Lexicon, TracksDifferByEachPart) {
  Lexicon lexicon;
  const auto track = [&](std::string_view pid, std::string_view tid,
                         std::string_view device, bool on_gpu) {
    EventFields fields;
    fields.pid = {pid, true, false};
    fields.tid = {tid, true, false};
    if (!device.empty()) fields.device = {device, true, false};
    return lexicon.TrackOf(fields, on_gpu);
  };
  const uint32_t first = track("gpu", "7", "0", true);
  EXPECT_NE(track("gpu", "7", "1", true), first);
  EXPECT_NE(track("gpu", "7", "", true), first);
  EXPECT_NE(track("gpu", "17", "0", true), first);
  EXPECT_EQ(track("gpu", "7", "0", true), first);
  // The host's events have no device.
  EXPECT_EQ(track("9", "7", "1", false), track("9", "7", "", false));
}

TEST(RecordStore, KeepsWhatItWasGiven) {
  RecordStore store;
  std::vector<StoredBatch> kept;
  for (uint32_t i = 0; i < 300; ++i) {
    RecordBatch batch;
    batch.elements = i;
    batch.ops.resize(i % 7 == 0 ? 3000 : i % 5);
    batch.calls.resize(i % 3);
    for (auto* records : {&batch.ops, &batch.calls}) {
      for (EventRecord& record : *records) record.name = i;
    }
    kept.push_back(store.Keep(batch));
  }
  for (uint32_t i = 0; i < 300; ++i) {
    EXPECT_EQ(kept[i].elements, i);
    ASSERT_EQ(kept[i].ops.size(), i % 7 == 0 ? 3000 : i % 5);
    ASSERT_EQ(kept[i].calls.size(), i % 3);
    for (const auto records : {kept[i].ops, kept[i].calls}) {
      for (const EventRecord& record : records) EXPECT_EQ(record.name, i);
    }
  }
}

}  // namespace
}  // namespace inferdiff
