// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace inferdiff {
namespace {

__extension__ using Wide = __int128;

// Fewer calls do not tell a clock from chance.
constexpr size_t kFewest = 4;
// Ends of one collective are this close, or else three times as close as most.
constexpr int64_t kTogether = 5'000;
// Shifts that are tried around each guess, and calls that each is judged by.
constexpr int64_t kShifts = 192;
constexpr int64_t kSamples = 48;

// Differences of absolute times, and of those, must have 64 bits.
constexpr int64_t kFarthest = int64_t{1} << 61;

using Sequence = CallSequence;

struct Pair {
  uint32_t ours = 0;       // index in the sequence
  uint32_t reference = 0;  // index in the reference's
};

/// One rank's sequence against a reference's.
struct Fit {
  ClockOffset clock;
  int64_t residual_ns = 0;
  std::vector<Pair> pairs;
};

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
std::optional<Mode> DifferenceAt(const Sequence& ours,
                                 const Sequence& reference, int64_t shift) {
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
int64_t ShiftByClock(const Sequence& ours, const Sequence& reference) {
  const auto after = std::lower_bound(
      reference.begin(), reference.end(), ours[0].end_ns,
      [](const TimedCall& call, int64_t end) { return call.end_ns < end; });
  return after - reference.begin();
}

/// Pairs by the aligned clock: nearest ends, each used once. What order says
/// is wrong behind the first call that a profiler lost.
std::vector<Pair> PairByTime(std::span<const TimedCall> ours,
                             std::span<const TimedCall> reference,
                             const ClockOffset& clock, int64_t tolerance) {
  std::vector<Pair> pairs;
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
int64_t ToleranceOf(const Sequence& calls, int64_t narrowest) {
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
size_t HolesAt(const Sequence& ours, const Sequence& reference,
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

Offsets PossibleOffsets(const Sequence& ours, const Sequence& reference) {
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
std::optional<int64_t> FindOffset(const Sequence& ours,
                                  const Sequence& reference,
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
std::pair<int64_t, int64_t> MedianOffset(const Sequence& ours,
                                         const Sequence& reference,
                                         std::span<const Pair> pairs) {
  std::vector<int64_t> apart;
  for (const Pair& pair : pairs) {
    apart.push_back(ours[pair.ours].end_ns - reference[pair.reference].end_ns);
  }
  return {ours[pairs[pairs.size() / 2].ours].end_ns, Quantile(&apart, 50)};
}

/// From the first and the last third, where there are enough of them.
ClockOffset FitClock(const Sequence& ours, const Sequence& reference,
                     std::span<const Pair> pairs) {
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

std::vector<int64_t> Remainders(const Sequence& ours, const Sequence& reference,
                                const Fit& fit) {
  std::vector<int64_t> remainders;
  for (const Pair& pair : fit.pairs) {
    remainders.push_back(Distance(fit.clock.Aligned(ours[pair.ours].end_ns),
                                  reference[pair.reference].end_ns));
  }
  return remainders;
}

/// Neither of the two is over before the other one has begun.
bool Overlap(const Sequence& ours, const Sequence& reference, const Fit& fit) {
  size_t good = 0;
  for (const Pair& pair : fit.pairs) {
    const TimedCall& a = ours[pair.ours];
    const TimedCall& b = reference[pair.reference];
    good += fit.clock.Aligned(a.start_ns) <= b.end_ns + kTogether &&
            b.start_ns <= fit.clock.Aligned(a.end_ns) + kTogether;
  }
  return good * 10 >= fit.pairs.size() * 9;
}

/// Most calls find a partner, while both were recording.
bool MostAreOf(const Sequence& ours, const Sequence& reference,
               const Fit& fit) {
  const TimedCall& first = ours[fit.pairs.front().ours];
  const TimedCall& last = ours[fit.pairs.back().ours];
  const size_t mine = EndingWithin(ours, first.end_ns, last.end_ns + 1).size();
  const size_t theirs = EndingWithin(reference, fit.clock.Aligned(first.end_ns),
                                     fit.clock.Aligned(last.end_ns) + 1)
                            .size();
  return fit.pairs.size() * 5 >= std::min(mine, theirs) * 4 &&
         fit.pairs.size() * 2 >= std::min(ours.size(), reference.size());
}

/// Nothing where the two are not calls of the same collectives.
std::optional<Fit> FitSequences(const Sequence& ours,
                                const Sequence& reference) {
  if (ours.size() < kFewest || reference.size() < kFewest) return std::nullopt;
  const Offsets offsets = PossibleOffsets(ours, reference);
  const std::optional<int64_t> offset = FindOffset(ours, reference, offsets);
  if (!offset) return std::nullopt;
  const int64_t tolerance = offsets.tolerance;
  Fit fit;
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
  std::vector<int64_t> remainders = Remainders(ours, reference, fit);
  fit.residual_ns = Quantile(&remainders, 90);
  return fit;
}

/// Ranks that call the same collectives; the first is the reference.
struct Cluster {
  std::vector<uint32_t> ranks;
  std::vector<Fit> fits;  // by index in `ranks`; the reference's is identity
};

using Channel = std::map<uint32_t, Sequence>;  // by rank

class Matcher {
 public:
  explicit Matcher(std::vector<RankCalls> ranks) {
    result_.ranks.resize(ranks.size());
    for (uint32_t i = 0; i < ranks.size(); ++i) {
      result_.ranks[i].reference = i;
      result_.ranks[i].unmatched = ranks[i].calls;
      for (auto& [key, sequence] : ranks[i].channels)
        channels_[key].emplace(i, std::move(sequence));
    }
    best_fit_.assign(ranks.size(), 0);
  }

  RankMatch Run() && {
    for (auto& [key, channel] : channels_) {
      for (const Cluster& cluster : ClustersOf(channel)) {
        if (cluster.ranks.size() > 1) AddCluster(channel, cluster);
      }
      channel.clear();  // of a thousand ranks it is large
    }
    const auto& parts = result_.parts;
    result_.parts_of_rank =
        ByGroup(result_.ranks.size(), parts.size(),
                [&](size_t part) { return parts[part].rank; });
    return std::move(result_);
  }

 private:
  static std::vector<Cluster> ClustersOf(const Channel& channel);
  void AddCluster(const Channel& channel, const Cluster& cluster);
  void AddCollective(const Channel& channel, const Cluster& cluster,
                     std::span<const std::pair<uint32_t, uint32_t>> calls);
  void NoteAlignment(const Cluster& cluster, size_t member);

  std::map<std::string, Channel> channels_;
  RankMatch result_;
  std::vector<size_t> best_fit_;  // by rank: pairs of the fit that is noted
};

bool IsPointToPoint(std::string_view name) {
  return name.find("SendRecv") != std::string_view::npos;
}

/// Whether base + time is no time that anything happened at.
bool IsFar(int64_t base_ns, int64_t time_ns) {
  int64_t absolute = 0;
  return __builtin_add_overflow(base_ns, time_ns, &absolute) ||
         absolute > kFarthest || absolute < -kFarthest;
}

std::vector<Cluster> Matcher::ClustersOf(const Channel& channel) {
  std::vector<Cluster> clusters;
  for (const auto& [rank, sequence] : channel) {
    bool joined = false;
    // Ranks of one group stand side by side: the latest cluster first.
    for (auto it = clusters.rbegin(); it != clusters.rend() && !joined; ++it) {
      auto fit = FitSequences(sequence, channel.at(it->ranks[0]));
      if (!fit) continue;
      it->ranks.push_back(rank);
      it->fits.push_back(std::move(*fit));
      joined = true;
    }
    if (joined) continue;
    Fit identity;
    for (uint32_t i = 0; i < sequence.size(); ++i)
      identity.pairs.push_back({i, i});
    clusters.push_back({{rank}, {std::move(identity)}});
  }
  return clusters;
}

/// `calls`: index in the cluster, index in that rank's sequence.
void Matcher::AddCollective(
    const Channel& channel, const Cluster& cluster,
    std::span<const std::pair<uint32_t, uint32_t>> calls) {
  MatchedCollective collective;
  collective.first_part = static_cast<uint32_t>(result_.parts.size());
  collective.parts = static_cast<uint32_t>(calls.size());
  int64_t arrival = INT64_MIN;
  int64_t end = INT64_MIN;
  const auto call_of = [&](const std::pair<uint32_t, uint32_t>& part) {
    return channel.at(cluster.ranks[part.first])[part.second];
  };
  for (const auto& part : calls) {
    const TimedCall call = call_of(part);
    const ClockOffset& clock = cluster.fits[part.first].clock;
    end = std::max(end, clock.Aligned(call.end_ns));
    if (clock.Aligned(call.start_ns) <= arrival) continue;
    arrival = clock.Aligned(call.start_ns);
    collective.last_rank = cluster.ranks[part.first];
  }
  collective.transfer_ns = std::max<int64_t>(0, end - arrival);
  for (const auto& part : calls) {
    const TimedCall call = call_of(part);
    const ClockOffset& clock = cluster.fits[part.first].clock;
    const int64_t wait = std::clamp<int64_t>(
        arrival - clock.Aligned(call.start_ns), 0, call.end_ns - call.start_ns);
    const uint32_t rank = cluster.ranks[part.first];
    result_.parts.push_back({rank, call.call, wait});
    ++result_.ranks[rank].matched;
    --result_.ranks[rank].unmatched;
  }
  result_.collectives.push_back(collective);
}

void Matcher::NoteAlignment(const Cluster& cluster, size_t member) {
  const uint32_t rank = cluster.ranks[member];
  const Fit& fit = cluster.fits[member];
  if (fit.pairs.size() <= best_fit_[rank]) return;
  best_fit_[rank] = fit.pairs.size();
  RankAlignment& note = result_.ranks[rank];
  note.reference = cluster.ranks[0];
  note.clock = fit.clock;
  note.residual_ns = fit.residual_ns;
}

void Matcher::AddCluster(const Channel& channel, const Cluster& cluster) {
  const size_t size = channel.at(cluster.ranks[0]).size();
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> by_call(size);
  for (uint32_t member = 0; member < cluster.ranks.size(); ++member) {
    NoteAlignment(cluster, member);
    for (const Pair& pair : cluster.fits[member].pairs)
      by_call[pair.reference].emplace_back(member, pair.ours);
  }
  for (const auto& calls : by_call)
    if (calls.size() > 1) AddCollective(channel, cluster, calls);
}

}  // namespace

int64_t ClockOffset::At(int64_t time_ns) const {
  if (later_ns == at_ns) return offset_ns;
  const Wide rise = Wide{later_offset_ns} - offset_ns;
  const Wide run = Wide{later_ns} - at_ns;
  return offset_ns + static_cast<int64_t>(rise * (Wide{time_ns} - at_ns) / run);
}

RankCalls CallsByChannel(const Collectives& collectives, int64_t base_time_ns) {
  RankCalls ours;
  ours.calls = collectives.calls.size();
  for (uint32_t i = 0; i < collectives.calls.size(); ++i) {
    const CollectiveCall& call = collectives.calls[i];
    const std::string& name = collectives.names[call.name];
    if (IsPointToPoint(name) || IsFar(base_time_ns, call.start_ns) ||
        IsFar(base_time_ns, call.end_ns)) {
      continue;
    }
    std::string key = name + '\x1f';
    if (call.group != kNone) key += collectives.groups[call.group];
    ours.channels[key].push_back(
        {base_time_ns + call.start_ns, base_time_ns + call.end_ns, i});
  }
  for (auto& [key, sequence] : ours.channels) {
    std::sort(sequence.begin(), sequence.end(),
              [](const TimedCall& a, const TimedCall& b) {
                return std::pair(a.end_ns, a.call) <
                       std::pair(b.end_ns, b.call);
              });
  }
  return ours;
}

std::vector<RankWait> RankMatch::WaitsOf(uint32_t rank) const {
  std::vector<RankWait> waits;
  for (const uint32_t part : parts_of_rank[rank])
    waits.push_back({parts[part].call, parts[part].wait_ns});
  std::sort(
      waits.begin(), waits.end(),
      [](const RankWait& a, const RankWait& b) { return a.call < b.call; });
  return waits;
}

RankMatch MatchRanks(std::vector<RankCalls> ranks) {
  return Matcher(std::move(ranks)).Run();
}

}  // namespace inferdiff
