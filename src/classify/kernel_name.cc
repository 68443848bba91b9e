// SPDX-License-Identifier: Apache-2.0
#include "classify/kernel_name.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "classify/classify.h"
#include "classify/demangle.h"

namespace inferdiff {
namespace {

constexpr size_t kMaxDisplay = 4096;

constexpr std::array<std::string_view, 2> kAnonymous = {
    "(anonymous namespace)", "<unnamed>"};  // demanglers', Nsight's

/// Length of a token for "no name" at the start of `text`, or 0.
size_t AnonymousLength(std::string_view text) {
  for (const std::string_view token : kAnonymous) {
    if (text.starts_with(token)) return token.size();
  }
  return 0;
}

std::string_view TrimSuffixes(std::string_view name) {
  while (true) {
    const size_t clone = name.rfind(" [clone ");
    if (clone != std::string_view::npos && name.ends_with(']')) {
      name = name.substr(0, clone);
    } else if (name.ends_with(".kd")) {
      name.remove_suffix(3);
    } else {
      return name;
    }
  }
}

/// Walks over text and knows how deep in <>, () and {} it is. A '>' closes
/// nothing but a '<', so that "enable_if<(((8)>(0)))>" counts right.
class Nesting {
 public:
  void Step(char previous, char c) {
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      open_ += c;
    } else if (c == '>') {
      if (previous != '-' && Top() == '<') open_.pop_back();
    } else if (c == ')' || c == '}' || c == ']') {
      const char opener = c == ')' ? '(' : c == '}' ? '{' : '[';
      // An unmatched '<' in between was a less-than.
      while (!open_.empty() && open_.back() != opener) open_.pop_back();
      if (!open_.empty()) open_.pop_back();
    }
  }
  bool outside() const { return open_.empty(); }

 private:
  char Top() const { return open_.empty() ? '\0' : open_.back(); }
  std::string open_;
};

/// Where the name starts behind its return type: after the last space that is
/// outside of all brackets and in front of the parameter list. Text without a
/// parameter list ("Memcpy DtoD (Device -> Device)") has no return type.
size_t ReturnTypeLength(std::string_view name) {
  Nesting nesting;
  size_t start = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char previous = i == 0 ? ' ' : name[i - 1];
    if (nesting.outside()) {
      if (const size_t length = AnonymousLength(name.substr(i)); length > 0) {
        i += length - 1;
        continue;
      }
      if (c == ' ') start = i + 1;
      if (c == '(') return previous == ' ' ? 0 : start;
    }
    nesting.Step(previous, c);
  }
  return 0;
}

}  // namespace

size_t HeadLength(std::string_view display_name) {
  for (size_t i = 0; i < display_name.size(); ++i) {
    if (const size_t length = AnonymousLength(display_name.substr(i));
        length > 0) {
      i += length - 1;
    } else if (display_name[i] == '<' || display_name[i] == '(') {
      return i;
    }
  }
  return display_name.size();
}

std::string WithoutAnonymous(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (size_t i = 0; i < name.size(); ++i) {
    const size_t length = AnonymousLength(name.substr(i));
    if (length > 0 && name.substr(i + length).starts_with("::")) {
      i += length + 1;
    } else {
      out += name[i];
    }
  }
  return out;
}

std::string DisplayName(std::string_view name) {
  name = TrimSuffixes(name);
  std::string display;
  if (std::optional<std::string> readable = Demangle(name)) {
    display = std::move(*readable);
  } else {
    display = std::string(name.substr(0, 4 * kMaxDisplay));
  }
  std::string_view rest = display;
  rest.remove_prefix(ReturnTypeLength(rest));
  while (rest.starts_with("void ") || rest.starts_with("static ")) {
    rest.remove_prefix(rest.find(' ') + 1);
  }
  return std::string(rest.substr(0, kMaxDisplay));
}

std::string WordsOf(std::string_view name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string words = "_";
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      if (words.back() != '_') words += '_';
      continue;
    }
    const char before = i > 0 ? name[i - 1] : '_';
    const char after = i + 1 < name.size() ? name[i + 1] : '_';
    const bool starts_word =
        is_upper(c) &&
        (is_lower(before) ||
         ((is_upper(before) || is_digit(before)) && is_lower(after)));
    if (starts_word && words.back() != '_') words += '_';
    words += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (words.back() != '_') words += '_';
  return words;
}

}  // namespace inferdiff
