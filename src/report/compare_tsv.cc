// SPDX-License-Identifier: Apache-2.0
// One line a figure, so that grep, cut and sort are enough:
//
//   table     row         quantity       a            b
//   category  moe_gemm    attributed_ns  1420123.500  810004.000
//
// Times are means a step in ns, with a plain ASCII minus. The lines in front
// that begin with # name the inputs, A first.
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "report/compare_report.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

class Writer {
 public:
  void Line(std::string_view table, std::string_view row,
            std::string_view quantity, std::string_view a, std::string_view b) {
    out_ += fmt::format("{}\t{}\t{}\t{}\t{}\n", table, TsvField(row),
                        TsvField(quantity), TsvField(a), TsvField(b));
  }
  void Numbers(std::string_view table, std::string_view row,
               std::string_view quantity, Rational a, Rational b) {
    Line(table, row, quantity, Ascii(a), Ascii(b));
  }
  std::string Take() { return std::move(out_); }

 private:
  static std::string Ascii(Rational value) {
    std::string text = Decimal(value, 3);
    if (text.starts_with(kMinus)) text.replace(0, kMinus.size(), "-");
    return text;
  }

  std::string out_ = "table\trow\tquantity\ta\tb\n";
};

void WriteAmounts(const CompareResult& result, std::string_view table,
                  const CategoryComparison& row, Writer* out) {
  const SideTotals& a = result.a_totals;
  const SideTotals& b = result.b_totals;
  const auto line = [&](std::string_view quantity,
                        int64_t SideAmounts::*member) {
    out->Numbers(table, row.id, quantity, a.PerStep(row.a.*member),
                 b.PerStep(row.b.*member));
  };
  line("attributed_ns", &SideAmounts::attributed_ns);
  line("sum_ns", &SideAmounts::sum_ns);
  line("hidden_same_lane_ns", &SideAmounts::hidden_same_lane_ns);
  line("hidden_cross_lane_ns", &SideAmounts::hidden_cross_lane_ns);
  line("ops", &SideAmounts::count);
}

void WritePseudo(const CompareResult& result, Writer* out) {
  const auto line = [&](std::string_view row, int64_t SideTotals::*member) {
    out->Numbers("category", row, "attributed_ns",
                 result.a_totals.PerStep(result.a_totals.*member),
                 result.b_totals.PerStep(result.b_totals.*member));
  };
  out->Numbers(
      "category", "rank_wait", "attributed_ns",
      result.a_totals.PerStep(result.a_totals.rank_wait.attributed_ns),
      result.b_totals.PerStep(result.b_totals.rank_wait.attributed_ns));
  line("foreign", &SideTotals::foreign_ns);
  line("idle_inside", &SideTotals::idle_inside_ns);
  line("idle", &SideTotals::idle_outside_ns);
}

void WriteFamilies(const SideTotals& totals, bool is_a,
                   const std::vector<FamilyAmounts>& families, Writer* out) {
  for (const FamilyAmounts& family : families) {
    std::string text = Decimal(totals.PerStep(family.amounts.attributed_ns), 3);
    out->Line("kernel", family.family, IdOf(family.category),
              is_a ? text : std::string(), is_a ? std::string() : text);
  }
}

}  // namespace

std::string CompareTsvText(const CompareResult& result) {
  Writer out;
  out.Line("comparable", "verdict", IdOf(result.comparable.verdict), "", "");
  for (const std::string& reason : result.comparable.reasons)
    out.Line("comparable", "reason", reason, "", "");
  for (const std::string& field : result.comparable.unknown)
    out.Line("comparable", "unknown", field, "", "");
  for (const SetupRow& row : result.setup)
    out.Line("setup", row.field, "value", row.a, row.b);
  out.Numbers("step", IdOf(result.gap.basis), "ns", result.gap.a_total,
              result.gap.b_total);
  // A part of the gap belongs to B - A: 0 for A, the difference for B.
  for (const GapPart& part : result.gap_parts)
    out.Numbers("gap", part.id, IdOf(part.how), {0, 1}, part.delta);
  for (const GapPart& part : result.causes.parts)
    out.Numbers("cause", part.id, IdOf(part.how), {0, 1}, part.delta);
  for (const CategoryComparison& row : result.categories)
    WriteAmounts(result, "category", row, &out);
  WritePseudo(result, &out);
  for (const GroupComparison& group : result.groups)
    if (!group.parts.empty()) WriteAmounts(result, "group", group.whole, &out);
  WriteFamilies(result.a_totals, true, result.a_families, &out);
  WriteFamilies(result.b_totals, false, result.b_families, &out);
  for (const Finding& finding : result.findings)
    out.Line("finding", finding.id, finding.text, "", "");
  return TsvProvenance(result.a.source) + TsvProvenance(result.b.source) +
         out.Take();
}

}  // namespace inferdiff
