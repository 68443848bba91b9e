// SPDX-License-Identifier: Apache-2.0
#include "compare/setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/number.h"
#include "base/text.h"
#include "compare/sentences.h"
#include "compare/side.h"

namespace inferdiff {
namespace {

constexpr std::string_view kCycle = "cycle";

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

bool Drafts(const LedgerResult& ledger) {
  return KindOf(ledger.cycles) == CycleKind::kSpeculative;
}

bool Trains(const LedgerResult& ledger) {
  return KindOf(ledger.cycles) == CycleKind::kTraining;
}

/// "5 drafts and verification"; empty where cycles are not told.
std::string CycleText(const LedgerResult& ledger) {
  const Cycles& cycles = ledger.cycles;
  if (Trains(ledger)) return "training";
  if (!AreCycles(cycles)) return {};
  if (!Drafts(ledger)) return "one pass";
  if (cycles.most_drafts == 0) return "verification alone";
  return fmt::format("{} and verification",
                     cycles.least_drafts == cycles.most_drafts
                         ? Plural(cycles.most_drafts, "draft")
                         : fmt::format("{} to {} drafts", cycles.least_drafts,
                                       cycles.most_drafts));
}

/// Of the pass that is not drafted.
std::string DepthText(const LedgerResult& ledger) {
  const int64_t depth = ledger.cycles.verify_depth;
  return AreCycles(ledger.cycles) && depth > 0 ? std::to_string(depth)
                                               : std::string();
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
  table->Add(kGpu, RowRole::kShown, [](const SideTexts& side) {
    return side.ledger.source.info.gpu_name;
  });
  table->Add(kVendor, RowRole::kShown, [](const SideTexts& side) {
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

/// What the operations themselves tell of the work. Where a side does not tell
/// it, there is no row: its markers may.
void AddCycles(TableBuilder* table) {
  const LedgerResult &a = table->a().ledger, &b = table->b().ledger;
  if (CycleText(a).empty() || CycleText(b).empty()) return;
  // A cycle that drafts yields several tokens, one that does not yields one.
  const bool alike = Drafts(a) == Drafts(b) && Trains(a) == Trains(b);
  table->Add(kCycle, alike ? RowRole::kReservation : RowRole::kRequired,
             [](const SideTexts& side) { return CycleText(side.ledger); });
  if (!DepthText(a).empty() && !DepthText(b).empty())
    table->Add(kDepth, RowRole::kReservation,
               [](const SideTexts& side) { return DepthText(side.ledger); });
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
  AddCycles(&table);
  AddSoftware(&table);
  AddEvidence(&table);
  return table.Take();
}

}  // namespace inferdiff
