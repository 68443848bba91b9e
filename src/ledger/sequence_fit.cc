// SPDX-License-Identifier: Apache-2.0
#include "ledger/sequence_fit.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace inferdiff {
namespace {

// Fewer calls do not tell a clock from chance.
constexpr size_t kFewest = 4;
// Ends of one collective are this close, or else three times as close as most.
constexpr int64_t kTogether = 5'000;
// Shifts that are tried around each guess, and calls that each is judged by.
constexpr int64_t kShifts = 192;
constexpr int64_t kSamples = 48;

/// The nearest-rank quantile; reorders.
int64_t Quantile(std::vector<int64_t>* values, size_t percent) {
  const size_t index =
      (values->size() * percent + 99) / 100 - (percent == 0 ? 0 : 1);
  const auto at = values->begin() +
                  static_cast<ptrdiff_t>(std::min(index, values->size() - 1));
  std::nth_element(values->begin(), at, values->end());
  return *at;
}

int64_t Distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/// Where most differences of ends lie: what the clocks differ by.
struct Mode {
  int64_t offset_ns = 0;
  int64_t width_ns = 0;  // of the narrowest band that holds 40 % of them
};

Mode ModeOf(std::vector<int64_t> apart) {
  std::sort(apart.begin(), apart.end());
  const size_t held = std::max<size_t>(apart.size() * 2 / 5, 2) - 1;
  Mode mode{apart[0], INT64_MAX};
  for (size_t i = 0; i + held < apart.size(); ++i) {
    if (apart[i + held] - apart[i] >= mode.width_ns) continue;
    mode = {apart[i + held / 2], apart[i + held] - apart[i]};
  }
  return mode;
}

/// The difference of the clocks if call i of `ours` is call i + shift of the
/// reference; nothing where too few overlap. A wrong shift makes it vary: a
/// step repeats itself to the microsecond, the pauses between steps do not. A
/// call that one rank lacks spoils the differences behind it, so less than
/// half of them must do.
std::optional<Mode> DifferenceAt(const CallSequence& ours,
                                 const CallSequence& reference, int64_t shift) {
  const auto our_size = static_cast<int64_t>(ours.size());
  const auto their_size = static_cast<int64_t>(reference.size());
  const int64_t first = std::max<int64_t>(0, -shift);
  const int64_t count = std::min(our_size, their_size - shift) - first;
  if (count < static_cast<int64_t>(kFewest) ||
      2 * count < std::min(our_size, their_size)) {
    return std::nullopt;
  }
  std::vector<int64_t> apart;
  const int64_t samples = std::min(count, kSamples);
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t i = first + count * s / samples;
    apart.push_back(ours[static_cast<size_t>(i)].end_ns -
                    reference[static_cast<size_t>(i + shift)].end_ns);
  }
  return ModeOf(std::move(apart));
}

/// The call of the reference that ends nearest to our first one.
int64_t ShiftByClock(const CallSequence& ours, const CallSequence& reference) {
  const auto after = std::lower_bound(
      reference.begin(), reference.end(), ours[0].end_ns,
      [](const TimedCall& call, int64_t end) { return call.end_ns < end; });
  return after - reference.begin();
}

/// Pairs by the aligned clock: nearest ends, each used once. What order says
/// is wrong behind the first call that a profiler lost.
std::vector<CallPair> PairByTime(std::span<const TimedCall> ours,
                                 std::span<const TimedCall> reference,
                                 const ClockOffset& clock, int64_t tolerance) {
  std::vector<CallPair> pairs;
  size_t next = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const int64_t end = clock.Aligned(ours[i].end_ns);
    while (next < reference.size() &&
           reference[next].end_ns < end - tolerance) {
      ++next;
    }
    size_t best = next;
    while (best + 1 < reference.size() &&
           Distance(reference[best + 1].end_ns, end) <=
               Distance(reference[best].end_ns, end)) {
      ++best;
    }
    if (best >= reference.size() ||
        Distance(reference[best].end_ns, end) > tolerance) {
      continue;
    }
    pairs.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(best)});
    next = best + 1;
  }
  return pairs;
}

std::span<const TimedCall> EndingWithin(std::span<const TimedCall> calls,
                                        int64_t from, int64_t to) {
  const auto before = [](const TimedCall& call, int64_t end) {
    return call.end_ns < end;
  };
  const auto first = std::lower_bound(calls.begin(), calls.end(), from, before);
  const auto last = std::lower_bound(first, calls.end(), to, before);
  return {first, last};
}

/// How far apart the ends of one collective may be: some microseconds, or a
/// quarter of its time (40 us were seen where 64 MB took 240 us), but never so
/// far that neighbours are taken for one another.
int64_t ToleranceOf(const CallSequence& calls, int64_t narrowest) {
  std::vector<int64_t> durations, gaps;
  for (size_t i = 0; i < calls.size(); ++i) {
    durations.push_back(calls[i].end_ns - calls[i].start_ns);
    if (i > 0) gaps.push_back(calls[i].end_ns - calls[i - 1].end_ns);
  }
  const int64_t loose =
      std::max({kTogether, 3 * narrowest, Quantile(&durations, 25) / 4});
  return std::max<int64_t>(std::min(loose, Quantile(&gaps, 10) / 4), 1);
}

/// Calls of either rank that find no partner although both were recording:
/// layers are alike to the microsecond, so that a difference of a layer too
/// many fits well, but for a hole at each end of a step. Over some hundred
/// calls in the middle: farther off the clocks may have run apart.
size_t HolesAt(const CallSequence& ours, const CallSequence& reference,
               const Mode& mode, int64_t tolerance) {
  constexpr size_t kReach = 256;
  const ClockOffset clock{0, mode.offset_ns, 0, mode.offset_ns};
  const int64_t first =
      std::max(ours.front().end_ns, reference.front().end_ns + mode.offset_ns);
  const int64_t last =
      std::min(ours.back().end_ns, reference.back().end_ns + mode.offset_ns);
  std::span<const TimedCall> mine =
      EndingWithin(ours, first - tolerance, last + tolerance);
  if (mine.size() < kFewest) return SIZE_MAX;
  if (mine.size() > 2 * kReach)
    mine = mine.subspan(mine.size() / 2 - kReach, 2 * kReach);
  const std::span<const TimedCall> theirs =
      EndingWithin(reference, clock.Aligned(mine.front().end_ns) - tolerance,
                   clock.Aligned(mine.back().end_ns) + tolerance);
  const size_t paired = PairByTime(mine, theirs, clock, tolerance).size();
  return mine.size() + theirs.size() - 2 * paired;
}

/// What the clocks may differ by, and how far from it an end may lie.
struct Offsets {
  std::vector<Mode> modes;  // one for every shift that may be meant
  int64_t tolerance = 0;
};

Offsets PossibleOffsets(const CallSequence& ours,
                        const CallSequence& reference) {
  const auto difference = static_cast<int64_t>(reference.size()) -
                          static_cast<int64_t>(ours.size());
  std::map<int64_t, Mode> modes;  // by shift
  for (const int64_t guess :
       {ShiftByClock(ours, reference), int64_t{0}, difference}) {
    for (int64_t shift = guess - kShifts; shift <= guess + kShifts; ++shift) {
      if (modes.contains(shift)) continue;
      if (const auto mode = DifferenceAt(ours, reference, shift))
        modes[shift] = *mode;
    }
  }
  int64_t narrowest = INT64_MAX;
  for (const auto& [shift, mode] : modes)
    narrowest = std::min(narrowest, mode.width_ns);
  Offsets offsets;
  if (modes.empty()) return offsets;
  offsets.tolerance = ToleranceOf(ours, narrowest);
  for (const auto& [shift, mode] : modes) {
    if (mode.width_ns <= 2 * narrowest + offsets.tolerance)
      offsets.modes.push_back(mode);
  }
  return offsets;
}

/// Clocks of one host agree, and those of several are set by the network: of
/// differences that leave as few holes, the smallest.
std::optional<int64_t> FindOffset(const CallSequence& ours,
                                  const CallSequence& reference,
                                  const Offsets& offsets) {
  const std::vector<Mode>& modes = offsets.modes;
  if (modes.empty()) return std::nullopt;
  std::vector<size_t> holes;
  for (const Mode& mode : modes)
    holes.push_back(HolesAt(ours, reference, mode, offsets.tolerance));
  const size_t fewest = *std::min_element(holes.begin(), holes.end());
  if (fewest == SIZE_MAX) return std::nullopt;
  const size_t allowed = fewest + std::min<size_t>(ours.size(), 512) / 200;
  std::optional<int64_t> best;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (holes[i] > allowed) continue;
    if (!best || Distance(modes[i].offset_ns, 0) < Distance(*best, 0))
      best = modes[i].offset_ns;
  }
  return best;
}

/// The median reading and difference of some pairs.
std::pair<int64_t, int64_t> MedianOffset(const CallSequence& ours,
                                         const CallSequence& reference,
                                         std::span<const CallPair> pairs) {
  std::vector<int64_t> apart;
  for (const CallPair& pair : pairs) {
    apart.push_back(ours[pair.ours].end_ns - reference[pair.reference].end_ns);
  }
  return {ours[pairs[pairs.size() / 2].ours].end_ns, Quantile(&apart, 50)};
}

/// From the first and the last third, where there are enough of them.
ClockOffset FitClock(const CallSequence& ours, const CallSequence& reference,
                     std::span<const CallPair> pairs) {
  constexpr size_t kEnoughForALine = 24;
  ClockOffset clock;
  if (pairs.size() < kEnoughForALine) {
    std::tie(clock.at_ns, clock.offset_ns) =
        MedianOffset(ours, reference, pairs);
    clock.later_ns = clock.at_ns;
    clock.later_offset_ns = clock.offset_ns;
    return clock;
  }
  const size_t third = pairs.size() / 3;
  std::tie(clock.at_ns, clock.offset_ns) =
      MedianOffset(ours, reference, pairs.first(third));
  std::tie(clock.later_ns, clock.later_offset_ns) =
      MedianOffset(ours, reference, pairs.last(third));
  return clock;
}

std::vector<int64_t> Remainders(const CallSequence& ours,
                                const CallSequence& reference,
                                const SequenceFit& fit) {
  std::vector<int64_t> remainders;
  for (const CallPair& pair : fit.pairs) {
    remainders.push_back(Distance(fit.clock.Aligned(ours[pair.ours].end_ns),
                                  reference[pair.reference].end_ns));
  }
  return remainders;
}

/// Neither of the two is over before the other one has begun.
bool Overlap(const CallSequence& ours, const CallSequence& reference,
             const SequenceFit& fit) {
  size_t good = 0;
  for (const CallPair& pair : fit.pairs) {
    const TimedCall& a = ours[pair.ours];
    const TimedCall& b = reference[pair.reference];
    good += fit.clock.Aligned(a.start_ns) <= b.end_ns + kTogether &&
            b.start_ns <= fit.clock.Aligned(a.end_ns) + kTogether;
  }
  return good * 10 >= fit.pairs.size() * 9;
}

/// Most calls find a partner, while both were recording.
bool MostAreOf(const CallSequence& ours, const CallSequence& reference,
               const SequenceFit& fit) {
  const TimedCall& first = ours[fit.pairs.front().ours];
  const TimedCall& last = ours[fit.pairs.back().ours];
  const size_t mine = EndingWithin(ours, first.end_ns, last.end_ns + 1).size();
  const size_t theirs = EndingWithin(reference, fit.clock.Aligned(first.end_ns),
                                     fit.clock.Aligned(last.end_ns) + 1)
                            .size();
  return fit.pairs.size() * 5 >= std::min(mine, theirs) * 4 &&
         fit.pairs.size() * 2 >= std::min(ours.size(), reference.size());
}

}  // namespace

std::optional<SequenceFit> FitSequences(const CallSequence& ours,
                                        const CallSequence& reference) {
  if (ours.size() < kFewest || reference.size() < kFewest) return std::nullopt;
  const Offsets offsets = PossibleOffsets(ours, reference);
  const std::optional<int64_t> offset = FindOffset(ours, reference, offsets);
  if (!offset) return std::nullopt;
  const int64_t tolerance = offsets.tolerance;
  SequenceFit fit;
  fit.clock = {0, *offset, 0, *offset};
  // Far from where the offset was found the clocks may have run apart: each
  // round reaches farther.
  for (size_t before = 0; fit.pairs.size() > before || before == 0;) {
    before = fit.pairs.size();
    fit.pairs = PairByTime(ours, reference, fit.clock, tolerance);
    if (fit.pairs.size() < kFewest) return std::nullopt;
    fit.clock = FitClock(ours, reference, fit.pairs);
  }
  if (!MostAreOf(ours, reference, fit) || !Overlap(ours, reference, fit))
    return std::nullopt;
  fit.pairs.shrink_to_fit();
  std::vector<int64_t> remainders = Remainders(ours, reference, fit);
  fit.residual_ns = Quantile(&remainders, 90);
  return fit;
}

}  // namespace inferdiff
