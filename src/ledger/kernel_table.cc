// SPDX-License-Identifier: Apache-2.0
#include "ledger/kernel_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace inferdiff {
namespace {

/// 0 ... n-1 sorted by `key_of`.
template <typename KeyOf>
std::vector<uint32_t> SortedBy(size_t n, KeyOf key_of) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key_of(a) < key_of(b); });
  return order;
}

}  // namespace

KernelTable::KernelTable(const Trace& trace, const Classification& classes)
    : trace_(trace), classes_(classes), first_use_(trace.names->size(), kNone) {
  for (uint32_t op = 0; op < trace.ops.size(); ++op) {
    uint32_t use = UseOf(op);
    if (use == kNone) use = AddUse(op);
    ++uses_[use].ops;
    uses_[use].sum_ns += trace.ops.dur_ns[op];
  }
  NumberKernels();
  NumberFamilies();
}

uint32_t KernelTable::UseOf(uint32_t op) const {
  uint32_t use = first_use_[trace_.ops.name[op]];
  while (use != kNone && (uses_[use].rule != classes_.rule_of_op[op] ||
                          uses_[use].category != classes_.of_op[op]))
    use = uses_[use].next;
  return use;
}

uint32_t KernelTable::AddUse(uint32_t op) {
  const NameId name = trace_.ops.name[op];
  Use use;
  use.name = name;
  use.category = classes_.of_op[op];
  use.rule = classes_.rule_of_op[op];
  use.next = first_use_[name];
  first_use_[name] = static_cast<uint32_t>(uses_.size());
  uses_.push_back(use);
  return first_use_[name];
}

void KernelTable::NumberKernels() {
  const auto key = [&](uint32_t use) {
    const Use& u = uses_[use];
    return std::tuple(std::string_view(classes_.names[u.name].display),
                      u.category, u.rule, u.name);
  };
  for (const uint32_t use : SortedBy(uses_.size(), key)) {
    Use& u = uses_[use];
    const NameClass* name = &classes_.names[u.name];
    if (kernels_.empty() || kernels_.back().name->display != name->display ||
        kernels_.back().category != u.category ||
        kernels_.back().rule != u.rule) {
      kernels_.push_back({name, u.category, u.rule});
      category_of_.push_back(static_cast<uint32_t>(u.category));
    }
    u.kernel = static_cast<uint32_t>(kernels_.size() - 1);
  }
}

void KernelTable::NumberFamilies() {
  const auto key = [&](uint32_t kernel) {
    return std::tuple(std::string_view(kernels_[kernel].name->family),
                      kernels_[kernel].category);
  };
  family_of_.resize(kernels_.size());
  for (const uint32_t kernel : SortedBy(kernels_.size(), key)) {
    const auto [family, category] = key(kernel);
    if (families_.empty() || families_.back().family != family ||
        families_.back().category != category)
      families_.push_back({family, category});
    family_of_[kernel] = static_cast<uint32_t>(families_.size() - 1);
  }
}

}  // namespace inferdiff
