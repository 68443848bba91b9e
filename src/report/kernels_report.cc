// SPDX-License-Identifier: Apache-2.0
#include "report/kernels_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"
#include "report/ledger_facts.h"
#include "report/ledger_json.h"
#include "report/ledger_tables.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

bool Wanted(const KernelsChoice& choice, Category category) {
  return IsWanted(choice.categories, category);
}

std::vector<const KernelRow*> Rows(const LedgerResult& ledger,
                                   const KernelsChoice& choice) {
  std::vector<const KernelRow*> rows;
  for (const KernelRow& row : ledger.kernels)
    if (rows.size() < choice.top && Wanted(choice, row.category))
      rows.push_back(&row);
  return rows;
}

Section RulesSection(const LedgerResult& ledger, const KernelsChoice& choice) {
  const Rational all{ledger.coverage.total_ns, 1};
  std::vector<RuleHits> hits = ledger.rule_hits;
  std::stable_sort(
      hits.begin(), hits.end(),
      [](const RuleHits& a, const RuleHits& b) { return a.sum_ns > b.sum_ns; });
  Table table;
  table.columns = {{"Rule", Align::kLeft, true, true},
                   {"category", Align::kLeft},
                   {"names"},
                   {"ops"},
                   {"% of GPU time"}};
  for (const RuleHits& rule : hits) {
    if (rule.ops == 0 || !Wanted(choice, rule.category)) continue;
    table.Add({rule.rule, TitleOf(rule.category), fmt::format("{}", rule.names),
               fmt::format("{}", rule.ops), Percent({rule.sum_ns, 1}, all, 2)});
  }
  return {.title = "Rules that matched, over all operations of the device",
          .table = std::move(table),
          .folded = true};
}

}  // namespace

Document KernelsDocument(const LedgerResult& ledger,
                         const KernelsChoice& choice) {
  Document document{.title = "inferdiff kernels: " + ledger.source.label,
                    .sections = {}};
  document.sections.push_back(
      {.before = {fmt::format("{}  {}", Quoted(ledger.source.label),
                              SideFacts(ledger))}});
  document.sections.push_back(
      {.title = "Kernels of the used steps, by attributed time",
       .table = KernelTable(ledger, choice.top, choice.categories),
       .after = {"`inferdiff explain TRACE kernel:NAME` says why a kernel has "
                 "its category"}});
  document.sections.push_back(RulesSection(ledger, choice));
  document.sections.push_back(ProvenanceSection({&ledger.source}));
  return document;
}

void WriteKernelsJson(const LedgerResult& ledger, const KernelsChoice& choice,
                      const TextSink& sink) {
  JsonStream out(sink);
  out.Members(JsonDocument("kernels", ledger.source.rules_hash));
  out.Members(JsonSource(ledger.source));
  out.Member("used_steps", JsonInt(ledger.used_steps));
  out.Array("kernels", Rows(ledger, choice),
            [](const KernelRow* row) { return JsonKernel(*row); });
  out.Member("rules", JsonRules(ledger.rule_hits));
}

std::string KernelsTsv(const LedgerResult& ledger,
                       const KernelsChoice& choice) {
  std::string out = TsvProvenance(ledger.source);
  out += fmt::format("# totals over {} used steps\n", ledger.used_steps);
  out +=
      "category\tcount\tsum_ns\tattributed_ns\texclusive_ns\t"
      "hidden_same_lane_ns\thidden_cross_lane_ns\tcall_p10_ns\tcall_p50_ns\t"
      "call_p90_ns\trank_wait_ns\trule\tlibrary\tfamily\tname\n";
  for (const KernelRow* row : Rows(ledger, choice)) {
    const Amounts& amounts = row->amounts;
    out += fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        IdOf(row->category), amounts.count, amounts.sum_ns,
        amounts.attributed_ns, amounts.exclusive_ns,
        amounts.hidden_same_lane_ns, amounts.hidden_cross_lane_ns,
        row->call_ns.p10, row->call_ns.median, row->call_ns.p90,
        row->rank_wait_ns, TsvField(row->rule), TsvField(row->library),
        TsvField(row->family), TsvField(row->name));
  }
  return out;
}

}  // namespace inferdiff
