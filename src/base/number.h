// SPDX-License-Identifier: Apache-2.0
// Exact fractions -> decimals. The only rounding of the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rational.h"

namespace inferdiff {

/// What a column of times is printed in: one unit for all its rows.
struct TimeUnit {
  std::string_view name;  // "ms"
  int64_t ns = 1;         // nanoseconds in one
};

inline constexpr TimeUnit kNanoseconds{"ns", 1};
inline constexpr TimeUnit kMicroseconds{"\u00b5s", 1'000};
inline constexpr TimeUnit kMilliseconds{"ms", 1'000'000};
inline constexpr TimeUnit kSeconds{"s", 1'000'000'000};

/// The unit in which the largest absolute value of a column reads well:
/// 1 to 9999, or below 1 ns as it is.
TimeUnit UnitFor(const std::vector<Rational>& column);

/// value / divisor, rounded half away from zero: Decimal({1880, 1}, 3, 1000)
/// is "1.880". Negative numbers get U+2212; a value that rounds to zero has
/// no sign.
std::string Decimal(Rational value, int decimals, int64_t divisor = 1);
/// The same with "+" in front of what is above zero.
std::string SignedDecimal(Rational value, int decimals, int64_t divisor = 1);

/// A value of its own, in its own unit, three or four significant digits:
/// "8.19 ms", "18.1 µs", "940 ns".
std::string Duration(Rational ns);
std::string SignedDuration(Rational ns);

/// Printed parts that add up to the printed total.
struct PrintedColumn {
  std::vector<std::string> parts;
  std::string total;
};

enum class Sign : uint8_t { kMinusOnly, kAlways };

/// Rounds by largest remainder: the total is rounded on its own, then the
/// parts with the largest remainders are rounded up until they add up to it.
/// No part moves by a whole last digit, and an exact part does not move.
PrintedColumn AddingColumn(const std::vector<Rational>& parts, int decimals,
                           int64_t divisor, Sign sign = Sign::kMinusOnly);

/// The same as whole multiples of `unit`, for JSON and for tables whose rows
/// are added up again.
std::vector<int64_t> AddingIntegers(const std::vector<Rational>& parts,
                                    int64_t unit = 1);

/// The parts as percentages of their sum; the column adds up to 100.
/// All "-" dashes where the sum is zero.
PrintedColumn PercentColumn(const std::vector<Rational>& parts, int decimals);

/// 100 part / whole; a dash where whole is 0.
std::string Percent(Rational part, Rational whole, int decimals = 1);

/// a / b with three significant digits; a dash where b is 0.
std::string Ratio(Rational a, Rational b);

/// "43,915".
std::string Grouped(int64_t count);

/// Bytes on disk: "80.3 MB" (powers of 1000), "238 B".
std::string Bytes(uint64_t bytes);

}  // namespace inferdiff
