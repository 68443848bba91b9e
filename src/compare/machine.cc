// SPDX-License-Identifier: Apache-2.0
#include "compare/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/checked.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wide.h"
#include "compare/causes.h"
#include "compare/compare.h"
#include "compare/setup.h"

namespace inferdiff {
namespace {

/// Which role reads what: the first of them that the step has. Fused kernels
/// have the role of their larger part.
struct Readers {
  ByteUse use;
  std::array<Role, 3> roles;  // kOther: no further one
};
constexpr Readers kReaders[] = {
    {ByteUse::kQkvProj, {Role::kQkvProj, Role::kQBProj, Role::kOther}},
    {ByteUse::kQAProj, {Role::kQAProj, Role::kQAKvAProj, Role::kQkvProj}},
    {ByteUse::kKvAProj, {Role::kKvAProj, Role::kQAKvAProj, Role::kQkvProj}},
    {ByteUse::kQBProj, {Role::kQBProj, Role::kQkvProj, Role::kOther}},
    {ByteUse::kKvBProj, {Role::kAbsorb, Role::kKvBProj, Role::kAttention}},
    {ByteUse::kCompressor, {Role::kIndexer, Role::kKvAProj, Role::kQAKvAProj}},
    {ByteUse::kIndexer, {Role::kIndexer, Role::kOther, Role::kOther}},
    {ByteUse::kIndexCache, {Role::kIndexer, Role::kOther, Role::kOther}},
    {ByteUse::kKvCache, {Role::kAttention, Role::kOther, Role::kOther}},
    {ByteUse::kOProj, {Role::kOProj, Role::kOther, Role::kOther}},
    {ByteUse::kMhc, {Role::kMhc, Role::kOther, Role::kOther}},
    {ByteUse::kGateUpProj, {Role::kGateUpProj, Role::kOther, Role::kOther}},
    {ByteUse::kDownProj, {Role::kDownProj, Role::kOther, Role::kOther}},
    {ByteUse::kRouter, {Role::kRouter, Role::kOther, Role::kOther}},
    {ByteUse::kExpertGateUp, {Role::kExpertGemm1, Role::kOther, Role::kOther}},
    {ByteUse::kExpertDown,
     {Role::kExpertGemm2, Role::kExpertGemm1, Role::kOther}},
    {ByteUse::kSharedExpert,
     {Role::kSharedExpert, Role::kExpertGemm1, Role::kOther}},
    {ByteUse::kLmHead, {Role::kLmHead, Role::kOther, Role::kOther}}};
static_assert(std::size(kReaders) == static_cast<size_t>(ByteUse::kCount));

using RoleAmounts = std::array<MachineRole, kRoleCount>;

const StepShape& ShapeOf(const LedgerResult& ledger) {
  static const StepShape kUnknown;
  const Steps& steps = ledger.steps;
  return ledger.representative_step < steps.steps.size()
             ? steps.steps[ledger.representative_step].shape
             : kUnknown;
}

std::string FactOf(const std::vector<SetupRow>& setup, std::string_view field,
                   Side side) {
  for (const SetupRow& row : setup)
    if (row.field == field) return side == Side::kA ? row.a : row.b;
  return {};
}

std::optional<int64_t> NumberOf(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    return std::nullopt;
  return number;
}

/// What the steps say, else what the user does.
std::optional<int64_t> Known(std::optional<int64_t> traced,
                             std::optional<int64_t> given,
                             std::string_view option,
                             std::vector<std::string>* assumptions) {
  if (traced && *traced < 0) traced.reset();
  if (traced && given && *traced != *given)
    assumptions->push_back(fmt::format("{} {} is not used: the steps say {}",
                                       option, *given, *traced));
  return traced ? traced : given;
}

int64_t TensorParallel(const std::vector<SetupRow>& setup, Side side,
                       const LedgerResult& ledger, const MachineInput& input,
                       std::vector<std::string>* assumptions) {
  constexpr int64_t kMost = 65536;
  const auto stated = NumberOf(FactOf(setup, kFactTp, side));
  const auto world = ledger.source.info.world_size;
  if (const auto given = input.tensor_parallel) {
    const auto told = stated ? stated : world;
    if (told && *told != *given)
      assumptions->push_back(
          fmt::format("--tp {} stands in place of the {} that its {} says",
                      *given, *told, stated ? "set-up" : "trace's world"));
    return *given;
  }
  if (stated) return std::min(*stated, kMost);
  if (!world || *world < 1) {
    assumptions->push_back(
        "one rank is taken to hold the whole model: nothing says how it is "
        "split (--tp)");
    return 1;
  }
  if (*world > 1)
    assumptions->push_back(fmt::format(
        "the model is taken to be split over the world's {} ranks (--tp)",
        *world));
  return std::min(*world, kMost);
}

/// Why the config cannot be the traced model's; empty where it can.
std::string LayerDoubt(const LedgerResult& ledger, const ModelConfig& model) {
  const Layers& layers = ledger.layers.layers;
  if (layers.layers.empty() || layers.confidence > LayerConfidence::kMedium)
    return {};
  uint32_t longest = 0;
  for (const LayerPass& pass : layers.passes) {
    longest = std::max(longest, pass.layers);
    if (pass.layers == model.layers) return {};
  }
  if (static_cast<int64_t>(layers.layers.size()) == model.layers) return {};
  return fmt::format("its step has {} layers and the model {}", longest,
                     model.layers);
}

/// Tokens that the deepest pass of a step computes.
std::optional<int64_t> TokensOf(const LedgerResult& ledger,
                                const StepShape& shape,
                                std::optional<int64_t> batch,
                                std::vector<std::string>* notes) {
  if (shape.tokens || !batch) return shape.tokens;
  if (shape.kind == StepKind::kDecode) return batch;
  const int64_t drafts = ledger.cycles.most_drafts;
  if (KindOf(ledger.cycles) == CycleKind::kSpeculative && drafts > 0) {
    notes->push_back(fmt::format(
        "a pass that verifies is taken to have {} tokens a sequence, one more "
        "than its cycle has passes that draft",
        drafts + 1));
    return CheckedMul(*batch, drafts + 1);
  }
  notes->push_back("a step is taken to have one new token a sequence");
  return batch;
}

void AddWork(const CompareResult& result, Side side, const MachineInput& input,
             MachineSide* out) {
  const LedgerResult& ledger = side == Side::kA ? result.a : result.b;
  const StepShape& shape = ShapeOf(ledger);
  StepWork& work = out->work;
  std::vector<std::string>* notes = &out->assumptions;
  work.batch = Known(shape.batch, input.batch, "--batch", notes);
  work.tokens = TokensOf(ledger, shape, work.batch, notes);
  work.context = Known(shape.context, input.context, "--context", notes);
  work.tensor_parallel =
      TensorParallel(result.setup, side, ledger, input, notes);
  work.cache_dtype = FactOf(result.setup, kFactKvDtype, side);
  if (const std::string made = FactOf(result.setup, kFactQuantization, side);
      !made.empty() && made != "none" && !input.model->quantized)
    out->not_known = fmt::format(
        "its set-up quantizes the weights ({}) and the config does not say how",
        Quoted(made));
  if (const auto ways = NumberOf(FactOf(result.setup, kFactDp, side));
      ways && *ways > 1)
    notes->push_back(
        "attention is taken to be split by tensor parallelism, though the "
        "set-up names data parallelism");
  if (const auto stages = NumberOf(FactOf(result.setup, kFactPp, side));
      stages && *stages > 1)
    out->not_known = "a rank of a pipeline has a part of the layers";
}

/// Each role's operations and time in the representative step.
RoleAmounts AmountsByRole(const LedgerResult& ledger) {
  RoleAmounts amounts{};
  for (size_t i = 0; i < amounts.size(); ++i)
    amounts[i].role = static_cast<Role>(i);
  for (const RoleRow& row : ledger.layers.roles) {
    // What reduces attention's splits is part of it, as in the alignment.
    const Role of =
        row.role == Role::kAttentionCombine ? Role::kAttention : row.role;
    MachineRole& role = amounts[static_cast<size_t>(of)];
    role.ops += row.ops;
    role.attributed_ns += row.attributed_ns;
  }
  return amounts;
}

BoundBy BoundOf(const MachineRole& role, std::optional<Rational> launch) {
  const Rational half{role.attributed_ns, 2};
  if (!(role.floor < half)) return BoundBy::kMemory;
  if (!launch) return BoundBy::kUnknown;
  return Rational{role.ops, 1} * *launch < half ? BoundBy::kNeither
                                                : BoundBy::kLaunch;
}

void AddRoles(const LedgerResult& ledger, std::optional<Rational> launch,
              MachineSide* side) {
  if (ledger.layers.roles.empty()) return;
  RoleAmounts amounts = AmountsByRole(ledger);
  for (const Readers& readers : kReaders) {
    const int64_t bytes = side->bytes.bytes[static_cast<size_t>(readers.use)];
    MachineRole* reader = nullptr;
    for (const Role role : readers.roles) {
      MachineRole& found = amounts[static_cast<size_t>(role)];
      if (reader == nullptr && role != Role::kOther && found.ops > 0)
        reader = &found;
    }
    (reader != nullptr ? reader->bytes : side->unplaced_bytes) += bytes;
  }
  for (MachineRole& role : amounts) {
    role.floor = ReadTime(role.bytes, side->bandwidth.bytes_per_s);
    role.bound = BoundOf(role, launch);
    side->bound_ns[static_cast<size_t>(role.bound)] += role.attributed_ns;
    if (role.bytes == 0) {
      side->rest.ops += role.ops;
      side->rest.attributed_ns += role.attributed_ns;
      continue;
    }
    side->roles.push_back(role);
  }
  side->rest.bound = BoundOf(side->rest, launch);
  if (amounts[static_cast<size_t>(Role::kDraft)].ops > 0)
    side->assumptions.push_back("what the draft model reads is left out");
}

MachineSide SideOf(const CompareResult& result, Side which,
                   const MachineInput& input) {
  MachineSide side;
  const bool is_a = which == Side::kA;
  const LedgerResult& ledger = is_a ? result.a : result.b;
  side.step = is_a ? result.causes.a_total : result.causes.b_total;
  side.bandwidth = input.bandwidth;
  if (side.bandwidth.bytes_per_s == 0)
    side.bandwidth = ShippedDevices().Of(ledger.source.info.gpu_name);
  AddWork(result, which, input, &side);
  side.bytes = CountBytes(*input.model, side.work);
  for (const std::string& text : side.bytes.assumptions)
    side.assumptions.push_back(text);
  // A ledger in JSON: nothing says that the model is its own.
  if (ledger.layers.ops.empty() && !ledger.published)
    side.not_known = "its single operations are not known";
  if (side.not_known.empty()) side.not_known = side.bytes.not_known;
  if (side.not_known.empty()) side.not_known = LayerDoubt(ledger, *input.model);
  if (side.not_known.empty() && side.bandwidth.bytes_per_s == 0) {
    const std::string& name = ledger.source.info.gpu_name;
    side.not_known =
        fmt::format("the memory bandwidth of {} is not known (--bandwidth)",
                    name.empty() ? "its device" : Quoted(name));
  }
  if (!side.not_known.empty()) return side;
  side.floor = ReadTime(side.bytes.total(), side.bandwidth.bytes_per_s);
  if (side.step < side.floor) {
    side.not_known = fmt::format(
        "reading its model takes {} at least, and its step {}: the config or "
        "the bandwidth is another one's, or the model fits into a cache",
        Duration(side.floor), Duration(side.step));
    return side;
  }
  const FloorTimes& floors = result.causes.floors;
  std::optional<Rational> launch = is_a ? floors.a : floors.b;
  const SideTotals& totals = is_a ? result.a_totals : result.b_totals;
  if (!FloorDoubt(NameOf(which), ledger, totals, launch).empty())
    launch.reset();
  AddRoles(ledger, launch, &side);
  return side;
}

MachineSplit SplitOf(Rational total, int64_t bytes_a, int64_t bytes_b,
                     const MachineSide& a, const MachineSide& b) {
  const int64_t speed_a = a.bandwidth.bytes_per_s;
  MachineSplit split;
  split.total = total;
  split.bytes = ReadTime(bytes_b, speed_a) - ReadTime(bytes_a, speed_a);
  split.bandwidth =
      ReadTime(bytes_b, b.bandwidth.bytes_per_s) - ReadTime(bytes_b, speed_a);
  split.beyond = total - split.bytes - split.bandwidth;
  if (!(split.bytes + split.bandwidth + split.beyond == total))
    throw ContractError("machine and software do not add up to the gap");
  return split;
}

/// Roles in order of a layer; those that read something on either side.
std::vector<MachineRoleSplit> SplitRoles(const MachineSide& a,
                                         const MachineSide& b) {
  std::vector<MachineRoleSplit> rows;
  const auto of = [](const MachineSide& side, Role role) {
    for (const MachineRole& row : side.roles)
      if (row.role == role) return row;
    return MachineRole{};
  };
  for (size_t i = 0; i < kRoleCount; ++i) {
    const MachineRole in_a = of(a, static_cast<Role>(i));
    const MachineRole in_b = of(b, static_cast<Role>(i));
    if (in_a.bytes == 0 && in_b.bytes == 0) continue;
    const Rational total =
        Rational{in_b.attributed_ns, 1} - Rational{in_a.attributed_ns, 1};
    rows.push_back(
        {static_cast<Role>(i), SplitOf(total, in_a.bytes, in_b.bytes, a, b)});
  }
  return rows;
}

}  // namespace

std::string_view IdOf(BoundBy bound) {
  switch (bound) {
    case BoundBy::kMemory:
      return "memory";
    case BoundBy::kLaunch:
      return "launch";
    case BoundBy::kNeither:
      return "neither";
    case BoundBy::kUnknown:
      break;
  }
  return "unknown";
}

Rational ReadTime(int64_t bytes, int64_t bytes_per_s) {
  constexpr int64_t kPicoseconds = 1'000'000'000'000;
  constexpr Wide kMost = int64_t{1} << 60;
  const Wide time =
      (Wide{bytes} * kPicoseconds + bytes_per_s / 2) / bytes_per_s;
  if (time > kMost) {
    throw InputError("bad-config", "",
                     "reading the model once would take days at this bandwidth",
                     "its config.json or the bandwidth is wrong");
  }
  return {static_cast<int64_t>(time), 1000};
}

std::optional<Machine> FindMachine(const CompareResult& result,
                                   const MachineInput& a,
                                   const MachineInput& b) {
  if (!a.model || !b.model) return std::nullopt;
  Machine machine;
  machine.a = SideOf(result, Side::kA, a);
  machine.b = SideOf(result, Side::kB, b);
  if (!machine.a.not_known.empty() || !machine.b.not_known.empty() ||
      result.comparable.verdict == Comparability::kNo)
    return machine;
  machine.split = SplitOf(result.causes.total, machine.a.bytes.total(),
                          machine.b.bytes.total(), machine.a, machine.b);
  if (!machine.a.roles.empty() && !machine.b.roles.empty())
    machine.roles = SplitRoles(machine.a, machine.b);
  return machine;
}

}  // namespace inferdiff
