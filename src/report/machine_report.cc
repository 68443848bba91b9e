// SPDX-License-Identifier: Apache-2.0
#include "report/machine_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "report/ledger_json.h"

namespace inferdiff {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMega = 1'000'000;

const MachineSide& SideOf(const Machine& machine, Side side) {
  return side == Side::kA ? machine.a : machine.b;
}

std::string Microseconds(Rational ns) { return Decimal(ns, 1, 1000); }

/// " Its kernels: 2.76 ms bound by memory, 1.10 ms by launches."
std::string BoundText(const MachineSide& side) {
  constexpr std::pair<BoundBy, std::string_view> kWords[] = {
      {BoundBy::kMemory, "bound by memory"},
      {BoundBy::kLaunch, "by launches"},
      {BoundBy::kNeither, "by neither"},
      {BoundBy::kUnknown, "not by memory"}};
  std::string text;
  for (const auto& [bound, words] : kWords) {
    const int64_t time = side.bound_ns[static_cast<size_t>(bound)];
    if (time == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? " Its kernels: " : ", ",
                        Duration({time, 1}), words);
  }
  return text.empty() ? text : text + ".";
}

/// "A: 8.03 GB of weights and 1.08 GB of KV cache a step, 1.14 ms at 8.00 TB/s
/// (datasheet): 31.8 % of its 3.59 ms."
std::string SideText(Side name, const MachineSide& side) {
  if (!side.not_known.empty())
    return fmt::format("{}: not estimated, because {}.", NameOf(name),
                       side.not_known);
  const auto bytes = [](int64_t count) {
    return Bytes(static_cast<uint64_t>(count));
  };
  std::string text =
      fmt::format("{}: {} of weights", NameOf(name), bytes(side.bytes.weights));
  if (side.bytes.cache > 0)
    text += fmt::format(" and {} of KV cache", bytes(side.bytes.cache));
  text +=
      fmt::format(" a step, {} at {} ({}): {} of its {}.", Duration(side.floor),
                  SpeedText(side.bandwidth), side.bandwidth.source,
                  Percent(side.floor, side.step) + " %", Duration(side.step));
  return text + BoundText(side);
}

/// bytes / time in TB/s; a dash where there is no time.
std::string Achieved(const MachineRole& role) {
  if (role.attributed_ns == 0) return std::string(kDash);
  // Bytes a ns are GB a second.
  return Decimal({role.bytes, role.attributed_ns}, 2, 1000);
}

Table SideTable(const MachineSide& side) {
  Table table;
  table.columns = {{"Role", Align::kLeft},
                   {"kernels", Align::kRight},
                   {"MB"},
                   {"floor \u00b5s"},
                   {"\u00b5s"},
                   {"TB/s"},
                   {"% of peak"},
                   {"bound by", Align::kLeft}};
  const auto add = [&](std::string name, const MachineRole& role, bool reads) {
    table.Add(
        {std::move(name), Grouped(role.ops),
         reads ? Decimal({role.bytes, 1}, 1, kMega) : "",
         reads ? Microseconds(role.floor) : "",
         Microseconds({role.attributed_ns, 1}), reads ? Achieved(role) : "",
         reads ? Percent(role.floor, {role.attributed_ns, 1}) : "",
         role.bound == BoundBy::kUnknown ? std::string(kDash)
                                         : std::string(IdOf(role.bound))});
  };
  for (const MachineRole& role : side.roles)
    add(std::string(IdOf(role.role)), role, true);
  if (side.rest.ops > 0) add("all other roles", side.rest, false);
  return table;
}

std::string Sentence(const std::vector<std::string>& clauses) {
  std::string text;
  for (const std::string& clause : clauses)
    text += (text.empty() ? "" : "; ") + clause;
  return text;
}

Section SideSection(const MachineSide& side, Side name) {
  Section section;
  section.title = fmt::format(
      "Bytes and bandwidth of {} by role, a step (estimate)", NameOf(name));
  section.table = SideTable(side);
  if (side.unplaced_bytes > 0) {
    section.after.push_back(
        fmt::format("{} are read by kernels whose role is not known.",
                    Bytes(static_cast<uint64_t>(side.unplaced_bytes))));
  }
  section.folded = true;
  return section;
}

/// One term of each role and of all that is left, adding up to the step's.
std::vector<std::string> TermColumn(const Machine& machine,
                                    Rational MachineSplit::*term) {
  std::vector<Rational> parts;
  Rational left = *machine.split.*term;
  for (const MachineRoleSplit& row : machine.roles) {
    parts.push_back(row.split.*term);
    left = left - parts.back();
  }
  if (!parts.empty()) parts.push_back(left);
  PrintedColumn column = AddingColumn(parts, 1, 1000, Sign::kAlways);
  if (parts.empty())
    column.total = SignedDecimal(*machine.split.*term, 1, 1000);
  column.parts.push_back(std::move(column.total));
  return std::move(column.parts);
}

Table SplitTable(const Machine& machine) {
  Table table;
  table.columns = {{"\u00b5s", Align::kLeft},
                   {"B \u2212 A"},
                   {"bytes"},
                   {"bandwidth"},
                   {"beyond"}};
  std::vector<std::vector<std::string>> terms;
  for (const auto term : {&MachineSplit::total, &MachineSplit::bytes,
                          &MachineSplit::bandwidth, &MachineSplit::beyond})
    terms.push_back(TermColumn(machine, term));
  const auto cells = [&](std::string_view name, size_t row) {
    std::vector<Cell> line = {name};
    for (const auto& column : terms) line.emplace_back(column[row]);
    return line;
  };
  const size_t roles = machine.roles.size();
  for (size_t i = 0; i < roles; ++i)
    table.Add(cells(IdOf(machine.roles[i].role), i));
  if (roles > 0) table.Add(cells("all else", roles));
  table.AddTotal(cells("a step", terms[0].size() - 1));
  return table;
}

Json ExactJson(Rational value) {
  return {{"num", JsonInt(value.num)}, {"den", JsonInt(value.den)}};
}

Json SplitJson(const MachineSplit& split) {
  return {{"total_ns", ExactJson(split.total)},
          {"bytes_ns", ExactJson(split.bytes)},
          {"bandwidth_ns", ExactJson(split.bandwidth)},
          {"beyond_ns", ExactJson(split.beyond)}};
}

Json RoleJson(const MachineRole& role) {
  return {{"role", IdOf(role.role)},
          {"bytes", JsonInt(role.bytes)},
          {"ops", JsonInt(role.ops)},
          {"attributed_ns", JsonInt(role.attributed_ns)},
          {"floor_ns", ExactJson(role.floor)},
          {"bound_by", IdOf(role.bound)}};
}

Json SideJson(const MachineSide& side) {
  const auto& bytes = side.bytes;
  Json reads = Json::array();
  for (size_t i = 0; i < bytes.bytes.size(); ++i)
    if (bytes.bytes[i] > 0)
      reads.push_back({{"name", NameOf(static_cast<ByteUse>(i))},
                       {"bytes", JsonInt(bytes.bytes[i])}});
  Json json = {{"not_known", JsonText(side.not_known)},
               {"batch", JsonInt(side.work.batch)},
               {"tokens", JsonInt(side.work.tokens)},
               {"context", JsonInt(side.work.context)},
               {"tensor_parallel", JsonInt(side.work.tensor_parallel)},
               {"bandwidth",
                {{"bytes_per_s", JsonInt(side.bandwidth.bytes_per_s)},
                 {"source", side.bandwidth.source}}},
               {"weight_bytes", JsonInt(bytes.weights)},
               {"cache_bytes", JsonInt(bytes.cache)},
               {"cache_dtype", bytes.cache_dtype},
               {"distinct_experts", bytes.distinct_experts
                                        ? ExactJson(*bytes.distinct_experts)
                                        : Json(nullptr)},
               {"reads", std::move(reads)},
               {"floor_ns", ExactJson(side.floor)},
               {"step_ns", ExactJson(side.step)}};
  json["roles"] = Json::array();
  for (const MachineRole& role : side.roles)
    json["roles"].push_back(RoleJson(role));
  json["rest"] = {{"ops", JsonInt(side.rest.ops)},
                  {"attributed_ns", JsonInt(side.rest.attributed_ns)},
                  {"bound_by", IdOf(side.rest.bound)}};
  json["bound_ns"] = Json::object();
  for (size_t i = 0; i < kBoundCount; ++i)
    json["bound_ns"][std::string(IdOf(static_cast<BoundBy>(i)))] =
        JsonInt(side.bound_ns[i]);
  json["unplaced_bytes"] = JsonInt(side.unplaced_bytes);
  json["assumptions"] = side.assumptions;
  return json;
}

}  // namespace

std::vector<Section> MachineSections(const CompareResult& result) {
  if (!result.machine) return {};
  const Machine& machine = *result.machine;
  Section section;
  section.title = "Machine or software (estimate)";
  for (const Side side : {Side::kA, Side::kB})
    section.before.push_back(SideText(side, SideOf(machine, side)));
  if (machine.split) section.table = SplitTable(machine);
  if (machine.split) {
    section.after.push_back(
        "bytes = what B reads more, at A's bandwidth; bandwidth = what B "
        "reads, "
        "at the difference of the bandwidths: the machines'. beyond = the "
        "rest: software, and what no weight or cache explains. Weights and "
        "cache are read once a step.");
  }
  const std::string of_a = Sentence(machine.a.assumptions);
  const std::string of_b = Sentence(machine.b.assumptions);
  if (of_a == of_b) {
    if (!of_a.empty())
      section.after.push_back("Taken for granted: " + of_a + ".");
  } else {
    section.after.push_back("Taken for granted of A: " + of_a + ".");
    section.after.push_back("Of B: " + of_b + ".");
  }
  std::vector<Section> sections = {std::move(section)};
  for (const Side side : {Side::kA, Side::kB}) {
    const MachineSide& one = SideOf(machine, side);
    if (one.not_known.empty() && !one.roles.empty())
      sections.push_back(SideSection(one, side));
  }
  if (sections.size() > 1) {
    sections.back().after.push_back(
        "floor = MB at full bandwidth. Bound by memory: that is half of the "
        "time or more; by launch: else the floors of the kernels are "
        "(--floor); a dash: not by memory, and the floor of a kernel is not "
        "known.");
  }
  return sections;
}

Json MachineJson(const CompareResult& result) {
  if (!result.machine) return nullptr;
  const Machine& machine = *result.machine;
  Json json = {
      {"how", IdOf(HowKnown::kEstimate)},
      {"a", SideJson(machine.a)},
      {"b", SideJson(machine.b)},
      {"split", machine.split ? SplitJson(*machine.split) : Json(nullptr)}};
  json["roles"] = Json::array();
  for (const MachineRoleSplit& row : machine.roles) {
    Json one = {{"role", IdOf(row.role)}};
    one.update(SplitJson(row.split));
    json["roles"].push_back(std::move(one));
  }
  return json;
}

}  // namespace inferdiff
