// SPDX-License-Identifier: Apache-2.0
// What the name of a trace says about its rank: engines write one file a rank
// and put into its name what they leave out of its metadata.
//
//   1782843274.77-TP-3-DP-1-DECODE.trace.json.gz     SGLang
//   dp0_pp0_tp3_dcp0_ep3_rank3.1759300074.pt.trace.json.gz      vLLM
//   rank_3/DeepSeek_ts_20260301_101500_123.pt.trace.json.gz     ATOM
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inferdiff {

/// Indices as written; absent = the name does not say.
struct FileNameFacts {
  std::optional<int64_t> rank;  // "rank3", "rank-3", "rank_3/"
  std::optional<int64_t> tensor, data, pipeline, expert;
  /// "decode", "prefill" (also for EXTEND), or empty.
  std::string stage;
  /// Whatever the name does not use for the above: equal for the ranks of one
  /// capture. "1782843274.77"
  std::string run;
};

/// `path` may have folders; of those only the last one counts.
FileNameFacts FactsOfFileName(std::string_view path);

}  // namespace inferdiff
