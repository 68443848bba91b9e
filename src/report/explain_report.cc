// SPDX-License-Identifier: Apache-2.0
#include "report/explain_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "report/ledger_facts.h"
#include "report/ledger_tables.h"
#include "report/ledger_text.h"

namespace inferdiff {
namespace {

std::string OpText(const OpReference& op) {
  return fmt::format("record {}, {}, at {} ns", op.ordinal,
                     Quoted(ElideMiddle(Printable(op.name), 60)), op.start_ns);
}

std::string RuleText(const RuleUse& use) {
  std::string text = fmt::format(
      "{}: {} operations, {}, by rule `{}`{}", TitleOf(use.category),
      Grouped(use.ops), Duration({use.sum_ns, 1}), use.rule,
      use.by_context ? ", which looks at the neighbours" : "");
  if (!use.library.empty()) text += fmt::format(", library {}", use.library);
  return use.why.empty() ? text : fmt::format("{}. {}", text, use.why);
}

Section KernelSection(const KernelExplanation& kernel) {
  Section section;
  section.before.push_back(Quoted(kernel.name));
  if (kernel.family != kernel.name)
    section.before.push_back("family " + Quoted(kernel.family));
  for (const RuleUse& use : kernel.rules)
    section.before.push_back(RuleText(use));
  return section;
}

// "total / n steps = mean", the exact way to a printed figure.
std::string MeanText(std::string_view name, int64_t total, int64_t steps) {
  return fmt::format("{} is {} ns over {} used steps: {} a step", name,
                     Grouped(total), Grouped(steps),
                     Duration({total, std::max<int64_t>(steps, 1)}));
}

Section CategoryRowSection(const LedgerResult& ledger, Category category) {
  const Amounts& amounts = ledger.categories[static_cast<size_t>(category)];
  const int64_t n = ledger.used_steps;
  Section section;
  section.before = {
      MeanText("attributed", amounts.attributed_ns, n),
      MeanText("sum of durations", amounts.sum_ns, n),
      MeanText("hidden behind an earlier operation of the same lane",
               amounts.hidden_same_lane_ns, n),
      MeanText("hidden behind other lanes", amounts.hidden_cross_lane_ns, n),
      "attributed = sum \u2212 hidden: on one lane the earliest operation "
      "keeps "
      "an instant, concurrent lanes share it equally",
      MeanText("exposed (nothing of another category runs)",
               amounts.exclusive_ns, n)};
  section.table = KernelTable(ledger, 10, category);
  return section;
}

struct IdleSpot {
  int64_t begin_ns = 0, dur_ns = 0;
  size_t after = 0, before = 0;  // in LedgerResult::sequence
};

// Where no op of the representative step runs, longest first.
std::vector<IdleSpot> IdleSpots(const std::vector<SequenceOp>& sequence) {
  std::vector<IdleSpot> spots;
  int64_t end_ns = 0;
  size_t last = 0;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const SequenceOp& op = sequence[i];
    if (i > 0 && op.start_ns > end_ns)
      spots.push_back({end_ns, op.start_ns - end_ns, last, i});
    if (i > 0 && op.start_ns + op.dur_ns <= end_ns) continue;
    end_ns = op.start_ns + op.dur_ns;
    last = i;
  }
  std::stable_sort(
      spots.begin(), spots.end(),
      [](const IdleSpot& a, const IdleSpot& b) { return a.dur_ns > b.dur_ns; });
  return spots;
}

Table IdleTable(const LedgerResult& ledger) {
  constexpr size_t kShown = 10;
  const std::vector<SequenceOp>& sequence = ledger.sequence;
  Table table;
  table.columns = {{"at \u00b5s"},
                   {"idle \u00b5s"},
                   {"", Align::kLeft},
                   {"after", Align::kLeft, true, true},
                   {"before", Align::kLeft, true, true}};
  for (const IdleSpot& spot : IdleSpots(sequence)) {
    if (table.rows.size() == kShown) break;
    const SequenceOp& after = sequence[spot.after];
    const SequenceOp& before = sequence[spot.before];
    const bool inside = after.replay != kNone && after.replay == before.replay;
    table.Add({Decimal({spot.begin_ns, 1}, 3, 1000),
               Decimal({spot.dur_ns, 1}, 3, 1000),
               inside ? "in replay" : "outside",
               ledger.kernels[after.kernel].name,
               ledger.kernels[before.kernel].name});
  }
  return table;
}

Section IdleRowSection(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  const int64_t n = q.idle.n;
  Section section;
  if (n == 0) {
    section.before = {
        "idle is unknown: no step is followed by another, so none has an end"};
    return section;
  }
  section.before = {
      "idle = wall \u2212 busy \u2212 foreign: nothing runs on the device",
      MeanText("idle", q.idle.total, n),
      MeanText("inside graph replays", q.idle_inside.total, n),
      MeanText("outside, the next launch came late", q.idle_host_late.total, n),
      MeanText("outside, launched but not started", q.idle_queued.total, n),
      MeanText("outside, no launch record", q.idle_unknown.total, n),
      fmt::format("the longest gaps of step {}, the one of median wall:",
                  ledger.representative_step)};
  section.table = IdleTable(ledger);
  return section;
}

Section ForeignRowSection(const LedgerResult& ledger) {
  const Stat& foreign = ledger.per_step.foreign;
  return {.before = {
              "foreign: operations that another step or nobody launched, where "
              "no operation of the step runs",
              MeanText("foreign", foreign.total, foreign.n)}};
}

Section WallRowSection(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  Section section;
  section.before = {
      "wall: from a step's first operation on its forward lane to the next "
      "step's first",
      q.wall.n == 0 ? "unknown here: no step is followed by another"
                    : MeanText("wall", q.wall.total, q.wall.n),
      "attributed of all categories + foreign + idle = wall, to the "
      "nanosecond"};
  section.table = CategoryTable(ledger);
  return section;
}

Document WithProvenance(std::string title, Section section,
                        const Provenance& source) {
  return {.title = std::move(title),
          .sections = {std::move(section), ProvenanceSection({&source})}};
}

}  // namespace

Document KernelExplanationDocument(
    const Provenance& source, const std::vector<KernelExplanation>& kernels,
    size_t all) {
  Document document{.title = "inferdiff explain: " + source.label,
                    .sections = {}};
  for (const KernelExplanation& kernel : kernels)
    document.sections.push_back(KernelSection(kernel));
  if (kernels.size() < all) {
    document.sections.push_back(
        {.before = {fmt::format("{} more kernels match; write more of the name",
                                all - kernels.size())}});
  }
  document.sections.push_back(ProvenanceSection({&source}));
  return document;
}

Document StepExplanationDocument(const Provenance& source,
                                 const StepExplanation& step) {
  Section section{.title = fmt::format("Step {}", step.number)};
  auto& lines = section.before;
  lines.push_back(
      fmt::format("{}, group {}", ShapeText(step.shape), step.step.group));
  lines.push_back(fmt::format("evidence: {}. {}", step.evidence, step.how));
  if (!step.step.marker.empty())
    lines.push_back("marker " + Quoted(step.step.marker));
  if (step.first) {
    lines.push_back(
        fmt::format("begins with its first operation on lane {}: {}", step.lane,
                    OpText(*step.first)));
  }
  if (step.next) {
    lines.push_back("ends where the next step begins: " + OpText(*step.next));
  }
  lines.push_back(
      step.step.next_begin_ns
          ? fmt::format(
                "wall: {}",
                Duration({*step.step.next_begin_ns - step.step.begin_ns, 1}))
          : "wall: unknown, no step follows");
  lines.push_back(fmt::format("{} operations, {} of them in {} graph replays",
                              step.ops, step.replay_ops, step.replays));
  lines.push_back(step.step.excluded_id.empty()
                      ? "used"
                      : fmt::format("left out: {} ({})", step.step.excluded_why,
                                    step.step.excluded_id));
  if (!step.cross_check.empty())
    lines.push_back("cross-check of all steps: " + step.cross_check);
  return WithProvenance("inferdiff explain: " + source.label,
                        std::move(section), source);
}

std::optional<LedgerRow> LedgerRowByName(const std::string& name) {
  if (name == "wall") return LedgerRow{LedgerRow::Kind::kWall};
  if (name == "idle") return LedgerRow{LedgerRow::Kind::kIdle};
  if (name == "foreign") return LedgerRow{LedgerRow::Kind::kForeign};
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (name == IdOf(category) || name == TitleOf(category))
      return LedgerRow{LedgerRow::Kind::kCategory, category};
  }
  return std::nullopt;
}

Document RowExplanationDocument(const LedgerResult& ledger,
                                const LedgerRow& row) {
  const std::string title = "inferdiff explain: " + ledger.source.label;
  switch (row.kind) {
    case LedgerRow::Kind::kCategory:
      return WithProvenance(title, CategoryRowSection(ledger, row.category),
                            ledger.source);
    case LedgerRow::Kind::kIdle:
      return WithProvenance(title, IdleRowSection(ledger), ledger.source);
    case LedgerRow::Kind::kForeign:
      return WithProvenance(title, ForeignRowSection(ledger), ledger.source);
    case LedgerRow::Kind::kWall:
      break;
  }
  return WithProvenance(title, WallRowSection(ledger), ledger.source);
}

}  // namespace inferdiff
