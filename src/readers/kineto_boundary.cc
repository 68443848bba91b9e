// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_boundary.h"

namespace inferdiff {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// The last character in front of `at` that is no space; 0 when there is none.
char LastBefore(std::string_view text, size_t at, size_t floor) {
  while (at > floor && IsJsonSpace(text[at - 1])) --at;
  return at > floor ? text[at - 1] : '\0';
}

/// Whether `key`, with its quotes, is one that events begin with. Of those
/// that other objects begin with too, more is asked of the text in front.
bool IsEventKey(std::string_view rest, bool* only_events) {
  *only_events = rest.substr(0, 4) == "\"ph\"";
  if (*only_events) return true;
  for (const std::string_view key :
       {"\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"", "\"dur\"",
        "\"id\"", "\"args\""}) {
    if (rest.substr(0, key.size()) == key) return true;
  }
  return false;
}

bool StartsEvent(std::string_view text, size_t brace, size_t floor) {
  bool only_events = false;
  const char first = brace + 1 < text.size() ? text[brace + 1] : '\0';
  if (first != '"' && !IsJsonSpace(first)) return false;
  const size_t key = SkipJsonSpace(text, brace + 1);
  if (key >= text.size() || !IsEventKey(text.substr(key, 8), &only_events)) {
    return false;
  }
  size_t comma = brace;
  while (comma > floor && IsJsonSpace(text[comma - 1])) --comma;
  if (comma == floor || text[comma - 1] != ',') return false;
  return only_events || LastBefore(text, comma - 1, floor) == '}';
}

}  // namespace

size_t SkipJsonSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsJsonSpace(text[at])) ++at;
  return at;
}

size_t FindNestedEvent(std::string_view text, size_t begin, size_t end) {
  const std::string_view event = text.substr(0, end);
  for (size_t key = event.find("\"ph\"", begin); key != kNowhere;
       key = event.find("\"ph\"", key + 1)) {
    size_t brace = key;
    while (brace > begin && IsJsonSpace(event[brace - 1])) --brace;
    if (brace <= begin + 1 || event[brace - 1] != '{') continue;
    if (StartsEvent(event, brace - 1, begin)) return brace - 1;
  }
  return kNowhere;
}

size_t FindLastBrace(std::string_view text, size_t from) {
  for (size_t at = text.find(']', from); at != kNowhere;
       at = text.find(']', at + 1)) {
    if (LastBefore(text, at, from) != '}') continue;
    size_t next = SkipJsonSpace(text, at + 1);
    if (next < text.size() && text[next] == ',') {
      next = SkipJsonSpace(text, next + 1);
      if (next < text.size() && text[next] != '"') continue;
    } else if (next < text.size() && text[next] != '}') {
      continue;
    }
    return text.rfind('}', at);
  }
  return kNowhere;
}

size_t FindEventStart(std::string_view text, size_t from) {
  for (size_t at = text.find('{', from); at != kNowhere;
       at = text.find('{', at + 1)) {
    if (StartsEvent(text, at, 0)) return at;
  }
  return kNowhere;
}

}  // namespace inferdiff
