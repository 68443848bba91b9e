// SPDX-License-Identifier: Apache-2.0
// The lists of modules in a quantization_config. Tools write them in four
// ways:
//
//   lm_head, self_attn, model.layers.0.mlp    a part of the dotted name
//   model.layers.*.self_attn, *lm_head*       a shell pattern
//   re:.*mlp\.gate$                           a regular expression
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace inferdiff {

class ModuleNames {
 public:
  ModuleNames();
  ~ModuleNames();
  ModuleNames(ModuleNames&&) noexcept;

  /// False where `entry` is no regular expression, or too large a one.
  bool Add(const std::string& entry);
  /// Before the first Has; false where the patterns are too large together.
  bool Prepare();
  bool Has(const std::string& module) const;
  bool empty() const;

 private:
  struct Patterns;
  std::vector<std::string> parts_;  // sorted by Prepare
  std::unique_ptr<Patterns> patterns_;
};

}  // namespace inferdiff
