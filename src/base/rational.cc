// SPDX-License-Identifier: Apache-2.0
#include "base/rational.h"

#include <limits>

#include "base/checked.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

Rational Reduced(Wide num, Wide den) {
  if (const Wide gcd = Gcd(num, den); gcd > 1) {
    num /= gcd;
    den /= gcd;
  }
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  if (num > kMax || num < -kMax || den > kMax) ThrowTimeOverflow();
  return {static_cast<int64_t>(num), static_cast<int64_t>(den)};
}

}  // namespace

Rational operator+(Rational a, Rational b) {
  return Reduced(Wide{a.num} * b.den + Wide{b.num} * a.den,
                 Wide{a.den} * b.den);
}

Rational operator-(Rational a, Rational b) {
  return Reduced(Wide{a.num} * b.den - Wide{b.num} * a.den,
                 Wide{a.den} * b.den);
}

Rational operator*(Rational a, Rational b) {
  return Reduced(Wide{a.num} * b.num, Wide{a.den} * b.den);
}

int Compare(Rational a, Rational b) {
  const Wide left = Wide{a.num} * b.den;
  const Wide right = Wide{b.num} * a.den;
  return left < right ? -1 : (left > right ? 1 : 0);
}

}  // namespace inferdiff
