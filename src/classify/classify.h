// SPDX-License-Identifier: Apache-2.0
// Kernel name and neighbours -> category, library, family.
//
// Names are classified once each, by the first rule that matches; then context
// rules settle what names cannot (a split-K reduction belongs to the GEMM in
// front of it). Both kinds are data in rules/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "classify/category.h"
#include "model/trace.h"

namespace inferdiff {

/// Index of a rule in RuleSet::rules(). The last rules are built in:
/// op kind (memcpy, memset) and "no rule matched".
using RuleId = uint16_t;

/// One rule as people read it; the patterns live inside RuleSet.
struct RuleInfo {
  std::string id;   // "moe-gemm-trtllm-bmm-dynb"
  std::string why;  // one sentence, shown by `explain`
  Category category = Category::kUnclassified;
  std::string library;               // "TRT-LLM-gen", "hipBLASLt"
  Vendor vendor = Vendor::kUnknown;  // kUnknown = both
  bool context = false;              // a context rule, not a name rule
};

/// What is known of one distinct name, before any context.
struct NameClass {
  Category category = Category::kUnclassified;
  RuleId rule = 0;
  std::string display;  // demangled, without "void " and ".kd"
  std::string family;   // Family(display)
};

/// Compiled rules. Immutable, shareable between threads.
class RuleSet {
 public:
  /// The rules in the binary. `user_toml`, when not empty, goes in front of
  /// them; `user_path` is for messages. Throws InputError "bad-rules" with
  /// line and caret.
  static RuleSet Load(std::string_view user_toml = {},
                      const std::string& user_path = {});
  RuleSet(RuleSet&&) noexcept;
  ~RuleSet();

  const std::vector<RuleInfo>& rules() const;
  /// Of the rules' text, 16 hex digits: printed with every result.
  const std::string& hash() const;

  NameClass ClassifyName(std::string_view name) const;

  struct Impl;  // classify/rule_set.h
  const Impl& impl() const { return *impl_; }

 private:
  RuleSet();
  std::unique_ptr<Impl> impl_;
};

/// The classes of one trace's ops.
struct Classification {
  std::vector<NameClass> names;  // by NameId; empty class for unused ids
  std::vector<Category> of_op;   // by op index, context applied
  std::vector<RuleId> rule_of_op;
};

Classification Classify(const Trace& trace, const RuleSet& rules);

/// Folds what varies between instances of one kernel template into `*`, as a
/// person writes it: "gemm_Bfloat16_E4m3E4m3_*_t128x16x128".
std::string Family(std::string_view display_name);

/// Itanium-demangled, without return type, "void ", "static " and ".kd".
/// Truncated to 4 kB, so that one hostile name cannot fill a report.
std::string DisplayName(std::string_view name);

}  // namespace inferdiff
