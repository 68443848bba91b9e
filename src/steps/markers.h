// SPDX-License-Identifier: Apache-2.0
// Step markers of serving engines: rules/markers.toml, compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steps/steps.h"

namespace inferdiff {

/// A marker of draft work is no step: it is part of the cycle of the step
/// that comes after or before it.
enum class MarkerJoins : uint8_t { kNothing, kNext, kPrevious };

/// A marker's text and what it means.
struct MarkerExample {
  std::string text;
  StepShape shape;
};

/// One rule as people read it. rules/markers.toml explains the fields.
struct MarkerRule {
  std::string id;
  std::string family;
  std::string engine;  // whose form it is; empty: nobody's
  std::string why;
  MarkerJoins joins = MarkerJoins::kNothing;
  bool opens = false;
  bool generic = false;
  bool one_token = false;
  std::vector<MarkerExample> examples;  // at least one; tests run them all
  std::vector<std::string> counter_examples;
};

struct MarkerMatch {
  uint16_t rule = 0;  // index in MarkerRules::rules()
  StepShape shape;
};

/// Immutable once loaded; Match may run in several threads.
class MarkerRules {
 public:
  /// Throws InputError "bad-rules" naming the rule and what is wrong with it.
  static MarkerRules Load(std::string_view toml);
  /// The rules in the binary.
  static const MarkerRules& Builtin();
  MarkerRules(MarkerRules&&) noexcept;
  ~MarkerRules();

  const std::vector<MarkerRule>& rules() const;
  /// The first rule that matches; nothing for a text that is no marker. Only
  /// the first 4 kB are looked at.
  std::optional<MarkerMatch> Match(std::string_view text) const;

 private:
  MarkerRules();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inferdiff
