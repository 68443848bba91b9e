// SPDX-License-Identifier: Apache-2.0
#include "steps/cycles.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "steps/segment_ops.h"

namespace inferdiff {
namespace {

bool IsGemm(Category category) {
  return category == Category::kDenseGemm || category == Category::kMoeGemm;
}

/// By name: "flash_bwd_kernel", "batch_norm_backward", "bwd_kernel_dq".
bool IsBackward(std::string_view name) {
  const std::string lower = Lower(name);
  return lower.find("bwd") != std::string::npos ||
         lower.find("backward") != std::string::npos;
}

/// Picks tokens, or builds, checks or accepts drafts.
bool IsSampling(Category category) {
  return category == Category::kSampling ||
         category == Category::kSpeculativeDraft;
}

/// Counts blocks of attention: each has a GEMM in front of it, where metadata
/// for attention has none.
struct Depth {
  bool projected = false;  // a GEMM has run since the last block
  uint32_t blocks = 0;

  /// Whether the op is part of a layer, as far as this can tell.
  bool Add(Category category, bool attention_known) {
    if (IsGemm(category)) {
      projected = true;
      blocks += attention_known ? 0 : 1;
      return true;
    }
    if (category != Category::kAttention) return false;
    if (!projected) return blocks > 0;
    projected = false;
    ++blocks;
    return true;
  }
};

/// A range of a step's ops in order of launch.
struct Pass {
  uint32_t begin = 0, end = 0;
  uint32_t work_end = 0;  // behind its last GEMM or attention
  uint32_t depth = 0;
  bool marked = false;  // its marker says that it drafts
};

class CycleFinder {
 public:
  CycleFinder(const StepInput& in, const std::vector<uint8_t>& marked,
              Steps* steps)
      : in_(in),
        marked_(marked),
        steps_(*steps),
        by_step_(steps->step_of_op, steps->steps.size()),
        key_(in.trace.ops.size(), 0) {
    const auto& of_op = in.classes.of_op;
    attention_known_ = std::find(of_op.begin(), of_op.end(),
                                 Category::kAttention) != of_op.end();
    FindWholeReplays();
  }

  void Run() {
    steps_.part_of_op.assign(in_.trace.ops.size(), CyclePart::kOther);
    steps_.cycles.resize(steps_.steps.size());
    for (uint32_t step = 0; step < steps_.steps.size(); ++step) {
      Order(step);
      FindPasses();
      StepCycle& cycle = steps_.cycles[step];
      cycle = Judge(step);
      if (IsCycle(cycle.kind)) AssignParts(cycle.drafts > 0);
    }
    // One step alone may lack what the others show.
    if (evident_ * 2 >= guessed_.size()) return;
    for (const uint32_t step : guessed_)
      steps_.cycles[step].kind = CycleKind::kUntold;
  }

 private:
  Category CategoryAt(uint32_t i) const { return in_.classes.of_op[order_[i]]; }
  uint32_t ReplayAt(uint32_t i) const { return in_.replays.of_op[order_[i]]; }
  bool MarkedAt(uint32_t i) const {
    return !marked_.empty() && marked_[order_[i]] != 0;
  }
  uint32_t size() const { return static_cast<uint32_t>(order_.size()); }

  /// Replays with attention are passes of their own; others are pieces of one
  /// whose attention is launched between them.
  void FindWholeReplays() {
    std::vector<Depth> depth(in_.replays.list.size());
    for (uint32_t op = 0; op < in_.replays.of_op.size(); ++op) {
      const uint32_t replay = in_.replays.of_op[op];
      if (replay != kNone)
        depth[replay].Add(in_.classes.of_op[op], attention_known_);
    }
    whole_.reserve(depth.size());
    for (const Depth& of : depth) whole_.push_back(of.blocks > 0);
    first_.resize(depth.size());
  }

  /// The step's ops in order of launch, those of a replay together in order of
  /// time; where a launch is unknown all in order of time.
  void Order(uint32_t step) {
    order_.assign(by_step_.begin(step), by_step_.end(step));
    const auto& launch = in_.trace.ops.launch;
    const bool launched =
        std::none_of(order_.begin(), order_.end(),
                     [&](uint32_t op) { return launch[op] == kNone; });
    for (size_t i = order_.size(); i-- > 0;) {
      const uint32_t replay = in_.replays.of_op[order_[i]];
      if (replay != kNone) first_[replay] = order_[i];
    }
    for (const uint32_t op : order_) {
      const uint32_t replay = in_.replays.of_op[op];
      const uint32_t first = replay == kNone ? op : first_[replay];
      key_[op] = launched ? launch[op] : first;
    }
    const auto earlier = [&](uint32_t a, uint32_t b) {
      return key_[a] < key_[b];
    };
    if (!std::is_sorted(order_.begin(), order_.end(), earlier))
      std::stable_sort(order_.begin(), order_.end(), earlier);
  }

  bool AreApart(uint32_t before, uint32_t i) const {
    if (MarkedAt(before) != MarkedAt(i)) return true;
    const uint32_t a = ReplayAt(before), b = ReplayAt(i);
    return a != b && ((a != kNone && whole_[a]) || (b != kNone && whole_[b]));
  }

  /// A sampled token ends a pass, too, unless that leaves hardly anything of
  /// it: then it is the softmax of a gate, in each layer.
  void FindPasses() {
    const uint32_t breaks = SplitPasses(true);
    uint32_t depth = 0;
    for (const Pass& pass : passes_) depth += pass.depth;
    if (breaks > depth / 2) SplitPasses(false);
  }

  /// Returns how many passes a sampled token has ended.
  uint32_t SplitPasses(bool by_sampling) {
    passes_.clear();
    Pass pass;
    Depth depth;
    uint32_t breaks = 0;
    uint32_t sampled = 0;  // behind the pass's last sampling; 0: none yet
    const auto close = [&](uint32_t at) {
      pass.end = at;
      pass.depth = depth.blocks;
      if (pass.depth > 0) passes_.push_back(pass);
      pass = {.begin = at};
      depth = {};
      sampled = 0;
    };
    for (uint32_t i = 0; i < size(); ++i) {
      const Category category = CategoryAt(i);
      if (i > 0 && AreApart(i - 1, i)) {
        close(i);
      } else if (by_sampling && sampled > 0 && IsGemm(category)) {
        close(sampled);
        ++breaks;
      }
      // Behind a sampled token attention's metadata is prepared.
      const bool metadata = by_sampling && sampled > 0;
      if (!metadata && depth.Add(category, attention_known_))
        pass.work_end = i + 1;
      pass.marked |= MarkedAt(i);
      if (IsSampling(category) && depth.blocks > 0) sampled = i + 1;
    }
    close(size());
    return breaks;
  }

  /// Up to the next pass.
  uint32_t ReachOf(size_t pass) const {
    return pass + 1 < passes_.size() ? passes_[pass + 1].begin : size();
  }

  bool Samples(size_t pass) const {
    for (uint32_t i = passes_[pass].begin; i < ReachOf(pass); ++i)
      if (CategoryAt(i) == Category::kSampling) return true;
    return false;
  }

  bool HasDraftKernels() const {
    return std::any_of(order_.begin(), order_.end(), [&](uint32_t op) {
      return in_.classes.of_op[op] == Category::kSpeculativeDraft;
    });
  }

  /// Whether the step at hand holds kernels of a backward pass.
  bool Trains() {
    return std::any_of(order_.begin(), order_.end(), [&](uint32_t op) {
      const NameId name = in_.trace.ops.name[op];
      if (name >= backward_.size()) backward_.resize(name + 1);
      if (!backward_[name])
        backward_[name] = IsBackward((*in_.trace.names)[name]);
      return *backward_[name];
    });
  }

  StepCycle Judge(uint32_t step) {
    const StepKind kind = steps_.steps[step].shape.kind;
    StepCycle out;
    if ((kind == StepKind::kUnknown || kind == StepKind::kOther) && Trains()) {
      out.kind = CycleKind::kTraining;
      return out;
    }
    if (kind != StepKind::kUnknown && kind != StepKind::kDecode &&
        kind != StepKind::kVerify) {
      out.kind = CycleKind::kNotDecode;
      return out;
    }
    main_ = SIZE_MAX;
    // GEMMs alone may be any program's: something has to say that it decodes.
    if (!attention_known_ && kind == StepKind::kUnknown) return out;
    for (size_t p = 0; p < passes_.size(); ++p)
      if (!passes_[p].marked &&
          (main_ == SIZE_MAX || passes_[p].depth > passes_[main_].depth))
        main_ = p;
    return main_ == SIZE_MAX ? out : JudgePasses(step);
  }

  StepCycle JudgePasses(uint32_t step) {
    const StepShape& shape = steps_.steps[step].shape;
    const bool verifies = shape.kind == StepKind::kVerify || HasDraftKernels();
    StepCycle out;
    out.kind = verifies ? CycleKind::kSpeculative : CycleKind::kPlain;
    out.verify_depth = passes_[main_].depth;
    bool several = false, samples = false, unmarked = false;
    for (size_t p = 0; p < passes_.size(); ++p) {
      if (p == main_) continue;
      const Pass& pass = passes_[p];
      ++out.drafts;
      out.draft_depth = std::max(out.draft_depth, pass.depth);
      out.by_markers |= pass.marked;
      unmarked |= !pass.marked;
      several |= !pass.marked && pass.depth > out.verify_depth / 2;
      samples |= Samples(p);
    }
    if (!attention_known_) out.verify_depth = out.draft_depth = 0;
    if (out.drafts == 0) return out;
    out.kind = several ? CycleKind::kSeveral : CycleKind::kSpeculative;
    if (several || !unmarked) return out;
    if (shape.kind == StepKind::kDecode && shape.batch &&
        shape.tokens == shape.batch) {
      out.kind = CycleKind::kContradicted;
    } else if (!out.by_markers) {
      guessed_.push_back(step);
      evident_ += verifies || samples || out.drafts > 1 ? 1 : 0;
    }
    return out;
  }

  void Assign(uint32_t from, uint32_t to, CyclePart part) {
    for (uint32_t i = from; i < to; ++i) steps_.part_of_op[order_[i]] = part;
  }

  /// Of [from, to) what samples, and what lies between.
  void AssignSampling(uint32_t from, uint32_t to, CyclePart part) {
    while (from < to && !IsSampling(CategoryAt(from))) ++from;
    while (from < to && !IsSampling(CategoryAt(to - 1))) --to;
    Assign(from, to, part);
  }

  void AssignParts(bool drafts) {
    AssignSampling(0, passes_[0].begin,
                   drafts ? CyclePart::kDraft : CyclePart::kSample);
    for (size_t p = 0; p < passes_.size(); ++p) {
      const Pass& pass = passes_[p];
      if (p == main_) {
        AssignMain(pass);
      } else {
        Assign(pass.begin, pass.end, CyclePart::kDraft);
      }
      AssignSampling(pass.end, ReachOf(p),
                     p == main_ ? CyclePart::kSample : CyclePart::kDraft);
    }
  }

  /// In a graph all that stands behind the first op that samples belongs to
  /// it; what is launched one by one behind the last one does not.
  void AssignMain(const Pass& pass) {
    Assign(pass.begin, pass.end, CyclePart::kVerify);
    uint32_t from = pass.work_end, to = pass.end;
    while (from < to && !IsSampling(CategoryAt(from))) ++from;
    while (from < to && ReplayAt(to - 1) == kNone &&
           !IsSampling(CategoryAt(to - 1)))
      --to;
    if (from == pass.end) return;
    Assign(from, to, CyclePart::kSample);
    Assign(to, pass.end, CyclePart::kOther);
  }

  const StepInput& in_;
  const std::vector<uint8_t>& marked_;
  Steps& steps_;
  const SegmentOps by_step_;
  bool attention_known_ = false;
  std::vector<bool> whole_;      // by replay
  std::vector<uint32_t> first_;  // by replay: its first op in the step at hand
  std::vector<uint32_t> key_;    // by op
  std::vector<std::optional<bool>> backward_;  // by name, as far as asked
  // The step at hand.
  std::vector<uint32_t> order_;
  std::vector<Pass> passes_;
  size_t main_ = 0;
  // Steps whose drafts are told by their size; how many show that they draft.
  std::vector<uint32_t> guessed_;
  size_t evident_ = 0;
};

}  // namespace

void FindCycles(const StepInput& in, const std::vector<uint8_t>& drafts,
                Steps* steps) {
  CycleFinder(in, drafts, steps).Run();
}

}  // namespace inferdiff
