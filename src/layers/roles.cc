// SPDX-License-Identifier: Apache-2.0
#include "layers/roles.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "layers/anchors.h"
#include "layers/layer_parts.h"

namespace inferdiff {
namespace {

constexpr size_t kParts = static_cast<size_t>(Part::kCount);

/// What the conditions of one op are about.
struct Surroundings {
  CategorySet previous = kEndBit, next = kEndBit;
  CategorySet left = kEndBit, right = kEndBit;
  CategorySet earlier = 0, later = 0;
  uint32_t next_op = kNone;    // on its lane
  uint32_t last_gemm = kNone;  // of its category, on its lane
  Part part = Part::kPrologue;
};

/// Whether a kernel's family matches, looked up once a pattern and kernel.
class FamilyMatches {
 public:
  explicit FamilyMatches(std::span<const std::string_view> families)
      : families_(families) {}

  /// `number` is the patterns' own.
  bool Matches(const Patterns& patterns, size_t number, uint32_t name) {
    const auto [it, added] =
        known_.try_emplace(uint64_t{name} << 16 | number, false);
    if (added)
      it->second = patterns->First(families_[name]) != PatternList::kNone;
    return it->second;
  }

 private:
  std::span<const std::string_view> families_;
  std::unordered_map<uint64_t, bool> known_;
};

/// A layer, or what lies between two, before roles.
struct Scope {
  uint32_t begin = 0, end = 0;
  LayerParts parts;             // of a layer
  Part outside = Part::kCount;  // kCount: it is a layer
  bool draft = false;

  Part PartOf(uint32_t op) const {
    return outside != Part::kCount ? outside : parts.PartOf(op);
  }
};

class RoleFinder {
 public:
  RoleFinder(std::span<const LayerOp> ops, const Layers& layers,
             std::span<const std::string_view> families, const RoleRules& rules)
      : ops_(ops), layers_(layers), rules_(rules), matches_(families) {}

  std::vector<RoleOfOp> Run() && {
    out_.resize(ops_.size());
    around_.resize(ops_.size());
    SortRules();
    FindDrafts();
    DecideOutside();
    for (const LayerKind& kind : layers_.kinds) Decide(ScopeOf(kind.typical));
    for (uint32_t i = 0; i < layers_.layers.size(); ++i) CopyTo(i);
    return std::move(out_);
  }

 private:
  /// Most rules are out for an op because of its category or part.
  void SortRules() {
    for (uint16_t r = 0; r < rules_.rules.size(); ++r) {
      const RoleRule& rule = rules_.rules[r];
      for (size_t part = 0; part < kParts; ++part)
        for (size_t category = 0; category < kCategoryCount; ++category)
          if ((rule.parts == 0 || (rule.parts >> part & 1) != 0) &&
              (rule.categories == 0 ||
               Has(rule.categories, static_cast<Category>(category))))
            may_decide_[part][category].push_back(r);
    }
  }

  const std::vector<uint16_t>& MayDecide(uint32_t op) const {
    return may_decide_[static_cast<size_t>(around_[op].part)]
                      [static_cast<size_t>(ops_[op].category)];
  }

  void DecideOutside() {
    uint32_t begin = 0;
    const auto& all = layers_.layers;
    for (size_t i = 0; i <= all.size(); ++i) {
      Part part = Part::kBetween;
      if (i == all.size()) part = Part::kEpilogue;
      if (i == 0) part = Part::kPrologue;
      const uint32_t end =
          i < all.size() ? all[i].begin : static_cast<uint32_t>(ops_.size());
      if (begin < end)
        Decide({.begin = begin,
                .end = end,
                .parts = {},
                .outside = part,
                .draft = i > 0 && draft_[all[i - 1].pass]});
      if (i < all.size()) begin = all[i].end;
    }
  }

  /// A draft has few layers beside the pass with most, of their own kinds or
  /// in a replay of their own.
  void FindDrafts() {
    if (layers_.passes.empty()) return;
    const LayerPass& main = *std::max_element(
        layers_.passes.begin(), layers_.passes.end(),
        [](const auto& a, const auto& b) { return a.layers < b.layers; });
    std::vector<bool> in_main(layers_.kinds.size(), false);
    for (uint32_t i = 0; i < main.layers; ++i)
      in_main[layers_.layers[main.first + i].kind] = true;
    const auto replay_of = [&](const LayerPass& pass) {
      return ops_[layers_.layers[pass.first].begin].replay;
    };
    for (const LayerPass& pass : layers_.passes)
      draft_.push_back(uint64_t{pass.layers} * 4 <= main.layers &&
                       (replay_of(pass) != replay_of(main) ||
                        !in_main[layers_.layers[pass.first].kind]));
  }

  Scope ScopeOf(uint32_t layer) const {
    const Layer& of = layers_.layers[layer];
    return {.begin = of.begin,
            .end = of.end,
            .parts = PartsOfLayer(ops_, of),
            .draft = draft_[of.pass]};
  }

  void CopyTo(uint32_t number) {
    const Layer& layer = layers_.layers[number];
    const uint32_t typical = layers_.kinds[layer.kind].typical;
    if (typical == number) return;
    const bool unlike =
        draft_[layer.pass] != draft_[layers_.layers[typical].pass];
    const auto slots = std::span(layers_.slot_of_op)
                           .subspan(layer.begin, layer.end - layer.begin);
    if (unlike || std::find(slots.begin(), slots.end(), kNone) != slots.end())
      Decide(ScopeOf(number));
    if (unlike) return;
    const uint32_t from = layers_.layers[typical].begin;
    for (uint32_t op = layer.begin; op < layer.end; ++op)
      if (layers_.slot_of_op[op] != kNone)
        out_[op] = out_[from + layers_.slot_of_op[op]];
  }

  void Decide(const Scope& scope) {
    LookBack(scope);
    const CategorySet all = LookAhead(scope);
    std::array<RoleSet, kParts> roles{};
    attends_.clear();
    for (uint32_t op = scope.begin; op < scope.end; ++op) {
      RoleSet& earlier = roles[static_cast<size_t>(around_[op].part)];
      out_[op] = Decide(scope, op, all, earlier);
      earlier |= SetOf(out_[op].role);
    }
    for (uint32_t op = scope.end; op-- > scope.begin;)
      if (rules_.rules[out_[op].rule].inherits == Inherits::kNextOp &&
          around_[op].next_op != kNone)
        out_[op].role = out_[around_[op].next_op].role;
  }

  void LookBack(const Scope& scope) {
    struct Lane {
      CategorySet previous = kEndBit, left = kEndBit;
      std::array<uint32_t, kCategoryCount> last;
      Lane() { last.fill(kNone); }
    };
    std::map<uint32_t, Lane> lanes;
    std::array<CategorySet, kParts> earlier{};
    for (uint32_t op = scope.begin; op < scope.end; ++op) {
      Lane& lane = lanes[ops_[op].lane];
      const Category category = ops_[op].category;
      Surroundings& around = around_[op];
      around = {.previous = lane.previous, .left = lane.left};
      around.part = scope.PartOf(op);
      CategorySet& set = earlier[static_cast<size_t>(around.part)];
      around.earlier = set;
      uint32_t& last = lane.last[static_cast<size_t>(category)];
      around.last_gemm = last;
      if (ops_[op].tail) continue;
      set |= SetOf(category);
      lane.previous = SetOf(category);
      last = op;
      if (!Has(rules_.skips, category)) lane.left = SetOf(category);
    }
  }

  /// The categories of all ops.
  CategorySet LookAhead(const Scope& scope) {
    struct Lane {
      CategorySet next = kEndBit, right = kEndBit;
      uint32_t op = kNone;
    };
    std::map<uint32_t, Lane> lanes;
    std::array<CategorySet, kParts> later{};
    CategorySet all = 0;
    for (uint32_t op = scope.end; op-- > scope.begin;) {
      Lane& lane = lanes[ops_[op].lane];
      const Category category = ops_[op].category;
      Surroundings& around = around_[op];
      around.next = lane.next;
      around.right = lane.right;
      around.next_op = lane.op;
      CategorySet& set = later[static_cast<size_t>(around.part)];
      around.later = set;
      all |= SetOf(category);
      if (ops_[op].tail) continue;
      set |= SetOf(category);
      lane.next = SetOf(category);
      lane.op = op;
      if (!Has(rules_.skips, category)) lane.right = SetOf(category);
    }
    return all;
  }

  RoleOfOp Decide(const Scope& scope, uint32_t op, CategorySet all,
                  RoleSet earlier) {
    for (const uint16_t r : MayDecide(op)) {
      const RoleRule& rule = rules_.rules[r];
      if (!Holds(rule, scope, op, all, earlier)) continue;
      const uint32_t name = ops_[op].name;
      if (rule.match && !matches_.Matches(rule.match, 4 * r, name)) continue;
      if (rule.not_match && matches_.Matches(rule.not_match, 4 * r + 1, name))
        continue;
      if (rule.attends && !Attends(scope, r)) continue;
      if (rule.inherits != Inherits::kLastGemm) return {rule.role, r};
      if (around_[op].last_gemm != kNone)
        return {out_[around_[op].last_gemm].role, r};
    }
    return {Role::kOther, static_cast<uint16_t>(rules_.rules.size() - 1)};
  }

  bool Holds(const RoleRule& rule, const Scope& scope, uint32_t op,
             CategorySet all, RoleSet earlier) const {
    const LayerOp& of = ops_[op];
    const Surroundings& around = around_[op];
    const auto is = [](std::optional<bool> wanted, bool value) {
      return !wanted || *wanted == value;
    };
    return is(rule.tail, of.tail) && is(rule.draft, scope.draft) &&
           is(rule.latent, scope.parts.latent) &&
           rule.previous.HoldsOf(around.previous) &&
           rule.next.HoldsOf(around.next) && rule.left.HoldsOf(around.left) &&
           rule.right.HoldsOf(around.right) &&
           rule.earlier.HoldsOf(around.earlier) &&
           rule.later.HoldsOf(around.later) && rule.layer.HoldsOf(all) &&
           (rule.earlier_roles == 0 || (rule.earlier_roles & earlier) != 0) &&
           (rule.not_earlier_roles & earlier) == 0;
  }

  /// Whether one of the layer's attention ops matches, looked up once a layer.
  bool Attends(const Scope& scope, size_t r) {
    const auto [it, added] = attends_.try_emplace(r, false);
    for (uint32_t op = scope.begin; added && op < scope.end; ++op)
      if (ops_[op].category == Category::kAttention)
        it->second |=
            matches_.Matches(rules_.rules[r].attends, 4 * r + 2, ops_[op].name);
    return it->second;
  }

  std::span<const LayerOp> ops_;
  const Layers& layers_;
  const RoleRules& rules_;
  FamilyMatches matches_;
  std::array<std::array<std::vector<uint16_t>, kCategoryCount>, kParts>
      may_decide_;                  // rules, by part and category
  std::vector<bool> draft_;         // by pass
  std::map<size_t, bool> attends_;  // by rule, of the scope at hand
  std::vector<Surroundings> around_;
  std::vector<RoleOfOp> out_;
};

}  // namespace

std::vector<RoleOfOp> FindRoles(std::span<const LayerOp> ops,
                                const Layers& layers,
                                std::span<const std::string_view> families,
                                const RoleRules& rules) {
  return RoleFinder(ops, layers, families, rules).Run();
}

}  // namespace inferdiff
