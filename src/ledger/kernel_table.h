// SPDX-License-Identifier: Apache-2.0
// The distinct kernels of a trace, numbered.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "classify/classify.h"
#include "model/trace.h"

namespace inferdiff {

/// A kernel is a display name, category and rule: context can put ops of one
/// name into several categories, and several mangled names can read the same.
class KernelTable {
 public:
  struct Kernel {
    const NameClass* name = nullptr;  // display name, family, library
    Category category = Category::kUnclassified;
    RuleId rule = 0;
  };
  struct Family {
    std::string_view family;
    Category category = Category::kUnclassified;
  };
  /// One (name, category, rule) of the trace, over all ops.
  struct Use {
    NameId name = 0;
    Category category = Category::kUnclassified;
    RuleId rule = 0;
    int64_t ops = 0;
    int64_t sum_ns = 0;
    uint32_t kernel = 0;
    uint32_t next = kNone;  // the name's next use
  };

  /// The classification must outlive the table.
  KernelTable(const Trace& trace, const Classification& classes);

  uint32_t KernelOf(uint32_t op) const { return uses_[UseOf(op)].kernel; }

  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<Family>& families() const { return families_; }
  const std::vector<Use>& uses() const { return uses_; }
  // By kernel.
  const std::vector<uint32_t>& family_of() const { return family_of_; }
  const std::vector<uint32_t>& category_of() const { return category_of_; }

 private:
  uint32_t UseOf(uint32_t op) const;
  uint32_t AddUse(uint32_t op);
  void NumberKernels();
  void NumberFamilies();

  const Trace& trace_;
  const Classification& classes_;
  std::vector<uint32_t> first_use_;  // by NameId
  std::vector<Use> uses_;
  std::vector<Kernel> kernels_;
  std::vector<Family> families_;
  std::vector<uint32_t> family_of_, category_of_;
};

}  // namespace inferdiff
