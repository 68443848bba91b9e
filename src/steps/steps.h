// SPDX-License-Identifier: Apache-2.0
// Trace -> steps: one forward pass of the engine each, and how we know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classify/classify.h"
#include "model/trace.h"

namespace inferdiff {

enum class StepKind : uint8_t {
  kUnknown,
  kPrefill,
  kDecode,
  kVerify,
  kMixed,
  kDraft,
  kIdle,   // a data-parallel rank without work of its own
  kOther,  // a marked range that is no model pass: a training iteration ...
};
std::string_view IdOf(StepKind kind);  // "decode"

/// What a marker says about a step. Steps of one shape are summarised
/// together. Absent = the marker does not say.
struct StepShape {
  StepKind kind = StepKind::kUnknown;
  std::optional<int64_t> batch;    // sequences
  std::optional<int64_t> tokens;   // new tokens of all sequences together
  std::optional<int64_t> context;  // tokens in the KV cache, all sequences
};

/// What gave the borders, strongest first.
enum class Evidence : uint8_t {
  kMarkers,       // annotations of the engine
  kGraphReplays,  // one replay, or one period of the replay sequence, a step
  kKernelPeriod,  // period of the kernel sequence
  kWholeTrace,    // nothing repeats: the trace is one step
};
std::string_view IdOf(Evidence evidence);  // "markers"

/// The ops of one graph launch.
struct Replay {
  int64_t correlation = 0;
  uint32_t launch = kNone;  // index in Trace::calls
  int64_t begin_ns = 0;     // first start
  int64_t end_ns = 0;       // last end
  uint32_t ops = 0;
  uint32_t main_lane = 0;  // the lane with most busy time
  /// Equal for replays of one graph: made of the kernels' names as a set with
  /// counts, because concurrent lanes start in another order each time.
  uint64_t signature = 0;
  uint32_t missing_ops = 0;  // fewer than its graph's other replays have
  uint32_t step = kNone;
};

struct Step {
  StepShape shape;
  std::string marker;  // the marker's text, empty without one
  uint32_t forward_lane = 0;
  /// First op on the forward lane; the next step's is the end of this one's
  /// wall. No successor: no wall.
  int64_t begin_ns = 0;
  std::optional<int64_t> next_begin_ns;
  uint32_t ops = 0;
  /// Id and sentence of why the step is left out; empty = it is used.
  std::string excluded_id;  // "profiler-first-step", "no-successor", ...
  std::string excluded_why;
  uint32_t group = 0;  // index in Steps::groups
  uint32_t rank = 0;   // of a joined ledger: index in LedgerResult::ranks
};

/// Steps of equal shape (context within 10 %); without a marker, steps whose
/// largest replay is of one graph.
struct StepGroup {
  StepShape shape;
  /// Context over the group's steps; shape.context holds it where it is one
  /// value and is absent otherwise.
  std::optional<int64_t> context_min, context_max;
  uint32_t steps = 0;
  uint32_t used = 0;
};

/// Recorded times that cannot be true (steps/damage.h).
enum class DamageKind : uint8_t { kImpossibleDuration, kClockJump };
std::string_view IdOf(DamageKind kind);  // "clock-jump"

struct Damage {
  DamageKind kind = DamageKind::kImpossibleDuration;
  uint32_t op = 0;  // recorded too long, or the first behind the jump
  /// What the op cannot have run; from the last end before the jump to the
  /// first start behind it, or the other way round where time runs back.
  int64_t begin_ns = 0, end_ns = 0;
};

/// What an op does in its step's cycle (steps/cycles.h).
enum class CyclePart : uint8_t {
  kOther,   // prepares, copies: in no pass
  kDraft,   // the draft model, and what builds the drafts
  kVerify,  // the pass that verifies them; without drafts the only pass
  kSample,  // what follows: tokens are sampled, drafts accepted
};
inline constexpr size_t kCycleParts = 4;

/// Whether a step is a cycle, and why not.
enum class CycleKind : uint8_t {
  kPlain,         // one pass, nothing drafted
  kSpeculative,   // drafts and verification, or verification alone
  kNotDecode,     // its marker says that it is something else
  kNoPass,        // no attention, nor a marker of decode and a GEMM
  kSeveral,       // several passes of about one size
  kUntold,        // a smaller pass, and nothing says that it drafts
  kContradicted,  // it seems to draft; its marker says one token a sequence
  kTraining,      // kernels of a backward pass run
};
inline constexpr size_t kCycleKinds = 8;
std::string_view IdOf(CycleKind kind);  // "speculative"
inline bool IsCycle(CycleKind kind) {
  return kind == CycleKind::kPlain || kind == CycleKind::kSpeculative;
}

/// One step's passes.
struct StepCycle {
  CycleKind kind = CycleKind::kNoPass;
  bool by_markers = false;  // markers name its drafts
  uint32_t drafts = 0;      // passes that draft
  // Blocks of attention of the deepest pass; 0 where no attention is known.
  uint32_t verify_depth = 0, draft_depth = 0;
};

struct Steps {
  Evidence evidence = Evidence::kWholeTrace;
  /// Sentences: which marker family, which graph, what the cross-check said.
  std::string how;
  std::string cross_check;  // empty: there is only one kind of evidence
  bool cross_check_agrees = true;
  /// What a reader of the tables should know: another group mixed in ...
  std::vector<std::string> notes;

  std::vector<Step> steps;  // by begin_ns
  std::vector<StepGroup> groups;
  uint32_t main_group = 0;  // most used time; what a ledger shows by default

  std::vector<Damage> damage;          // by begin_ns
  std::vector<Replay> replays;         // by begin_ns
  std::vector<uint32_t> step_of_op;    // by op index; kNone = nobody's
  std::vector<uint32_t> replay_of_op;  // by op index; kNone = eager
  /// By op index: the lane numbered by order of first op within the replay,
  /// or by order of first op within the trace for eager ops. Comparable
  /// between replays of one graph, which get new stream ids each time.
  std::vector<uint32_t> normal_lane;
  std::vector<CyclePart> part_of_op;  // by op index
  std::vector<StepCycle> cycles;      // by step
};

Steps FindSteps(const Trace& trace, const Classification& classes,
                unsigned threads = 1);

struct ClassifiedSteps {
  Classification classes;
  Steps steps;
};

/// Classify and FindSteps: what the second can do without the first, beside
/// it. `rules` is called by the thread that classifies.
ClassifiedSteps ClassifyAndFindSteps(
    const Trace& trace, const std::function<const RuleSet&()>& rules,
    unsigned threads);

}  // namespace inferdiff
