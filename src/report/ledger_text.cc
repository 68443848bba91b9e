// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/number.h"
#include "base/text.h"
#include "base/version.h"
#include "ledger/capture_run.h"
#include "ledger/capture_text.h"
#include "report/cycles_report.h"
#include "report/layers_report.h"
#include "report/ledger_facts.h"
#include "report/ledger_tables.h"
#include "report/printed_ledger.h"
#include "report/rank_report.h"

namespace inferdiff {
namespace {

std::string Spread(const Stat& stat) {
  return fmt::format("{}\u2013{} from p10 to p90", Duration({stat.p10, 1}),
                     Duration({stat.p90, 1}));
}

std::string HeadlineText(const LedgerResult& ledger) {
  const PerStep& per_step = ledger.per_step;
  if (ledger.used_steps == 0)
    return "No step is left to account: each has a reason below.";
  if (!WallKnown(ledger)) {
    const bool replay = per_step.replay_span.total > 0;
    const Stat& span = replay ? per_step.replay_span : per_step.span;
    return fmt::format(
        "{} spans {}. Its wall time is unknown: no step follows it.",
        replay ? "The step's largest graph replay" : "The step",
        Duration(span.mean()));
  }
  const Stat& wall = per_step.wall;
  std::string text = fmt::format("A step takes {}", Duration(wall.mean()));
  if (wall.n > 1)
    text += fmt::format(", mean of {} ({})", wall.n, Spread(wall));
  return text + ".";
}

// Without a wall: how much of the step's span is work at all.
std::string SpanBusyText(const LedgerResult& ledger) {
  const PerStep& per_step = ledger.per_step;
  std::string text = fmt::format(
      "the GPU works {} of that ({} %).", Duration(per_step.busy.mean()),
      Percent({per_step.busy.total, 1}, {per_step.span.total, 1}));
  if (per_step.replay_span.total == 0) {
    text[0] = 'T';
    return text;
  }
  return fmt::format("From its first operation to its last the step takes {}; ",
                     Duration(per_step.span.mean())) +
         text;
}

std::string BusyText(const LedgerResult& ledger) {
  const PerStep& per_step = ledger.per_step;
  const int64_t inside = per_step.idle_inside.total;
  std::string text =
      fmt::format("The GPU works {} % of it and idles {}",
                  Percent({per_step.busy.total, 1}, {per_step.wall.total, 1}),
                  Duration(PerUsedStep(ledger, per_step.idle.total)));
  if (per_step.replay_span.total > 0) {
    text += fmt::format(
        ": {} inside graph replays, {} outside",
        Duration(PerUsedStep(ledger, inside)),
        Duration(PerUsedStep(ledger, per_step.idle.total - inside)));
  }
  return text + ".";
}

// Waiting is busy, too; below a hundredth nobody needs to know.
std::string WaitText(const LedgerResult& ledger) {
  const int64_t wait = ledger.rank_wait.attributed_ns;
  const int64_t whole = WholeOf(ledger);
  if (wait < whole / 100 || wait == 0) return "";
  const std::string text = fmt::format(
      "{} of it ({} %) is waiting in collectives for other ranks.",
      Duration(PerUsedStep(ledger, wait)), Percent({wait, 1}, {whole, 1}));
  return IsMeasured(ledger.wait_basis) ? text : "At least " + text;
}

// The fewest categories that make up two thirds; no more than four, and none
// under a twentieth.
std::string MostText(const LedgerResult& ledger) {
  const std::vector<CategoryRow> rows = CategoryRows(ledger);
  const int64_t whole = WholeOf(ledger);
  // The table's digits, in tenths of a percent.
  const PrintedLedger shares =
      PrintLedger(ledger, std::max<int64_t>(whole, 1), {3, 1});
  std::string text;
  int64_t covered = 0;
  for (size_t i = 0; i < rows.size() && i < 4; ++i) {
    const int64_t time = rows[i].amounts.attributed_ns;
    if (time < whole / 20 || covered >= whole / 3 * 2) break;
    const auto category = static_cast<size_t>(rows[i].category);
    text += fmt::format("{}{} {} %", text.empty() ? "" : ", ",
                        TitleOf(rows[i].category),
                        PrintDigits(shares.times[category], 1, false));
    covered += time;
  }
  return text.empty() ? "" : fmt::format("The largest parts: {}.", text);
}

// Exact, over steps and tokens at once; nothing where a marker's number is
// absurd.
std::optional<Rational> PerToken(const Stat& wall, int64_t tokens,
                                 int64_t gpus) {
  Rational time;
  if (__builtin_mul_overflow(wall.total, gpus, &time.num) ||
      __builtin_mul_overflow(wall.n, tokens, &time.den)) {
    return std::nullopt;
  }
  return time;
}

std::string TokenText(const LedgerResult& ledger) {
  const auto& groups = ledger.steps.groups;
  if (ledger.group >= groups.size() || !WallKnown(ledger)) return "";
  const StepShape& shape = groups[ledger.group].shape;
  const auto tokens = TokensOfStep(shape);
  if (!tokens) return "";
  // How many of the verified tokens were accepted, no trace says.
  const std::string_view noun =
      shape.kind == StepKind::kVerify ? "verified token" : "token";
  const auto one = PerToken(ledger.per_step.wall, *tokens, 1);
  if (!one) return "";
  std::string text =
      fmt::format("Derived from the mean wall: {} a {}", Duration(*one), noun);
  if (*tokens > 1)  // not what one sequence waits for its next token
    text += fmt::format(", spread over the {} of a step", Grouped(*tokens));
  const int64_t gpus = ledger.source.info.world_size.value_or(1);
  if (const auto all = PerToken(ledger.per_step.wall, *tokens, gpus);
      all && gpus > 1) {
    text += fmt::format("; times {} GPUs: {}", gpus, Duration(*all));
  }
  return text + ".";
}

Section VerdictSection(const LedgerResult& ledger) {
  Section section;
  section.id = "verdict";
  section.before.push_back(
      fmt::format("{}  {}", Quoted(ledger.source.label), SideFacts(ledger)));
  if (IsCaptureRun(ledger)) {
    section.after.push_back(fmt::format(
        "This is no inference: the run {}. What follows is what little ran "
        "beside the capture.",
        CaptureRunText(ledger)));
  }
  for (const CaptureCheck& check : ledger.capture_checks) {
    if (check.weight != Weight::kRefusal) continue;
    section.after.push_back("Do not rely on these figures. " +
                            CaptureText(check, ledger));
  }
  section.after.push_back(HeadlineText(ledger));
  if (WallKnown(ledger))
    section.after.push_back(BusyText(ledger));
  else if (ledger.per_step.span.total > 0)
    section.after.push_back(SpanBusyText(ledger));
  for (std::string text : {WaitText(ledger), MostText(ledger)})
    if (!text.empty()) section.after.push_back(std::move(text));
  return section;
}

Section StepsSection(const LedgerResult& ledger) {
  return {.title = "How the steps were found",
          .before = StepEvidence(ledger.steps, ledger.group, ledger.ranks),
          .id = "evidence"};
}

std::string TitleWithTop(std::string_view what, size_t shown, size_t all) {
  return shown < all
             ? fmt::format("{}: {} of {}, by attributed time", what, shown, all)
             : fmt::format("{}, by attributed time", what);
}

// Derived, so beside the step's times and not in front of them.
Section QuantitySection(const LedgerResult& ledger) {
  Section section{.title = fmt::format("A step in {}", StepUnit(ledger).name),
                  .table = QuantityTable(ledger)};
  if (std::string text = TokenText(ledger); !text.empty())
    section.after.push_back(std::move(text));
  return section;
}

// The tables, where there is a used step to fill them.
void AddAccount(const LedgerResult& ledger, size_t top,
                std::vector<Section>& sections) {
  sections.push_back(
      {.title = fmt::format("Where the {} of {} are",
                            Duration(PerUsedStep(ledger, WholeOf(ledger))),
                            WallKnown(ledger) ? "a step" : "GPU work"),
       .table = CategoryTable(ledger),
       .id = "categories"});
  const auto add = [&](std::string_view id, Section section) {
    section.id = id;
    sections.push_back(std::move(section));
  };
  add("steps", QuantitySection(ledger));
  if (auto section = CycleSection(ledger)) add("cycles", *std::move(section));
  for (Section& section : RoleSections(ledger.layers))
    add("roles", std::move(section));
  const Table families = FamilyTable(ledger, top);
  sections.push_back(
      {.title = TitleWithTop("Kernel families", families.rows.size(),
                             ledger.families.size()),
       .table = families,
       .folded = true,
       .id = "families"});
  const Table kernels = KernelTable(ledger, top);
  sections.push_back({.title = TitleWithTop("Kernels", kernels.rows.size(),
                                            ledger.kernels.size()),
                      .table = kernels,
                      .folded = true,
                      .id = "kernels"});
  sections.push_back({.title = "Calls by duration",
                      .table = HistogramTable(ledger),
                      .folded = true,
                      .id = "calls"});
}

}  // namespace

Section ProvenanceSection(const std::vector<const Provenance*>& sources) {
  Section section;
  section.id = "provenance";
  for (const Provenance* source : sources)
    section.after.push_back(InputText(*source));
  section.after.push_back(fmt::format("inferdiff {}, rules {}", Version(),
                                      sources.front()->rules_hash));
  return section;
}

Document LedgerDocument(const LedgerResult& ledger, size_t top) {
  Document document{.title = "inferdiff ledger: " + ledger.source.label,
                    .sections = {}};
  auto& sections = document.sections;
  sections.push_back(VerdictSection(ledger));
  if (ledger.used_steps > 0) AddAccount(ledger, top, sections);
  for (Section& section : RankSections(ledger)) {
    section.id = "ranks";
    sections.push_back(std::move(section));
  }
  sections.push_back(StepsSection(ledger));
  if (std::vector<std::string> doubts = Doubts(ledger); !doubts.empty())
    sections.push_back({.title = "Read with care",
                        .before = std::move(doubts),
                        .id = "doubts"});
  sections.push_back(ProvenanceSection({&ledger.source}));
  return document;
}

}  // namespace inferdiff
