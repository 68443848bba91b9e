// SPDX-License-Identifier: Apache-2.0
// Kernel names that were labelled before the program was run on them. The rules
// were then extended by what they got wrong, so this holds a fitted figure.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "classify/classify.h"

namespace inferdiff {
namespace {

/// Whether the list "a,b" has this entry.
bool Lists(const std::string& list, const std::string& entry) {
  return (',' + list + ',').find(',' + entry + ',') != std::string::npos;
}

TEST(UnseenKernelNames, StayAsRightAsTheyWere) {
  std::ifstream file(INFERDIFF_SOURCE_DIR
                     "/tests/data/unseen_kernel_names.tsv");
  const RuleSet rules = RuleSet::Load();
  size_t names = 0;
  size_t right = 0;
  std::string wrong;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string name = line.substr(0, tab);
    const std::string categories =
        line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
    const NameClass found = rules.ClassifyName(name);
    const std::string category(IdOf(found.category));
    ++names;
    if (Lists(categories, category)) {
      ++right;
    } else {
      wrong += name + ": " + category + " (" + rules.rules()[found.rule].id +
               "), not " + categories + "\n";
    }
  }
  std::printf("%zu of %zu names right\n%s", right, names, wrong.c_str());
  EXPECT_EQ(names, 1970U);
  EXPECT_GE(right, 1864U) << wrong;
}

}  // namespace
}  // namespace inferdiff
