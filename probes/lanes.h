// SPDX-License-Identifier: Apache-2.0
// Streams that part from a first one and come back to it, so that a capture of
// the first holds them all.
#pragma once

#include <vector>

#include "probes/gpu.h"

namespace inferdiff {

class Lanes {
 public:
  explicit Lanes(size_t count) : fork_(MakeEvent(GPU(EventDisableTiming))) {
    for (size_t i = 0; i < count; ++i) {
      streams_.push_back(MakeStream());
      joins_.push_back(MakeEvent(GPU(EventDisableTiming)));
    }
  }

  GPU(Stream_t) operator[](size_t i) const { return streams_[i].get(); }
  size_t size() const { return streams_.size(); }

  /// Lanes 1 to count − 1 wait for lane 0.
  void Fork(size_t count) const {
    if (count < 2) return;
    GPU_CALL(EventRecord, fork_.get(), streams_[0].get());
    for (size_t i = 1; i < count; ++i)
      GPU_CALL(StreamWaitEvent, streams_[i].get(), fork_.get(), 0);
  }

  /// Lane 0 waits for the others.
  void Join(size_t count) const {
    for (size_t i = 1; i < count; ++i) {
      GPU_CALL(EventRecord, joins_[i].get(), streams_[i].get());
      GPU_CALL(StreamWaitEvent, streams_[0].get(), joins_[i].get(), 0);
    }
  }

 private:
  std::vector<Stream> streams_;
  std::vector<Event> joins_;
  Event fork_;
};

/// Device time of one more, from a short and a long graph of the same kind that
/// take turns: the costs of a replay cancel. `more` is how many more the long
/// one has.
class Slope {
 public:
  Slope(GPU(Stream_t) stream, Graph less, Graph more, double count)
      : stream_(stream),
        less_(std::move(less)),
        more_(std::move(more)),
        count_(count) {
    for (int i = 0; i < 3; ++i) Round();  // uploads them
  }

  double Round() {
    const double less = Replay(less_), more = Replay(more_);
    return (more - less) / count_;
  }

  double Replay(const Graph& graph) {
    return watch_.Ns(stream_,
                     [&] { GPU_CALL(GraphLaunch, graph.get(), stream_); });
  }

 private:
  GPU(Stream_t) stream_;
  Graph less_, more_;
  double count_;
  Stopwatch watch_;
};

}  // namespace inferdiff
