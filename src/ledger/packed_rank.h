// SPDX-License-Identifier: Apache-2.0
// A rank's ledger, small: a thousand of them wait in memory for one another,
// or in files.
#pragma once

#include <cstdint>
#include <string>

#include "ledger/ledger.h"

namespace inferdiff {

/// What orders ranks is at hand; the rest is compressed, to a twentieth or
/// less. The same bytes for the same ledger.
struct PackedRank {
  uint32_t file = 0;  // of its set: index in RankSetFacts::files
  Provenance source;
  StepShape shape;    // of the group accounted
  std::string calls;  // LedgerResult::collectives
  std::string rest;
};

/// `rank` is built with LedgerOptions::keep_samples, and its rank wait has not
/// been moved.
PackedRank Pack(const LedgerResult& rank);

/// Throws InputError "damaged-ledger", however the rank came to be: what it
/// says is checked, and that it adds up. Indices are in their ranges.
LedgerResult Unpack(const PackedRank& packed);

/// Only its calls: their times, names and groups are checked, nothing else.
Collectives UnpackCalls(const PackedRank& packed);

}  // namespace inferdiff
