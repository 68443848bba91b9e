// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

// 128 bits hold a 63-bit total times a step count of each side times the
// scale of the last digit; what does not fit is refused, never wrapped.
Wide Multiply(Wide a, Wide b) {
  Wide product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw InputError("time-overflow", "",
                     "times in the trace are too large to print",
                     "the trace's timestamps are damaged; capture it again");
  }
  return product;
}

struct WideFraction {
  Wide num = 0;
  Wide den = 1;  // > 0
};

WideFraction Add(WideFraction a, Rational b) {
  const Wide gcd = Gcd(a.den, b.den);
  return {Multiply(a.num, b.den / gcd) + Multiply(b.num, a.den / gcd),
          Multiply(a.den / gcd, b.den)};
}

WideFraction Sum(const std::vector<Rational>& parts) {
  WideFraction sum;
  for (const Rational part : parts) sum = Add(sum, part);
  return sum;
}

Wide Power10(int exponent) {
  Wide power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

Wide Floor(WideFraction f) {
  const Wide quotient = f.num / f.den;
  return f.num % f.den < 0 ? quotient - 1 : quotient;
}

// Half away from zero.
Wide Round(WideFraction f) {
  const Wide magnitude = f.num < 0 ? -f.num : f.num;
  const Wide quotient = magnitude / f.den;
  const Wide rest = magnitude % f.den;
  const Wide rounded = quotient + (rest >= f.den - rest ? 1 : 0);
  return f.num < 0 ? -rounded : rounded;
}

// `last_digits` counts units of the last printed digit.
std::string Print(Wide last_digits, int decimals, Sign sign) {
  const bool negative = last_digits < 0;
  // fmt prints 128-bit integers, but only in builds where it was told to.
  const auto magnitude =
      static_cast<uint64_t>(negative ? -last_digits : last_digits);
  const auto scale = static_cast<uint64_t>(Power10(decimals));
  std::string text = negative                                   ? kMinus.data()
                     : sign == Sign::kAlways && last_digits > 0 ? "+"
                                                                : "";
  text += fmt::format("{}", magnitude / scale);
  if (decimals > 0) text += fmt::format(".{:0{}}", magnitude % scale, decimals);
  return text;
}

WideFraction Scaled(WideFraction f, int decimals, int64_t divisor) {
  return {Multiply(f.num, Power10(decimals)), Multiply(f.den, divisor)};
}

WideFraction Widen(Rational r) { return {r.num, r.den}; }

// Digits of `scaled` parts by largest remainder, adding up to `total`.
std::vector<Wide> Apportion(const std::vector<WideFraction>& scaled,
                            Wide total) {
  std::vector<Wide> digits;
  for (const WideFraction f : scaled) digits.push_back(Floor(f));
  const Wide missing =
      total - std::accumulate(digits.begin(), digits.end(), Wide{0});
  std::vector<size_t> order(scaled.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Remainders lie in [0, 1): compare them cross-multiplied.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Wide rest_a = scaled[a].num - Multiply(digits[a], scaled[a].den);
    const Wide rest_b = scaled[b].num - Multiply(digits[b], scaled[b].den);
    return Multiply(rest_a, scaled[b].den) > Multiply(rest_b, scaled[a].den);
  });
  for (size_t i = 0; i < order.size() && Wide(i) < missing; ++i)
    ++digits[order[i]];
  return digits;
}

PrintedColumn PrintColumn(const std::vector<WideFraction>& scaled, Wide total,
                          int decimals, Sign sign) {
  PrintedColumn column;
  for (const Wide digits : Apportion(scaled, total))
    column.parts.push_back(Print(digits, decimals, sign));
  column.total = Print(total, decimals, sign);
  return column;
}

std::string SignedOrNot(Rational value, int decimals, int64_t divisor,
                        Sign sign) {
  return Print(Round(Scaled(Widen(value), decimals, divisor)), decimals, sign);
}

// Decimals that leave three significant digits.
int DecimalsFor(Rational value, int64_t divisor) {
  const WideFraction f{value.num < 0 ? -Wide{value.num} : Wide{value.num},
                       Multiply(value.den, divisor)};
  if (f.num >= Multiply(f.den, 100)) return 0;
  return f.num >= Multiply(f.den, 10) ? 1 : 2;
}

std::string DurationText(Rational ns, Sign sign) {
  const TimeUnit unit = UnitFor({ns});
  const bool whole_ns = unit.ns == 1 && ns.num % ns.den == 0;
  const int decimals = whole_ns ? 0 : DecimalsFor(ns, unit.ns);
  return fmt::format("{} {}", SignedOrNot(ns, decimals, unit.ns, sign),
                     unit.name);
}

}  // namespace

TimeUnit UnitFor(const std::vector<Rational>& column) {
  Rational largest{0, 1};
  for (const Rational value : column) {
    if (largest < Magnitude(value)) largest = Magnitude(value);
  }
  for (const TimeUnit unit : {kSeconds, kMilliseconds, kMicroseconds})
    if (!(largest < Rational{unit.ns, 1})) return unit;
  return kNanoseconds;
}

std::string Decimal(Rational value, int decimals, int64_t divisor) {
  return SignedOrNot(value, decimals, divisor, Sign::kMinusOnly);
}

std::string SignedDecimal(Rational value, int decimals, int64_t divisor) {
  return SignedOrNot(value, decimals, divisor, Sign::kAlways);
}

std::string Duration(Rational ns) { return DurationText(ns, Sign::kMinusOnly); }

std::string SignedDuration(Rational ns) {
  return DurationText(ns, Sign::kAlways);
}

PrintedColumn AddingColumn(const std::vector<Rational>& parts, int decimals,
                           int64_t divisor, Sign sign) {
  std::vector<WideFraction> scaled;
  for (const Rational part : parts)
    scaled.push_back(Scaled(Widen(part), decimals, divisor));
  const Wide total = Round(Scaled(Sum(parts), decimals, divisor));
  return PrintColumn(scaled, total, decimals, sign);
}

std::vector<int64_t> AddingIntegers(const std::vector<Rational>& parts,
                                    int64_t unit) {
  std::vector<WideFraction> scaled;
  for (const Rational part : parts)
    scaled.push_back(Scaled(Widen(part), 0, unit));
  std::vector<int64_t> integers;
  for (const Wide digits :
       Apportion(scaled, Round(Scaled(Sum(parts), 0, unit))))
    integers.push_back(static_cast<int64_t>(digits));
  return integers;
}

int64_t RoundedTo(Rational value, Precision precision) {
  return static_cast<int64_t>(
      Round(Scaled(Widen(value), precision.decimals, precision.divisor)));
}

std::vector<int64_t> ApportionWithin(const std::vector<Rational>& parts,
                                     const std::vector<size_t>& parent_of,
                                     const std::vector<int64_t>& parents,
                                     Precision precision) {
  std::vector<std::vector<size_t>> children(parents.size());
  for (size_t i = 0; i < parts.size(); ++i)
    children.at(parent_of[i]).push_back(i);
  std::vector<int64_t> digits(parts.size(), 0);
  for (size_t p = 0; p < parents.size(); ++p) {
    std::vector<WideFraction> scaled;
    for (const size_t i : children[p]) {
      scaled.push_back(
          Scaled(Widen(parts[i]), precision.decimals, precision.divisor));
    }
    const std::vector<Wide> shares = Apportion(scaled, parents[p]);
    for (size_t k = 0; k < shares.size(); ++k)
      digits[children[p][k]] = static_cast<int64_t>(shares[k]);
  }
  return digits;
}

std::string PrintDigits(int64_t digits, int decimals, bool zero) {
  if (digits != 0 || zero) return Print(digits, decimals, Sign::kMinusOnly);
  return fmt::format("<{}", Print(1, decimals, Sign::kMinusOnly));
}

std::vector<int64_t> PercentIntegers(const std::vector<Rational>& parts,
                                     int decimals) {
  const WideFraction sum = Sum(parts);
  if (sum.num == 0) return {};
  std::vector<WideFraction> scaled;
  const Wide hundred = 100 * Power10(decimals);
  const Wide flip = sum.num < 0 ? -1 : 1;  // keeps denominators positive
  for (const Rational part : parts) {
    scaled.push_back({Multiply(Multiply(part.num, sum.den), flip * hundred),
                      Multiply(part.den, flip * sum.num)});
  }
  std::vector<int64_t> integers;
  for (const Wide digits : Apportion(scaled, hundred))
    integers.push_back(static_cast<int64_t>(digits));
  return integers;
}

PrintedColumn PercentColumn(const std::vector<Rational>& parts, int decimals) {
  const std::vector<int64_t> digits = PercentIntegers(parts, decimals);
  if (digits.empty()) {
    return {std::vector<std::string>(parts.size(), std::string(kDash)),
            std::string(kDash)};
  }
  PrintedColumn column;
  for (const int64_t part : digits)
    column.parts.push_back(Print(part, decimals, Sign::kMinusOnly));
  column.total = Print(100 * Power10(decimals), decimals, Sign::kMinusOnly);
  return column;
}

std::string Percent(Rational part, Rational whole, int decimals) {
  if (whole.num == 0) return std::string(kDash);
  const Wide flip = whole.num < 0 ? -1 : 1;
  const WideFraction scaled{
      Multiply(Multiply(part.num, whole.den), flip * 100 * Power10(decimals)),
      Multiply(part.den, flip * whole.num)};
  return Print(Round(scaled), decimals, Sign::kMinusOnly);
}

std::string Ratio(Rational a, Rational b) {
  if (b.num == 0) return std::string(kDash);
  const Wide flip = b.num < 0 ? -1 : 1;
  const WideFraction ratio{Multiply(a.num, flip * b.den),
                           Multiply(a.den, flip * b.num)};
  const Wide whole =
      ratio.num < 0 ? -ratio.num / ratio.den : ratio.num / ratio.den;
  const int decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
  return Print(Round(Scaled(ratio, decimals, 1)), decimals, Sign::kMinusOnly);
}

std::string CountText(Rational count) {
  return Decimal(count, count.num % count.den == 0 ? 0 : 1);
}

std::string Grouped(int64_t count) {
  std::string text = fmt::format("{}", count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3; at -= 3)
    text.insert(at - 3, 1, ',');
  return text;
}

std::string Plural(int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", Grouped(n), noun, n == 1 ? "" : "s");
}

std::string Bytes(uint64_t bytes) {
  bytes = std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max());
  constexpr std::string_view kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  uint64_t scale = 1000;
  size_t unit = 0;
  while (bytes / scale >= 1000) scale *= 1000, ++unit;
  const Rational value{static_cast<int64_t>(bytes), 1};
  const auto divisor = static_cast<int64_t>(scale);
  return fmt::format("{} {}",
                     Decimal(value, DecimalsFor(value, divisor), divisor),
                     kUnits[unit]);
}

}  // namespace inferdiff
