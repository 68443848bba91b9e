// SPDX-License-Identifier: Apache-2.0
// Ledgers of ranks as a file, of a whole set or of a part of it, so that ranks
// can be accounted on many machines and joined on one.
//
//   file 0, 2, 4 ... -> part 0 of 2 --+
//                                     +--> the whole --> JoinRanks
//   file 1, 3, 5 ... -> part 1 of 2 --+
//
// docs/format-ledger.md says what lies where in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text_pieces.h"
#include "ledger/packed_rank.h"

namespace inferdiff {

/// Counted up whenever what a ledger file holds changes.
inline constexpr uint32_t kLedgerFormat = 4;

/// More parts than any cluster's tasks.
inline constexpr uint32_t kMostShards = 1'000'000;

/// A trace of the set, accounted in this part or in another one.
struct SetFile {
  std::string label;
  std::optional<int64_t> name_rank;
  uint64_t size_bytes = 0;
};

/// How the server was started, as far as a file beside the traces says.
struct SetupFact {
  std::string name, value;
};

/// What all parts of a set agree on.
struct RankSetFacts {
  std::string program;  // version and commit of inferdiff
  std::string rules_hash;
  std::string label;
  std::vector<SetFile> files;  // in the order in which they are accounted
  std::vector<SetupFact> setup;
  StepGroup group;                      // the first file's that is accounted
  std::optional<int64_t> device, rank;  // taken of each file, where chosen
};

/// Files f with f mod shards = shard, each with one rank or more.
struct LedgerPart {
  RankSetFacts set;
  uint32_t shard = 0;
  uint32_t shards = 1;            // 1: the whole set
  std::vector<PackedRank> ranks;  // by file
};

/// Whether the file says that it is a ledger. Throws what InputFile throws.
bool IsLedgerFile(const std::string& path);

/// Pieces of the file, which is the same for the same part.
void WriteLedgerFile(const LedgerPart& part, const TextSink& sink);

/// Throws InputError: what InputFile throws, "damaged-ledger" and
/// "other-version". The ranks are checked when they are unpacked.
LedgerPart ReadLedgerFile(const std::string& path);

/// A part and the name of its file, for messages.
struct NamedPart {
  std::string path;
  LedgerPart part;
};

/// In any order; the result is what one process would have made of the set.
/// Throws InputError "parts-differ" where they are not parts of one set, or
/// one stands twice, and "missing-parts".
LedgerPart JoinParts(std::vector<NamedPart> parts);

}  // namespace inferdiff
