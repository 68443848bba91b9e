// SPDX-License-Identifier: Apache-2.0
// Why a kernel has its category, a step its borders, a row its value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classify/category.h"
#include "layers/role.h"
#include "ledger/ledger.h"
#include "report/document.h"
#include "steps/steps.h"

namespace inferdiff {

/// The operations of one kernel that one rule decided.
struct RuleUse {
  std::string rule, why, library;
  Category category = Category::kUnclassified;
  bool by_context = false;  // by its neighbours, not its name
  int64_t ops = 0;
  int64_t sum_ns = 0;
};

/// The operations of one kernel in the representative step that one rule gave
/// their role.
struct RoleUse {
  Role role = Role::kOther;
  std::string rule, why;
  uint32_t step = 0;
  int64_t ops = 0;
};

struct KernelExplanation {
  std::string name, family;
  std::vector<RuleUse> rules;  // by ops
  std::vector<RoleUse> roles;  // by ops
};

/// An operation as evidence: its record can be found again by its ordinal.
struct OpReference {
  uint64_t ordinal = 0;
  int64_t start_ns = 0;
  std::string name;
};

struct StepExplanation {
  uint32_t number = 0;
  Step step;
  StepShape shape;
  std::string evidence, how, cross_check;
  std::string lane;                  // the forward lane's label
  std::optional<OpReference> first;  // the op that opens it
  std::optional<OpReference> next;   // the op that opens the next step
  int64_t replays = 0, replay_ops = 0, ops = 0;
  StepLayers layers;
};

/// `all` is the number of kernels that match; `kernels` the first of them.
Document KernelExplanationDocument(
    const Provenance& source, const std::vector<KernelExplanation>& kernels,
    size_t all);
Document StepExplanationDocument(const Provenance& source,
                                 const StepExplanation& step);

/// A row of the ledger's table: a category, "idle", "foreign", "rank_wait" or
/// "wall".
struct LedgerRow {
  enum class Kind : uint8_t { kCategory, kIdle, kForeign, kRankWait, kWall };
  Kind kind = Kind::kWall;
  Category category = Category::kUnclassified;
};
/// By id or title, as people type them; nothing for what is no row.
std::optional<LedgerRow> LedgerRowByName(std::string_view name);
/// The ids of this ledger's rows: "attention, moe_gemm, idle, foreign, wall".
std::string LedgerRowNames(const LedgerResult& ledger);
Document RowExplanationDocument(const LedgerResult& ledger,
                                const LedgerRow& row);

}  // namespace inferdiff
