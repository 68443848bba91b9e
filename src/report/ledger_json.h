// SPDX-License-Identifier: Apache-2.0
// A ledger as JSON; docs/json.md describes it field by field.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ledger/ledger.h"

namespace inferdiff {

/// Version of the JSON's shape. It only grows: a field keeps its meaning.
inline constexpr int kJsonSchema = 1;

/// A number up to 2^53, a string beyond: readers that keep numbers as doubles
/// would round it in silence.
nlohmann::ordered_json JsonInt(int64_t value);

/// An exact fraction as a number rounded to a thousandth.
nlohmann::ordered_json JsonRational(Rational value);

/// {total, n, median, p10, p90, min, max}; all 0 where n is.
nlohmann::ordered_json JsonStat(const Stat& stat);

/// Parts that several documents have: {input, trace, import}, the groups of
/// equal steps, a kernel's row, the rules that matched.
nlohmann::ordered_json JsonSource(const Provenance& source);
nlohmann::ordered_json JsonGroups(const Steps& steps);
nlohmann::ordered_json JsonKernel(const KernelRow& kernel);
nlohmann::ordered_json JsonRules(const std::vector<RuleHits>& hits);

/// Everything of a ledger but `schema` and what else begins a document.
nlohmann::ordered_json LedgerJson(const LedgerResult& ledger);

/// Begins a document: schema, program, version.
nlohmann::ordered_json JsonDocument(std::string_view kind,
                                    const std::string& rules_hash);

/// Indented, ending in a newline; invalid UTF-8 becomes U+FFFD.
std::string JsonText(const nlohmann::ordered_json& document);

/// The whole document of `inferdiff ledger`.
std::string LedgerJsonText(const LedgerResult& ledger);

}  // namespace inferdiff
