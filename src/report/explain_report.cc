// SPDX-License-Identifier: Apache-2.0
#include "report/explain_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "report/layers_report.h"
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
      "{}: {}, {}, by rule `{}`{}", TitleOf(use.category),
      Plural(use.ops, "operation"), Duration({use.sum_ns, 1}), use.rule,
      use.by_context ? ", which looks at the neighbours" : "");
  if (!use.library.empty()) text += fmt::format(", library {}", use.library);
  return use.why.empty() ? text : fmt::format("{}. {}", text, use.why);
}

std::string RoleText(const RoleUse& use) {
  return fmt::format("{}: {} of step {}, by rule `{}`. {}", IdOf(use.role),
                     Plural(use.ops, "operation"), use.step, use.rule, use.why);
}

Section KernelSection(const KernelExplanation& kernel) {
  Section section;
  section.before.push_back(Quoted(kernel.name));
  if (kernel.family != kernel.name)
    section.before.push_back("family " + Quoted(kernel.family));
  for (const RuleUse& use : kernel.rules)
    section.before.push_back(RuleText(use));
  for (const RoleUse& use : kernel.roles)
    section.before.push_back("Role " + RoleText(use));
  return section;
}

// The exact way to a printed figure: totals over n steps.
Table TotalsTable(int64_t n,
                  const std::vector<std::pair<std::string, int64_t>>& totals) {
  const auto mean = [&](int64_t total) {
    return Rational{total, std::max<int64_t>(n, 1)};
  };
  const TimeUnit unit = UnitFor({mean(totals.front().second)});
  Table table;
  table.columns = {{"", Align::kLeft},
                   {"ns in " + Plural(n, "step")},
                   {fmt::format("{} a step", unit.name)}};
  for (const auto& [name, total] : totals)
    table.Add({name, Grouped(total), Decimal(mean(total), 3, unit.ns)});
  return table;
}

std::vector<Section> CategorySections(const LedgerResult& ledger,
                                      Category category) {
  const Amounts& amounts = ledger.categories[static_cast<size_t>(category)];
  Section totals;
  totals.before = {
      "attributed = sum of durations \u2212 hidden: on one lane the earliest "
      "operation keeps an instant, concurrent lanes share it equally"};
  if (category == Category::kCommunication && ledger.rank_wait.sum_ns > 0) {
    totals.before.push_back(
        "what its calls wait for other ranks is a row of its own: rank_wait");
  }
  totals.table = TotalsTable(
      ledger.used_steps,
      {{"attributed", amounts.attributed_ns},
       {"sum of durations", amounts.sum_ns},
       {"hidden on the same lane", amounts.hidden_same_lane_ns},
       {"hidden behind other lanes", amounts.hidden_cross_lane_ns},
       {"exposed: nothing of another category runs", amounts.exclusive_ns}});
  Section kernels{.title = "Its kernels, the 10 with most attributed time",
                  .table = KernelTable(ledger, 10, {category})};
  return {std::move(totals), std::move(kernels)};
}

struct IdleSpot {
  int64_t begin_ns = 0, dur_ns = 0;
  const SequenceOp* after = nullptr;
  const SequenceOp* before = nullptr;  // null: the next step begins
};

// Where no op of the representative step runs, longest first. `end_ns` is
// the step's, from its begin.
std::vector<IdleSpot> IdleSpots(const std::vector<SequenceOp>& sequence,
                                int64_t end_ns) {
  std::vector<IdleSpot> spots;
  const SequenceOp* last = nullptr;  // the op that ends last so far
  int64_t busy_until_ns = 0;
  const auto add = [&](int64_t until_ns, const SequenceOp* before) {
    if (last != nullptr && until_ns > busy_until_ns)
      spots.push_back({busy_until_ns, until_ns - busy_until_ns, last, before});
  };
  for (const SequenceOp& op : sequence) {
    add(op.start_ns, &op);
    if (last != nullptr && op.start_ns + op.dur_ns <= busy_until_ns) continue;
    busy_until_ns = op.start_ns + op.dur_ns;
    last = &op;
  }
  add(end_ns, nullptr);
  std::stable_sort(
      spots.begin(), spots.end(),
      [](const IdleSpot& a, const IdleSpot& b) { return a.dur_ns > b.dur_ns; });
  return spots;
}

Table IdleTable(const LedgerResult& ledger) {
  constexpr size_t kShown = 10;
  const Step& step = ledger.steps.steps[ledger.representative_step];
  const int64_t end_ns =
      step.next_begin_ns.value_or(step.begin_ns) - step.begin_ns;
  Table table;
  table.columns = {{"at \u00b5s"},
                   {"idle \u00b5s"},
                   {"", Align::kLeft},
                   {"after", Align::kLeft, true, true},
                   {"before", Align::kLeft, true, true}};
  const auto name = [&](const SequenceOp& op) {
    return WithoutParameters(ledger.kernels[op.kernel].name);
  };
  for (const IdleSpot& spot : IdleSpots(ledger.sequence, end_ns)) {
    if (table.rows.size() == kShown) break;
    const bool inside = spot.before != nullptr && spot.after->replay != kNone &&
                        spot.after->replay == spot.before->replay;
    table.Add({Decimal({spot.begin_ns, 1}, 3, 1000),
               Decimal({spot.dur_ns, 1}, 3, 1000),
               inside ? "in replay" : "outside", name(*spot.after),
               spot.before ? name(*spot.before) : "(the next step)"});
  }
  return table;
}

std::vector<Section> IdleSections(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  if (q.idle.n == 0) {
    return {{.before = {"idle is unknown: no step is followed by another, so "
                        "none has an end"}}};
  }
  Section totals;
  totals.before = {
      "idle = wall \u2212 busy \u2212 foreign: nothing runs on the device"};
  totals.table = TotalsTable(
      q.idle.n, {{"idle", q.idle.total},
                 {"inside graph replays", q.idle_inside.total},
                 {"between replays of a step", q.idle_between.total},
                 {"host-launched tail: around the replays", q.idle_tail.total},
                 {"else: the next launch came late", q.rest_host_late.total},
                 {"else: launched, but not started", q.rest_queued.total},
                 {"else: no launch record", q.rest_unknown.total}});
  Section spots{.title = fmt::format(
                    "The longest gaps of step {}, the one of median wall",
                    ledger.representative_step),
                .table = IdleTable(ledger)};
  return {std::move(totals), std::move(spots)};
}

std::string RankWaitBasisText(const LedgerResult& ledger) {
  switch (ledger.wait_basis) {
    case WaitBasis::kNoCalls:
      return "rank wait is 0: no collective runs in the used steps, or there "
             "is one rank";
    case WaitBasis::kOneRank:
      return "rank wait: a lower bound, from this rank alone. Where at least "
             "four used steps have a call, whatever it takes beyond the 10th "
             "percentile of its duration there counts as waiting, at its head";
    case WaitBasis::kRankSet:
      return "rank wait: the head of a collective, until the last rank arrives";
    case WaitBasis::kUnknown:
      break;
  }
  return "rank wait is unknown: no four used steps have a collective in "
         "common; it is in communication";
}

std::vector<Section> RankWaitSections(const LedgerResult& ledger) {
  Section totals;
  totals.before = {RankWaitBasisText(ledger)};
  const Amounts& wait = ledger.rank_wait;
  if (wait.count == 0) return {std::move(totals)};
  totals.table =
      TotalsTable(ledger.used_steps,
                  {{"attributed", wait.attributed_ns},
                   {"sum of durations", wait.sum_ns},
                   {"hidden on the same lane", wait.hidden_same_lane_ns},
                   {"hidden behind other lanes", wait.hidden_cross_lane_ns},
                   {"exposed: only communication runs", wait.exclusive_ns}});
  Section kernels{.title =
                      "The kernels of communication; the last column is "
                      "what they wait a step",
                  .table = KernelTable(ledger, 10, {Category::kCommunication})};
  return {std::move(totals), std::move(kernels)};
}

std::vector<Section> ForeignSections(const LedgerResult& ledger) {
  const Stat& foreign = ledger.per_step.foreign;
  return {{.before = {"foreign: operations that another step or nobody "
                      "launched, where no operation of the step runs"},
           .table = TotalsTable(foreign.n, {{"foreign", foreign.total}})}};
}

std::vector<Section> WallSections(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  if (q.wall.n == 0)
    return {{.before = {"wall is unknown: no step is followed by another"}}};
  Section section;
  section.before = {
      "wall: from a step's first operation on its forward lane to the next "
      "step's first",
      "attributed of all categories + rank wait + foreign + idle = wall, to "
      "the "
      "nanosecond"};
  section.table = TotalsTable(q.wall.n, {{"wall", q.wall.total},
                                         {"busy", q.busy.total},
                                         {"foreign", q.foreign.total},
                                         {"idle", q.idle.total}});
  return {std::move(section)};
}

Document WithProvenance(const LedgerResult& ledger,
                        std::vector<Section> sections) {
  sections.push_back(ProvenanceSection({&ledger.source}));
  return {.title = "inferdiff explain: " + ledger.source.label,
          .sections = std::move(sections)};
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
  lines.push_back(fmt::format("Evidence: {}. {}.", step.evidence, step.how));
  if (!step.step.marker.empty())
    lines.push_back("Marker " + Quoted(step.step.marker));
  if (step.first) {
    lines.push_back(
        fmt::format("Begins with its first operation on lane {}: {}", step.lane,
                    OpText(*step.first)));
  }
  if (step.next) {
    lines.push_back("Ends where the next step begins: " + OpText(*step.next));
  }
  lines.push_back(
      step.step.next_begin_ns
          ? fmt::format(
                "Wall: {}",
                Duration({*step.step.next_begin_ns - step.step.begin_ns, 1}))
          : "Wall: unknown, no step follows");
  lines.push_back(fmt::format("{}, {} of them in {}",
                              Plural(step.ops, "operation"), step.replay_ops,
                              Plural(step.replays, "graph replay")));
  lines.push_back("Layers. " + LayersSentence(step.layers));
  lines.push_back(step.step.excluded_id.empty()
                      ? "Used"
                      : fmt::format("Left out: {} ({})", step.step.excluded_why,
                                    step.step.excluded_id));
  if (!step.cross_check.empty())
    lines.push_back("Cross-check of all steps: " + step.cross_check);
  Document document{.title = "inferdiff explain: " + source.label,
                    .sections = {std::move(section)}};
  for (Section& roles : RoleSections(step.layers))
    document.sections.push_back(std::move(roles));
  document.sections.push_back(ProvenanceSection({&source}));
  return document;
}

std::optional<LedgerRow> LedgerRowByName(std::string_view name) {
  constexpr std::pair<std::string_view, LedgerRow::Kind> kOthers[] = {
      {"wall", LedgerRow::Kind::kWall},
      {"busy", LedgerRow::Kind::kWall},
      {"idle", LedgerRow::Kind::kIdle},
      {kIdleInsideTitle, LedgerRow::Kind::kIdle},
      {kIdleOutsideTitle, LedgerRow::Kind::kIdle},
      {"rank_wait", LedgerRow::Kind::kRankWait},
      {"rank wait", LedgerRow::Kind::kRankWait},
      {"foreign", LedgerRow::Kind::kForeign},
      {kForeignTitle, LedgerRow::Kind::kForeign}};
  for (const auto& [title, kind] : kOthers)
    if (SameName(name, title)) return LedgerRow{kind};
  if (const auto category = CategoryFromName(name))
    return LedgerRow{LedgerRow::Kind::kCategory, *category};
  return std::nullopt;
}

std::string LedgerRowNames(const LedgerResult& ledger) {
  std::string names;
  for (const CategoryRow& row : CategoryRows(ledger))
    names += fmt::format("{}, ", IdOf(row.category));
  return names + "rank_wait, idle, foreign, wall";
}

Document RowExplanationDocument(const LedgerResult& ledger,
                                const LedgerRow& row) {
  switch (row.kind) {
    case LedgerRow::Kind::kCategory:
      return WithProvenance(ledger, CategorySections(ledger, row.category));
    case LedgerRow::Kind::kIdle:
      return WithProvenance(ledger, IdleSections(ledger));
    case LedgerRow::Kind::kForeign:
      return WithProvenance(ledger, ForeignSections(ledger));
    case LedgerRow::Kind::kRankWait:
      return WithProvenance(ledger, RankWaitSections(ledger));
    case LedgerRow::Kind::kWall:
      break;
  }
  return WithProvenance(ledger, WallSections(ledger));
}

}  // namespace inferdiff
