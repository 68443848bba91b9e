// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_tsv.h"

#include <fmt/core.h>

#include "base/text.h"
#include "base/version.h"
#include "report/ledger_facts.h"

namespace inferdiff {
namespace {

std::string AmountFields(const Amounts& amounts) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", amounts.count, amounts.sum_ns,
                     amounts.attributed_ns, amounts.exclusive_ns,
                     amounts.hidden_same_lane_ns, amounts.hidden_cross_lane_ns);
}

void AddRow(std::string_view row, std::string_view name,
            std::string_view category, const Amounts& amounts,
            std::string_view calls, std::string& out) {
  out += fmt::format("{}\t{}\t{}\t{}\t{}\n", row, TsvField(name), category,
                     AmountFields(amounts), calls.empty() ? "\t\t" : calls);
}

void AddTotal(std::string_view row, std::string_view name, const Stat& stat,
              std::string& out) {
  if (stat.n == 0) return;
  out += fmt::format("{}\t{}\t\t\t\t{}\t\t\t\t\t\t\n", row, name, stat.total);
}

}  // namespace

std::string TsvProvenance(const Provenance& source) {
  return fmt::format("# inferdiff {}, rules {}, input {}\n", Version(),
                     source.rules_hash, Printable(InputText(source)));
}

std::string LedgerTsv(const LedgerResult& ledger) {
  std::string out = TsvProvenance(ledger.source);
  out += fmt::format("# totals over {} used steps\n", ledger.used_steps);
  out +=
      "row\tname\tcategory\tcount\tsum_ns\tattributed_ns\texclusive_ns\t"
      "hidden_same_lane_ns\thidden_cross_lane_ns\tcall_p10_ns\tcall_p50_ns\t"
      "call_p90_ns\n";
  AddTotal("wall", "wall", ledger.per_step.wall, out);
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const std::string_view id = IdOf(static_cast<Category>(i));
    if (ledger.categories[i].count > 0)
      AddRow("category", id, id, ledger.categories[i], "", out);
  }
  if (ledger.rank_wait.count > 0)
    AddRow("pseudo", "rank_wait", "", ledger.rank_wait, "", out);
  AddTotal("pseudo", "foreign", ledger.per_step.foreign, out);
  AddTotal("pseudo", "idle", ledger.per_step.idle, out);
  for (const FamilyRow& row : ledger.families)
    AddRow("family", row.family, IdOf(row.category), row.amounts, "", out);
  for (const KernelRow& row : ledger.kernels) {
    AddRow("kernel", row.name, IdOf(row.category), row.amounts,
           fmt::format("{}\t{}\t{}", row.call_ns.p10, row.call_ns.median,
                       row.call_ns.p90),
           out);
  }
  return out;
}

}  // namespace inferdiff
