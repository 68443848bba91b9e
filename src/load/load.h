// SPDX-License-Identifier: Apache-2.0
// A path -> everything found in the trace -> its ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "ledger/ledger.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// Which of a file's traces; what is not named is left to busy time.
struct DeviceChoice {
  std::optional<int64_t> device, rank;
};

struct LoadOptions {
  unsigned threads = 0;
  DeviceChoice device;
  std::function<void(double)> progress;
  bool results = false;  // a published table may be named in place of a trace
};

/// One device of one file, with its classes and steps.
struct LoadedTrace {
  SourceFile source;
  std::vector<DeviceTotals> devices;  // by index in source.traces
  size_t index = 0;                   // the device accounted
  Classification classes;
  Steps steps;
  unsigned threads = 0;  // as asked for; 0 = one a processor

  const Trace& trace() const { return source.traces[index]; }
};

/// Made ready by a thread of their own while a trace is read.
using Rules = std::shared_future<RuleSet>;

/// The built-in rules, behind those of a user's file where `path` is one.
/// Throws InputError: "cannot-read", "bad-rules".
Rules LoadRules(const std::string& path, unsigned threads);

/// Throws InputError: what ReadTrace throws, and "no-device", "no-rank",
/// "is-ledger".
LoadedTrace LoadTrace(const std::string& path, const Rules& rules,
                      const LoadOptions& options);

/// Without the framework, which the accounting knows.
Provenance ProvenanceOf(const LoadedTrace& loaded, const RuleSet& rules);

/// The ledger of the rank as part of a set (ledger/rank_set.h). The trace
/// stays; its steps do not.
LedgerResult AccountRank(LoadedTrace* loaded, const RuleSet& rules,
                         uint32_t group);

/// The group asked for, or the main one. Throws InputError "no-group".
uint32_t ChosenGroup(const LoadedTrace& loaded, std::optional<int64_t> group);

/// Consumes the loaded trace: a ledger needs none of it. Throws InputError
/// "no-group".
LedgerResult AccountTrace(LoadedTrace loaded, const RuleSet& rules,
                          std::optional<int64_t> group);

/// "run/TP-0.trace.json.gz" -> "TP-0", "node7/4711_kernel_trace.csv" -> "4711":
/// a result holds no path.
std::string LabelOf(const std::string& path);

/// Records were lost: --strict exits 1.
bool LostData(const ImportCounters& counters);

}  // namespace inferdiff
