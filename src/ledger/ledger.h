// SPDX-License-Identifier: Apache-2.0
// The accounting: every nanosecond of every used step has exactly one owner.
//
//   step window  |<------------------- wall ------------------->|
//   lane 0       [A....][B.......]          [C....]
//   lane 1           [D......]
//   attributed    A   A,D B,D  B    (idle)    C      (idle)
//                     half each
//
//   sum of attributed + foreign + idle = wall, checked in every build.
//
// docs/how-it-works.md defines each quantity. Totals are over the used steps
// of one group (equal kind, batch, tokens and context).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/rational.h"
#include "base/stat.h"
#include "classify/classify.h"
#include "integrity/capture_check.h"
#include "layers/layers.h"
#include "layers/roles.h"
#include "ledger/collectives.h"
#include "ledger/cycle_amounts.h"
#include "ledger/launch_causes.h"
#include "ledger/published.h"
#include "ledger/rank_match.h"
#include "model/trace.h"
#include "steps/steps.h"

namespace inferdiff {

/// Over all GPU ops of the device in the file, steps or not.
struct DeviceTotals {
  std::optional<int64_t> rank;
  int64_t device = 0;
  int64_t ops = 0;
  int64_t kernels = 0;
  int64_t sum_ns = 0;   // sum of durations
  int64_t busy_ns = 0;  // their union
  int64_t span_ns = 0;  // first start to last end
  int64_t idle_ns = 0;  // span - busy
  int64_t graph_launches = 0;
};

/// One used step, all in ns, clipped at the step's borders except `span`.
/// busy + foreign + idle = wall, and busy = sum - hidden.
struct StepAmounts {
  uint32_t step = 0;                               // index in Steps::steps
  std::optional<int64_t> wall, idle, idle_inside;  // unknown without successor
  int64_t span = 0;
  int64_t replay_span = 0;  // of its largest replay; 0 without one
  int64_t sum = 0;
  int64_t busy = 0;
  int64_t foreign = 0;    // others' ops where no own op runs
  int64_t copy_only = 0;  // instants with copies and no kernel
  int64_t hidden_same_lane = 0;
  int64_t hidden_cross_lane = 0;
  int64_t rank_wait = 0;  // of `sum`: collectives before the last rank came
  int64_t kernels = 0;    // ops of kind kernel
  int64_t ops = 0;
  // Idle outside replays by what the op waited for did, which is the next op
  // of the step to start, or else the op that begins the next step; sums to
  // idle - idle_inside, and all are 0 where idle is unknown.
  int64_t idle_host_late = 0;  // its launch call had not begun
  int64_t idle_queued = 0;     // launched, but not started
  int64_t idle_unknown = 0;    // no launch record
  // Of them, in all three: between two replays of the step, and elsewhere in
  // front of ops that the host launches one by one around its replays.
  LaunchCauses idle_between, idle_tail;
};

/// The same over the used steps.
struct PerStep {
  Stat wall, span, replay_span, sum, busy, idle, idle_inside, foreign;
  Stat copy_only, hidden_same_lane, hidden_cross_lane, rank_wait, kernels;
  Stat idle_host_late, idle_queued, idle_unknown;
  /// Between replays, the tail, and of the rest what each cause takes: all
  /// together the idle time outside replays.
  Stat idle_between, idle_tail, rest_host_late, rest_queued, rest_unknown;
  Stat between_host_late, between_queued, tail_host_late, tail_queued;
  /// Op start minus launch call start, one sample a launch: of a replay its
  /// first op. Negative where the clocks of host and device disagree.
  Stat launch_lead;
};

/// Totals over the used steps.
struct Amounts {
  int64_t count = 0;  // ops, each once, in the step that launched it
  int64_t sum_ns = 0;
  int64_t attributed_ns = 0;
  int64_t exclusive_ns = 0;  // only ops of this row run, hidden ones included
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;
  int64_t hidden_ns() const {
    return hidden_same_lane_ns + hidden_cross_lane_ns;
  }
  bool operator==(const Amounts&) const = default;
  /// All but exclusive_ns, which does not add up over rows.
  void Add(const Amounts& other) {
    count = CheckedAdd(count, other.count);
    sum_ns = CheckedAdd(sum_ns, other.sum_ns);
    attributed_ns = CheckedAdd(attributed_ns, other.attributed_ns);
    hidden_same_lane_ns =
        CheckedAdd(hidden_same_lane_ns, other.hidden_same_lane_ns);
    hidden_cross_lane_ns =
        CheckedAdd(hidden_cross_lane_ns, other.hidden_cross_lane_ns);
  }
};

struct KernelRow {
  std::string name;  // display name
  std::string family;
  Category category = Category::kUnclassified;
  std::string rule;  // RuleInfo::id
  std::string library;
  Amounts amounts;  // without rank_wait_ns
  /// Sum of its calls' waiting for other ranks: LedgerResult::rank_wait.
  int64_t rank_wait_ns = 0;
  Stat call_ns;  // unclipped duration of its calls, waiting included
  /// Those durations; only where LedgerOptions::keep_samples asks for them.
  Distribution calls;
};

struct FamilyRow {
  std::string family;
  Category category = Category::kUnclassified;
  uint32_t kernels = 0;  // distinct names
  Amounts amounts;
};

/// Calls by duration: bucket i holds [2^i, 2^(i+1)) ns, bucket 0 also 0 ns.
struct HistogramBucket {
  int64_t count = 0;
  int64_t sum_ns = 0;
};

/// One op of the representative step, in time order.
struct SequenceOp {
  uint64_t ordinal = 0;
  int64_t start_ns = 0;  // from the step's begin; negative if before it
  int64_t dur_ns = 0;
  // The first three are without the waiting for other ranks. All six add up to
  // the duration clipped at the borders.
  int64_t attributed_ns = 0;
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;
  int64_t wait_attributed_ns = 0;
  int64_t wait_same_lane_ns = 0;
  int64_t wait_cross_lane_ns = 0;
  uint32_t kernel = 0;      // index in LedgerResult::kernels
  uint32_t lane = 0;        // normalised
  uint32_t replay = kNone;  // 0, 1 ... within the step
  OpKind kind = OpKind::kKernel;
};

/// An op of no step beside the representative one, in time order.
struct LooseOp {
  uint64_t ordinal = 0;
  int64_t start_ns = 0;  // from the step's begin; negative if before it
  uint32_t kernel = 0;   // index in LedgerResult::loose_kernels
  uint32_t lane = 0;     // normalised
};

/// Kernels of loose ops are in no row: they have no time in any step.
struct LooseKernel {
  std::string family;
  Category category = Category::kUnclassified;
};

/// An op of one step and its place there.
struct PlacedOp {
  uint64_t ordinal = 0;
  int64_t attributed_ns = 0;  // without the waiting for other ranks
  uint32_t position = 0;      // in order of start: index in the sequence
  uint32_t kernel = 0;        // index in LedgerResult::kernels
  uint32_t lane = 0;          // normalised
  // Indices in Layers; kNone: in no layer. An op that its kind of layer does
  // not have is in no slot.
  uint32_t layer = kNone, pass = kNone, kind = kNone, slot = kNone;
  RoleOfOp role;
};

/// Ops of one role, in layers or outside.
struct RoleRow {
  Role role = Role::kOther;
  bool in_layers = false;
  int64_t layers = 0;  // that have it
  int64_t ops = 0;
  int64_t attributed_ns = 0;
};

/// The layers of one step.
struct StepLayers {
  uint32_t step = 0;  // index in Steps::steps
  /// Ops are in order of start; where that scatters layers and the order of
  /// their records does not, in the latter: `by_record`.
  Layers layers;
  bool by_record = false;
  std::vector<PlacedOp> ops;   // by op of `layers`
  std::vector<RoleRow> roles;  // in order of first place; layers' first
  /// Of the loose ops around the step, in none of the above: only ordinal,
  /// position and kernel (of LedgerResult::loose and loose_kernels), lane and
  /// role are set.
  std::vector<PlacedOp> loose;
};

struct RuleHits {
  std::string rule;
  Category category = Category::kUnclassified;
  int64_t names = 0;
  int64_t ops = 0;
  int64_t sum_ns = 0;
};

/// Over all GPU ops of the device, so that nothing hides outside the steps.
struct Coverage {
  int64_t unclassified_ns = 0;  // sum of durations
  int64_t other_ns = 0;
  int64_t total_ns = 0;
  int64_t foreign_ns = 0;        // over the used steps
  int64_t outside_steps_ns = 0;  // ops of no used step, sum of durations
  uint64_t dropped_records = 0;  // counters of severity kDataLoss
};

/// What a guess at the serving engine rests on.
enum class HintBasis : uint8_t {
  kNothing,
  kKernels,     // kernels in the engine's own namespace
  kMarkerForm,  // markers that are written as the engine writes them: no proof
};

struct FrameworkHint {
  std::string name;  // "SGLang", "vLLM", ... or empty
  HintBasis basis = HintBasis::kNothing;
};

/// Where the figures come from: printed with every result.
struct Provenance {
  std::string label;  // short name of this side for tables
  /// The rank by the names of the set's files, where they tell.
  std::optional<int64_t> name_rank;
  uint64_t size_bytes = 0;
  uint32_t crc32 = 0;
  std::string format;
  TraceInfo info;
  FrameworkHint framework_hint;
  ImportCounters counters;
  std::string rules_hash;
};

/// How the waiting for other ranks is known. Of several ranks the first holds.
enum class WaitBasis : uint8_t {
  kUnknown,  // nothing says what of a collective is waiting
  kOneRank,  // a lower bound: what exceeds the same call's low quantile
  kRankSet,  // measured: until the last rank arrived
  kNoCalls,  // no used step has one, or there is one rank: nothing waits
};
std::string_view IdOf(WaitBasis basis);  // "one_rank"
/// Not just bounded or unknown.
bool IsMeasured(WaitBasis basis);

/// One rank of a set. Totals over its used steps.
struct RankRow {
  std::string label;  // of its file
  std::optional<int64_t> rank;
  int64_t device = 0;
  int64_t used_steps = 0;
  int64_t wall_ns = 0;
  int64_t walls = 0;  // steps that have a wall
  int64_t sum_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t idle_host_late_ns = 0;
  int64_t rank_wait_ns = 0;
  /// Sums of durations, without rank wait.
  std::array<int64_t, kCategoryCount> category_sum_ns{};
  RankAlignment alignment;
  /// Collectives of used steps in which it arrived last, and what the first
  /// rank to arrive waited in them altogether.
  uint64_t last_arrivals = 0;
  int64_t caused_wait_ns = 0;
  /// Of that, what it was idle before for longer than the others were.
  int64_t caused_idle_ns = 0;
  /// It did other work than most ranks: no part of the sums.
  bool left_out = false;
};

/// One of the longest waits of a set, in steps used or not.
struct LongWait {
  uint32_t rank = 0;       // index in LedgerResult::ranks
  uint32_t last_rank = 0;  // the one it waited for
  uint32_t step = kNone;   // index in Steps::steps
  uint64_t ordinal = 0;
  std::string name;  // family
  int64_t wait_ns = 0;
  int64_t duration_ns = 0;
};

/// A rank that the others wait for, all times a step.
struct Straggler {
  uint32_t rank = 0;  // index in LedgerResult::ranks
  uint64_t last_arrivals = 0;
  uint64_t collectives = 0;  // of used steps, whoever arrived last
  Rational caused_wait;      // what the first to arrive waits for it
  /// Of that, time in which it was idle for longer than the others were: its
  /// host was late. The rest it worked.
  Rational caused_idle;
  /// What it does more of than the other ranks' mean, communication aside: the
  /// largest excess.
  std::optional<Category> category;
  Rational excess;  // 0 without a category
};

/// A category that ranks spend unlike time on.
struct Imbalance {
  Category category = Category::kUnclassified;
  uint32_t least = 0, most = 0;  // indices in LedgerResult::ranks
  Rational least_ns, most_ns;    // sums of durations a step
};

struct RankFindings {
  /// The rank that causes half of all waiting or more.
  std::optional<Straggler> straggler;
  /// No rank does, and yet ranks wait for each other: in turns.
  bool in_turns = false;
  /// At least a tenth, and a fiftieth of the wall, apart; largest first.
  std::vector<Imbalance> imbalances;
  // By mean wall, where they are a hundredth apart or more.
  std::optional<uint32_t> slowest, fastest;
};

/// One side of a comparison, complete: nothing needs the trace again. Of a
/// rank set: everything is summed over ranks, so that a mean over used steps
/// is that of a step on the mean rank; steps of all ranks stand in a row.
struct LedgerResult {
  Provenance source;
  std::vector<DeviceTotals> devices;  // every device of the file
  Steps steps;                        // per-op columns emptied
  uint32_t group = 0;                 // the group that the totals are over
  int64_t used_steps = 0;
  std::vector<StepAmounts> step_amounts;  // one a used step
  Cycles cycles;
  /// Tokens that a sequence gets of a cycle on average, the bonus token
  /// included: as the user gave it, since no trace says. At least 1.
  std::optional<Rational> accepted;
  PerStep per_step;
  std::array<Amounts, kCategoryCount> categories{};
  /// The pseudo-category: inside sum and busy, in no category. Its count is
  /// that of calls that waited; they count in their own rows, too. Where only
  /// communication runs, exclusive time is dealt out as attributed time is.
  Amounts rank_wait;
  WaitBasis wait_basis = WaitBasis::kUnknown;
  Collectives collectives;
  std::vector<KernelRow> kernels;   // by attributed, then name
  std::vector<FamilyRow> families;  // by attributed, then family
  std::array<HistogramBucket, 63> histogram{};
  std::vector<RuleHits> rule_hits;   // over all ops
  uint32_t representative_step = 0;  // the step of median wall (else span)
  std::vector<SequenceOp> sequence;
  std::vector<LooseOp> loose;  // by FillLoose (loose_ops.h)
  std::vector<LooseKernel> loose_kernels;
  StepLayers layers;  // of the sequence, by FillLayers (step_layers.h)
  Coverage coverage;
  /// What makes the capture doubtful, the gravest first.
  std::vector<CaptureCheck> capture_checks;
  /// Only where LedgerOptions::keep_samples asks for them.
  Distribution launch_leads;
  /// Of a table that somebody published; then the steps and all that is known
  /// of single ones are empty.
  std::optional<PublishedTable> published;

  // Of a rank set; of a single rank all empty.
  std::vector<RankRow> ranks;        // by rank, then label
  std::vector<LongWait> long_waits;  // longest first, at most 20
  RankFindings rank_findings;
  uint64_t matched_collectives = 0;
};

struct LedgerOptions {
  /// Group to account; default Steps::main_group.
  std::optional<uint32_t> group;
  /// Threads; the result is the same for any number. 0 = one a processor.
  unsigned threads = 0;
  /// For a rank that becomes part of a set (ledger/rank_set.h).
  bool keep_samples = false;
};

/// What a summary over steps says, without launch_lead.
PerStep SummaryOf(const std::vector<StepAmounts>& steps);

/// The accounting of one (rank, device). Throws ContractError when the sums
/// above do not hold. `devices` holds the trace's own device only; the caller
/// adds the file's others.
LedgerResult BuildLedger(const Trace& trace, const Classification& classes,
                         const RuleSet& rules, Steps steps,
                         const LedgerOptions& options);

DeviceTotals TotalsOfDevice(const Trace& trace);

/// What the accounting gives each op, by op index, in all steps used or not;
/// 0 for ops of no step. For tests and `dump`; BuildLedger keeps no such
/// column.
struct OpAmounts {
  std::vector<int64_t> attributed_ns, hidden_same_lane_ns, hidden_cross_lane_ns;
};

OpAmounts AmountsPerOp(const Trace& trace, const Steps& steps);

}  // namespace inferdiff
