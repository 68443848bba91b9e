// SPDX-License-Identifier: Apache-2.0
#include "compare/module_names.h"

#include <re2/set.h>

#include <algorithm>
#include <string_view>

namespace inferdiff {

struct ModuleNames::Patterns {
  Patterns() : set(Options(), RE2::ANCHOR_BOTH) {}
  static RE2::Options Options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(16 << 20);
    return options;
  }
  RE2::Set set;
  size_t size = 0;
};

namespace {

// Multimodal checkpoints put their language model one level down.
constexpr std::string_view kNested = "language_model.";

std::string WithoutNesting(std::string name) {
  if (const size_t at = name.find(kNested); at != std::string::npos)
    name.erase(at, kNested.size());
  return name;
}

/// Of a shell pattern, in RE2 syntax.
std::string FromGlob(std::string_view glob) {
  std::string pattern;
  for (const char c : glob) {
    if (c == '*')
      pattern += ".*";
    else if (c == '?')
      pattern += '.';
    else
      pattern += RE2::QuoteMeta(std::string(1, c));
  }
  return pattern;
}

}  // namespace

ModuleNames::ModuleNames() : patterns_(std::make_unique<Patterns>()) {}
ModuleNames::~ModuleNames() = default;
ModuleNames::ModuleNames(ModuleNames&&) noexcept = default;

bool ModuleNames::empty() const {
  return parts_.empty() && patterns_->size == 0;
}

bool ModuleNames::Add(const std::string& entry) {
  constexpr std::string_view kRegex = "re:";
  std::string pattern;
  if (entry.starts_with(kRegex))
    // Found from the start on, as Python's match does.
    pattern = WithoutNesting(entry.substr(kRegex.size())) + ".*";
  else if (entry.find_first_of("*?") != std::string::npos)
    pattern = FromGlob(WithoutNesting(entry));
  else
    parts_.push_back(WithoutNesting(entry));
  if (pattern.empty()) return true;
  ++patterns_->size;
  return patterns_->set.Add(pattern, nullptr) >= 0;
}

bool ModuleNames::Prepare() {
  std::sort(parts_.begin(), parts_.end());
  return patterns_->size == 0 || patterns_->set.Compile();
}

bool ModuleNames::Has(const std::string& module) const {
  // Every run of whole dotted parts; those from the start against patterns.
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < module.size(); ++i)
    if (module[i] == '.') starts.push_back(i + 1);
  const std::string_view name = module;
  for (const size_t begin : starts) {
    for (size_t k = 1; k <= starts.size(); ++k) {
      const size_t end = k < starts.size() ? starts[k] - 1 : name.size();
      if (end <= begin) continue;
      const std::string_view run = name.substr(begin, end - begin);
      if (std::binary_search(parts_.begin(), parts_.end(), run)) return true;
      if (begin == 0 && patterns_->size > 0 &&
          patterns_->set.Match(std::string(run), nullptr))
        return true;
    }
  }
  return false;
}

}  // namespace inferdiff
