// SPDX-License-Identifier: Apache-2.0
// What a cycle costs, of one ledger and of two beside each other.
#pragma once

#include <optional>

#include "compare/compare.h"
#include "ledger/ledger.h"
#include "report/document.h"
#include "report/json_stream.h"

namespace inferdiff {

/// Nothing where there is nothing to say: no cycle, as of a prefill.
std::optional<Section> CycleSection(const LedgerResult& ledger);
/// Nothing where neither side has cycles.
std::optional<Section> CycleSection(const CompareResult& result);

/// The member `cycles`.
void WriteCycles(const LedgerResult& ledger, JsonStream& out);
void WriteCycles(const CompareResult& result, JsonStream& out);

}  // namespace inferdiff
