// SPDX-License-Identifier: Apache-2.0
#include "classify/pattern_list.h"

#include <re2/re2.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace inferdiff {
namespace {

constexpr std::string_view kAnyCase = "(?i)";
constexpr size_t kStart = 3;  // letters of a literal that the table knows

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool IsWord(char c) {
  return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z');
}

bool Contains(std::string_view text, char c) {
  return text.find(c) != std::string_view::npos;
}

size_t BucketOf(const char* three) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(three[i]));
  };
  return (byte(0) * 961 + byte(1) * 31 + byte(2));
}

/// Where the group or class that opens at `at` ends (index of its last
/// character). Patterns are known to compile, so it does end.
size_t EndOfBracket(std::string_view pattern, size_t at) {
  const bool is_class = pattern[at] == '[';
  int depth = 0;
  bool in_class = false;
  for (size_t i = at; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
      if (!in_class && is_class) return i;
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return i;
    }
  }
  return pattern.size();
}

RE2::Options MatchOptions() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
  options.set_never_capture(true);
  options.set_log_errors(false);
  return options;
}

}  // namespace

std::vector<std::string> SplitAlternatives(std::string_view pattern) {
  const bool any_case = pattern.starts_with(kAnyCase);
  if (any_case) pattern.remove_prefix(kAnyCase.size());
  // Flags at the start and \Q...\E may hold for all: leave it whole.
  if (pattern.starts_with("(?") ||
      pattern.find("\\Q") != std::string_view::npos) {
    return {std::string(any_case ? kAnyCase : "") + std::string(pattern)};
  }
  const std::string prefix(any_case ? kAnyCase : std::string_view());
  std::vector<std::string> parts(1, prefix);
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    size_t end = i + 1;
    if (c == '|') {
      parts.push_back(prefix);
      continue;
    }
    if (c == '\\') end = i + 2;
    if (c == '(' || c == '[') end = EndOfBracket(pattern, i) + 1;
    parts.back() += pattern.substr(i, end - i);
    i = end - 1;
  }
  return parts;
}

std::string RequiredLiteral(std::string_view pattern) {
  if (pattern.starts_with(kAnyCase)) pattern.remove_prefix(kAnyCase.size());
  std::string best, run;
  const auto finish_run = [&] {
    if (run.size() > best.size()) best = run;
    run.clear();
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '|') return {};
    if (c == '(' || c == '[') {
      finish_run();
      i = EndOfBracket(pattern, i);
    } else if (c == '\\' && i + 1 < pattern.size()) {
      ++i;
      if (IsWord(pattern[i])) {
        // \d, \w, \b have no letter of their own; \x41, \pL, \Q do.
        if (!Contains("dDwWsSbB", pattern[i])) return {};
        finish_run();
      } else {
        run += Lower(pattern[i]);
      }
    } else if (c == '?' || c == '*' || c == '{') {
      if (!run.empty()) run.pop_back();  // what it repeats may be absent
      finish_run();
      if (c == '{') i = pattern.find('}', i);
    } else if (c == '.' || c == '^' || c == '$' || c == '+') {
      finish_run();
    } else {
      run += Lower(c);
    }
  }
  finish_run();
  return best;
}

/// One alternative of a pattern. Compiled when a text first needs it, by
/// whichever thread that is.
struct PatternList::Item {
  Item(std::string p, Id i)
      : pattern(std::move(p)), literal(RequiredLiteral(pattern)), id(i) {}

  bool Matches(std::string_view text) {
    std::call_once(
        once, [this] { re = std::make_unique<RE2>(pattern, MatchOptions()); });
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *re);
  }

  std::string pattern;
  std::string literal;
  Id id;
  std::once_flag once;
  std::unique_ptr<RE2> re;
};

PatternList::PatternList(size_t buckets) : by_start_(buckets) {}
PatternList::PatternList(PatternList&&) noexcept = default;
PatternList::~PatternList() = default;

void PatternList::Add(std::string_view pattern, Id id) {
  for (std::string& part : SplitAlternatives(pattern)) {
    const auto index = static_cast<uint32_t>(items_.size());
    items_.push_back(std::make_unique<Item>(std::move(part), id));
    const std::string& literal = items_.back()->literal;
    if (literal.size() < kStart) {
      without_literal_.push_back(index);
    } else {
      by_start_[BucketOf(literal.data()) % by_start_.size()].push_back(index);
    }
  }
}

/// Indices of the items to try, lowest id first.
std::vector<uint32_t> PatternList::Candidates(std::string_view text) const {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  const std::string_view view = lower;
  std::vector<uint32_t> found = without_literal_;
  for (size_t at = 0; at + kStart <= view.size(); ++at) {
    for (const uint32_t index :
         by_start_[BucketOf(view.data() + at) % by_start_.size()]) {
      const std::string& literal = items_[index]->literal;
      if (view.compare(at, literal.size(), literal) == 0) {
        found.push_back(index);
      }
    }
  }
  std::sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(items_[a]->id, a) < std::pair(items_[b]->id, b);
  });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

PatternList::Id PatternList::First(std::string_view text) const {
  for (const uint32_t index : Candidates(text)) {
    if (items_[index]->Matches(text)) return items_[index]->id;
  }
  return kNone;
}

}  // namespace inferdiff
