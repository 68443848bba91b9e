// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_sentences.h"

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"

namespace inferdiff {
namespace {

std::string StragglerText(const LedgerResult& ledger, const Straggler& one) {
  std::string text = fmt::format(
      "the others wait for {}: it arrives last in {} of {} collectives and "
      "makes the first to arrive wait {} a step.",
      NameOf(ledger.ranks[one.rank]),
      Grouped(static_cast<int64_t>(one.last_arrivals)),
      Grouped(static_cast<int64_t>(one.collectives)),
      Duration(one.caused_wait));
  const bool idle = one.caused_wait < one.caused_idle + one.caused_idle;
  if (idle) {
    return text + fmt::format(
                      " For {} of that its GPU is idle while theirs work: its "
                      "host is late.",
                      Duration(one.caused_idle));
  }
  // A fifth of the wait at least, else it explains nothing.
  if (one.category &&
      !(one.excess < Rational{one.caused_wait.num, one.caused_wait.den * 5})) {
    text += fmt::format(
        " Meanwhile it works: {} more {} a step than the others' mean.",
        Duration(one.excess), TitleOf(*one.category));
  }
  return text;
}

std::string SlowestText(const RankRow& slow, const RankRow& fast) {
  return fmt::format(
      "the slowest is {} with {} a step, the fastest {} with {}.", NameOf(slow),
      Duration(MeanOver(slow.wall_ns, slow.walls)), NameOf(fast),
      Duration(MeanOver(fast.wall_ns, fast.walls)));
}

std::string UnevenText(const LedgerResult& ledger, const Imbalance& one) {
  return fmt::format("{} is uneven: {} a step on {}, {} on {}.",
                     TitleOf(one.category), Duration(one.most_ns),
                     NameOf(ledger.ranks[one.most]), Duration(one.least_ns),
                     NameOf(ledger.ranks[one.least]));
}

// Sentences are ASCII at their beginning: titles and our own words.
std::string Begun(std::string_view side, std::string text) {
  if (!side.empty()) return fmt::format("{}: {}", side, text);
  if (text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

std::string NameOf(const RankRow& row) {
  return row.rank ? fmt::format("rank {}", *row.rank) : Quoted(row.label);
}

std::vector<RankSentence> RankSentences(const LedgerResult& ledger,
                                        std::string_view side) {
  const RankFindings& found = ledger.rank_findings;
  std::vector<RankSentence> out;
  const auto add = [&](std::string id, std::string text) {
    out.push_back({std::move(id), Begun(side, std::move(text))});
  };
  if (found.straggler)
    add("straggler", StragglerText(ledger, *found.straggler));
  if (found.in_turns) {
    add("turns",
        "ranks wait for each other in turns: no rank causes half of it.");
  }
  if (found.slowest && *found.slowest != *found.fastest) {
    add("slowest", SlowestText(ledger.ranks[*found.slowest],
                               ledger.ranks[*found.fastest]));
  }
  constexpr size_t kMostImbalances = 3;
  for (size_t i = 0; i < found.imbalances.size() && i < kMostImbalances; ++i) {
    const Imbalance& one = found.imbalances[i];
    add(fmt::format("uneven.{}", IdOf(one.category)), UnevenText(ledger, one));
  }
  return out;
}

}  // namespace inferdiff
