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

/// The last printed digit of a column of value / divisor.
struct Precision {
  int decimals = 3;
  int64_t divisor = 1;
};

/// The value in last digits, rounded half away from zero.
int64_t RoundedTo(Rational value, Precision precision);

/// Parts of parts: rounds each up or down, by largest remainder, so that those
/// of one parent add up to the digits that are printed of it. `parent_of` is by
/// part, an index of `parents`, each of which is the sum of its parts rounded
/// up or down; then that holds of every part too.
std::vector<int64_t> ApportionWithin(const std::vector<Rational>& parts,
                                     const std::vector<size_t>& parent_of,
                                     const std::vector<int64_t>& parents,
                                     Precision precision);

/// Prints last digits; "<0.001" where nothing is left of a value above zero,
/// so that 0.000 is exactly zero.
std::string PrintDigits(int64_t digits, int decimals, bool zero);

/// The parts as percentages of their sum; the column adds up to 100.
/// All "-" dashes where the sum is zero.
PrintedColumn PercentColumn(const std::vector<Rational>& parts, int decimals);

/// The same in last digits; empty where the sum is zero.
std::vector<int64_t> PercentIntegers(const std::vector<Rational>& parts,
                                     int decimals);

/// 100 part / whole; a dash where whole is 0.
std::string Percent(Rational part, Rational whole, int decimals = 1);

/// a / b with three significant digits; a dash where b is 0.
std::string Ratio(Rational a, Rational b);

/// A count a step: "12", "12.5".
std::string CountText(Rational count);

/// "43,915".
std::string Grouped(int64_t count);

/// "1 step", "8 steps".
std::string Plural(int64_t n, std::string_view noun);

/// Bytes on disk: "80.3 MB" (powers of 1000), "238 B".
std::string Bytes(uint64_t bytes);

}  // namespace inferdiff
