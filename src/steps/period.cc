// SPDX-License-Identifier: Apache-2.0
#include "steps/period.h"

#include <algorithm>

namespace inferdiff {
namespace {

constexpr size_t kMaxPeriod = 512;
constexpr size_t kPeriodSample = 16384;

// Pairs (i, i + p) that differ, among the first `n` symbols. Gives up beyond
// `limit`.
size_t Mismatches(const std::vector<uint32_t>& s, size_t n, size_t p,
                  size_t limit) {
  size_t differ = 0;
  for (size_t i = 0; i + p < n && differ <= limit; ++i) {
    differ += s[i] != s[i + p] ? 1 : 0;
  }
  return differ;
}

}  // namespace

size_t PeriodOf(const std::vector<uint32_t>& symbols) {
  const size_t n = std::min(symbols.size(), kPeriodSample);
  const size_t longest = std::min(n / 2, kMaxPeriod);
  constexpr size_t kWhole = 1000000;
  constexpr size_t kWorst = kWhole / 5;
  std::vector<size_t> differ(longest + 1, kWhole);  // unlike pairs, ppm
  size_t best = kWhole;
  for (size_t p = 1; p <= longest; ++p) {
    const size_t pairs = n - p;
    differ[p] = Mismatches(symbols, n, p, pairs / 5) * kWhole / pairs;
    best = std::min(best, differ[p]);
  }
  // Multiples of the period fit as well; a bare repeat inside it (60 alike
  // layers in a pass) fits worse by more than chance.
  for (size_t p = 1; p <= longest; ++p) {
    if (differ[p] <= std::min(kWorst, 2 * best + kWhole / 200)) return p;
  }
  return 0;
}

Stretch LongestRegular(const std::vector<uint32_t>& s, size_t p) {
  Stretch best;
  size_t begin = 0;
  for (size_t i = 0; i + p <= s.size(); ++i) {
    if (i + p < s.size() && s[i] == s[i + p]) continue;
    if (i > begin && i + p - begin > best.end - best.begin) {
      best = {begin, i + p};
    }
    begin = i + 1;
  }
  return best;
}

std::vector<bool> Occurrences(const std::vector<uint32_t>& pattern,
                              const std::vector<uint32_t>& text) {
  std::vector<uint32_t> s = pattern;
  s.push_back(UINT32_MAX);  // matches nothing
  s.insert(s.end(), text.begin(), text.end());
  std::vector<size_t> z(s.size(), 0);
  std::vector<bool> out(text.size(), false);
  size_t left = 0, right = 0;
  for (size_t i = 1; i < s.size(); ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < s.size() && s[z[i]] == s[i + z[i]]) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
    if (z[i] == pattern.size() && i > pattern.size()) {
      out[i - pattern.size() - 1] = true;
    }
  }
  return out;
}

}  // namespace inferdiff
