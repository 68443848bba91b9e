// SPDX-License-Identifier: Apache-2.0
// pid and tid as written -> scope, device, lane, process, thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/kineto_records.h"

namespace inferdiff {

/// A (pid, tid) understood. Files merged from several ranks put the rank in
/// front of the pid, "[TP01-DP00] 0": that is the scope, within which pids and
/// correlations mean what they meant in the rank's own file.
struct Track {
  std::string scope;  // "[TP01-DP00]", mostly empty
  std::string pid;    // as written, but 7 for 7.0; empty for null
  std::string tid;    // likewise
  std::optional<int64_t> pid_number;
  std::optional<int64_t> tid_number;
};

/// The number in a pid or tid as written: 7 of 7, 7.0 and "stream 7". What
/// begins like a number and is no whole one has none.
std::optional<int64_t> TrackNumber(std::string_view text);

/// The scope in front of a pid.
std::string_view ScopeOf(std::string_view pid);

Track UnderstandTrack(std::string_view pid, std::string_view tid);

/// The rank that a scope names: of "[TP01-DP00]" 1.
std::optional<int64_t> RankOfScope(std::string_view scope);

/// The distinct tracks of all lexicons, sorted by scope, numbers and text, so
/// that their numbers do not depend on who met them first.
class TrackTable {
 public:
  explicit TrackTable(const std::vector<std::unique_ptr<Lexicon>>& lexicons);

  const std::vector<Track>& tracks() const { return tracks_; }
  /// Index in tracks() by number in the lexicon.
  const std::vector<uint32_t>& Of(const Lexicon* lexicon) const {
    return map_.at(lexicon);
  }

 private:
  std::vector<Track> tracks_;
  std::map<const Lexicon*, std::vector<uint32_t>> map_;
};

}  // namespace inferdiff
