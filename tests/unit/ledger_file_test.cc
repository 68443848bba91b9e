// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger_file.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/archive.h"
#include "base/error.h"
#include "base/zstd_frame.h"
#include "ledger/archive_fields.h"
#include "ledger/rank_set.h"
#include "temp_text.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

const RuleSet& Rules() {
  static const RuleSet rules = RuleSet::Load();
  return rules;
}

/// A rank whose ledger has something in every field that a ledger can have.
LedgerResult RankOf(int64_t rank) {
  TraceBuilder builder;
  for (int64_t step = 0; step < 8; ++step) {
    const int64_t at = step * 3000 + step * step % 7 * 13;
    builder.Mark(step == 5 ? "step[EXTEND bs=1]" : "step[DECODE bs=4]", at - 5,
                 1500);
    builder.Eager("nvjet_tst_64x64", at - 4, at, 500 + 10 * rank);
    builder.Eager("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", at - 3,
                  at + 500 + 10 * rank, 60 - 10 * rank + step);
    builder.Eager("rms_norm_kernel", at - 2, at + 540, 30, 8);
  }
  Trace trace = builder.Build();
  trace.info.rank = rank;
  trace.process_groups = {"tp [0, 1]"};
  const Classification classes = Classify(trace, Rules());
  LedgerOptions options;
  options.keep_samples = true;
  LedgerResult ledger =
      BuildLedger(trace, classes, Rules(), FindSteps(trace, classes), options);
  ledger.source.label = "TP-" + std::to_string(rank);
  ledger.source.name_rank = rank;
  ledger.source.size_bytes = 123;
  ledger.source.crc32 = 0x89abcdef;
  ledger.source.counters.Add(Counter::kLongName, 3);
  ledger.source.counters.Add(Counter::kUnlinkedOp, uint64_t{1} << 63);
  return ledger;
}

LedgerPart WholeOf(uint32_t ranks) {
  LedgerPart part;
  part.set.program = "1.2.3 (abc)";
  part.set.rules_hash = Rules().hash();
  part.set.label = "set";
  part.set.setup = {{"tp", "2"}};
  part.set.device = -1;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    part.set.files.push_back({"TP-" + std::to_string(rank), rank, 123});
    part.ranks.push_back(Pack(RankOf(rank)));
    part.ranks.back().file = rank;
  }
  return part;
}

std::string BytesOf(const LedgerPart& part) {
  std::string bytes;
  WriteLedgerFile(part, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

LedgerPart Read(const std::string& bytes) {
  const TempText file(bytes);
  return ReadLedgerFile(file.path());
}

LedgerPart ShardOf(const LedgerPart& whole, uint32_t shard, uint32_t shards) {
  LedgerPart part{whole.set, shard, shards, {}};
  for (const PackedRank& rank : whole.ranks)
    if (rank.file % shards == shard) part.ranks.push_back(rank);
  return part;
}

TEST(PackedRank, ComesBackAsItWas) {
  const LedgerResult rank = RankOf(1);
  const LedgerResult back = Unpack(Pack(rank));
  EXPECT_EQ(ToArchive(back), ToArchive(rank));
  EXPECT_EQ(ToArchive(back.collectives), ToArchive(rank.collectives));
  EXPECT_EQ(ToArchive(back.source), ToArchive(rank.source));
  // What is not stored follows from the rest.
  EXPECT_EQ(back.per_step.wall.total, rank.per_step.wall.total);
  EXPECT_EQ(back.per_step.idle_queued.p90, rank.per_step.idle_queued.p90);
  EXPECT_EQ(back.per_step.launch_lead.median, rank.per_step.launch_lead.median);
  EXPECT_EQ(back.per_step.rank_wait.n, rank.per_step.rank_wait.n);
  ASSERT_FALSE(rank.kernels.empty());
  for (size_t i = 0; i < rank.kernels.size(); ++i) {
    EXPECT_EQ(back.kernels[i].call_ns.total, rank.kernels[i].call_ns.total);
    EXPECT_EQ(back.kernels[i].call_ns.p10, rank.kernels[i].call_ns.p10);
  }
}

TEST(PackedRank, IsTheSameForTheSameLedger) {
  EXPECT_EQ(Pack(RankOf(0)).rest, Pack(RankOf(0)).rest);
}

/// Damage that a checksum would find does not get past the checks without
/// one: either it is refused, or what was read adds up.
TEST(PackedRank, DamageIsRefusedOrHarmless) {
  const LedgerResult rank = RankOf(0);
  const PackedRank good = Pack(rank);
  const std::string archives[] = {ToArchive(rank.collectives), ToArchive(rank)};
  std::mt19937_64 random(7);
  size_t refused = 0;
  size_t harmless = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool of_calls = random() % 2 == 0;
    std::string bytes = archives[of_calls ? 0 : 1];
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    for (uint64_t flips = random() % 3 + 1; flips > 0 && !bytes.empty();
         --flips) {
      char& byte = bytes[random() % bytes.size()];
      byte = static_cast<char>(byte ^ (1 << random() % 8));
    }
    PackedRank bad = good;
    (of_calls ? bad.calls : bad.rest) = ZstdFrame(bytes);
    try {
      JoinRanks({good, bad}, "set");
      ++harmless;
    } catch (const InputError&) {
      ++refused;
    } catch (const ContractError&) {
      ++refused;  // JoinLedger calls it damage
    }
  }
  EXPECT_GT(refused, 1'000U);
  EXPECT_GT(harmless, 100U);
}

TEST(LedgerFile, ComesBackAsItWas) {
  const LedgerPart part = WholeOf(2);
  const std::string bytes = BytesOf(part);
  const LedgerPart back = Read(bytes);
  EXPECT_EQ(BytesOf(back), bytes);
  EXPECT_EQ(back.set.files[1].label, "TP-1");
  EXPECT_EQ(back.ranks[1].source.counters[Counter::kUnlinkedOp],
            uint64_t{1} << 63);
}

TEST(LedgerFile, EveryCutAndFlipIsFound) {
  const std::string bytes = BytesOf(WholeOf(2));
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_THROW(Read(bytes.substr(0, size)), InputError) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    EXPECT_THROW(Read(bad), InputError) << i;
  }
}

TEST(LedgerFile, PartsJoinToTheSameBytes) {
  const LedgerPart whole = WholeOf(5);
  for (const uint32_t shards : {1U, 2U, 3U, 4U, 7U}) {
    std::vector<NamedPart> parts;
    for (uint32_t shard = shards; shard-- > 0;) {
      parts.push_back({"part " + std::to_string(shard),
                       Read(BytesOf(ShardOf(whole, shard, shards)))});
    }
    EXPECT_EQ(BytesOf(JoinParts(std::move(parts))), BytesOf(whole));
  }
}

TEST(LedgerFile, PartsOfSeveralSetsDoNotJoin) {
  const LedgerPart whole = WholeOf(2);
  const auto id_of = [&](LedgerPart a, LedgerPart b) -> std::string {
    try {
      JoinParts({{"a", std::move(a)}, {"b", std::move(b)}});
    } catch (const InputError& error) {
      return error.id;
    }
    return "";
  };
  const LedgerPart a = ShardOf(whole, 0, 2);
  const LedgerPart b = ShardOf(whole, 1, 2);
  EXPECT_EQ(id_of(a, b), "");
  EXPECT_EQ(id_of(b, a), "");
  EXPECT_EQ(id_of(a, a), "parts-differ");
  EXPECT_EQ(id_of(a, ShardOf(whole, 1, 3)), "parts-differ");
  EXPECT_EQ(id_of(ShardOf(whole, 0, 3), ShardOf(whole, 1, 3)), "missing-parts");
  LedgerPart other = b;
  other.set.program = "1.2.4 (abd)";
  EXPECT_EQ(id_of(a, other), "parts-differ");
  other = b;
  other.set.files[0].size_bytes = 124;
  EXPECT_EQ(id_of(a, other), "parts-differ");
  other = b;
  other.set.group.shape.batch = 8;
  EXPECT_EQ(id_of(a, other), "parts-differ");
}

}  // namespace
}  // namespace inferdiff
