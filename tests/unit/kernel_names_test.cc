// SPDX-License-Identifier: Apache-2.0
// A table of kernel names with the category each belongs to, kept beside the
// repository. Skipped where it is absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

/// The folder of public traces: INFERDIFF_TRACES, or ../shared/traces of the
/// repository that the working directory is in.
fs::path TracesFolder() {
  if (const char* folder = std::getenv("INFERDIFF_TRACES")) return folder;
  fs::path root = fs::current_path();
  while (root.has_relative_path() && !fs::exists(root / "CMakePresets.json")) {
    root = root.parent_path();
  }
  return root / ".." / "shared" / "traces";
}

struct Row {
  std::string pattern, category;
};

std::vector<Row> ReadTable(const fs::path& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (cells.size() > 3) rows.push_back({cells[0], cells[3]});
  }
  return rows;
}

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// "x_1stage/2stage<T>", "y_v1/_v2", "p_v1/v2_kernel", "ASend/Recv": each
/// alternative replaces the last word of the first and shares what follows.
std::vector<std::string> Alternatives(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos || name.find('<') < slash) return {name};
  const std::string first = name.substr(0, slash);
  std::string rest = name.substr(slash + 1);
  const size_t last = rest.rfind('/');
  const size_t word = last == std::string::npos ? 0 : last + 1;
  const size_t end = std::min(rest.find_first_of("_<", word + 1), rest.size());
  const std::string tail = rest.substr(end);
  rest.resize(end);
  std::vector<std::string> out = {first + tail};
  while (!rest.empty()) {
    const size_t next = rest.find('/');
    const std::string other = rest.substr(0, next);
    const size_t cut = first.rfind('_');
    std::string stem;
    if (cut != std::string::npos) {
      stem = first.substr(0, other.starts_with('_') ? cut : cut + 1);
    } else if (other.size() < first.size()) {
      stem = first.substr(0, first.size() - other.size());
    }
    out.push_back(stem + other + tail);
    rest = next == std::string::npos ? "" : rest.substr(next + 1);
  }
  return out;
}

/// Names that a row's pattern stands for: "[x]" once without and once with,
/// "…" and "*" as some parameter, "a/b" as both.
std::vector<std::string> Expand(const std::string& pattern) {
  std::string text = Replaced(Replaced(pattern, "…", "x7"), "*", "x7");
  std::vector<std::string> names;
  const size_t open = text.find('[');
  const size_t close = text.rfind(']');
  if (open != std::string::npos && close != std::string::npos && open > 0 &&
      close > open && text.find("lambda") == std::string::npos) {
    std::string inner = text.substr(open + 1, close - open - 1);
    std::string optional;
    for (const char c : inner) {
      if (c != '[' && c != ']') optional += c;
    }
    const size_t bar = optional.find('|');
    names.push_back(text.substr(0, open) + text.substr(close + 1));
    names.push_back(text.substr(0, open) + optional.substr(0, bar) +
                    text.substr(close + 1));
  } else {
    names.push_back(text);
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    for (std::string& alternative : Alternatives(name)) {
      out.push_back(std::move(alternative));
    }
  }
  return out;
}

TEST(KernelNames, NinetyEightPercentOfTheTableIsRight) {
  const char* chosen = std::getenv("INFERDIFF_KERNEL_NAMES");
  const fs::path path =
      chosen != nullptr
          ? fs::path(chosen)
          : TracesFolder() / ".." / "reference" / "kernel_names.tsv";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is absent";
  const RuleSet rules = RuleSet::Load();
  const std::vector<Row> rows = ReadTable(path);
  ASSERT_GT(rows.size(), 100U);
  size_t right = 0;
  std::string wrong;
  for (const Row& row : rows) {
    bool all = true;
    for (const std::string& name : Expand(row.pattern)) {
      const NameClass found = rules.ClassifyName(name);
      if (IdOf(found.category) == row.category) continue;
      all = false;
      wrong += name + ": " + std::string(IdOf(found.category)) + " (" +
               rules.rules()[found.rule].id + "), not " + row.category + "\n";
    }
    right += all ? 1 : 0;
  }
  std::printf("%zu of %zu names right\n%s", right, rows.size(), wrong.c_str());
  EXPECT_GE(right * 100, rows.size() * 98) << wrong;
}

}  // namespace
}  // namespace inferdiff
