// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_event.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "readers/digits.h"
#include "readers/json_text.h"
#include "readers/parse_digits.h"

namespace inferdiff {
namespace {

/// Any letter of a JSON string may be written as an escape; nearly none is.
bool HasEscape(std::string_view text) {
  return text.find('\\') != std::string_view::npos;
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// A cursor over one event. Every Read... returns false on malformed text.
class EventParser {
 public:
  EventParser(std::string_view text, Strictness strictness,
              ImportCounters* counters)
      : text_(text), strictness_(strictness), counters_(counters) {}

  bool ReadEvent(EventFields* fields);
  bool ReadKind(EventFields* fields);
  size_t at() const { return at_; }

 private:
  template <typename Member>
  bool ReadObject(Member read_member);
  enum class Role : uint8_t { kKey, kValue };
  bool ReadString(Role role, std::string_view* out);
  bool ReadValue(JsonScalar* out);
  bool ReadBareScalar(JsonScalar* out);
  bool SkipNested();
  size_t StringEnd(size_t from, Role role) const;
  bool EndsString(size_t quote, Role role) const;
  bool StartsKey(size_t at) const;
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  Strictness strictness_;
  ImportCounters* counters_;
  size_t at_ = 0;
  size_t array_depth_ = 0;  // brackets open around the cursor
};

/// Position of the next quote that no backslash escapes.
size_t NextQuote(std::string_view text, size_t from) {
  while (from < text.size()) {
    const char* p = text.data() + from;
    const size_t rest = text.size() - from;
    const void* quote = std::memchr(p, '"', rest);
    if (quote == nullptr) return std::string_view::npos;
    const size_t at =
        static_cast<size_t>(static_cast<const char*>(quote) - text.data());
    size_t backslashes = 0;
    while (at - backslashes > from && text[at - backslashes - 1] == '\\') {
      ++backslashes;
    }
    if (backslashes % 2 == 0) return at;
    from = at + 1;
  }
  return std::string_view::npos;
}

size_t SkipSpaceFrom(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

/// Whether a `"key":` stands at `at`.
bool EventParser::StartsKey(size_t at) const {
  if (at >= text_.size() || text_[at] != '"') return false;
  constexpr size_t kLongestKey = 64;
  const size_t end = NextQuote(text_, at + 1);
  if (end == std::string_view::npos || end - at > kLongestKey) return false;
  const size_t colon = SkipSpaceFrom(text_, end + 1);
  return colon < text_.size() && text_[colon] == ':';
}

/// In lenient text: can a string end with this quote?
bool EventParser::EndsString(size_t quote, Role role) const {
  const size_t next = SkipSpaceFrom(text_, quote + 1);
  if (next >= text_.size()) return false;
  const char c = text_[next];
  if (role == Role::kKey) return c == ':';
  if (c == ',') {
    const size_t after = SkipSpaceFrom(text_, next + 1);
    return array_depth_ > 0 || StartsKey(after);
  }
  return c == '}' || (array_depth_ > 0 && (c == ']' || c == ':'));
}

/// The quote that ends the string whose text starts at `from`. In lenient text
/// a backslash in front of it may be a part of the name.
size_t EventParser::StringEnd(size_t from, Role role) const {
  if (strictness_ == Strictness::kStrict) return NextQuote(text_, from);
  for (size_t quote = text_.find('"', from); quote != std::string_view::npos;
       quote = text_.find('"', quote + 1)) {
    if (EndsString(quote, role)) return quote;
  }
  return std::string_view::npos;
}

bool EventParser::ReadString(Role role, std::string_view* out) {
  if (Peek() != '"') return false;
  const size_t begin = at_ + 1;
  const size_t end = StringEnd(begin, role);
  if (end == std::string_view::npos) return false;
  *out = text_.substr(begin, end - begin);
  at_ = end + 1;
  return true;
}

/// Numbers, true, false, null and what broken writers print for infinity.
bool EventParser::ReadBareScalar(JsonScalar* out) {
  const size_t begin = at_;
  while (at_ < text_.size() && !IsSpace(text_[at_]) &&
         std::strchr(",]}{[:\"", text_[at_]) == nullptr) {
    ++at_;
  }
  if (at_ == begin) return false;
  out->text = text_.substr(begin, at_ - begin);
  out->quoted = false;
  const char* p = out->text.data() + (out->text[0] == '-' ? 1 : 0);
  if (p < out->text.data() + out->text.size() && (*p < '0' || *p > '9')) {
    if (out->text == "true" || out->text == "false" || out->text == "null") {
      return true;
    }
    constexpr size_t kLongest = 9;  // -Infinity
    if (out->text.size() > kLongest || std::strchr("iInN", *p) == nullptr) {
      return false;
    }
    counters_->Add(Counter::kNonFiniteNumber);
  } else if (out->text.size() > 19 &&
             out->text.find_first_not_of("0123456789-") ==
                 std::string_view::npos &&
             !ParseInteger(out->text)) {
    counters_->Add(Counter::kHugeInteger);
  }
  return true;
}

/// Skips an array or object without recursion: depth is the input's choice.
bool EventParser::SkipNested() {
  size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      std::string_view ignored;
      if (!ReadString(Role::kValue, &ignored)) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    array_depth_ = depth;
    if (depth == 0) return true;
  }
  return false;
}

bool EventParser::ReadValue(JsonScalar* out) {
  const char c = Peek();
  if (c == '{' || c == '[') {
    *out = {};
    return SkipNested();
  }
  out->present = true;
  if (c != '"') return ReadBareScalar(out);
  out->quoted = true;
  return ReadString(Role::kValue, &out->text);
}

/// Reads an object; `read_member(key)` reads the value and says whether to go
/// on.
template <typename Member>
bool EventParser::ReadObject(Member read_member) {
  if (Peek() != '{') return false;
  ++at_;
  SkipSpace();
  while (Peek() != '}') {
    if (Peek() == ',') {  // a double comma, or one in front
      ++at_;
      SkipSpace();
      continue;
    }
    std::string_view key;
    if (!ReadString(Role::kKey, &key)) return false;
    std::string decoded;
    if (HasEscape(key)) key = decoded = DecodeJsonText(key).text;
    SkipSpace();
    if (Peek() != ':') return false;
    ++at_;
    SkipSpace();
    if (!read_member(key)) return false;
    SkipSpace();
    if (Peek() != ',' && Peek() != '}') return false;
  }
  ++at_;
  return true;
}

bool EventParser::ReadEvent(EventFields* fields) {
  JsonScalar ignored;
  const auto read_arg = [&](std::string_view key) {
    JsonScalar* slot = &ignored;
    if (const auto field = FieldOfArg(key)) slot = &(fields->*field);
    return ReadValue(slot);
  };
  const auto read_field = [&](std::string_view key) {
    if (key == "args" && Peek() == '{') return ReadObject(read_arg);
    JsonScalar* slot = &ignored;
    if (key == "name") slot = &fields->name;
    if (key == "pid") slot = &fields->pid;
    if (key == "tid") slot = &fields->tid;
    if (key == "ts") slot = &fields->ts;
    if (key == "dur") slot = &fields->dur;
    if (key == "ph" && !fields->ph.present) slot = &fields->ph;
    if (key == "cat" && !fields->cat.present) slot = &fields->cat;
    return ReadValue(slot);
  };
  return ReadObject(read_field);
}

bool EventParser::ReadKind(EventFields* fields) {
  bool done = false;
  const auto read_field = [&](std::string_view key) {
    JsonScalar ignored;
    JsonScalar* slot = &ignored;
    if (key == "ph" && !fields->ph.present) slot = &fields->ph;
    if (key == "cat" && !fields->cat.present) slot = &fields->cat;
    if (!ReadValue(slot)) return false;
    done = fields->ph.present && (!IsActivity(*fields) || fields->cat.present);
    return !done;
  };
  return ReadObject(read_field) || done;
}

}  // namespace

bool FindKind(std::string_view text, EventFields* fields) {
  ImportCounters ignored;
  EventParser parser(text, Strictness::kStrict, &ignored);
  return parser.ReadKind(fields);
}

std::optional<size_t> ParseEvent(std::string_view text, Strictness strictness,
                                 EventFields* fields,
                                 ImportCounters* counters) {
  EventParser parser(text, strictness, counters);
  if (!parser.ReadEvent(fields)) return std::nullopt;
  return parser.at();
}

bool IsActivity(const EventFields& fields) {
  const std::string_view ph = fields.ph.text;
  return ph == "X" || (HasEscape(ph) && DecodeJsonText(ph).text == "X");
}

EventKind KindOf(std::string_view cat) {
  std::string decoded;
  if (HasEscape(cat)) cat = decoded = DecodeJsonText(cat).text;
  struct Row {
    std::string_view cat;
    EventKind kind;
  };
  // The capitalised ones are those of 2021.
  static constexpr Row kRows[] = {
      {"kernel", EventKind::kKernel},
      {"Kernel", EventKind::kKernel},
      {"gpu_memcpy", EventKind::kMemcpy},
      {"Memcpy", EventKind::kMemcpy},
      {"gpu_memset", EventKind::kMemset},
      {"Memset", EventKind::kMemset},
      {"cuda_runtime", EventKind::kHostCall},
      {"cuda_driver", EventKind::kHostCall},
      {"Runtime", EventKind::kHostCall},
      {"user_annotation", EventKind::kHostRange},
      {"gpu_user_annotation", EventKind::kGpuRange},
      {"Operator", EventKind::kOldOperator},
      {"overhead", EventKind::kProfiler},
  };
  for (const Row& row : kRows) {
    if (row.cat == cat) return row.kind;
  }
  return EventKind::kOther;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  if (ParseDigits(text, &value)) return value;
  if (!text.empty() && text[0] == '+') return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

namespace {

/// The digits of a decimal number with its exponent applied: value =
/// 0.d1d2d3... * 10^point.
struct Decimal {
  bool negative = false;
  uint8_t fraction_digits = 0;
  int64_t point = 0;
  char digits[64];
  size_t count = 0;
};

/// Reads [-]digits[.digits][e[+-]digits]. Digits beyond those that can matter
/// are dropped.
bool ReadDecimal(std::string_view text, Decimal* out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p < end && *p == '-') {
    out->negative = true;
    ++p;
  }
  bool any = false;
  bool in_fraction = false;
  for (; p < end; ++p) {
    if (*p == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (*p < '0' || *p > '9') break;
    any = true;
    if (in_fraction && out->fraction_digits < 255) ++out->fraction_digits;
    if (out->count == 0 && *p == '0') {
      if (in_fraction) --out->point;
      continue;
    }
    if (!in_fraction) ++out->point;
    if (out->count < sizeof(out->digits)) out->digits[out->count++] = *p;
  }
  if (!any) return false;
  if (p == end) return true;
  if (*p != 'e' && *p != 'E') return false;
  ++p;
  if (p < end && *p == '+') ++p;
  int32_t exponent = 0;
  const auto [stop, error] = std::from_chars(p, end, exponent);
  if (error != std::errc() || stop != end) return false;
  out->point += exponent;
  out->fraction_digits = 3;  // the padding question does not arise
  return true;
}

}  // namespace

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  if (const auto integer = ParseInteger(text)) return integer;
  Decimal decimal;
  if (!ReadDecimal(text, &decimal)) return std::nullopt;
  constexpr int64_t kMostDigits = 18;  // fit into 64 bits, whatever they are
  if (decimal.point > kMostDigits) return std::nullopt;
  int64_t value = 0;
  for (size_t i = 0; i < decimal.count; ++i) {
    const int64_t digit = decimal.digits[i] - '0';
    if (static_cast<int64_t>(i) < decimal.point) {
      value = value * 10 + digit;
    } else if (digit != 0) {
      return std::nullopt;
    }
  }
  for (auto i = static_cast<int64_t>(decimal.count); i < decimal.point; ++i) {
    value *= 10;
  }
  return decimal.negative ? -value : value;
}

TimeError ParseTime(std::string_view text, DecimalTime* time) {
  constexpr int64_t kMaxUs = int64_t{1} << 53;
  Decimal decimal;
  if (!ReadDecimal(text, &decimal)) return TimeError::kNotANumber;
  time->fraction_digits = std::min<uint8_t>(decimal.fraction_digits, 3);
  const int64_t ns_digits = decimal.point + 3;  // digits in front of the ns
  if (decimal.count == 0 || ns_digits < 0) {
    time->ns = 0;
    return TimeError::kOk;
  }
  if (ns_digits > 19) return TimeError::kOutOfRange;
  uint64_t ns = 0;
  for (size_t i = 0; i < static_cast<size_t>(ns_digits); ++i) {
    ns = ns * 10 + (i < decimal.count
                        ? static_cast<uint64_t>(decimal.digits[i] - '0')
                        : 0U);
  }
  const auto next = static_cast<size_t>(ns_digits);
  if (next < decimal.count && decimal.digits[next] >= '5') ++ns;
  if (ns > static_cast<uint64_t>(kMaxUs) * 1000) return TimeError::kOutOfRange;
  time->ns =
      decimal.negative ? -static_cast<int64_t>(ns) : static_cast<int64_t>(ns);
  return TimeError::kOk;
}

const char* ParsePlainTime(const char* text, DecimalTime* time) {
  const char* p = SkipDigits(text);
  int64_t whole = 0;
  constexpr ptrdiff_t kMost = 15;  // digits of us stay below 2^53
  if (p - text > kMost ||
      !ParsePaddedDigits({text, static_cast<size_t>(p - text)}, &whole)) {
    return nullptr;
  }
  int64_t fraction = 0;
  time->fraction_digits = 0;
  if (*p == '.') {
    ++p;
    const char* const begin = p;
    for (; IsDigit(*p) && p - begin < 3; ++p) {
      fraction = fraction * 10 + (*p - '0');
    }
    const auto digits = static_cast<uint8_t>(p - begin);
    if (digits == 0) return nullptr;
    time->fraction_digits = digits;
    if (digits == 1) fraction *= 100;
    if (digits == 2) fraction *= 10;
  }
  if (IsDigit(*p) || *p == 'e' || *p == 'E' || *p == '.') return nullptr;
  time->ns = whole * 1000 + fraction;
  return p;
}

}  // namespace inferdiff
