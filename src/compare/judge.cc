// SPDX-License-Identifier: Apache-2.0
// Whether two sides did the same work.
#include <fmt/core.h>

#include <charconv>

#include "base/number.h"
#include "base/text.h"
#include "compare/setup.h"
#include "compare/side.h"
#include "ledger/capture_run.h"

namespace inferdiff {
namespace {

std::string Difference(const SetupRow& row) {
  return fmt::format("{}: {} on A, {} on B", row.field, row.a, row.b);
}

/// One model, but not the same checkpoint: "R1" and "R1-FP8".
bool PrecisionDiffers(const SetupRow& row) {
  return row.field == kFactModel && row.same && *row.same &&
         Lower(row.a) != Lower(row.b);
}

/// A row's number on one side.
std::optional<int64_t> NumberOf(const std::vector<SetupRow>& setup,
                                std::string_view field,
                                std::string SetupRow::*side) {
  for (const SetupRow& row : setup) {
    if (row.field != field) continue;
    const std::string& text = row.*side;
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return {};
}

/// What a set-up file says and the trace beside it denies: the file may be of
/// another run.
void AddContradictions(const std::vector<SetupRow>& setup,
                       std::string SetupRow::*side, std::string_view name,
                       std::vector<std::string>* reasons) {
  const auto world = NumberOf(setup, kWorldSize, side);
  const auto tensor = NumberOf(setup, kFactTp, side);
  const int64_t pipeline = NumberOf(setup, kFactPp, side).value_or(1);
  // The ranks of one engine are the stages times the shards of each.
  if (world && tensor && pipeline > 0 &&
      (*world % pipeline != 0 || *world / pipeline != *tensor)) {
    reasons->push_back(fmt::format(
        "the set-up file of {} does not fit its trace: tensor parallel {}, "
        "pipeline parallel {}, but world size {}",
        name, *tensor, pipeline, *world));
  }
  std::string mode, graphs;
  for (const SetupRow& row : setup) {
    if (row.field == kGraphMode) mode = row.*side;
    if (row.field == kFactGraphs) graphs = row.*side;
  }
  if (graphs == kGraphsDisabled && !mode.empty() && mode != kEager) {
    reasons->push_back(fmt::format(
        "the set-up file of {} does not fit its trace: CUDA graphs disabled, "
        "but {}",
        name, mode));
  }
}

std::string WhyNoWall(Basis basis) {
  return basis == Basis::kReplaySpan
             ? "a side has one step and nothing after it, so the wall time of "
               "a step is unknown: graph replay spans are compared"
             : "a side has one step and nothing after it, so the wall time of "
               "a step is unknown: spans from a step's first op to its last "
               "are compared";
}

/// Where only one side has collectives, the model is split differently, even
/// if the traces state nothing of it.
std::string OneSided(const LedgerResult& a, const LedgerResult& b,
                     Category category) {
  const auto ops = [&](const LedgerResult& ledger) {
    return ledger.categories[static_cast<size_t>(category)].count;
  };
  // What a table has no row for it may have all the same.
  if (a.published || b.published) return {};
  if ((ops(a) == 0) == (ops(b) == 0)) return {};
  const bool on_a = ops(a) > 0;
  const LedgerResult& with = on_a ? a : b;
  return fmt::format("{} operations: {} a step on {}, none on {}",
                     TitleOf(category),
                     Decimal({ops(with), with.used_steps}, 0), on_a ? "A" : "B",
                     on_a ? "B" : "A");
}

/// Returns whether a capture is of no use.
bool AddCaptureReasons(const LedgerResult& a, const LedgerResult& b,
                       std::vector<std::string>* reasons) {
  bool refused = false;
  for (const auto& [name, ledger] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    for (const CaptureCheck& check : ledger->capture_checks) {
      if (check.weight == Weight::kNote) continue;
      refused |= check.weight == Weight::kRefusal;
      reasons->push_back(
          fmt::format("{}'s capture: {}", name, TitleOf(check.kind)));
    }
  }
  return refused;
}

}  // namespace

std::string OtherWork(const LedgerResult& side, const LedgerResult& serial) {
  for (const SetupRow& row : SetupTable(side, {}, serial, {})) {
    const bool must_match = row.role == RowRole::kRequired ||
                            row.field == kGpu || row.field == kVendor ||
                            row.field == kDepth;
    const bool differs =
        !row.a.empty() && !row.b.empty() && !row.same.value_or(row.a == row.b);
    if (must_match && differs)
      return fmt::format("{}: {} against {}", row.field, row.a, row.b);
  }
  return {};
}

ComparableResult Judge(const std::vector<SetupRow>& setup,
                       const LedgerResult& a, const LedgerResult& b,
                       Basis basis) {
  ComparableResult result;
  bool impossible = false;
  for (const auto& [name, ledger] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    if (ledger->used_steps > 0) continue;
    impossible = true;
    result.reasons.push_back(fmt::format("{} has no step to compare", name));
  }
  for (const auto& [name, ledger] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    if (!IsCaptureRun(*ledger)) continue;
    impossible = true;
    result.reasons.push_back(fmt::format("{} is no inference: the run {}", name,
                                         CaptureRunText(*ledger)));
  }
  impossible |= AddCaptureReasons(a, b, &result.reasons);
  for (const RowRole role : {RowRole::kRequired, RowRole::kReservation}) {
    for (const SetupRow& row : setup) {
      if (row.role != role) continue;
      if (!row.same) result.unknown.push_back(row.field);
      if (PrecisionDiffers(row))
        result.reasons.push_back("checkpoints of one " + Difference(row));
      if (!row.same || *row.same) continue;
      impossible = impossible || role == RowRole::kRequired;
      result.reasons.push_back(Difference(row));
    }
  }
  AddContradictions(setup, &SetupRow::a, "A", &result.reasons);
  AddContradictions(setup, &SetupRow::b, "B", &result.reasons);
  if (!impossible) {
    for (const Category category :
         {Category::kCommunication, Category::kMoeGemm, Category::kAttention})
      if (std::string split = OneSided(a, b, category); !split.empty())
        result.reasons.push_back(std::move(split));
    if (basis != Basis::kWall) result.reasons.push_back(WhyNoWall(basis));
  }
  if (impossible)
    result.verdict = Comparability::kNo;
  else if (!result.reasons.empty() || !result.unknown.empty())
    result.verdict = Comparability::kWithReservations;
  return result;
}

}  // namespace inferdiff
