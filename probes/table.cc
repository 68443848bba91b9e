// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "probes/result.h"

namespace inferdiff {
namespace {

struct Kind {
  const char* id;
  const char* title;  // what a row's value is
};

constexpr Kind kResultKinds[] = {
    {"floor", "One more empty dependent kernel"},
    {"chain", "Kernels one after the other: the whole chain"},
    {"kernel", "One more kernel of a kind"},
    {"host", "What the host spends on a call"},
    {"bandwidth", "Device memory, read and written"},
    {"host_bandwidth", "CPU memory of a node, read and written"},
    {"allreduce", "All-reduce: one, of its latest rank"},
    {"allreduce_wait", "All-reduce with a late rank: how long others wait"},
    {"allreduce_transfer", "All-reduce with a late rank: the rest"},
    {"overlap", "Two chains beside each other: saved of one after the other"},
    {"side_cost", "A full device's chain: slowed by a side stream"},
    {"trace_cost", "What the tracer adds to a kernel"},
    {"trace_duration", "The duration that the tracer records"},
    {"trace_check", "What it adds to another graph, and as predicted"},
};

std::string TitleOf(const std::string& id) {
  for (const Kind& kind : kResultKinds)
    if (id == kind.id) return kind.title;
  return id;
}

std::string Number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const int decimals = size >= 1000 ? 0 : (size >= 100 ? 1 : 2);
  return fmt::format("{:.{}f}", value, decimals);
}

// Times in what reads well; everything else as it is.
std::string WithUnit(double value, const std::string& unit) {
  if (unit != "ns") return Number(value) + " " + unit;
  if (std::abs(value) >= 1e6) return Number(value / 1e6) + " ms";
  if (std::abs(value) >= 1e3) return Number(value / 1e3) + " us";
  return Number(value) + " ns";
}

std::string ValueText(const Fact& fact) {
  if (const auto* truth = std::get_if<bool>(&fact.value))
    return *truth ? "yes" : "no";
  if (const auto* whole = std::get_if<int64_t>(&fact.value))
    return fmt::format("{}", *whole);
  if (const auto* text = std::get_if<std::string>(&fact.value)) return *text;
  return Number(std::get<double>(fact.value));
}

// "untraced_ns" 730.0 → "untraced 730 ns"; "branches" 2 → "2 branches".
std::string FactText(const Fact& fact) {
  std::string name = fact.name;
  if (std::holds_alternative<std::string>(fact.value)) return ValueText(fact);
  if (const auto* time = std::get_if<double>(&fact.value);
      time != nullptr && name.ends_with("_ns")) {
    name.resize(name.size() - 3);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name + " " + WithUnit(*time, "ns");
  }
  if (name == "gb_s") return ValueText(fact) + " GB/s";
  std::replace(name.begin(), name.end(), '_', ' ');
  if (const auto* whole = std::get_if<int64_t>(&fact.value)) {
    if (*whole == 1 && name.ends_with('s')) name.pop_back();
    return fmt::format("{} {}", *whole, name);
  }
  return name + " " + ValueText(fact);
}

size_t WidthOf(const std::string& ascii) { return ascii.size(); }

std::string ResultRows(const std::vector<Result>& results, const Result& first,
                       const std::string& tracing) {
  std::vector<const Result*> rows;
  for (const Result& result : results)
    if (result.id == first.id) rows.push_back(&result);
  size_t wide = 20;
  for (const Result* row : rows) wide = std::max(wide, WidthOf(Label(*row)));
  const auto of = [&](const Result& row) {
    return row.tracing.empty() ? tracing : row.tracing;
  };
  std::string text = fmt::format("\n{}\n", TitleOf(first.id));
  for (const Result* row : rows) {
    std::string label = Label(*row);
    if (first.id == "floor") label = "tracer: " + of(*row);
    text += fmt::format("  {:<{}}  {:>12}  +- {:>10}  {:>4} rounds{}\n", label,
                        wide, WithUnit(row->measured.median, row->unit),
                        WithUnit(row->measured.spread, row->unit),
                        row->measured.rounds,
                        row->measured.steady ? "" : "  unsteady");
  }
  return text;
}

std::string FactRows(const std::string& title, const Facts& facts) {
  std::string text = fmt::format("\n{}\n", title);
  for (const Fact& fact : facts)
    text += fmt::format("  {:<24}  {}\n", fact.name, ValueText(fact));
  return text;
}

}  // namespace

std::string Label(const Result& result) {
  std::string label = result.name;
  for (const Fact& fact : result.facts)
    label += (label.empty() ? "" : ", ") + FactText(fact);
  return label;
}

std::string TableText(const Report& report) {
  std::string text = fmt::format("{}, {}; tracer: {}\n", report.device,
                                 report.runtime, report.tracing);
  for (const auto& [what, facts] : report.info) text += FactRows(what, facts);
  std::vector<std::string> done;
  for (const Result& result : report.results) {
    if (std::find(done.begin(), done.end(), result.id) != done.end()) continue;
    done.push_back(result.id);
    text += ResultRows(report.results, result, report.tracing);
  }
  if (!report.results.empty())
    text +=
        "\nMedians; +- is between the quartiles. unsteady: the time was up "
        "before the median\nwas known to 0.5%.\n";
  if (!report.clocks.empty())
    text += FactRows("Clocks while measuring", report.clocks);
  if (!report.verdict.empty())
    text += "\nAgainst the baseline: " + report.verdict + "\n";
  for (const std::string& reason : report.reasons) text += "  " + reason + "\n";
  for (const Absent& absent : report.absent)
    text += fmt::format("\nNot measured: {}: {}\n", absent.what, absent.why);
  for (const std::string& doubt : report.doubts)
    text += "\nDoubt: " + doubt + "\n";
  return text;
}

}  // namespace inferdiff
