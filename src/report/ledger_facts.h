// SPDX-License-Identifier: Apache-2.0
// What is said of one ledger in more than one report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "ledger/ledger.h"
#include "ledger/left_out.h"

namespace inferdiff {

std::string_view VendorId(Vendor vendor);        // "nvidia", "unknown"
std::string_view SeverityId(Severity severity);  // "data_loss"

struct ImportRow {
  std::string_view id;
  Severity severity = Severity::kInfo;
  uint64_t count = 0;
  std::string_view sentence;
};
/// Counters above zero, the worst first.
std::vector<ImportRow> ImportRows(const ImportCounters& counters);

/// "NVIDIA H200 · rank 0 of 2 · SGLang · decode, batch 1 · 7 of 8 steps"
std::string SideFacts(const LedgerResult& ledger);

/// "library: 157 kB, crc32 89abcdef, Kineto JSON"
std::string InputText(const Provenance& source);

/// New tokens a step, where the marker says: its tokens, or its batch when it
/// decodes.
std::optional<int64_t> TokensOfStep(const StepShape& shape);

/// What the step borders rest on, and which steps are in no figure: sentences.
std::vector<std::string> StepEvidence(const Steps& steps, uint32_t group,
                                      const std::vector<RankRow>& ranks = {});

/// What a reader of the figures has to know: sentences, the gravest first.
std::vector<std::string> Doubts(const LedgerResult& ledger);

/// "f<int>(char*, long)" -> "f<int>": what a table has room for. What comes
/// before the parameters tells kernels apart.
std::string WithoutParameters(std::string_view name);

/// "rank wait", or "rank wait, at least".
std::string RankWaitTitle(const LedgerResult& ledger);

/// Mean of a total over the used steps.
Rational PerUsedStep(const LedgerResult& ledger, int64_t total);

}  // namespace inferdiff
