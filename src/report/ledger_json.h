// SPDX-License-Identifier: Apache-2.0
// A ledger as JSON; docs/json.md describes it field by field.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ledger/ledger.h"
#include "report/json_stream.h"

namespace inferdiff {

/// Version of the JSON's shape. It only grows: a field keeps its meaning.
inline constexpr int kJsonSchema = 1;

/// A number up to 2^53, a string beyond: readers that keep numbers as doubles
/// would round it in silence.
nlohmann::ordered_json JsonInt(int64_t value);

/// null where nothing is known.
nlohmann::ordered_json JsonInt(std::optional<int64_t> value);
/// null where it is empty.
nlohmann::ordered_json JsonText(const std::string& text);

/// An exact fraction as a number rounded to a thousandth.
nlohmann::ordered_json JsonRational(Rational value);

/// {total, n, median, p10, p90, min, max}; all 0 where n is.
nlohmann::ordered_json JsonStat(const Stat& stat);

/// Parts that several documents have: {input, trace, import}, the groups of
/// equal steps, a kernel's row, the rules that matched.
nlohmann::ordered_json JsonSource(const Provenance& source);
nlohmann::ordered_json JsonGroups(const Steps& steps);
nlohmann::ordered_json JsonKernel(const KernelRow& kernel);
nlohmann::ordered_json JsonCheck(const CaptureCheck& check);
nlohmann::ordered_json JsonRules(const std::vector<RuleHits>& hits);

/// Everything of a ledger but `schema` and what else begins a document.
void WriteLedgerMembers(const LedgerResult& ledger, JsonStream& out);

/// What begins a document: schema, kind, version, rules.
nlohmann::ordered_json JsonDocument(std::string_view kind,
                                    const std::string& rules_hash);

/// The whole document of `inferdiff ledger`.
void WriteLedgerJson(const LedgerResult& ledger, const TextSink& sink);

}  // namespace inferdiff
