// SPDX-License-Identifier: Apache-2.0
// Work that takes the slower side longer than its counterpart, by the role of
// its kernels: as one kernel against one, or as a chain against fewer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/findings.h"

namespace inferdiff {

/// The matched groups of one role, in layers or outside, over the two
/// representative steps. Work is durations without early-start waits.
struct RoleExcess {
  struct Amounts {
    int64_t layers = 0, ops = 0;
    int64_t work_ns = 0;
    int64_t hidden_ns = 0;  // of it, behind other lanes
    struct Family {
      std::string name;
      int64_t ops = 0, work_ns = 0;
    };
    std::vector<Family> families;  // by work
  };
  Role role = Role::kOther;
  bool in_layers = false;
  Amounts slow, fast;
  Category category = Category::kUnclassified;  // of most of the slow work

  int64_t excess_ns() const { return slow.work_ns - fast.work_ns; }
  /// More kernels for the same work.
  bool is_chain() const { return slow.ops > fast.ops; }
};

/// Those that take the slower side longer, by excess. Nothing of groups that
/// are matched with low confidence, have no counterpart or no known role, of
/// work that side streams stretch, and of layers that could not be paired.
std::vector<RoleExcess> FindRoleExcess(const CompareResult& result);

/// "input_norm of 24 layers, a layer: 17.2 us in 8 kernels on A (2 `x`, `y`
/// ...), 5.9 us in 1 on B (`z`)"
std::string TextOf(const RoleExcess& excess, Side slower);

/// In the finding of fusion: the chains that one side runs as one.
void AddChains(const CompareResult& result,
               const std::vector<RoleExcess>& excesses, Finding* fusion);

/// In the finding of a group that takes longer: its kernels that do.
void AddKernels(const CompareResult& result,
                const std::vector<RoleExcess>& excesses,
                const GroupComparison& group, Finding* contributor);

/// Kernels far slower than their counterpart where no other finding holds
/// them, and the work of their group as a whole does not deny it.
void FindSlowKernels(const CompareResult& result,
                     const std::vector<RoleExcess>& excesses, FindingList* out);

}  // namespace inferdiff
