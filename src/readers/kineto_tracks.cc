// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_tracks.h"

#include <algorithm>
#include <tuple>

#include "readers/json_text.h"

namespace inferdiff {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

/// One text for all ways to write a number.
std::string Canonical(std::string_view raw) {
  const std::string text = DecodeJsonText(raw).text;
  if (const auto number = ParseWholeNumber(Trim(text))) {
    return std::to_string(*number);
  }
  return text == "null" ? "" : text;
}

auto SortKey(const Track& track) {
  return std::tie(track.scope, track.pid_number, track.tid_number, track.pid,
                  track.tid);
}

}  // namespace

std::optional<int64_t> TrackNumber(std::string_view text) {
  std::string decoded;
  if (text.find('\\') != text.npos) text = decoded = DecodeJsonText(text).text;
  text = Trim(text);
  if (const auto integer = ParseInteger(text)) return integer;
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kStartsNumber = "0123456789+-.";
  if (kStartsNumber.find(text[0]) != text.npos) return ParseWholeNumber(text);
  const size_t last_other = text.find_last_not_of("0123456789");
  return ParseInteger(text.substr(last_other + 1));
}

std::string_view ScopeOf(std::string_view pid) {
  const size_t close = pid.find(']');
  if (close == pid.npos || pid[0] != '[') return {};
  return pid.substr(0, close + 1);
}

Track UnderstandTrack(std::string_view pid, std::string_view tid) {
  Track track;
  track.pid = Canonical(pid);
  track.tid = Canonical(tid);
  const std::string_view whole = track.pid;
  track.scope = ScopeOf(whole);
  track.pid_number = TrackNumber(whole.substr(track.scope.size()));
  track.tid_number = TrackNumber(track.tid);
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
    if (tracks_.empty() || SortKey(tracks_.back()) != SortKey(track)) {
      tracks_.push_back(std::move(track));
    }
    *number = static_cast<uint32_t>(tracks_.size() - 1);
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
