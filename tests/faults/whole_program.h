// SPDX-License-Identifier: Apache-2.0
// A file through everything that the program does with it, in one process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "classify/classify.h"
#include "compare/compare.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "ledger/rank_set.h"
#include "ledger/step_layers.h"
#include "readers/reader.h"
#include "report/compare_report.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"
#include "steps/steps.h"

namespace inferdiff {

/// Ends the process, with what a finder of faults needs.
[[noreturn]] inline void FailWhole(const std::string& what) {
  std::fprintf(stderr, "whole program: %s\n", what.c_str());
  std::abort();
}

/// Integers beyond 2^53 are written as strings.
inline int64_t IntegerIn(const nlohmann::json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>())
                           : value.get<int64_t>();
}

/// The sums that every table rests on, by the JSON that people get.
inline void CheckLedgerText(const std::string& text) {
  const auto ledger = nlohmann::json::parse(text, nullptr, false);
  if (ledger.is_discarded()) FailWhole("the JSON does not parse");
  int64_t attributed = 0;
  for (const auto& row : ledger.at("categories")) {
    const std::string name = row.at("name");
    if (name == "foreign" || name == "idle") continue;
    attributed += IntegerIn(row.at("attributed_ns"));
  }
  const auto total = [&](const char* name) {
    return IntegerIn(ledger.at("per_step").at(name).at("total"));
  };
  if (attributed != total("busy_ns")) FailWhole("categories are not busy time");
  const int64_t walls = ledger.at("per_step").at("wall_ns").at("n");
  if (walls == ledger.at("steps").at("used").get<int64_t>() &&
      attributed + IntegerIn(ledger.at("coverage").at("foreign_ns")) +
              total("idle_ns") !=
          total("wall_ns")) {
    FailWhole("attributed, foreign and idle are not wall time");
  }
}

/// Of each used step: busy, foreign and idle are its wall.
inline void CheckSteps(const LedgerResult& ledger) {
  for (const StepAmounts& step : ledger.step_amounts) {
    if (step.busy !=
        step.sum - step.hidden_same_lane - step.hidden_cross_lane) {
      FailWhole("busy time of a step");
    }
    if (step.wall && *step.wall != step.busy + step.foreign + *step.idle) {
      FailWhole("wall time of a step");
    }
  }
}

/// What `inferdiff ledger` does with a file. Throws InputError.
inline LedgerResult LedgerOfFile(const std::string& path, const RuleSet& rules,
                                 unsigned threads) {
  if (IsLedgerFile(path)) {
    const LedgerPart part = ReadLedgerFile(path);
    return JoinRanks(part.ranks, part.set.label);
  }
  SourceFile file = ReadTrace(path, {threads, {}});
  const auto busy = [](const Trace& trace) {
    return TotalsOfDevice(trace).busy_ns;
  };
  const Trace& trace = *std::max_element(
      file.traces.begin(), file.traces.end(),
      [&](const Trace& a, const Trace& b) { return busy(a) < busy(b); });
  const Classification classes = Classify(trace, rules);
  LedgerOptions options;
  options.threads = threads;
  LedgerResult ledger =
      BuildLedger(trace, classes, rules, FindSteps(trace, classes), options);
  ledger.source.counters = file.counters;
  FillLayers(&ledger);
  return ledger;
}

/// All that `write` hands to a sink.
template <typename Write>
std::string Written(const Write& write) {
  std::string text;
  write([&text](std::string_view piece) { text += piece; });
  return text;
}

/// The JSON, checked; of a file that is refused the error's id and sentence.
inline std::string LedgerOutcome(const std::string& path, const RuleSet& rules,
                                 unsigned threads) {
  try {
    const LedgerResult ledger = LedgerOfFile(path, rules, threads);
    CheckSteps(ledger);
    std::string text =
        Written([&](const TextSink& sink) { WriteLedgerJson(ledger, sink); });
    CheckLedgerText(text);
    return text;
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (what.empty() || error.fix.empty()) FailWhole("an error without words");
    return error.id + ": " + what;
  }
}

/// Compares the file with another one and writes all forms of both results.
/// False where the file is refused.
inline bool CompareFiles(const std::string& path, const LedgerResult& other,
                         const RuleSet& rules) {
  try {
    LedgerResult ledger = LedgerOfFile(path, rules, 1);
    const Document document = LedgerDocument(ledger, 10);
    if (TerminalText(document, {}).empty() ||
        MarkdownDocument(document).empty() || LedgerTsv(ledger).empty()) {
      FailWhole("an empty report");
    }
    const CompareResult result =
        Compare(std::move(ledger), {}, LedgerResult(other), {}, {});
    const Document page = CompareDocument(result);
    if (TerminalText(page, {}).empty() || MarkdownDocument(page).empty() ||
        CompareTsvText(result).empty() ||
        !nlohmann::json::accept(Written(
            [&](const TextSink& sink) { WriteCompareJson(result, sink); }))) {
      FailWhole("an empty or broken comparison");
    }
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace inferdiff
