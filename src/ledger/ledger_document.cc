// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger_document.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "ledger/check.h"
#include "ledger/document_fields.h"
#include "ledger/document_ranks.h"
#include "ledger/per_step_fields.h"

namespace inferdiff {
namespace {

using Json = DocumentJson;

constexpr int64_t kSchema = 1;

/// The value of an enumeration whose id that is.
template <typename Enum>
Enum FromId(const Json& object, const char* name, Enum last) {
  const std::string id = Text(object, name);
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (IdOf(static_cast<Enum>(i)) == id) return static_cast<Enum>(i);
  FailDocument(
      fmt::format("'{}' is {}, which is unknown", name, Printable(id)));
}

Stat StatOf(const Json& object, const char* name) {
  const Json& value = Field(object, name);
  Stat stat;
  stat.total = Int(value, "total");
  stat.n = Amount(value, "n");
  stat.median = Int(value, "median");
  stat.p10 = Int(value, "p10");
  stat.p90 = Int(value, "p90");
  stat.min = Int(value, "min");
  stat.max = Int(value, "max");
  const bool ordered = stat.min <= stat.p10 && stat.p10 <= stat.median &&
                       stat.median <= stat.p90 && stat.p90 <= stat.max;
  const bool empty = stat.total == 0 && stat.min == 0 && stat.max == 0;
  if (!ordered || (stat.n == 0 && !empty))
    FailDocument(fmt::format("'{}' is no statistic", name));
  return stat;
}

Amounts AmountsOf(const Json& row) {
  Amounts amounts;
  amounts.count = Amount(row, "count");
  amounts.sum_ns = Amount(row, "sum_ns");
  amounts.exclusive_ns = Amount(row, "exclusive_ns");
  amounts.attributed_ns = Amount(row, "attributed_ns");
  amounts.hidden_same_lane_ns = Amount(row, "hidden_same_lane_ns");
  amounts.hidden_cross_lane_ns = Amount(row, "hidden_cross_lane_ns");
  if (amounts.sum_ns != CheckedAdd(amounts.attributed_ns,
                                   CheckedAdd(amounts.hidden_same_lane_ns,
                                              amounts.hidden_cross_lane_ns)))
    FailDocument("a row's sum is not attributed + hidden");
  return amounts;
}

void ReadSource(const Json& document, Provenance* source) {
  const Json& input = Field(document, "input");
  source->label = Text(input, "label");
  source->format = Text(input, "format");
  source->size_bytes = static_cast<uint64_t>(Amount(input, "size_bytes"));
  const std::string crc = Text(input, "crc32");
  const auto [end, error] =
      std::from_chars(crc.data(), crc.data() + crc.size(), source->crc32, 16);
  if (error != std::errc() || end != crc.data() + crc.size())
    FailDocument("'crc32' is no checksum");
  const Json& trace = Field(document, "trace");
  const std::string vendor = Text(trace, "vendor");
  source->info.vendor = vendor == "nvidia" ? Vendor::kNvidia
                        : vendor == "amd"  ? Vendor::kAmd
                                           : Vendor::kUnknown;
  source->info.gpu_name = Text(trace, "gpu");
  source->info.device = Int(trace, "device");
  source->info.rank = OptionalInt(trace, "rank");
  source->info.world_size = OptionalInt(trace, "world_size");
  source->info.runtime_version = Text(trace, "runtime");
  source->info.sm_count = OptionalInt(trace, "sm_count");
  source->info.truncated = Bool(trace, "truncated");
  source->framework_hint.name = Text(trace, "framework_hint");
  const std::string basis = Text(trace, "framework_hint_basis");
  source->framework_hint.basis = basis == "kernels" ? HintBasis::kKernels
                                 : basis == "marker-form"
                                     ? HintBasis::kMarkerForm
                                     : HintBasis::kNothing;
}

/// Counters of other versions are passed over: what they lost is in no figure.
void ReadImport(const Json& document, ImportCounters* counters) {
  for (const Json& row : List(document, "import")) {
    const std::string id = Text(row, "counter");
    for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
      const auto counter = static_cast<Counter>(i);
      if (InfoOf(counter).id == id)
        counters->Add(counter, static_cast<uint64_t>(Amount(row, "count")));
    }
  }
}

void ReadDevices(const Json& document, std::vector<DeviceTotals>* devices) {
  for (const Json& row : List(document, "devices")) {
    DeviceTotals device;
    device.device = Int(row, "device");
    device.rank = OptionalInt(row, "rank");
    device.ops = Amount(row, "ops");
    device.kernels = Amount(row, "kernels");
    device.sum_ns = Amount(row, "sum_ns");
    device.busy_ns = Amount(row, "busy_ns");
    device.span_ns = Amount(row, "span_ns");
    device.idle_ns = Amount(row, "idle_ns");
    device.graph_launches = Amount(row, "graph_launches");
    devices->push_back(device);
  }
}

StepGroup GroupOf(const Json& row) {
  StepGroup group;
  group.shape.kind = FromId(row, "kind", StepKind::kOther);
  group.shape.batch = OptionalInt(row, "batch");
  group.shape.tokens = OptionalInt(row, "tokens");
  group.shape.context = OptionalInt(row, "context");
  group.context_min = OptionalInt(row, "context_min");
  group.context_max = OptionalInt(row, "context_max");
  group.steps = static_cast<uint32_t>(Amount(row, "steps") & 0x7fffffff);
  group.used = static_cast<uint32_t>(Amount(row, "used") & 0x7fffffff);
  return group;
}

/// The steps that are left out keep their reasons; of the others only the
/// amounts are known.
void ReadSteps(const Json& document, LedgerResult* ledger) {
  const Json& steps = Field(document, "steps");
  ledger->used_steps = Amount(steps, "used");
  const Json& amounts = List(document, "step_amounts");
  const Json& excluded = List(steps, "excluded");
  if (ledger->used_steps != static_cast<int64_t>(amounts.size()) ||
      Amount(steps, "count") !=
          static_cast<int64_t>(amounts.size() + excluded.size()))
    FailDocument("the steps are not those that are used and those left out");
  for (const Json& row : List(steps, "groups"))
    ledger->steps.groups.push_back(GroupOf(row));
  const int64_t group = Amount(steps, "group");
  if (group >= static_cast<int64_t>(ledger->steps.groups.size()))
    FailDocument("there is no group of that number");
  ledger->group = ledger->steps.main_group = static_cast<uint32_t>(group);
  for (size_t i = 0; i < ledger->steps.groups.size(); ++i)
    if (i != ledger->group) ledger->steps.groups[i].used = 0;
  ledger->steps.evidence = FromId(steps, "evidence", Evidence::kWholeTrace);
  ledger->steps.how = Text(steps, "how");
  ledger->steps.cross_check = Text(steps, "cross_check");
  ledger->steps.cross_check_agrees = Bool(steps, "cross_check_agrees");
  for (const Json& note : List(steps, "notes")) {
    if (!note.is_string()) FailDocument("a note is no text");
    ledger->steps.notes.push_back(note.get<std::string>());
  }
  ledger->steps.steps.resize(amounts.size() + excluded.size());
  for (Step& step : ledger->steps.steps) step.group = ledger->group;
  for (const Json& row : excluded) {
    const int64_t index = Amount(row, "step");
    if (index >= static_cast<int64_t>(ledger->steps.steps.size()))
      FailDocument("there is no step of that number");
    Step& step = ledger->steps.steps[static_cast<size_t>(index)];
    step.excluded_id = Text(row, "id");
    step.excluded_why = Text(row, "reason");
  }
  for (const Json& row : amounts) {
    StepAmounts step;
    step.step = static_cast<uint32_t>(Amount(row, "step") & 0x7fffffff);
    step.wall = OptionalInt(row, "wall_ns");
    step.idle = OptionalInt(row, "idle_ns");
    step.idle_inside = OptionalInt(row, "idle_inside_ns");
    step.span = Int(row, "span_ns");
    step.sum = Int(row, "sum_ns");
    step.busy = Int(row, "busy_ns");
    step.rank_wait = OptionalInt(row, "rank_wait_ns").value_or(0);
    step.foreign = Int(row, "foreign_ns");
    step.kernels = Int(row, "kernels");
    ledger->step_amounts.push_back(step);
  }
}

void ReadPerStep(const Json& document, PerStep* per_step) {
  const Json& stats = Field(document, "per_step");
  for (const auto& [name, field] : kPerStepFields)
    per_step->*field = StatOf(stats, name);
  for (const auto& [name, field] : kPerStepFields) {
    const int64_t n = (per_step->*field).n;
    if (field != &PerStep::launch_lead && n != 0 && n != per_step->span.n)
      FailDocument(fmt::format("'{}' is not of the used steps", name));
  }
}

/// Null, which is 0 here, where the steps are no cycles.
void ReadCycles(const Json& document, Cycles* cycles) {
  const Json& object = Field(document, "cycles");
  const Json& steps = Field(object, "steps");
  for (size_t i = 0; i < kCycleKinds; ++i) {
    const std::string kind(IdOf(static_cast<CycleKind>(i)));
    if (steps.contains(kind)) cycles->steps[i] = Amount(steps, kind.c_str());
  }
  cycles->wall_known = Bool(object, "wall_known");
  const auto part = [&](CyclePart which) -> int64_t* {
    return &cycles->part_ns[static_cast<size_t>(which)];
  };
  const std::pair<const char*, int64_t*> fields[] = {
      {"cycles", &cycles->cycles},
      {"wall_ns", &cycles->wall_ns},
      {"draft_ns", part(CyclePart::kDraft)},
      {"verify_ns", part(CyclePart::kVerify)},
      {"sample_ns", part(CyclePart::kSample)},
      {"other_ns", part(CyclePart::kOther)},
      {"foreign_ns", &cycles->foreign_ns},
      {"idle_ns", &cycles->idle_ns},
      {"draft_passes", &cycles->drafts},
      {"least_draft_passes", &cycles->least_drafts},
      {"most_draft_passes", &cycles->most_drafts},
      {"draft_depth", &cycles->draft_depth},
      {"verify_depth", &cycles->verify_depth},
      {"marked", &cycles->marked}};
  for (const auto& [name, value] : fields) {
    *value = OptionalInt(object, name).value_or(0);
    if (*value < 0) FailDocument(fmt::format("'{}' is below zero", name));
  }
}

void ReadCategories(const Json& document, LedgerResult* ledger) {
  for (const Json& row : List(document, "categories")) {
    const std::string name = Text(row, "name");
    if (name == "rank_wait") {
      ledger->rank_wait = AmountsOf(row);
      ledger->wait_basis = FromId(row, "basis", WaitBasis::kNoCalls);
    } else if (const auto category = CategoryFromId(name)) {
      ledger->categories[static_cast<size_t>(*category)] = AmountsOf(row);
    } else if (name != "foreign" && name != "idle") {
      FailDocument(fmt::format("the category {} is unknown", Printable(name)));
    }
  }
}

Category CategoryOf(const Json& row) {
  const std::string name = Text(row, "category");
  const auto category = CategoryFromId(name);
  if (!category)
    FailDocument(fmt::format("the category {} is unknown", Printable(name)));
  return *category;
}

void ReadKernels(const Json& document, LedgerResult* ledger) {
  for (const Json& row : List(document, "kernels")) {
    KernelRow kernel;
    kernel.name = Text(row, "name");
    kernel.family = Text(row, "family");
    kernel.category = CategoryOf(row);
    kernel.rule = Text(row, "rule");
    kernel.library = Text(row, "library");
    kernel.amounts = AmountsOf(row);
    kernel.rank_wait_ns = Amount(row, "rank_wait_ns");
    kernel.call_ns = StatOf(row, "call_ns");
    ledger->kernels.push_back(std::move(kernel));
  }
  for (const Json& row : List(document, "families")) {
    FamilyRow family;
    family.family = Text(row, "family");
    family.category = CategoryOf(row);
    family.kernels = static_cast<uint32_t>(Amount(row, "kernels") & 0x7fffffff);
    family.amounts = AmountsOf(row);
    ledger->families.push_back(std::move(family));
  }
}

void ReadChecks(const Json& document, LedgerResult* ledger) {
  for (const Json& row : List(document, "integrity")) {
    CaptureCheck check;
    check.kind = FromId(row, "id", CheckKind::kBackToBackStamps);
    check.weight = FromId(row, "weight", Weight::kRefusal);
    check.count = Int(row, "count");
    check.of = OptionalInt(row, "of").value_or(0);
    check.time_ns = OptionalInt(row, "time_ns").value_or(0);
    check.of_ns = OptionalInt(row, "of_ns").value_or(0);
    check.detail = Text(row, "detail");
    ledger->capture_checks.push_back(std::move(check));
  }
  const Json& coverage = Field(document, "coverage");
  ledger->coverage.unclassified_ns = Int(coverage, "unclassified_ns");
  ledger->coverage.other_ns = Int(coverage, "other_ns");
  ledger->coverage.total_ns = Int(coverage, "total_ns");
  ledger->coverage.foreign_ns = Int(coverage, "foreign_ns");
  ledger->coverage.outside_steps_ns = Int(coverage, "outside_steps_ns");
  ledger->coverage.dropped_records =
      static_cast<uint64_t>(Amount(coverage, "dropped_records"));
}

/// Of steps with a wall each is a cycle, or none of the figures are there.
void CheckCounts(const Cycles& cycles, int64_t used_steps) {
  int64_t steps = 0;
  for (const int64_t of_kind : cycles.steps) steps = CheckedAdd(steps, of_kind);
  if (steps != used_steps)
    FailDocument("the kinds of cycles are not the used steps");
  const int64_t wanted =
      AreCycles(cycles)
          ? cycles.steps[static_cast<size_t>(CycleKind::kPlain)] +
                cycles.steps[static_cast<size_t>(CycleKind::kSpeculative)]
          : 0;
  if (cycles.cycles != wanted)
    FailDocument("the cycles are not the steps of one kind");
  if (cycles.cycles == 0 && cycles.wall_ns != 0)
    FailDocument("there are no cycles, and they take time");
}

/// The single steps make the statistics, and all of them the cycles.
void CheckSteps(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  int64_t wall = 0, span = 0, sum = 0, busy = 0, kernels = 0;
  for (const StepAmounts& step : ledger.step_amounts) {
    wall = CheckedAdd(wall, step.wall.value_or(0));
    span = CheckedAdd(span, step.span);
    sum = CheckedAdd(sum, step.sum);
    busy = CheckedAdd(busy, step.busy);
    kernels = CheckedAdd(kernels, step.kernels);
  }
  if (wall != q.wall.total || span != q.span.total || sum != q.sum.total ||
      busy != q.busy.total || kernels != q.kernels.total)
    FailDocument("the single steps do not add up to the statistics");
  const Cycles& cycles = ledger.cycles;
  if (cycles.cycles == ledger.used_steps && cycles.wall_known &&
      cycles.wall_ns != wall)
    FailDocument("the cycles are not the steps' time");
}

/// What a comparison rests on: a document whose sums do not hold is not ours.
void Check(const LedgerResult& ledger) {
  const PerStep& q = ledger.per_step;
  for (const Stat* stat : {&q.wall, &q.idle, &q.idle_inside}) {
    if (ledger.used_steps == 0 || stat->n != ledger.used_steps)
      FailDocument(
          "its steps have no wall time: only their trace can be compared");
  }
  if (q.foreign.total < 0 || q.idle_inside.total < 0)
    FailDocument("foreign or idle time is below zero");
  const int64_t causes =
      CheckedAdd(CheckedAdd(q.idle_host_late.total, q.idle_queued.total),
                 CheckedAdd(q.idle_unknown.total, q.idle_inside.total));
  if (causes != q.idle.total)
    FailDocument("the causes of idle time do not add up");
  const int64_t places = CheckedAdd(
      CheckedAdd(q.idle_between.total, q.idle_tail.total),
      CheckedAdd(q.rest_host_late.total,
                 CheckedAdd(q.rest_queued.total, q.rest_unknown.total)));
  if (CheckedAdd(places, q.idle_inside.total) != q.idle.total)
    FailDocument("the places of idle time do not add up");
  if (q.span.n != ledger.used_steps)
    FailDocument("the statistics are not of the used steps");
  CheckSteps(ledger);
  CheckCounts(ledger.cycles, ledger.used_steps);
  try {
    CheckSums(ledger);
    CheckCycles(ledger.cycles);
  } catch (const ContractError& error) {
    FailDocument(error.what());
  }
}

LedgerResult Read(const Json& document) {
  if (!document.is_object())
    FailDocument("it is no JSON object, or not all of one");
  const std::string kind = Text(document, "kind");
  if (kind != "ledger")
    FailDocument("it is no ledger: its kind is " + Printable(kind));
  if (Int(document, "schema") != kSchema) FailDocument("its schema is not 1");
  LedgerResult ledger;
  ReadSource(document, &ledger.source);
  ledger.source.rules_hash = Text(document, "rules_hash");
  ReadImport(document, &ledger.source.counters);
  ReadDevices(document, &ledger.devices);
  ReadSteps(document, &ledger);
  ReadRanks(document, &ledger);
  ReadPerStep(document, &ledger.per_step);
  ReadCycles(document, &ledger.cycles);
  ReadCategories(document, &ledger);
  ReadKernels(document, &ledger);
  ReadChecks(document, &ledger);
  Check(ledger);
  return ledger;
}

}  // namespace

bool IsLedgerDocument(std::string_view prefix) {
  const std::string_view head = prefix.substr(0, 200);
  return head.starts_with('{') && head.find("\"schema\"") != head.npos &&
         head.find("\"kind\"") != head.npos &&
         head.find("\"ledger\"") != head.npos;
}

LedgerResult ReadLedgerDocument(const std::string& text,
                                const std::string& path) {
  try {
    return Read(Json::parse(text, nullptr, false));
  } catch (const InputError& error) {
    // Of sums that overflow, too.
    throw BadDocument(path, error.what());
  }
}

}  // namespace inferdiff
