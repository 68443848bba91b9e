// SPDX-License-Identifier: Apache-2.0
// The set-up table and the verdict: is this the same work on two platforms?
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// Names of SetupRow::field that facts may carry.
inline constexpr std::string_view kFactModel = "model";
inline constexpr std::string_view kFactFramework = "framework";
inline constexpr std::string_view kFactVersion = "framework version";
inline constexpr std::string_view kFactTp = "tensor parallel";
inline constexpr std::string_view kFactEp = "expert parallel";
inline constexpr std::string_view kFactDp = "data parallel";
inline constexpr std::string_view kFactPp = "pipeline parallel";
inline constexpr std::string_view kFactDtype = "dtype";
inline constexpr std::string_view kFactQuantization = "quantization";
inline constexpr std::string_view kFactKvDtype = "KV cache dtype";
inline constexpr std::string_view kFactSpeculative = "speculative decoding";
inline constexpr std::string_view kGpu = "GPU";
inline constexpr std::string_view kVendor = "vendor";
inline constexpr std::string_view kDepth = "attention blocks";
inline constexpr std::string_view kWorldSize = "world size";
inline constexpr std::string_view kGraphMode = "graph mode";
inline constexpr std::string_view kEager = "eager";  // of kGraphMode
inline constexpr std::string_view kFactGraphs = "CUDA graphs";
inline constexpr std::string_view kGraphsDisabled = "disabled";
inline constexpr std::string_view kFactAttention = "attention backend";
inline constexpr std::string_view kFactMoe = "MoE backend";

std::vector<SetupRow> SetupTable(const LedgerResult& a,
                                 const SetupFacts& facts_a,
                                 const LedgerResult& b,
                                 const SetupFacts& facts_b);

/// A known difference in a required row is "no"; one in a row that should
/// match, or a row that a side does not state, is a reservation.
ComparableResult Judge(const std::vector<SetupRow>& setup,
                       const LedgerResult& a, const LedgerResult& b,
                       Basis basis);

/// Why `serial` cannot be `side` without its side streams, "batch: 4 against
/// 8"; empty where nothing says so.
std::string OtherWork(const LedgerResult& side, const LedgerResult& serial);

/// The model's name without what only says its precision, in lower case:
/// "DeepSeek-R1-0528-FP8" and "deepseek-r1-0528-mxfp4" are one model.
std::string ModelKey(std::string_view model);

/// Is most of the step inside graph replays?
bool RunsGraphs(const LedgerResult& ledger);

}  // namespace inferdiff
