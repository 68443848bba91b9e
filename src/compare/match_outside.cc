// SPDX-License-Identifier: Apache-2.0
#include "compare/match_outside.h"

#include <algorithm>
#include <unordered_map>

#include "compare/match_in_order.h"

namespace inferdiff {
namespace {

constexpr size_t kMostInOrder = 4096;

bool IsOnce(Role role) {
  return role == Role::kEmbedding || role == Role::kFinalNorm ||
         role == Role::kLmHead;
}

/// A pair of one family outweighs two of one role, and copies go to copies in
/// between.
int64_t Worth(const OutsideOp& a, const OutsideOp& b) {
  const Role role = a.op->role.role;
  const bool same_role = role == b.op->role.role;
  if (IsOnce(role) || IsOnce(b.op->role.role)) return 0;  // grouped apart
  if (a.family == b.family) return same_role ? 6 : 5;
  if (!same_role || role == Role::kOther) return 0;
  return role == Role::kMemsetCopy ? 1 : 2;
}

std::vector<std::optional<uint32_t>> MatchByCount(
    std::span<const OutsideOp> a, std::span<const OutsideOp> b) {
  std::unordered_map<std::string_view, std::vector<uint32_t>> of_family;
  for (uint32_t j = 0; j < b.size(); ++j) of_family[b[j].family].push_back(j);
  std::unordered_map<std::string_view, size_t> seen;
  std::vector<std::optional<uint32_t>> partner(a.size());
  for (uint32_t i = 0; i < a.size(); ++i) {
    const auto found = of_family.find(a[i].family);
    if (found == of_family.end()) continue;
    const size_t nth = seen[a[i].family]++;
    if (nth >= found->second.size()) continue;
    const uint32_t j = found->second[nth];
    if (Worth(a[i], b[j]) > 0) partner[i] = j;
  }
  return partner;
}

class OutsideMatcher {
 public:
  OutsideMatcher(std::span<const OutsideOp> a, std::span<const OutsideOp> b)
      : a_(a), b_(b) {
    out_.a.resize(a.size(), kNone);
    out_.b.resize(b.size(), kNone);
  }

  LayerMatch Run() {
    const bool in_order =
        a_.size() <= kMostInOrder && b_.size() <= kMostInOrder;
    const auto partner = in_order ? MatchInOrder(a_.size(), b_.size(),
                                                 [&](size_t i, size_t j) {
                                                   return Worth(a_[i], b_[j]);
                                                 })
                                  : MatchByCount(a_, b_);
    for (uint32_t i = 0; i < a_.size(); ++i) TakeA(i, partner[i], in_order);
    first_of_b_ = static_cast<uint32_t>(out_.groups.size());
    for (uint32_t j = 0; j < b_.size(); ++j)
      if (out_.b[j] == kNone) TakeB(j);
    return std::move(out_);
  }

 private:
  uint32_t NewGroup(Role role) {
    out_.groups.push_back({.role = role});
    return static_cast<uint32_t>(out_.groups.size() - 1);
  }

  /// The group of a role that occurs once; kNone for others.
  uint32_t& OnceGroup(Role role) { return once_[static_cast<size_t>(role)]; }

  void TakeA(uint32_t i, std::optional<uint32_t> partner, bool in_order) {
    const Role role = a_[i].op->role.role;
    if (IsOnce(role)) {
      uint32_t& group = OnceGroup(role);
      if (group == kNone) group = NewGroup(role);
      out_.a[i] = group;
      return;
    }
    out_.a[i] = NewGroup(role);
    if (!partner) return;
    const uint32_t j = *partner;
    out_.b[j] = out_.a[i];
    LayerMatch::Group& group = out_.groups.back();
    const bool same_family = a_[i].family == b_[j].family;
    group.reason = same_family ? MatchReason::kFamily : MatchReason::kRole;
    group.confidence = MatchConfidence::kMedium;
    if (same_family && role == b_[j].op->role.role)
      group.confidence = MatchConfidence::kHigh;
    if (!in_order || (!same_family && role == Role::kMemsetCopy))
      group.confidence = MatchConfidence::kLow;
  }

  void TakeB(uint32_t j) {
    const Role role = b_[j].op->role.role;
    if (!IsOnce(role)) {
      out_.b[j] = NewGroup(role);
      return;
    }
    uint32_t& number = OnceGroup(role);
    if (number == kNone) {
      number = NewGroup(role);
    } else if (number < first_of_b_) {
      LayerMatch::Group& group = out_.groups[number];
      group.reason = MatchReason::kOnlyOne;
      group.confidence = MatchConfidence::kHigh;
    }
    out_.b[j] = number;
  }

  std::span<const OutsideOp> a_, b_;
  LayerMatch out_;
  std::vector<uint32_t> once_ = std::vector<uint32_t>(kRoleCount, kNone);
  uint32_t first_of_b_ = 0;  // groups in front have ops of A
};

}  // namespace

LayerMatch MatchOutside(std::span<const OutsideOp> a,
                        std::span<const OutsideOp> b) {
  return OutsideMatcher(a, b).Run();
}

}  // namespace inferdiff
