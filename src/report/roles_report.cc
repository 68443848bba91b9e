// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <vector>

#include "base/number.h"
#include "layers/role.h"
#include "report/layers_report.h"

namespace inferdiff {
namespace {

/// Kernels and time of the rows in layers, of those outside, and of all.
struct Sums {
  int64_t ops[2] = {0, 0};
  int64_t ns[2] = {0, 0};  // by RoleRow::in_layers
  int64_t all_ns() const { return ns[0] + ns[1]; }
};

Sums SumsOf(const std::vector<RoleRow>& rows) {
  Sums sums;
  for (const RoleRow& row : rows) {
    sums.ops[row.in_layers ? 1 : 0] += row.ops;
    sums.ns[row.in_layers ? 1 : 0] += row.attributed_ns;
  }
  return sums;
}

/// Times in last digits: the rows add up to what stands below them.
struct Digits {
  Digits(const std::vector<RoleRow>& rows, const Sums& sums, int64_t of,
         Precision at)
      : precision(at),
        all(RoundedTo({sums.all_ns(), of}, at)),
        sides(ApportionWithin({{sums.ns[0], of}, {sums.ns[1], of}}, {0, 0},
                              {all}, at)) {
    std::vector<Rational> parts;
    std::vector<size_t> side_of;
    for (const RoleRow& row : rows) {
      parts.push_back({row.attributed_ns, of});
      side_of.push_back(row.in_layers ? 1 : 0);
    }
    each = ApportionWithin(parts, side_of, sides, at);
  }

  std::string Text(int64_t digits, int64_t ns) const {
    return PrintDigits(digits, precision.decimals, ns == 0);
  }

  Precision precision;
  int64_t all = 0;
  std::vector<int64_t> sides, each;
};

std::string CountOf(int64_t ops) { return Grouped(ops); }

}  // namespace

std::vector<Section> RoleSections(const StepLayers& step) {
  if (step.layers.layers.empty()) return {};
  const Sums sums = SumsOf(step.roles);
  const TimeUnit unit = UnitFor({{sums.all_ns(), 1}});
  const Digits times(step.roles, sums, 1, {unit.ns == 1 ? 0 : 3, unit.ns});
  // Tenths of a percent are thousandths.
  const Digits shares(step.roles, sums, std::max<int64_t>(sums.all_ns(), 1),
                      {3, 1});
  const auto share = [&](int64_t digits, int64_t ns) {
    return PrintDigits(digits, 1, ns == 0);
  };
  Table table;
  table.columns = {{"Role", Align::kLeft},
                   {"layers", Align::kRight},
                   {"kernels a layer"},
                   {"\u00b5s a layer"},
                   {"kernels", Align::kRight},
                   {std::string(unit.name)},
                   {"%"}};
  const auto add_sum = [&](std::string name, int64_t ops, int64_t digits,
                           int64_t share_digits, int64_t ns) {
    table.AddTotal({std::move(name), "", "", "", CountOf(ops),
                    times.Text(digits, ns), share(share_digits, ns)});
  };
  bool inside = true;
  const auto close_layers = [&] {
    add_sum("all in layers", sums.ops[1], times.sides[1], shares.sides[1],
            sums.ns[1]);
    inside = false;
  };
  for (size_t i = 0; i < step.roles.size(); ++i) {
    const RoleRow& row = step.roles[i];
    if (inside && !row.in_layers) close_layers();
    std::vector<Cell> cells = {std::string(IdOf(row.role)), "", "", ""};
    if (row.in_layers) {
      cells[1] = CountOf(row.layers);
      cells[2] = CountText({row.ops, row.layers});
      cells[3] = Decimal({row.attributed_ns, row.layers}, 2, kMicroseconds.ns);
    }
    cells.push_back(CountOf(row.ops));
    cells.push_back(times.Text(times.each[i], row.attributed_ns));
    cells.push_back(share(shares.each[i], row.attributed_ns));
    table.Add(std::move(cells));
  }
  if (inside) close_layers();
  add_sum(fmt::format("step {}", step.step), sums.ops[0] + sums.ops[1],
          times.all, shares.all, sums.all_ns());
  Section section{.title = fmt::format("A layer by role, step {}", step.step)};
  section.before.push_back(fmt::format(
      "{}; a layer's figures are means over the layers that have the role. "
      "Time is attributed, waiting for other ranks left out.",
      step.layers.evidence));
  section.table = std::move(table);
  return {std::move(section)};
}

}  // namespace inferdiff
