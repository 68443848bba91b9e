// SPDX-License-Identifier: Apache-2.0
#include "ledger/rank_match.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory.h"
#include "ledger/sequence_fit.h"

namespace inferdiff {
namespace {

__extension__ using Wide = __int128;

// Differences of absolute times, and of those, must have 64 bits.
constexpr int64_t kFarthest = int64_t{1} << 61;

/// Ranks that call the same collectives; the first is the reference.
struct Cluster {
  std::vector<uint32_t> ranks;
  std::vector<SequenceFit> fits;  // by rank; of the reference the identity
};

using Channel = std::map<uint32_t, CallSequence>;  // by rank

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
      for (Cluster& cluster : ClustersOf(channel)) {
        if (cluster.ranks.size() > 1) AddCluster(channel, std::move(cluster));
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
  void AddCluster(const Channel& channel, Cluster cluster);
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
    SequenceFit identity;
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
  const SequenceFit& fit = cluster.fits[member];
  if (fit.pairs.size() <= best_fit_[rank]) return;
  best_fit_[rank] = fit.pairs.size();
  RankAlignment& note = result_.ranks[rank];
  note.reference = cluster.ranks[0];
  note.clock = fit.clock;
  note.residual_ns = fit.residual_ns;
}

void Matcher::AddCluster(const Channel& channel, Cluster cluster) {
  // Of a thousand ranks these lists are large: of exact size, each given up
  // when the next is there.
  std::vector<size_t> first(channel.at(cluster.ranks[0]).size() + 1);
  for (uint32_t member = 0; member < cluster.ranks.size(); ++member) {
    NoteAlignment(cluster, member);
    for (const CallPair& pair : cluster.fits[member].pairs)
      ++first[pair.reference + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::pair<uint32_t, uint32_t>> calls(first.back());
  std::vector<size_t> next(first.begin(), first.end() - 1);
  for (uint32_t member = 0; member < cluster.ranks.size(); ++member) {
    for (const CallPair& pair : cluster.fits[member].pairs)
      calls[next[pair.reference]++] = {member, pair.ours};
    Free(&cluster.fits[member].pairs);
  }
  if (calls.size() > result_.parts.size())
    result_.parts.reserve(result_.parts.size() + calls.size());
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    const size_t count = first[i + 1] - first[i];
    if (count > 1)
      AddCollective(channel, cluster,
                    std::span(calls).subspan(first[i], count));
  }
}

}  // namespace

int64_t ClockOffset::At(int64_t time_ns) const {
  if (later_ns == at_ns) return offset_ns;
  const Wide rise = Wide{later_offset_ns} - offset_ns;
  const Wide run = Wide{later_ns} - at_ns;
  const Wide at = offset_ns + rise * (Wide{time_ns} - at_ns) / run;
  // Only clocks that somebody made up get there.
  return static_cast<int64_t>(std::clamp<Wide>(at, -kFarthest, kFarthest));
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
    sequence.shrink_to_fit();
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
