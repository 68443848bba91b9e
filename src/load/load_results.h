// SPDX-License-Identifier: Apache-2.0
// Results instead of traces as a side of `compare`: a published table, or the
// JSON of `ledger`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/rational.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// "ledger.csv:gb300_serial" is a file and one side of it; a file of just one
/// side needs no name; "a.json" is a ledger. Nothing where the words name no
/// such file. Throws InputError: "bad-table", "bad-ledger-json", and what
/// InputFile throws.
std::optional<LedgerResult> LoadResult(const std::vector<std::string>& words);

/// The file of such words, without the side.
std::string FileOfResult(const std::string& word);

/// Nanoseconds of "4.61ms", or of an arm's step, "arms.csv:w3-base-sim".
/// Throws InputError "usage" with the option's name, and "bad-table".
Rational TimeOrArm(const std::string& option, const std::string& text);

/// Tokens that a sequence gets of a cycle: "3.1", or those of an arm,
/// "arms.csv:w3-base-sim". Nothing for other text and for less than 1. Throws
/// InputError "bad-table".
std::optional<Rational> AcceptedOrArm(std::string_view text);

}  // namespace inferdiff
