// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/memory.h"

namespace inferdiff {
namespace {

constexpr unsigned kDigitBits = 11;
constexpr size_t kBuckets = size_t{1} << kDigitBits;

/// One counting pass over the digit at `shift` of start - min.
void Pass(const RecordOrder& from, int64_t min, unsigned shift,
          RecordOrder* to) {
  const auto digit = [&](int64_t start) {
    const uint64_t key =
        static_cast<uint64_t>(start) - static_cast<uint64_t>(min);
    return (key >> shift) & (kBuckets - 1);
  };
  std::array<size_t, kBuckets> next{};
  for (const int64_t start : from.start_ns) ++next[digit(start)];
  size_t sum = 0;
  for (size_t& count : next) sum += std::exchange(count, sum);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t place = next[digit(from.start_ns[i])]++;
    to->start_ns[place] = from.start_ns[i];
    to->record[place] = from.record[i];
  }
}

}  // namespace

void SortByStart(RecordOrder* order) {
  const auto& starts = order->start_ns;
  if (std::is_sorted(starts.begin(), starts.end())) return;
  const auto [low, high] = std::minmax_element(starts.begin(), starts.end());
  const int64_t min = *low;
  const auto range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(min);
  RecordOrder other;
  ResizeHuge(&other.start_ns, order->size());
  ResizeHuge(&other.record, order->size());
  const auto bits = static_cast<unsigned>(std::bit_width(range));
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    Pass(*order, min, shift, &other);
    std::swap(*order, other);
  }
}

}  // namespace inferdiff
