// SPDX-License-Identifier: Apache-2.0
#include "report/rank_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "ledger/rank_sentences.h"
#include "report/ledger_tables.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

// More ranks than a screen has lines: the slowest and the fastest stand for
// all.
constexpr size_t kMostRows = 16;

bool ByWall(const RankRow& a, const RankRow& b) {
  return MeanOver(b.wall_ns, b.walls) < MeanOver(a.wall_ns, a.walls);
}

/// Indices of the rows that are shown, in order of rank.
std::vector<size_t> ShownRows(const std::vector<RankRow>& ranks) {
  std::vector<size_t> shown(ranks.size());
  for (size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  if (shown.size() <= kMostRows) return shown;
  // Half of them the slowest, half the fastest.
  std::stable_sort(shown.begin(), shown.end(), [&](size_t a, size_t b) {
    return ByWall(ranks[a], ranks[b]);
  });
  shown.erase(shown.begin() + kMostRows / 2, shown.end() - kMostRows / 2);
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string OffsetText(const RankAlignment& alignment, uint32_t self) {
  if (alignment.reference == self) return "reference";
  const ClockOffset& clock = alignment.clock;
  return SignedDecimal({clock.offset_ns, 1}, 1, kMicroseconds.ns);
}

Table RankTable(const LedgerResult& ledger) {
  const TimeUnit unit = StepUnit(ledger);
  const auto time = [&](int64_t total, int64_t steps) {
    return Decimal(MeanOver(total, steps), 3, unit.ns);
  };
  Table table;
  table.columns = {{"Rank", Align::kLeft},
                   {"steps"},
                   {fmt::format("wall {}", unit.name)},
                   {"busy"},
                   {"idle"},
                   {"rank wait"},
                   {"comm."},
                   {"last in"},
                   {"clock \u00b5s"},
                   SpareColumn("\u00b1 \u00b5s")};
  for (const size_t i : ShownRows(ledger.ranks)) {
    const RankRow& row = ledger.ranks[i];
    const bool alone = row.alignment.matched == 0;
    table.Add(
        {row.rank ? std::to_string(*row.rank) : row.label,
         row.left_out ? "left out" : std::to_string(row.used_steps),
         row.walls > 0 ? time(row.wall_ns, row.walls) : std::string(kDash),
         time(row.busy_ns, row.used_steps),
         row.walls > 0 ? time(row.idle_ns, row.walls) : std::string(kDash),
         time(row.rank_wait_ns, row.used_steps),
         time(
             row.category_sum_ns[static_cast<size_t>(Category::kCommunication)],
             row.used_steps),
         alone ? std::string(kDash)
               : Grouped(static_cast<int64_t>(row.last_arrivals)),
         alone ? std::string(kDash)
               : OffsetText(row.alignment, static_cast<uint32_t>(i)),
         alone || row.alignment.reference == i
             ? ""
             : Decimal({row.alignment.residual_ns, 1}, 1, kMicroseconds.ns)});
  }
  return table;
}

/// The longest waits that no figure holds, since their step is not used.
std::vector<std::string> LongWaitTexts(const LedgerResult& ledger) {
  std::vector<std::string> texts;
  constexpr size_t kMost = 2;
  for (const LongWait& wait : ledger.long_waits) {
    if (texts.size() == kMost) break;
    const bool used =
        wait.step != kNone && ledger.steps.steps[wait.step].excluded_id.empty();
    if (used || 10 * wait.wait_ns < ledger.per_step.wall.median) continue;
    texts.push_back(fmt::format(
        "In a step that is not used, {} waits {} for {} in one {}.",
        NameOf(ledger.ranks[wait.rank]), Duration({wait.wait_ns, 1}),
        NameOf(ledger.ranks[wait.last_rank]), Quoted(wait.name)));
  }
  return texts;
}

std::string WaitBasisText(const LedgerResult& ledger) {
  if (ledger.wait_basis == WaitBasis::kRankSet) {
    uint64_t unmatched = 0;
    for (const RankRow& row : ledger.ranks)
      unmatched += row.alignment.unmatched;
    std::string text = fmt::format(
        "Rank wait is measured: {} collectives found on two ranks or more, "
        "clocks aligned by their ends.",
        Grouped(static_cast<int64_t>(ledger.matched_collectives)));
    if (unmatched > 0) {
      text += fmt::format(
          " {} calls have no partner; what of them is waiting is unknown.",
          Grouped(static_cast<int64_t>(unmatched)));
    }
    return text;
  }
  return "No collectives of these ranks end together: they are not one group, "
         "or too little of it was recorded. Rank wait is each rank's own lower "
         "bound.";
}

Json RankJson(const RankRow& row) {
  Json json;
  json["rank"] = row.rank ? Json(*row.rank) : Json(nullptr);
  json["label"] = row.label;
  json["device"] = row.device;
  json["left_out"] = row.left_out;
  json["used_steps"] = row.used_steps;
  json["wall_ns"] = row.wall_ns;
  json["walls"] = row.walls;
  json["sum_ns"] = row.sum_ns;
  json["busy_ns"] = row.busy_ns;
  json["idle_ns"] = row.idle_ns;
  json["idle_host_late_ns"] = row.idle_host_late_ns;
  json["rank_wait_ns"] = row.rank_wait_ns;
  Json categories = Json::object();
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (row.category_sum_ns[i] > 0)
      categories[std::string(IdOf(static_cast<Category>(i)))] =
          row.category_sum_ns[i];
  }
  json["category_sum_ns"] = std::move(categories);
  json["last_arrivals"] = row.last_arrivals;
  json["caused_wait_ns"] = row.caused_wait_ns;
  json["caused_idle_ns"] = row.caused_idle_ns;
  const RankAlignment& alignment = row.alignment;
  json["alignment"] = {{"reference", alignment.reference},
                       {"offset_ns", alignment.clock.offset_ns},
                       {"later_offset_ns", alignment.clock.later_offset_ns},
                       {"residual_ns", alignment.residual_ns},
                       {"matched", alignment.matched},
                       {"unmatched", alignment.unmatched}};
  return json;
}

}  // namespace

std::vector<Section> RankSections(const LedgerResult& ledger) {
  if (ledger.ranks.empty()) return {};
  Section section;
  const size_t ranks = ledger.ranks.size();
  section.title = ranks > kMostRows
                      ? fmt::format("Ranks: the {} slowest and fastest of {}",
                                    kMostRows, ranks)
                      : fmt::format("{} ranks", ranks);
  for (RankSentence& sentence : RankSentences(ledger, ""))
    section.before.push_back(std::move(sentence.text));
  section.table = RankTable(ledger);
  section.after.push_back(WaitBasisText(ledger));
  for (std::string& text : LongWaitTexts(ledger))
    section.after.push_back(std::move(text));
  return {std::move(section)};
}

Json RankSetJson(const LedgerResult& ledger) {
  Json json;
  json["count"] = ledger.ranks.size();
  json["matched_collectives"] = ledger.matched_collectives;
  json["ranks"] = Json::array();
  for (const RankRow& row : ledger.ranks)
    json["ranks"].push_back(RankJson(row));
  json["findings"] = Json::array();
  for (const RankSentence& sentence : RankSentences(ledger, ""))
    json["findings"].push_back({{"id", sentence.id}, {"text", sentence.text}});
  json["long_waits"] = Json::array();
  for (const LongWait& wait : ledger.long_waits) {
    json["long_waits"].push_back(
        {{"rank", wait.rank},
         {"last_rank", wait.last_rank},
         {"step", wait.step == kNone ? Json(nullptr) : Json(wait.step)},
         {"ordinal", wait.ordinal},
         {"kernel", wait.name},
         {"wait_ns", wait.wait_ns},
         {"duration_ns", wait.duration_ns}});
  }
  return json;
}

}  // namespace inferdiff
