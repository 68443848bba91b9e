// SPDX-License-Identifier: Apache-2.0
#include "ledger/published_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/csv_rows.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/text.h"
#include "ledger/published_rows.h"

namespace inferdiff {
namespace {

[[noreturn]] void FailTable(const std::string& path, const std::string& what,
                            std::string fix) {
  throw InputError("bad-table", path, what, std::move(fix));
}

struct UnitSuffix {
  std::string_view suffix;
  int places;  // 10^places ns
};
constexpr UnitSuffix kUnits[] = {{"_us", 3}, {"_ms", 6}, {"_ns", 0}};

/// A column of times: "gb300_default_wall_us" is {"gb300_default", attributed}.
struct TimeColumn {
  size_t index = 0;
  int places = 0;
  std::string side;
  bool sum = false;  // durations added up
};

std::optional<TimeColumn> AsTimeColumn(const std::string& name, size_t index) {
  for (const UnitSuffix& unit : kUnits) {
    std::string side = Lower(name);
    if (!side.ends_with(unit.suffix)) continue;
    side.resize(side.size() - unit.suffix.size());
    bool sum = false;
    for (const std::string_view word : {"_wall", "_kernel", "_sum"}) {
      if (!side.ends_with(word)) continue;
      side.resize(side.size() - word.size());
      sum = word != "_wall";
      break;
    }
    // A difference of two sides is no side.
    if (side.empty() || side == "gap" || side == "delta" || side == "diff")
      return std::nullopt;
    return TimeColumn{index, unit.places, std::move(side), sum};
  }
  return std::nullopt;
}

std::vector<TimeColumn> TimeColumns(const CsvRow& header) {
  std::vector<TimeColumn> columns;
  for (size_t i = 1; i < header.size(); ++i)
    if (auto column = AsTimeColumn(header[i], i))
      columns.push_back(*std::move(column));
  return columns;
}

std::vector<std::string> Sides(const CsvRow& header) {
  std::vector<std::string> sides;
  for (const TimeColumn& column : TimeColumns(header)) {
    if (!column.sum &&
        std::find(sides.begin(), sides.end(), column.side) == sides.end())
      sides.push_back(column.side);
  }
  return sides;
}

/// "gb_serial" is short for "gb300_serial": word by word, a beginning each.
bool IsShortFor(std::string_view shorter, std::string_view side) {
  while (true) {
    const size_t end_short = std::min(shorter.find('_'), shorter.size());
    const size_t end_side = std::min(side.find('_'), side.size());
    if (end_short == 0 ||
        !side.substr(0, end_side).starts_with(shorter.substr(0, end_short)))
      return false;
    const bool last_short = end_short == shorter.size();
    const bool last_side = end_side == side.size();
    if (last_short || last_side) return last_short && last_side;
    shorter.remove_prefix(end_short + 1);
    side.remove_prefix(end_side + 1);
  }
}

/// The column of operations of a side: by its name, or else by the only short
/// form of it that is short for no other side.
std::optional<size_t> CountColumn(const CsvRow& header, std::string_view side) {
  constexpr std::string_view kKernels = "kernels";
  const std::vector<std::string> sides = Sides(header);
  std::optional<size_t> found;
  for (size_t i = 1; i < header.size(); ++i) {
    std::string name = Lower(header[i]);
    if (name.starts_with("kernels_"))
      name.erase(0, kKernels.size() + 1);
    else if (name.ends_with("_kernels"))
      name.resize(name.size() - kKernels.size() - 1);
    else
      continue;
    if (name == side) return i;
    const auto fits = std::count_if(
        sides.begin(), sides.end(),
        [&](const std::string& one) { return IsShortFor(name, one); });
    if (fits != 1 || !IsShortFor(name, side)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

enum class RowKind : uint8_t { kCategory, kIdle, kTotal };

RowKind KindOf(const std::string& name) {
  const std::string lower = Lower(name);
  if (lower == "total" || lower == "wall") return RowKind::kTotal;
  return lower.find("idle") != lower.npos ? RowKind::kIdle : RowKind::kCategory;
}

/// One side's figures of a row; what is not known is absent.
struct SideFigures {
  std::optional<int64_t> wall_ns, sum_ns, count_milli;
};

class SideReader {
 public:
  SideReader(const CsvRow& header, std::string_view side, std::string path)
      : path_(std::move(path)), count_(CountColumn(header, side)) {
    for (const TimeColumn& column : TimeColumns(header)) {
      if (column.side != side) continue;
      (column.sum ? sum_ : wall_) = column;
    }
  }

  bool has_sums() const { return sum_.has_value(); }

  SideFigures Read(const CsvRow& row) const {
    SideFigures figures;
    figures.wall_ns = Field(row, wall_->index, wall_->places);
    if (sum_) figures.sum_ns = Field(row, sum_->index, sum_->places);
    if (count_) figures.count_milli = Field(row, *count_, 3);
    return figures;
  }

 private:
  std::optional<int64_t> Field(const CsvRow& row, size_t index,
                               int places) const {
    if (index >= row.size() || row[index].empty()) return std::nullopt;
    const auto value = ParseFixed(row[index], places);
    if (!value) {
      FailTable(path_,
                fmt::format("'{}' in row '{}' is no number",
                            Printable(row[index]), Printable(row[0])),
                "leave a field empty where its value is unknown");
    }
    return value;
  }

  std::string path_;
  std::optional<TimeColumn> wall_, sum_;
  std::optional<size_t> count_;
};

/// The figures of one side, row by row, before they are a ledger.
struct SideRows {
  std::vector<std::string> names;
  std::vector<SideFigures> rows;
  std::optional<SideFigures> total;
  std::optional<int64_t> idle_ns;
};

SideRows ReadRows(const std::vector<CsvRow>& table, const SideReader& reader) {
  SideRows side;
  for (size_t i = 1; i < table.size(); ++i) {
    const SideFigures figures = reader.Read(table[i]);
    const RowKind kind = KindOf(table[i][0]);
    if (kind == RowKind::kTotal) {
      side.total = figures;
    } else if (kind == RowKind::kIdle) {
      if (figures.wall_ns)
        side.idle_ns = CheckedAdd(side.idle_ns.value_or(0), *figures.wall_ns);
    } else if (figures.wall_ns) {
      side.names.push_back(table[i][0]);
      side.rows.push_back(figures);
    }
  }
  return side;
}

/// What makes whole numbers of counts that have decimals: 1, 10, 100 or 1000.
int64_t ScaleOf(const SideRows& side) {
  int64_t scale = 1;
  for (const SideFigures& row : side.rows)
    while (row.count_milli && *row.count_milli * scale % 1000 != 0) scale *= 10;
  return scale;
}

bool AllHave(const SideRows& side, std::optional<int64_t> SideFigures::*field) {
  return std::all_of(
      side.rows.begin(), side.rows.end(),
      [&](const SideFigures& row) { return (row.*field).has_value(); });
}

/// What of the total is in no row. Rows are rounded each: a few last digits
/// too much are no contradiction, and the rows are then what holds.
int64_t Remainder(const SideRows& side, const std::string& path) {
  int64_t rows = *side.idle_ns;
  for (const SideFigures& row : side.rows)
    rows = CheckedAdd(rows, *row.wall_ns);
  const int64_t rest = *side.total->wall_ns - rows;
  const auto rounding = static_cast<int64_t>(side.rows.size() + 1) * 100;
  if (rest < -rounding) {
    FailTable(
        path,
        fmt::format("the rows add up to {} ns more than the total", -rest),
        "each instant of a step may be in one row only; durations added "
        "up belong into a column NAME_kernel_us");
  }
  return rest > rounding ? rest : 0;
}

void AddRow(const SideFigures& figures, int64_t scale, bool sums, bool counts,
            Amounts* amounts) {
  const int64_t time = *figures.wall_ns * scale;
  const int64_t sum = sums ? *figures.sum_ns * scale : time;
  // An empty name of a row would not count: at least one operation ran.
  const int64_t count = counts ? *figures.count_milli * scale / 1000 : scale;
  amounts->count = CheckedAdd(amounts->count, count);
  amounts->sum_ns = CheckedAdd(amounts->sum_ns, sum);
  amounts->attributed_ns = CheckedAdd(amounts->attributed_ns, time);
  amounts->hidden_cross_lane_ns =
      CheckedAdd(amounts->hidden_cross_lane_ns, sum - time);
}

LedgerResult LedgerOf(const SideRows& side, std::string_view name,
                      bool has_sums, int64_t remainder) {
  LedgerResult ledger;
  PublishedTable& table = ledger.published.emplace();
  table.side = name;
  table.counts_known = AllHave(side, &SideFigures::count_milli);
  table.sums_known =
      has_sums && AllHave(side, &SideFigures::sum_ns) && remainder == 0 &&
      std::all_of(
          side.rows.begin(), side.rows.end(),
          [](const SideFigures& row) { return *row.sum_ns >= *row.wall_ns; });
  const int64_t scale = ScaleOf(side);
  NamedRows named = RowsOfNames(side.names);
  table.rows = std::move(named.rows);
  table.idle_ns = *side.idle_ns * scale;
  table.wall_ns = table.idle_ns;
  for (size_t i = 0; i < side.rows.size(); ++i) {
    const PublishedRow& row = table.rows[named.row_of_name[i]];
    AddRow(side.rows[i], scale, table.sums_known, table.counts_known,
           &ledger.categories[static_cast<size_t>(row.categories[0])]);
    table.wall_ns = CheckedAdd(table.wall_ns, *side.rows[i].wall_ns * scale);
  }
  if (remainder > 0) {
    SideFigures rest;
    rest.wall_ns = remainder;
    AddRow(rest, scale, false, false,
           &ledger.categories[static_cast<size_t>(Category::kUnclassified)]);
    table.wall_ns = CheckedAdd(table.wall_ns, remainder * scale);
    table.counts_known = false;
  }
  ledger.used_steps = scale;
  return ledger;
}

/// What a table of arms says of each: the names of its column, with the decimal
/// places that are kept.
struct ArmColumn {
  std::string_view usual, what;  // "ms_step", "time"
  std::vector<std::pair<std::string_view, int>> names;
};

/// Above 0, in units of the last place.
int64_t ReadArm(std::string_view text, std::string_view arm,
                const std::string& path, const ArmColumn& column) {
  const std::vector<CsvRow> table = CsvRows(text);
  std::optional<size_t> arms, values;
  int places = 0;
  for (size_t i = 0; !table.empty() && i < table[0].size(); ++i) {
    const std::string title = Lower(table[0][i]);
    if (title == "arm") arms = i;
    for (const auto& [name, kept] : column.names) {
      if (title != name) continue;
      values = i;
      places = kept;
    }
  }
  if (!arms || !values) {
    FailTable(path,
              fmt::format("the table of arms has no columns 'arm' and '{}'",
                          column.usual),
              fmt::format("name them so, or give the {} itself", column.what));
  }
  for (size_t i = 1; i < table.size(); ++i) {
    const CsvRow& row = table[i];
    if (row.size() <= std::max(*arms, *values) || row[*arms] != arm) continue;
    const auto value = ParseFixed(row[*values], places);
    if (value && *value > 0) return *value;
  }
  FailTable(path,
            fmt::format("no arm '{}' with a {}", Printable(arm), column.what),
            "its column 'arm' lists them");
}

}  // namespace

bool IsPublishedTable(std::string_view prefix) {
  const auto rows = CsvRows(prefix.substr(0, prefix.find('\n')));
  if (rows.empty() || rows[0].size() < 2) return false;
  return Lower(rows[0][0]) == "category" && !Sides(rows[0]).empty();
}

std::vector<std::string> SidesOfTable(std::string_view text) {
  const auto rows = CsvRows(text.substr(0, text.find('\n')));
  return rows.empty() ? std::vector<std::string>() : Sides(rows[0]);
}

LedgerResult ReadPublishedTable(std::string_view text, std::string_view side,
                                const std::string& path) {
  const std::vector<CsvRow> table = CsvRows(text);
  const std::vector<std::string> sides =
      table.empty() ? std::vector<std::string>() : Sides(table[0]);
  const std::string name = Lower(side);
  if (std::find(sides.begin(), sides.end(), name) == sides.end()) {
    FailTable(
        path,
        side.empty()
            ? "the table holds several sides and none is named"
            : fmt::format("the table holds no side '{}'", Printable(side)),
        fmt::format("write FILE:SIDE with one of: {}",
                    Printable(fmt::format("{}", fmt::join(sides, ", ")))));
  }
  const SideReader reader(table[0], name, path);
  const SideRows rows = ReadRows(table, reader);
  if (!rows.total || !rows.total->wall_ns || !rows.idle_ns ||
      rows.rows.empty()) {
    FailTable(path,
              fmt::format("side '{}' needs rows with its time, one of idle "
                          "time and one 'total'",
                          Printable(name)),
              "without them nothing says what a step takes");
  }
  if (*rows.total->wall_ns <= 0) {
    FailTable(path, fmt::format("side '{}' takes no time", Printable(name)),
              "its total is 0");
  }
  return LedgerOf(rows, name, reader.has_sums(), Remainder(rows, path));
}

Rational ReadTimedArm(std::string_view text, std::string_view arm,
                      const std::string& path) {
  const int64_t ns =
      ReadArm(text, arm, path,
              {"ms_step",
               "time",
               {{"ms_cycle_or_step", 6}, {"ms_step", 6}, {"us_step", 3}}});
  return {ns, 1};
}

Rational ReadAcceptedOfArm(std::string_view text, std::string_view arm,
                           const std::string& path) {
  const int64_t millionths = ReadArm(
      text, arm, path,
      {"al_server",
       "number of tokens",
       {{"al_server", 6}, {"acceptance_length", 6}, {"accept_length", 6}}});
  return {millionths, 1'000'000};
}

}  // namespace inferdiff
