// SPDX-License-Identifier: Apache-2.0
#include "classify/classify.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "classify/rule_set.h"

namespace inferdiff {
namespace {

/// What is remembered of one lane while its ops go by.
struct LaneState {
  Category beside = Category::kCount;  // of the last op not in beside_skips
  Category after = Category::kCount;   // of the last op not in after_skips
  Category gemm = Category::kCount;    // of the last GEMM that is no tail
  uint32_t count = 0;                  // ops so far
  std::array<uint32_t, kCategoryCount> last{};  // `count` at the last of each
};

/// What the context rules need to know of one name.
struct NameContext {
  uint32_t rules = 0;  // context rules that may apply, lowest first
  Category category = Category::kUnclassified;
  RuleId rule = 0;
  bool is_tail = false;
  bool is_gemm = false;
};

/// Settles what names cannot: one pass back over the ops for what comes next
/// on each lane, one pass forward for what came before and the decision.
class ContextPass {
 public:
  ContextPass(const Trace& trace, const RuleSet::Impl& rules,
              Classification* out)
      : trace_(trace), rules_(rules), context_(rules.context), out_(*out) {}

  void Run() {
    ReadNames();
    SettleShares();
    const std::vector<Category> next = NextBeside();
    std::vector<LaneState> lanes(trace_.lanes.size());
    const size_t size = trace_.ops.size();
    out_.of_op.resize(size);
    out_.rule_of_op.resize(size);
    for (size_t i = 0; i < size; ++i) {
      Decide(i, next[i], &lanes[trace_.ops.lane[i]]);
    }
  }

 private:
  void ReadNames();
  void SettleShares();
  std::vector<Category> NextBeside() const;
  void Decide(size_t op, Category next, LaneState* lane);
  bool Holds(const ContextRule& rule, const LaneState& lane,
             Category next) const;
  Category CategoryOf(size_t op) const {
    switch (trace_.ops.kind[op]) {
      case OpKind::kMemcpy:
        return Category::kMemcpy;
      case OpKind::kMemset:
        return Category::kMemset;
      case OpKind::kKernel:
        break;
    }
    return names_[trace_.ops.name[op]].category;
  }

  const Trace& trace_;
  const RuleSet::Impl& rules_;
  const ContextRules& context_;
  Classification& out_;
  std::vector<NameContext> names_;
};

void ContextPass::ReadNames() {
  names_.resize(out_.names.size());
  for (size_t n = 0; n < names_.size(); ++n) {
    const NameClass& name = out_.names[n];
    NameContext& to = names_[n];
    to.category = name.category;
    to.rule = name.rule;
    if (name.rule >= rules_.first_context) continue;  // no name rule
    to.rules = rules_.context_of_rule[name.rule];
    to.is_tail = rules_.is_tail[name.rule];
    to.is_gemm = !to.is_tail && (to.category == Category::kDenseGemm ||
                                 to.category == Category::kMoeGemm);
  }
}

/// Rules about the whole trace: how often a kernel runs for each op of some
/// category says what it is for. They change the name, before any neighbours
/// are looked at; rules that require one which does not hold are dropped.
void ContextPass::SettleShares() {
  std::vector<uint64_t> ops_of_name(names_.size());
  std::array<uint64_t, kCategoryCount> ops_of_category{};
  for (size_t i = 0; i < trace_.ops.size(); ++i) {
    ++ops_of_name[trace_.ops.name[i]];
    ++ops_of_category[static_cast<size_t>(CategoryOf(i))];
  }
  uint32_t dropped = 0;
  std::vector<std::string_view> holding;
  for (size_t r = 0; r < context_.rules.size(); ++r) {
    const ContextRule& rule = context_.rules[r];
    const uint32_t bit = uint32_t{1} << r;
    if (!rule.requires_rule.empty() &&
        std::find(holding.begin(), holding.end(), rule.requires_rule) ==
            holding.end()) {
      dropped |= bit;
    }
    if (rule.share_of == Category::kCount) continue;
    dropped |= bit;
    uint64_t ops = 0;
    for (size_t n = 0; n < names_.size(); ++n) {
      if ((names_[n].rules & bit) != 0) ops += ops_of_name[n];
    }
    const uint64_t of = ops_of_category[static_cast<size_t>(rule.share_of)];
    if (of == 0 || ops * 100 < of * rule.percent) continue;
    holding.push_back(rule.info.id);
    for (NameContext& name : names_) {
      if ((name.rules & bit) == 0) continue;
      name.category = rule.info.category;
      name.rule = static_cast<RuleId>(rules_.first_context + r);
    }
  }
  for (NameContext& name : names_) name.rules &= ~dropped;
}

/// Per op the category, by name, of the next op on its lane that `right`
/// looks at.
std::vector<Category> ContextPass::NextBeside() const {
  std::vector<Category> next(trace_.ops.size());
  std::vector<Category> on_lane(trace_.lanes.size(), Category::kCount);
  for (size_t i = next.size(); i-- > 0;) {
    Category& lane = on_lane[trace_.ops.lane[i]];
    next[i] = lane;
    const Category category = CategoryOf(i);
    const bool skipped = Has(context_.beside_skips, category) ||
                         (trace_.ops.kind[i] == OpKind::kKernel &&
                          names_[trace_.ops.name[i]].is_tail);
    if (!skipped) lane = category;
  }
  return next;
}

/// An empty condition holds; kCount (nothing there) is in no set.
bool ContextPass::Holds(const ContextRule& rule, const LaneState& lane,
                        Category next) const {
  const auto in = [](CategorySet set, Category category) {
    return category != Category::kCount && Has(set, category);
  };
  const auto is_near = [&](Category category) {
    const uint32_t last = lane.last[static_cast<size_t>(category)];
    return last != 0 && lane.count - last < rule.within;
  };
  if (rule.left != 0 && !in(rule.left, lane.beside)) return false;
  if (rule.right != 0 && !in(rule.right, next)) return false;
  if (rule.after != 0 && !in(rule.after, lane.after)) return false;
  if (in(rule.not_left, lane.beside)) return false;
  if (in(rule.not_after, lane.after)) return false;
  if (rule.near != Category::kCount && !is_near(rule.near)) return false;
  if (rule.not_near != Category::kCount && is_near(rule.not_near)) return false;
  return !rule.inherits_gemm || lane.gemm != Category::kCount;
}

void ContextPass::Decide(size_t op, Category next, LaneState* lane) {
  Category category = CategoryOf(op);
  bool is_tail = false;
  bool is_gemm = false;
  RuleId rule_id =
      category == Category::kMemcpy ? rules_.memcpy_rule : rules_.memset_rule;
  if (trace_.ops.kind[op] == OpKind::kKernel) {
    const NameContext& name = names_[trace_.ops.name[op]];
    rule_id = name.rule;
    is_tail = name.is_tail;
    is_gemm = name.is_gemm;
    uint32_t candidates = name.rules;
    for (size_t r = 0; candidates != 0; ++r, candidates >>= 1) {
      if ((candidates & 1) == 0) continue;
      const ContextRule& rule = context_.rules[r];
      if (!Holds(rule, *lane, next)) continue;
      category = rule.inherits_gemm ? lane->gemm : rule.info.category;
      rule_id = static_cast<RuleId>(rules_.first_context + r);
      break;
    }
  }
  out_.of_op[op] = category;
  out_.rule_of_op[op] = rule_id;
  ++lane->count;
  lane->last[static_cast<size_t>(category)] = lane->count;
  if (is_tail) return;
  if (is_gemm) lane->gemm = category;
  if (!Has(context_.beside_skips, category)) lane->beside = category;
  if (!Has(context_.after_skips, category)) lane->after = category;
}

}  // namespace

Classification Classify(const Trace& trace, const RuleSet& rules) {
  Classification out;
  if (!trace.names) return out;
  out.names.resize(trace.names->size());
  std::vector<bool> done(out.names.size());
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const NameId name = trace.ops.name[i];
    if (done[name]) continue;
    done[name] = true;
    out.names[name] = rules.ClassifyName((*trace.names)[name]);
  }
  ContextPass(trace, rules.impl(), &out).Run();
  return out;
}

}  // namespace inferdiff
