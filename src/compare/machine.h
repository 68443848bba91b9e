// SPDX-License-Identifier: Apache-2.0
// Machine or software: what memory bandwidth explains of a step and of the
// gap, by a model's config. An estimate; docs/model.md.
//
//   |<-------------------- step ------------------->|
//   |<-- bytes / bandwidth -->|<-- beyond it ------->|
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rational.h"
#include "compare/byte_floor.h"
#include "compare/devices.h"
#include "compare/model_config.h"
#include "layers/role.h"

namespace inferdiff {

struct CompareResult;

/// What a user says of a side beside its trace.
struct MachineInput {
  std::optional<ModelConfig> model;
  Bandwidth bandwidth;  // 0: by the device's datasheet
  std::optional<int64_t> batch, context, tensor_parallel;
};

/// What most of a role's time is.
enum class BoundBy : uint8_t {
  kUnknown,  // not memory, and the floor of a launch is not known
  kMemory,   // half of it or more is reading at full bandwidth
  kLaunch,   // else: half of it or more is the floor of its kernels
  kNeither,
};
inline constexpr size_t kBoundCount = 4;
std::string_view IdOf(BoundBy bound);  // "memory"

/// One side's kernels of one role in the representative step.
struct MachineRole {
  Role role = Role::kOther;
  int64_t bytes = 0;
  int64_t ops = 0;
  int64_t attributed_ns = 0;
  Rational floor{0, 1};  // bytes / bandwidth, ns
  BoundBy bound = BoundBy::kUnknown;
};

struct MachineSide {
  ByteFloor bytes;
  StepWork work;
  Bandwidth bandwidth;
  Rational floor{0, 1};  // ns a step, to the ps
  Rational step{0, 1};   // ns: what the gap is a difference of
  /// Those that read something, in order of a layer, then the rest together.
  std::vector<MachineRole> roles;
  MachineRole rest;
  std::array<int64_t, kBoundCount> bound_ns{};  // attributed, by BoundBy
  /// Read by no kernel that is known: no such role in the step.
  int64_t unplaced_bytes = 0;
  std::vector<std::string> assumptions;  // sentences without a period
  std::string not_known;  // why there is no floor; empty where there is one
};

/// B - A in ns a step: bytes + bandwidth + beyond.
struct MachineSplit {
  Rational total{0, 1};
  Rational bytes{0, 1};      // (bytes B - bytes A) / bandwidth A
  Rational bandwidth{0, 1};  // bytes B (1 / bandwidth B - 1 / bandwidth A)
  Rational beyond{0, 1};     // the rest
};

/// The same of one role in the representative steps.
struct MachineRoleSplit {
  Role role = Role::kOther;
  MachineSplit split;
};

struct Machine {
  MachineSide a, b;
  /// Where both sides have a floor and can be compared.
  std::optional<MachineSplit> split;
  std::vector<MachineRoleSplit> roles;
};

/// bytes / bandwidth in ns, rounded to the ps so that sums stay exact.
Rational ReadTime(int64_t bytes, int64_t bytes_per_s);

/// After the causes. Throws ContractError where the split does not add up.
std::optional<Machine> FindMachine(const CompareResult& result,
                                   const MachineInput& a,
                                   const MachineInput& b);

}  // namespace inferdiff
