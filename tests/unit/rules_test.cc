// SPDX-License-Identifier: Apache-2.0
// Every shipped rule against its own examples.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/embedded_text.h"
#include "base/error.h"
#include "classify/classify.h"
#include "classify/rule_file.h"
#include "classify/rule_set.h"

namespace inferdiff {
namespace {

std::vector<NameRule> ShippedRules() {
  std::vector<NameRule> rules;
  for (const EmbeddedText& file : embedded_rules()) {
    if (!file.name.starts_with("kernels")) continue;
    // A path switches the check of each pattern on.
    for (NameRule& rule : ParseNameRules(file.text, std::string(file.name))) {
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

const RuleSet& Shipped() {
  static const RuleSet* const rules = new RuleSet(RuleSet::Load());
  return *rules;
}

std::string RuleOf(std::string_view name) {
  return Shipped().rules()[Shipped().ClassifyName(name).rule].id;
}

/// A trace of kernels one after the other, each on the lane given (0).
Trace TraceOf(const std::vector<std::string>& names,
              const std::vector<uint32_t>& lanes = {}) {
  auto pool = std::make_shared<StringPool>();
  Trace trace;
  for (size_t i = 0; i < names.size(); ++i) {
    trace.ops.start_ns.push_back(static_cast<int64_t>(i) * 10);
    trace.ops.dur_ns.push_back(5);
    trace.ops.correlation.push_back(0);
    trace.ops.ordinal.push_back(i);
    trace.ops.name.push_back(pool->Intern(names[i]));
    trace.ops.lane.push_back(lanes.empty() ? 0 : lanes[i]);
    trace.ops.launch.push_back(kNone);
    trace.ops.kind.push_back(OpKind::kKernel);
  }
  trace.names = pool;
  trace.lanes.resize(
      1 + (lanes.empty() ? 0 : *std::max_element(lanes.begin(), lanes.end())));
  return trace;
}

TEST(ShippedRules, AnExampleIsFirstMatchedByItsOwnRule) {
  for (const NameRule& rule : ShippedRules()) {
    EXPECT_FALSE(rule.examples.empty()) << rule.info.id << " has no example";
    for (const std::string& name : rule.examples) {
      EXPECT_EQ(RuleOf(name), rule.info.id) << name;
    }
    for (const CheckedExample& example : rule.checked) {
      EXPECT_EQ(RuleOf(example.name), rule.info.id) << example.name;
    }
    for (const std::string& name : rule.counter_examples) {
      EXPECT_NE(RuleOf(name), rule.info.id) << name;
    }
  }
}

TEST(ShippedRules, IdsAreUnique) {
  std::set<std::string> ids;
  for (const RuleInfo& rule : Shipped().rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.why.empty()) << rule.id;
  }
}

/// Whether somebody can open the source: "owner/name", a file in it, and a
/// function that the kernel's name contains.
bool NamesItsSource(const CheckedExample& example) {
  const auto has = [](const std::string& text, char c) {
    return std::count(text.begin(), text.end(), c) > 0;
  };
  return std::count(example.repository.begin(), example.repository.end(),
                    '/') == 1 &&
         has(example.path, '/') && has(example.path, '.') &&
         !has(example.path, ' ') && !example.function.empty() &&
         example.name.find(example.function) != std::string::npos;
}

TEST(ShippedRules, FortyKernelsAVendorWereCheckedInTheirSources) {
  // By source, so that two instances of one template count once.
  std::map<Vendor, std::set<std::string>> checked;
  for (const NameRule& rule : ShippedRules()) {
    for (const CheckedExample& example : rule.checked) {
      ASSERT_TRUE(NamesItsSource(example)) << example.name;
      checked[example.vendor].insert(example.repository + ' ' + example.path +
                                     ' ' + example.function);
    }
  }
  EXPECT_GE(checked[Vendor::kNvidia].size(), 40U);
  EXPECT_GE(checked[Vendor::kAmd].size(), 40U);
}

TEST(ShippedContextRules, ChangeExactlyTheOpsTheirExamplesName) {
  const RuleSet::Impl& impl = Shipped().impl();
  for (size_t r = 0; r < impl.context.rules.size(); ++r) {
    const ContextRule& rule = impl.context.rules[r];
    bool reached = false;
    for (const ContextExample& example : rule.examples) {
      const Classification result = Classify(TraceOf(example.ops), Shipped());
      std::vector<size_t> changed;
      for (size_t i = 0; i < example.ops.size(); ++i) {
        if (result.rule_of_op[i] == impl.first_context + r) {
          changed.push_back(i);
        }
      }
      EXPECT_EQ(changed, example.changes) << rule.info.id;
      reached = reached || !changed.empty();
    }
    EXPECT_TRUE(reached) << rule.info.id << " is reached by no example";
  }
}

TEST(ShippedContextRules, NameRulesTheyReferToExist) {
  std::set<std::string> ids;
  for (const RuleInfo& rule : Shipped().rules()) ids.insert(rule.id);
  const ContextRules& context = Shipped().impl().context;
  for (const std::string& id : context.tail_rules) {
    EXPECT_EQ(ids.count(id), 1U) << id;
  }
  for (const ContextRule& rule : context.rules) {
    for (const std::string& id : rule.rules) EXPECT_EQ(ids.count(id), 1U) << id;
    if (!rule.requires_rule.empty()) {
      EXPECT_EQ(ids.count(rule.requires_rule), 1U) << rule.requires_rule;
    }
  }
}

TEST(Classify, NeighboursAreOnTheSameLane) {
  // The expert GEMM on lane 1 runs between the dense GEMM and its activation.
  const Classification result =
      Classify(TraceOf({"nvjet_tst_64x8", "fused_moe_kernel",
                        "void vllm::act_and_mul_kernel<int>(int)",
                        "void cublasLt::splitKreduce_kernel<32>(int)",
                        "void cublasLt::splitKreduce_kernel<32>(int)"},
                       {0, 1, 0, 1, 0}),
               Shipped());
  EXPECT_EQ(result.of_op[2], Category::kActivation);
  EXPECT_EQ(result.of_op[3], Category::kMoeGemm);
  EXPECT_EQ(result.of_op[4], Category::kDenseGemm);
}

TEST(Classify, TheOpKindOfTheTraceBeatsTheName) {
  Trace trace = TraceOf({"nvjet_tst_64x8", "nvjet_tst_64x8"});
  trace.ops.kind[0] = OpKind::kMemcpy;
  const Classification result = Classify(trace, Shipped());
  EXPECT_EQ(result.of_op[0], Category::kMemcpy);
  EXPECT_EQ(result.of_op[1], Category::kDenseGemm);
}

TEST(Classify, ATorchTopKOfTheSamplerIsNoRouter) {
  std::vector<std::string> names(20, "attn_fwd");
  names.push_back("nvjet_tst_64x8");
  names.push_back("void at::native::sbtopk::gatherTopK<float, 1>(int)");
  const Classification result = Classify(TraceOf(names), Shipped());
  EXPECT_EQ(result.of_op.back(), Category::kElementwiseMemory);
}

TEST(UserRules, StandInFrontOfTheShippedOnes) {
  const RuleSet rules = RuleSet::Load(
      "[[rule]]\nid = 'mine'\ncategory = 'attention'\nmatch = '^nvjet_'\n"
      "why = 'ours'\n",
      "my.toml");
  const NameClass name = rules.ClassifyName("nvjet_tst_64x8_2x1_v_bz_TNT");
  EXPECT_EQ(name.category, Category::kAttention);
  EXPECT_EQ(rules.rules()[name.rule].id, "mine");
  EXPECT_NE(rules.hash(), Shipped().hash());
  EXPECT_EQ(rules.hash().size(), 16U);
}

/// What a bad file of rules is rejected with.
struct BadRules {
  const char* toml;
  uint64_t line;
  const char* says;
};

TEST(UserRules, AreRejectedWithLineAndCaret) {
  const std::string head = "[[rule]]\nid = 'x'\nwhy = 'y'\n";
  const BadRules cases[] = {
      {"category = 'norm'\nmatch = 'a(b'\n", 5, "missing )"},
      {"category = 'norm'\nmatch = 'a(?!b)'\n", 5, "(?!"},
      {"category = 'nrom'\nmatch = 'a'\n", 4, "'nrom' is no category"},
      {"category = 'norm'\nmatch = 'a'\nmach = 'a'\n", 6, "unknown key 'mach'"},
      {"category = 'norm'\n", 1, "needs 'match'"},
      {"category = 'norm'\nmatch = 'a\n", 5, "^"},
  };
  for (const BadRules& bad : cases) {
    try {
      RuleSet::Load(head + bad.toml, "my.toml");
      ADD_FAILURE() << bad.toml;
    } catch (const InputError& error) {
      EXPECT_EQ(error.id, "bad-rules");
      EXPECT_EQ(error.file, "my.toml");
      ASSERT_TRUE(error.where.has_value());
      EXPECT_EQ(error.where->value, bad.line) << error.what();
      const std::string what = error.what();
      EXPECT_NE(what.find(bad.says), std::string::npos) << what;
      EXPECT_NE(what.find('^'), std::string::npos) << what;
      EXPECT_FALSE(error.fix.empty());
    }
  }
}

/// Loads rules that a stranger wrote; the error's id and line.
std::string Refusal(const std::string& toml) {
  try {
    RuleSet::Load(toml, "user.toml");
  } catch (const InputError& error) {
    return error.id + " " +
           std::to_string(error.where ? error.where->value : 0);
  }
  return "none";
}

TEST(UserRules, HostileFilesAreRefusedWithTheirLine) {
  const auto times = [](size_t count, const std::string& part) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  const std::string head =
      "[[rule]]\nid = 'u'\nwhy = 'w'\ncategory = 'norm'\nmatch = ";
  EXPECT_EQ(Refusal(head + "'zzz'\n"), "none");
  const std::string x = "x = ";
  const std::vector<std::string> in_line_1 = {
      x + times(100'000, "["),
      x + times(100'000, "[") + times(100'000, "]"),
      x + times(50'000, "{a = "),
      times(100'000, "a.") + "a = 1",
      std::string("[") + times(100'000, "a.") + "a]",
      times(100'000, "a . ") + "a = 1",
      times(100'000, "\"a\".") + "a = 1",
      times(100'000, "'a\\'.") + "a = 1",
      times(100'000, "\"\\\\\".") + "a = 1",
      x + "{" + times(100'000, "a.") + "a = 1}",
      std::string(50, '\0'),
      "x = '\xff'",
      "\x1b[31m",
  };
  for (const std::string& text : in_line_1) {
    EXPECT_EQ(Refusal(text), "bad-rules 1") << text.substr(0, 20);
    EXPECT_EQ(Refusal("# dots ......................\n" + text), "bad-rules 2")
        << text.substr(0, 20);
  }
  const std::vector<std::string> patterns = {
      "'((x{1,1000}){1,1000}){1,1000}'",
      "'(a{1000}){1000}'",
      "'(.*a.{0,400}b.*){20}'",
      "'(?!a)'",
      "'(a'",
      std::string("'") + times(1 << 17, "abcdefgh") + "'",
  };
  for (const std::string& pattern : patterns)
    EXPECT_EQ(Refusal(head + pattern), "bad-rules 5") << pattern.substr(0, 20);
  // Large, but sound.
  EXPECT_EQ(
      Refusal(head + "'" + times(2'000, "(") + "a" + times(2'000, ")") + "'"),
      "none");
  EXPECT_EQ(Refusal(head + "'" + times(500, "a?") + times(500, "a") + "'"),
            "none");
  EXPECT_EQ(Refusal(head + "'''\n" + times(40, "a.b.*|") + "c'''"), "none");
}

}  // namespace
}  // namespace inferdiff
