// SPDX-License-Identifier: Apache-2.0
#include "report/html_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "report/compare_tables.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/ledger_facts.h"
#include "report/ledger_tables.h"

namespace inferdiff {
namespace {

constexpr size_t kNameWidth = 72;       // columns of what is seen folded
constexpr size_t kMostFamilies = 2000;  // of a side
// Names of strangers may be long and many; the page stays small enough to send.
constexpr size_t kNameBytes = 400'000;
constexpr size_t kShortName = 160;

/// The kernels of one side by family and category.
using Members =
    std::map<std::pair<std::string_view, Category>, std::vector<size_t>>;

Members MembersOf(const LedgerResult& ledger) {
  Members members;
  for (size_t i = 0; i < ledger.kernels.size(); ++i)
    members[{ledger.kernels[i].family, ledger.kernels[i].category}].push_back(
        i);
  return members;
}

/// Full names, as long as there is room for them.
class NameBudget {
 public:
  std::string Name(std::string_view raw) {
    std::string name = Printable(raw);
    if (name.size() > left_ && name.size() > kShortName) {
      cut_ = true;
      name = ElideMiddle(name, kShortName);
    }
    left_ -= std::min(left_, name.size());
    return HtmlEscaped(name);
  }
  bool cut() const { return cut_; }

 private:
  size_t left_ = kNameBytes;
  bool cut_ = false;
};

std::string KernelItem(const KernelRow& kernel, NameBudget* names) {
  return fmt::format(
      "<li><code class=\"whole\">{}</code> <span>{} calls, {} \u00b5s a call, "
      "rule <code>{}</code></span></li>",
      names->Name(kernel.name), Grouped(kernel.amounts.count),
      kernel.call_ns.n > 0 ? Decimal(kernel.call_ns.mean(), 2, 1000)
                           : std::string(kDash),
      HtmlEscaped(kernel.rule));
}

std::string FamilyCell(std::string_view family, const LedgerResult& ledger,
                       const std::vector<size_t>* members, NameBudget* names) {
  const std::string shown =
      HtmlEscaped(ElideMiddle(Printable(family), kNameWidth));
  if (members == nullptr || members->empty())
    return fmt::format("<code>{}</code>", shown);
  std::string list;
  for (const size_t i : *members) list += KernelItem(ledger.kernels[i], names);
  return fmt::format(
      "<details class=\"name\"><summary><code>{}</code></summary><ul>{}</ul>"
      "</details>",
      shown, list);
}

std::string NumberCells(const Row& row, size_t from, size_t to) {
  std::string out;
  for (size_t c = from; c < to; ++c)
    out += fmt::format(
        "<td class=\"n\">{}</td>",
        c < row.cells.size() ? HtmlText(row.cells[c].text) : std::string());
  return out;
}

/// The rows of one side, by group of CompareResult::row_groups.
using GroupRows = std::vector<std::string>;

size_t GroupOf(const CompareResult& result, Category category) {
  const auto& groups = result.row_groups;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto& members = groups[g].members;
    if (std::count(members.begin(), members.end(), category) > 0) return g;
  }
  return groups.size();
}

void AddSide(const CompareResult& result, Side side, NameBudget* names,
             GroupRows* rows) {
  const LedgerResult& ledger = side == Side::kA ? result.a : result.b;
  const std::vector<FamilyAmounts>& families =
      side == Side::kA ? result.a_families : result.b_families;
  const Members members = MembersOf(ledger);
  const Table table = FamilyTable(result, side, families, kMostFamilies);
  for (size_t i = 0; i < std::min(families.size(), kMostFamilies); ++i) {
    const FamilyAmounts& family = families[i];
    const auto it = members.find({family.family, family.category});
    const size_t group = GroupOf(result, family.category);
    (*rows)[group] += fmt::format(
        "<tr data-side=\"{0}\"><td><b class=\"side {0}\">{0}</b></td>"
        "<th scope=\"row\">{1}</th>{2}<td class=\"t\">{3}</td></tr>\n",
        NameOf(side),
        FamilyCell(family.family, ledger,
                   it == members.end() ? nullptr : &it->second, names),
        NumberCells(table.rows[i], 1, 5),
        HtmlEscaped(TitleOf(family.category)));
  }
}

std::string TableStart(std::string_view unit, bool sides) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"Kernels\"><table class=\"figures kernels\"><thead><tr>"
      "{}<th scope=\"col\" class=\"t\">kernel</th><th scope=\"col\" "
      "class=\"n\">{}</th><th scope=\"col\" class=\"n\">%</th><th "
      "scope=\"col\" class=\"n\">calls</th><th scope=\"col\" "
      "class=\"n\">\u00b5s "
      "a call</th><th scope=\"col\" class=\"t\">category</th></tr></thead>\n",
      sides ? "<th scope=\"col\" class=\"t\">side</th>" : "", unit);
}

std::string GroupHead(std::string_view id, std::string_view group,
                      std::string_view title, size_t columns) {
  return fmt::format(
      "<tbody id=\"{}\" tabindex=\"-1\"><tr class=\"group\"><th colspan=\"{}\" "
      "scope=\"rowgroup\">{}{}</th></tr>\n",
      id, columns, HtmlSwatch(group), HtmlEscaped(title));
}

std::string Notes(const NameBudget& names, size_t families) {
  std::string out =
      "<p class=\"aside\">A row is a family: kernels whose names differ in "
      "template arguments or tile sizes only. Unfold one for the full names."
      "</p>\n";
  if (names.cut())
    out +=
        "<p class=\"aside\">Long names are cut: <code>--format json</code> "
        "has them.</p>\n";
  if (families > kMostFamilies)
    out += fmt::format(
        "<p class=\"aside\">The largest {} of {} are listed.</p>"
        "\n",
        kMostFamilies, families);
  return out;
}

/// By group of CompareResult::row_groups. Rows of a published table may have
/// any names.
std::vector<std::string> GroupIds(const CompareResult& result) {
  std::vector<std::string> ids;
  std::set<std::string> taken;
  for (const CategoryGroup& group : result.row_groups) {
    std::string id = "kernels-" + HtmlId(group.id);
    if (!taken.insert(id).second) id += fmt::format("-{}", ids.size());
    ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace

std::string KernelsId(const CompareResult& result, std::string_view group) {
  for (size_t g = 0; g < result.row_groups.size(); ++g) {
    if (result.row_groups[g].id != group) continue;
    const auto in_group = [&](const FamilyAmounts& family) {
      return GroupOf(result, family.category) == g;
    };
    const auto& a = result.a_families;
    const auto& b = result.b_families;
    if (std::any_of(a.begin(), a.end(), in_group) ||
        std::any_of(b.begin(), b.end(), in_group))
      return GroupIds(result)[g];
  }
  return "";
}

std::string HtmlKernels(const CompareResult& result) {
  const size_t groups = result.row_groups.size();
  GroupRows a(groups + 1), b(groups + 1);
  NameBudget names;
  AddSide(result, Side::kA, &names, &a);
  AddSide(result, Side::kB, &names, &b);
  std::string out = TableStart(UnitOf(result).name, true);
  bool any = false;
  // In the order of the table of categories, then what it does not hold.
  std::vector<bool> done(groups + 1, false);
  const std::vector<std::string> ids = GroupIds(result);
  const auto add = [&](size_t g) {
    if (done[g] || (a[g].empty() && b[g].empty())) return;
    done[g] = any = true;
    out += GroupHead(g < groups ? ids[g] : "kernels-of-no-group",
                     g < groups ? result.row_groups[g].id : "",
                     g < groups ? result.row_groups[g].title : "rest", 7);
    out += a[g] + b[g] + "</tbody>\n";
  };
  for (const GroupComparison& group : result.groups) {
    for (size_t g = 0; g < groups; ++g)
      if (result.row_groups[g].id == group.whole.id) add(g);
  }
  for (size_t g = 0; g <= groups; ++g) add(g);
  if (!any) return "";
  return out + "</table></div>\n" +
         Notes(names,
               std::max(result.a_families.size(), result.b_families.size()));
}

std::string HtmlKernels(const LedgerResult& ledger) {
  const Table table = FamilyTable(ledger, kMostFamilies);
  if (table.rows.empty()) return "";
  const Members members = MembersOf(ledger);
  NameBudget names;
  std::map<Category, std::string> rows;
  for (size_t i = 0; i < table.rows.size() && i < ledger.families.size(); ++i) {
    const FamilyRow& family = ledger.families[i];
    const auto it = members.find({family.family, family.category});
    std::string& text = rows[family.category];
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th>",
        FamilyCell(family.family, ledger,
                   it == members.end() ? nullptr : &it->second, &names));
    for (size_t c = 1; c < table.columns.size(); ++c) {
      const bool number = table.columns[c].align != Align::kLeft;
      text += fmt::format("<td class=\"{}\">{}</td>", number ? "n" : "t",
                          c < table.rows[i].cells.size()
                              ? HtmlText(table.rows[i].cells[c].text)
                              : std::string());
    }
    text += "</tr>\n";
  }
  std::string out =
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"Kernels\"><table class=\"figures kernels\"><thead><tr>";
  for (const Column& column : table.columns)
    out += fmt::format("<th scope=\"col\" class=\"{}\">{}</th>",
                       column.align == Align::kLeft ? "t" : "n",
                       HtmlText(column.title));
  out += "</tr></thead>\n";
  for (const CategoryRow& row : CategoryRows(ledger)) {
    const std::string_view id = IdOf(row.category);
    out += GroupHead("kernels-" + HtmlId(id), id, TitleOf(row.category),
                     table.columns.size());
    out += rows[row.category] + "</tbody>\n";
  }
  return out + "</table></div>\n" + Notes(names, ledger.families.size());
}

}  // namespace inferdiff
