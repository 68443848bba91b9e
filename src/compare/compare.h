// SPDX-License-Identifier: Apache-2.0
// Two ledger results -> is it fair, how far apart, and where the gap sits.
// Works on results only: no trace, no file.
//
//   A  |<------------ wall ------------>|
//   B  |<------ wall ------>|
//                            B - A = work + rank_wait + concurrency
//                                    + foreign + idle, to the nanosecond
//
// docs/compare.md defines every quantity.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rational.h"
#include "compare/alignment.h"
#include "compare/category_groups.h"
#include "compare/machine.h"
#include "ledger/ledger.h"

namespace inferdiff {

enum class Comparability : uint8_t { kYes, kWithReservations, kNo };
std::string_view IdOf(Comparability verdict);  // "with_reservations"

/// What a difference in a row of the set-up table means.
enum class RowRole : uint8_t {
  kShown,        // meant to differ: the GPU, the attention backend
  kReservation,  // the comparison holds with a reservation
  kRequired,     // not the same work: no comparison
};

/// One line of the set-up table.
struct SetupRow {
  std::string field;         // "framework", "batch", "tensor parallel"
  std::string a, b;          // empty = the side does not say
  std::optional<bool> same;  // unknown unless both sides say
  RowRole role = RowRole::kShown;
};

struct ComparableResult {
  Comparability verdict = Comparability::kYes;
  std::vector<std::string> reasons;  // sentences; decisive ones first
  std::vector<std::string> unknown;  // fields that must match and are unknown
};

/// How a figure is known; printed beside it.
enum class HowKnown : uint8_t { kMeasured, kBound, kEstimate };
std::string_view IdOf(HowKnown how);  // "measured"

/// What "a step" means in every figure of the comparison.
enum class Basis : uint8_t {
  kWall,        // first op to the next step's first op, mean of the used steps
  kReplaySpan,  // a side has one step and no wall: its largest graph replay
  kSpan,        // neither: the forward lane's first op to the last op's end
};
std::string_view IdOf(Basis basis);     // "replay_span"
std::string_view TitleOf(Basis basis);  // "replay span"

/// A row's totals over SideTotals::steps.
struct SideAmounts {
  int64_t count = 0;
  int64_t sum_ns = 0;
  int64_t attributed_ns = 0;
  int64_t hidden_same_lane_ns = 0;
  int64_t hidden_cross_lane_ns = 0;

  SideAmounts& operator+=(const SideAmounts& other);
};

/// Idle time outside replays by where it lies and what it waits for; totals.
struct IdleCauses {
  LaunchCauses between;  // replays of the step
  LaunchCauses tail;     // in front of what is launched around the replays
  LaunchCauses rest;
};

/// One side on the common basis. Every figure is an integer total over
/// `steps`, so a step's mean is Rational{total, steps}.
///   attributed of all + foreign + idle inside + idle outside = headline
struct SideTotals {
  int64_t steps = 1;
  int64_t headline_ns = 0;  // wall, replay span or span
  std::array<SideAmounts, kCategoryCount> categories{};
  std::vector<SideAmounts> kernels;  // by index in LedgerResult::kernels
  SideAmounts rank_wait;             // of calls counted in their categories
  WaitBasis wait_basis = WaitBasis::kUnknown;
  SideAmounts all;  // sum of the categories and rank wait
  /// Others' ops where no own op runs. On a replay span: ops that run during
  /// the replay and do not belong to it.
  int64_t foreign_ns = 0;
  int64_t idle_inside_ns = 0;             // inside graph replays
  int64_t idle_outside_ns = 0;            // between them; 0 on a replay span
  std::optional<IdleCauses> idle_causes;  // of it; known on the wall
  /// The step's own ops that the basis leaves out (eager ops around the
  /// replay); 0 on the wall.
  int64_t left_out_ops = 0;
  int64_t left_out_ns = 0;
  /// Of a published table: sums equal attributed time where they are unknown,
  /// and counts mean nothing.
  bool sums_known = true, counts_known = true;

  Rational PerStep(int64_t total) const { return {total, steps}; }
};

enum class Side : uint8_t { kNeither, kA, kB };
std::string_view NameOf(Side side);  // "A"
Side Other(Side side);

/// B - A a step, exact:
/// total = work + rank_wait + concurrency + foreign + idle.
struct Gap {
  Basis basis = Basis::kWall;
  bool has_replays = false;  // on a side; else all idle is just idle
  bool concurrency_known = true;
  Rational a_total, b_total;
  Rational total, work, rank_wait, concurrency, foreign, idle;
  /// The part of `work` that is idle inside replays: vendors stamp it
  /// differently, so it is never reported as idle.
  Rational idle_inside;
  /// Neither where the two are less than 0.5 % apart. By the times without the
  /// profiler where both are known.
  Side slower = Side::kNeither;
};

/// B - A turned into "the slower side minus the faster".
inline Rational Oriented(const Gap& gap, Rational delta) {
  return gap.slower == Side::kA ? Negated(delta) : delta;
}

std::string IdleTitle(const Gap& gap);  // "idle outside replays"

/// A difference in rank wait: one bound makes a bound, two make an estimate.
HowKnown WaitDifference(WaitBasis a, WaitBasis b);

/// A line of the waterfall. The parts add up to the gap: the work of each
/// category group, idle inside replays, rank wait, concurrency, foreign and
/// idle.
struct GapPart {
  std::string id;     // "work.moe", "concurrency"
  std::string title;  // "work: MoE"
  Rational delta;     // B - A
  HowKnown how = HowKnown::kMeasured;
  /// For what is no measurement: how the slower side's surplus (B's, where
  /// neither is slower) compares with the true one.
  enum class Sense : uint8_t { kExact, kUpperBound, kLowerBound, kRough };
  Sense sense = Sense::kExact;
  int64_t percent = 0;  // of the gap, adding up to 100; 0 where the gap is
  /// Where steps were timed without the profiler: the same with each side's
  /// time shared out over its parts as the ledger has it. An estimate.
  std::optional<Rational> scaled;
};

/// One category, or one group of them, a step.
struct CategoryComparison {
  std::string id;
  std::string title;
  SideAmounts a, b;      // totals over SideTotals::steps
  Rational work;         // B - A of sum - hidden on the same lane
  Rational concurrency;  // A - B of hidden on other lanes
};

/// A row of the category table: one category, or several that people ask for
/// together, with its parts.
struct GroupComparison {
  CategoryComparison whole;
  std::vector<CategoryComparison> parts;  // empty for a single category
};

enum class FindingKind : uint8_t { kResult, kDoubt };

/// One of the things that a finding is made of.
struct FindingDetail {
  std::string text;
  /// ns a step by the representative steps, a part of what the finding gains.
  Rational part;
};

struct Finding {
  std::string id;    // "communication-waits"
  std::string text;  // a sentence with its figures, or a few
  FindingKind kind = FindingKind::kResult;
  HowKnown how = HowKnown::kMeasured;
  /// What the slower side would gain, ns a step: measured or estimated.
  std::optional<Rational> prize;
  std::optional<Rational> bound;  // it gains that at most
  /// What to try: the finding is one of "where to start", which are in order.
  std::string advice;
  std::vector<FindingDetail> details;  // largest first
};

/// A kernel family of one side: the kernels of one category whose names
/// differ in template arguments or tile sizes only.
struct FamilyAmounts {
  std::string family;
  std::string example;  // display name of its largest kernel
  Category category = Category::kUnclassified;
  SideAmounts amounts;
};

/// `--category moe`: one category on both sides, kernel by kernel.
struct CategoryDive {
  std::string title;
  CategoryComparison whole;
  std::vector<FamilyAmounts> a, b;  // by attributed time
  std::vector<std::string> sentences;
};

/// Groups of one role that hold the same kernels against each other.
struct RoleMatch {
  bool in_layers = false;
  std::vector<std::string> a = {}, b = {};  // kernel families, in order
  MatchConfidence confidence = MatchConfidence::kAlone;
  MatchReason reason = MatchReason::kNoCounterpart;
  int64_t groups = 0;
  int64_t a_ns = 0, b_ns = 0;  // attributed, in the representative steps
};

/// `--role router`: one role on both sides, match by match.
struct RoleDive {
  Role role = Role::kOther;
  std::vector<RoleMatch> matches;  // by time; none: no side has the role
  /// A sentence where a side's operations are not known: nothing is matched.
  std::string not_known;
};

/// Step times in ns, > 0, timed without the profiler.
struct UntracedTimes {
  std::optional<int64_t> a, b;
};

/// What an empty kernel that waits for the one before costs, in ns.
struct FloorTimes {
  std::optional<Rational> a, b;
  /// A clause where they are a probe's: "measured by the probes, untraced".
  std::string source = {};
};

/// What running on several streams is worth to one side, ns a step. Only
/// switching it off measures it: a second ledger of the same side.
struct MeasuredOverlap {
  /// What a step takes longer without.
  Rational worth;
  /// By times without the profiler; else by the ledgers, and then without idle
  /// time outside replays, where a profiler's cost lands.
  bool untraced = false;
  Rational more_idle;                // outside replays, by the ledgers
  std::optional<Rational> more_ops;  // operations that the serial layout adds
  /// How much longer the kernels that both layouts run equally often take
  /// beside others, and what they take alone.
  std::optional<Rational> dilation, alone;
};

struct Overlap {
  /// sum - busy; unknown where a table does not tell sums.
  std::optional<Rational> bound;
  std::optional<MeasuredOverlap> measured;
};

/// A difference in work, exactly: count + price + rest.
struct FloorSplit {
  Rational count;  // (nB - nA) floorA
  Rational price;  // nB (floorB - floorA)
  Rational rest;
};

/// A part of the idle time outside replays, ns a step.
struct IdlePart {
  std::string_view id;     // "tail"
  std::string_view title;  // "host-launched tail"
  Rational a, b;
};

/// The gap again, with what is known beyond two ledgers: serial layouts, times
/// without the profiler, floors.
///
///   B - A  =  worth of A's overlap - worth of B's       where measured
///           + B - A, each as serial as it is known      per group
///           + what untraced times have beyond ledgers   where given
struct Causes {
  bool untraced = false;  // by times without the profiler
  Rational a_total, b_total, total;
  Overlap a, b;
  /// Add up to `total`; those of the gap where nothing more is known.
  std::vector<GapPart> parts;
  /// Each side as serial as it is known, and how they differ.
  SideTotals a_base, b_base;
  Gap residual;
  /// What makes its idle time; empty where a side does not tell.
  std::vector<IdlePart> idle;
  std::vector<GroupComparison> groups;
  FloorTimes floors;
  /// Why the work is not split; empty where it is.
  std::string not_separable;
  FloorSplit work;
  std::vector<FloorSplit>
      by_group;  // by `groups`; the work's idle is not in it
  /// Of attributed time, by Alignment::rows: of the representative steps.
  std::vector<FloorSplit> by_role;
};

struct CompareResult {
  LedgerResult a, b;
  UntracedTimes untraced;
  SideTotals a_totals, b_totals;
  ComparableResult comparable;
  std::vector<SetupRow> setup;
  Gap gap;
  std::vector<GapPart> gap_parts;
  Causes causes;
  std::optional<Machine> machine;  // where a model's config is given
  /// What rows stand for: CategoryGroups(), or a published table's rows.
  std::vector<CategoryGroup> row_groups = CategoryGroups();
  std::optional<LedgerResult> serial_a, serial_b;
  // Those that occur; then the same, as people ask for them.
  std::vector<CategoryComparison> categories;
  std::vector<GroupComparison> groups;
  std::vector<FamilyAmounts> a_families, b_families;  // by attributed time
  Alignment alignment;
  std::vector<Finding> findings;
  std::optional<CategoryDive> dive;
  std::optional<RoleDive> role_dive;
};

/// Facts about a deployment that a trace does not hold, from a
/// server_args.json beside it: SetupRow::field -> value.
using SetupFacts = std::vector<std::pair<std::string, std::string>>;

struct CompareOptions {
  std::optional<CategoryGroup> category;  // deep dive
  std::optional<Role> role;               // the same, by alignment
  UntracedTimes untraced;
  /// Ledgers of the sides with their side streams off, and their times.
  std::optional<LedgerResult> serial_a, serial_b;
  UntracedTimes untraced_serial;
  FloorTimes floors;
  MachineInput machine_a, machine_b;
};

/// Throws ContractError when the gap does not add up.
CompareResult Compare(LedgerResult a, const SetupFacts& facts_a, LedgerResult b,
                      const SetupFacts& facts_b, CompareOptions options);

/// Which step group of each side to account, before ledgers are built.
struct GroupChoice {
  uint32_t a = 0, b = 0;
  /// Every field that both sides state is equal (context within 10 %).
  bool match = false;
};

/// The pair of equal shape with most used steps on both sides; without one,
/// each side's main group and match = false.
GroupChoice ChooseGroups(const Steps& a, const Steps& b);

/// Do the two shapes differ in a field that both state?
bool ShapesContradict(const StepGroup& a, const StepGroup& b);
/// Both state a context length, and they are more than 10 % apart.
bool ContextsDiffer(const StepGroup& a, const StepGroup& b);

}  // namespace inferdiff
