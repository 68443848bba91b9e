// SPDX-License-Identifier: Apache-2.0
// Rules for roles on whole layers: tests/data/role_layers.txt.
#include "layers/roles.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "trace_builder.h"

namespace inferdiff {
namespace {

const RuleSet& Rules() {
  static const RuleSet rules = RuleSet::Load();
  return rules;
}

struct ExampleOp {
  std::string rule, name;
  uint32_t lane = 0;
  size_t line = 0;
};

/// One example of the file: its ops and the layers among them.
struct Example {
  std::vector<ExampleOp> ops;
  std::vector<uint32_t> borders;  // index of the op behind each bar
};

std::vector<Example> ReadExamples() {
  std::ifstream file(std::string(INFERDIFF_SOURCE_DIR) +
                     "/tests/data/role_layers.txt");
  std::vector<Example> out(1);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    Example& example = out.back();
    if (line.empty() && !example.ops.empty()) out.emplace_back();
    if (line.empty() || line[0] == '#') continue;
    if (line == "|") {
      example.borders.push_back(static_cast<uint32_t>(example.ops.size()));
      continue;
    }
    const size_t space = line.find(' ');
    ExampleOp op{line.substr(0, space), line.substr(space + 1), 0, number};
    if (op.name.starts_with("@1 ")) {
      op.name.erase(0, 3);
      op.lane = 1;
    }
    example.ops.push_back(op);
  }
  if (out.back().ops.empty()) out.pop_back();
  return out;
}

OpKind KindOf(const std::string& name) {
  if (name.starts_with("Memcpy")) return OpKind::kMemcpy;
  return name.starts_with("Memset") ? OpKind::kMemset : OpKind::kKernel;
}

/// Each layer of its own kind.
Layers LayersOf(const Example& example) {
  Layers layers;
  layers.layer_of_op.assign(example.ops.size(), kNone);
  layers.slot_of_op.assign(example.ops.size(), kNone);
  uint32_t passes = 0;  // layers with nothing between are of one
  for (size_t i = 0; i + 1 < example.borders.size(); i += 2) {
    const uint32_t begin = example.borders[i], end = example.borders[i + 1];
    const auto number = static_cast<uint32_t>(layers.layers.size());
    if (i == 0 || example.borders[i - 1] != begin) {
      ++passes;
      layers.passes.push_back({.first = number, .layers = 0});
    }
    ++layers.passes.back().layers;
    layers.layers.push_back(
        {.begin = begin, .end = end, .kind = number, .pass = passes - 1});
    layers.kinds.push_back(
        {.layers = 1, .typical = number, .ops = end - begin});
    for (uint32_t op = begin; op < end; ++op) {
      layers.layer_of_op[op] = number;
      layers.slot_of_op[op] = op - begin;
    }
  }
  return layers;
}

/// The rules that decided.
std::vector<const RoleRule*> Decide(const Example& example,
                                    std::vector<RoleOfOp>* roles) {
  TraceBuilder builder;
  for (size_t i = 0; i < example.ops.size(); ++i)
    builder.Op(example.ops[i].name, static_cast<int64_t>(i) * 10, 5,
               example.ops[i].lane, 0, KindOf(example.ops[i].name));
  const Trace trace = builder.Build();
  const Classification classes = Classify(trace, Rules());
  std::vector<LayerOp> ops;
  std::vector<std::string_view> families;
  for (const NameClass& name : classes.names) families.push_back(name.family);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const std::string& rule = Rules().rules()[classes.rule_of_op[i]].id;
    ops.push_back({.name = trace.ops.name[i],
                   .category = classes.of_op[i],
                   .lane = trace.ops.lane[i],
                   .tail = rule == "split-k-inherits"});
  }
  *roles = FindRoles(ops, LayersOf(example), families, ShippedRoleRules());
  std::vector<const RoleRule*> rules;
  for (const RoleOfOp& role : *roles)
    rules.push_back(&ShippedRoleRules().rules[role.rule]);
  return rules;
}

TEST(Roles, EveryRuleDecidesWhereItMust) {
  std::set<std::string> reached;
  for (const Example& example : ReadExamples()) {
    std::vector<RoleOfOp> roles;
    const std::vector<const RoleRule*> rules = Decide(example, &roles);
    ASSERT_EQ(rules.size(), example.ops.size());
    for (size_t i = 0; i < rules.size(); ++i) {
      EXPECT_EQ(rules[i]->id, example.ops[i].rule)
          << "role " << IdOf(roles[i].role) << ", line " << example.ops[i].line
          << ": " << example.ops[i].name;
      reached.insert(rules[i]->id);
    }
  }
  for (const RoleRule& rule : ShippedRoleRules().rules)
    EXPECT_TRUE(reached.contains(rule.id)) << rule.id << " has no example";
}

}  // namespace
}  // namespace inferdiff
