// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_tracks.h"

#include <algorithm>
#include <tuple>

namespace inferdiff {
namespace {

/// The integer at the end of a text: 7 of "stream 7".
int64_t TrailingInteger(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (const std::optional<int64_t> whole = ParseInteger(text)) return *whole;
  const size_t last_other = text.find_last_not_of("0123456789");
  if (last_other == std::string_view::npos) return 0;  // beyond 64 bits
  return ParseInteger(text.substr(last_other + 1)).value_or(0);
}

auto SortKey(const Track& track) {
  return std::tie(track.scope, track.pid_number, track.tid_number, track.pid,
                  track.tid);
}

}  // namespace

Track UnderstandTrack(std::string_view pid, std::string_view tid) {
  Track track;
  track.pid = pid;
  track.tid = tid;
  if (!pid.empty() && pid[0] == '[') {
    if (const size_t close = pid.find(']'); close != std::string_view::npos) {
      track.scope = pid.substr(0, close + 1);
    }
  }
  track.pid_number = TrailingInteger(pid.substr(track.scope.size()));
  track.tid_number = TrailingInteger(tid);
  return track;
}

std::optional<int64_t> RankOfScope(std::string_view scope) {
  for (const std::string_view key : {"rank", "RANK", "TP"}) {
    const size_t found = scope.find(key);
    if (found == std::string_view::npos) continue;
    std::string_view digits = scope.substr(found + key.size());
    digits = digits.substr(0, digits.find_first_not_of("0123456789"));
    if (const auto rank = ParseInteger(digits)) return rank;
  }
  return std::nullopt;
}

TrackTable::TrackTable(const std::vector<std::unique_ptr<Lexicon>>& lexicons) {
  std::map<std::string_view, uint32_t> by_key;
  for (const auto& lexicon : lexicons) {
    const StringPool& keys = lexicon->track_keys;
    for (NameId id = 0; id < keys.size(); ++id) by_key.emplace(keys[id], 0);
  }
  std::vector<std::pair<Track, uint32_t*>> order;
  order.reserve(by_key.size());
  for (auto& [key, number] : by_key) {
    const size_t separator = key.find('\x1f');
    order.emplace_back(
        UnderstandTrack(key.substr(0, separator), key.substr(separator + 1)),
        &number);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return SortKey(a.first) < SortKey(b.first);
  });
  tracks_.reserve(order.size());
  for (auto& [track, number] : order) {
    *number = static_cast<uint32_t>(tracks_.size());
    tracks_.push_back(std::move(track));
  }
  for (const auto& lexicon : lexicons) {
    std::vector<uint32_t>& map = map_[lexicon.get()];
    const StringPool& keys = lexicon->track_keys;
    for (NameId id = 0; id < keys.size(); ++id) {
      map.push_back(by_key.at(keys[id]));
    }
  }
}

}  // namespace inferdiff
