// SPDX-License-Identifier: Apache-2.0
#include "compare/setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/number.h"
#include "base/text.h"
#include "compare/sentences.h"
#include "compare/side.h"
#include "ledger/capture_run.h"

namespace inferdiff {
namespace {

constexpr std::string_view kWorldSize = "world size";
constexpr std::string_view kGraphMode = "graph mode";
constexpr std::string_view kEager = "eager";

std::string FactOf(const SetupFacts& facts, std::string_view field) {
  for (const auto& [name, value] : facts) {
    if (name == field) return value;
  }
  return {};
}

std::string TextOf(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : std::string();
}

std::string_view VendorName(Vendor vendor) {
  switch (vendor) {
    case Vendor::kNvidia:
      return "NVIDIA";
    case Vendor::kAmd:
      return "AMD";
    case Vendor::kUnknown:
      break;
  }
  return "";
}

const StepGroup& GroupOf(const LedgerResult& ledger) {
  static const StepGroup kEmpty;
  return ledger.group < ledger.steps.groups.size()
             ? ledger.steps.groups[ledger.group]
             : kEmpty;
}

std::string ContextText(const StepGroup& group) {
  if (group.context_min && group.context_max &&
      *group.context_min != *group.context_max)
    return fmt::format("{} to {}", *group.context_min, *group.context_max);
  return TextOf(group.shape.context ? group.shape.context : group.context_min);
}

std::string KindText(StepKind kind) {
  return kind == StepKind::kUnknown ? std::string() : std::string(IdOf(kind));
}

std::string GraphMode(const LedgerResult& ledger) {
  if (ledger.sequence.empty()) return {};
  const Rational share = ReplayShare(ledger);
  if (share.num == 0) return std::string(kEager);
  if (share.num == share.den) return "graph replays";
  return fmt::format("{} in graph replays", Share(share, {1, 1}, 1));
}

/// A world of one rank leaves no choice.
std::string ParallelText(const LedgerResult& ledger, const SetupFacts& facts,
                         std::string_view field) {
  std::string text = FactOf(facts, field);
  if (text.empty() && ledger.source.info.world_size == 1 && field != kFactDp)
    return std::string(1, '1');
  return text;
}

std::string StepsText(const LedgerResult& ledger) {
  if (ledger.published) return {};
  return fmt::format("{} of {}", ledger.used_steps, ledger.steps.steps.size());
}

/// One side's texts, in the order of kRows.
struct SideTexts {
  const LedgerResult& ledger;
  const SetupFacts& facts;

  std::string Fact(std::string_view field) const {
    return FactOf(facts, field);
  }
  std::string Framework() const {
    const FrameworkHint& hint = ledger.source.framework_hint;
    if (hint.basis == HintBasis::kKernels) return hint.name;
    std::string stated = Fact(kFactFramework);
    if (!stated.empty() || hint.name.empty()) return stated;
    return fmt::format("unknown (marker form: {})", hint.name);
  }
  bool FrameworkKnown() const {
    return ledger.source.framework_hint.basis == HintBasis::kKernels ||
           !Fact(kFactFramework).empty();
  }
  std::string Parallel(std::string_view field) const {
    return ParallelText(ledger, facts, field);
  }
  const StepGroup& group() const { return GroupOf(ledger); }
};

class TableBuilder {
 public:
  TableBuilder(SideTexts a, SideTexts b) : a_(a), b_(b) {}

  template <typename Text>
  SetupRow& Add(std::string_view field, RowRole role, Text text) {
    SetupRow row{std::string(field),
                 std::string(text(a_)),
                 std::string(text(b_)),
                 {},
                 role};
    if (!row.a.empty() && !row.b.empty()) row.same = row.a == row.b;
    rows_.push_back(std::move(row));
    return rows_.back();
  }
  void AddFact(std::string_view field, RowRole role) {
    Add(field, role, [&](const SideTexts& side) { return side.Fact(field); });
  }
  void AddParallel(std::string_view field) {
    Add(field, RowRole::kReservation,
        [&](const SideTexts& side) { return side.Parallel(field); });
  }
  const SideTexts& a() const { return a_; }
  const SideTexts& b() const { return b_; }
  std::vector<SetupRow> Take() { return std::move(rows_); }

 private:
  SideTexts a_, b_;
  std::vector<SetupRow> rows_;
};

void AddPlatform(TableBuilder* table) {
  table->Add("GPU", RowRole::kShown, [](const SideTexts& side) {
    return side.ledger.source.info.gpu_name;
  });
  table->Add("vendor", RowRole::kShown, [](const SideTexts& side) {
    return VendorName(side.ledger.source.info.vendor);
  });
  table->Add("runtime", RowRole::kShown, [](const SideTexts& side) {
    return side.ledger.source.info.runtime_version;
  });
}

void AddWork(TableBuilder* table) {
  SetupRow& model =
      table->Add(kFactModel, RowRole::kRequired,
                 [](const SideTexts& side) { return side.Fact(kFactModel); });
  if (model.same) model.same = ModelKey(model.a) == ModelKey(model.b);
  table->Add("step kind", RowRole::kRequired, [](const SideTexts& side) {
    return KindText(side.group().shape.kind);
  });
  table->Add("batch", RowRole::kRequired, [](const SideTexts& side) {
    return TextOf(side.group().shape.batch);
  });
  table->Add("tokens", RowRole::kRequired, [](const SideTexts& side) {
    return TextOf(side.group().shape.tokens);
  });
}

void AddSoftware(TableBuilder* table) {
  SetupRow& framework =
      table->Add(kFactFramework, RowRole::kReservation,
                 [](const SideTexts& side) { return side.Framework(); });
  if (!table->a().FrameworkKnown() || !table->b().FrameworkKnown())
    framework.same.reset();
  table->AddFact(kFactVersion, RowRole::kReservation);
  for (const auto field : {kFactTp, kFactEp, kFactDp, kFactPp})
    table->AddParallel(field);
  table->Add(kWorldSize, RowRole::kReservation, [](const SideTexts& side) {
    return TextOf(side.ledger.source.info.world_size);
  });
  for (const auto field :
       {kFactDtype, kFactQuantization, kFactKvDtype, kFactSpeculative})
    table->AddFact(field, RowRole::kReservation);
  SetupRow& graphs =
      table->Add(kGraphMode, RowRole::kReservation,
                 [](const SideTexts& side) { return GraphMode(side.ledger); });
  if (graphs.same) {
    // The share differs a little between any two; the mode does not.
    graphs.same = (graphs.a == kEager) == (graphs.b == kEager);
  }
  for (const auto field : {kFactGraphs, kFactAttention, kFactMoe})
    table->AddFact(field, RowRole::kShown);
}

void AddEvidence(TableBuilder* table) {
  table->Add("steps used", RowRole::kShown,
             [](const SideTexts& side) { return StepsText(side.ledger); });
  table->Add("step evidence", RowRole::kShown, [](const SideTexts& side) {
    return side.ledger.published ? "" : IdOf(side.ledger.steps.evidence);
  });
}

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
std::string OneSidedCollectives(const LedgerResult& a, const LedgerResult& b) {
  const auto ops = [](const LedgerResult& ledger) {
    return ledger.categories[static_cast<size_t>(Category::kCommunication)]
        .count;
  };
  // What a table has no row for it may have all the same.
  if (a.published || b.published) return {};
  if ((ops(a) == 0) == (ops(b) == 0)) return {};
  const bool on_a = ops(a) > 0;
  const LedgerResult& with = on_a ? a : b;
  return fmt::format("communication operations: {} a step on {}, none on {}",
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

std::string ModelKey(std::string_view model) {
  static constexpr std::array<std::string_view, 16> kPrecisions = {
      "fp8",  "fp4",  "nvfp4", "mxfp4", "mxfp8", "bf16",  "fp16",    "int4",
      "int8", "w4a8", "w8a8",  "awq",   "gptq",  "w4a16", "dynamic", "ptpc"};
  std::string key, word;
  const auto flush = [&] {
    const bool precision =
        std::count(kPrecisions.begin(), kPrecisions.end(), word) > 0;
    if (!word.empty() && !precision) {
      if (!key.empty()) key += '-';
      key += word;
    }
    word.clear();
  };
  for (const char c : Lower(model)) {
    if (c == '-' || c == '_')
      flush();
    else
      word += c;
  }
  flush();
  return key;
}

bool RunsGraphs(const LedgerResult& ledger) {
  return Rational{1, 2} < ReplayShare(ledger);
}

std::vector<SetupRow> SetupTable(const LedgerResult& a,
                                 const SetupFacts& facts_a,
                                 const LedgerResult& b,
                                 const SetupFacts& facts_b) {
  TableBuilder table({a, facts_a}, {b, facts_b});
  AddPlatform(&table);
  AddWork(&table);
  SetupRow& context = table.Add(
      "context", RowRole::kRequired,
      [](const SideTexts& side) { return ContextText(side.group()); });
  if (context.same) context.same = !ContextsDiffer(GroupOf(a), GroupOf(b));
  AddSoftware(&table);
  AddEvidence(&table);
  return table.Take();
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
    if (std::string split = OneSidedCollectives(a, b); !split.empty())
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
