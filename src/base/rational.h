// SPDX-License-Identifier: Apache-2.0
// Exact fractions: integer totals over a number of steps.
#pragma once

#include <cstdint>

namespace inferdiff {

/// num / den, den > 0, not necessarily in lowest terms. Rounded once, when
/// printed.
struct Rational {
  int64_t num = 0;
  int64_t den = 1;
};

/// Exact; throws InputError "time-overflow" when the result does not fit
/// after reduction.
Rational operator+(Rational a, Rational b);
Rational operator-(Rational a, Rational b);
Rational operator*(Rational a, Rational b);
/// <0, 0, >0 as a is less than, equal to or greater than b. Never overflows.
int Compare(Rational a, Rational b);
inline bool operator==(Rational a, Rational b) { return Compare(a, b) == 0; }
inline bool operator<(Rational a, Rational b) { return Compare(a, b) < 0; }

inline Rational Negated(Rational r) { return {-r.num, r.den}; }
inline Rational Magnitude(Rational r) { return r.num < 0 ? Negated(r) : r; }

}  // namespace inferdiff
