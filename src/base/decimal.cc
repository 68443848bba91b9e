// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <string>

namespace inferdiff {
namespace {

constexpr int64_t kMost = 1'000'000'000'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Unit {
  std::string_view name;
  int picosecond_places;  // 10^places ps
};

constexpr Unit kUnits[] = {
    {"ns", 3}, {"us", 6}, {"\u00b5s", 6}, {"ms", 9}, {"s", 12}};

}  // namespace

std::optional<int64_t> ParseFixed(std::string_view text, int places) {
  int64_t value = 0;
  int behind = -1;  // digits behind the point; -1 before it
  bool digits = false, round_up = false;
  for (const char c : text) {
    if (c == '.' && behind < 0) {
      behind = 0;
      continue;
    }
    if (!IsDigit(c)) return std::nullopt;
    digits = true;
    if (behind == places) {
      round_up = c >= '5';
      behind = places + 1;
    }
    if (behind > places) continue;
    value = value * 10 + (c - '0');
    if (value >= kMost) return std::nullopt;
    if (behind >= 0) ++behind;
  }
  if (!digits) return std::nullopt;
  for (int i = behind < 0 ? 0 : behind; i < places; ++i) {
    value *= 10;
    if (value >= kMost) return std::nullopt;
  }
  return value + (round_up ? 1 : 0);
}

std::optional<Rational> ParseDuration(std::string_view text) {
  int places = 6;  // microseconds where no unit stands
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    std::string_view number = text;
    number.remove_suffix(unit.name.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    // "ms" ends with "s", too.
    if (number.empty() || !(IsDigit(number.back()) || number.back() == '.'))
      continue;
    text = number;
    places = unit.picosecond_places;
    break;
  }
  const auto picoseconds = ParseFixed(text, places);
  if (!picoseconds) return std::nullopt;
  if (*picoseconds % 1000 == 0) return Rational{*picoseconds / 1000, 1};
  return Rational{*picoseconds, 1000};
}

}  // namespace inferdiff
