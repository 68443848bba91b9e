// SPDX-License-Identifier: Apache-2.0
#include "load/inputs.h"

#include <fmt/core.h>
#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "ledger/ledger_file.h"
#include "load/load.h"
#include "readers/file_name.h"
#include "readers/reader.h"
#include "readers/rocprof_run.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

// More files than any cluster's ranks: a folder of something else.
constexpr size_t kMostFiles = 100'000;

struct Found {
  std::string path;
  FileNameFacts facts;
  bool from_folder = false;
  bool ledger = false;
};

/// Files that engines write beside their ranks' traces: a recording of graphs
/// being built, and all ranks in one.
bool IsNoRank(std::string_view name) {
  return name.find("graph_capture") != name.npos ||
         name.substr(0, 7) == "merged-";
}

std::string NameOf(const std::string& path) {
  return fs::path(path).filename().string();
}

bool LooksLikeTrace(const std::string& path) {
  try {
    return IsTrace(path);
  } catch (const InputError&) {
    return false;  // empty, or not ours to read
  }
}

/// Where no such file can be read, that is said later.
bool LooksLikeLedger(const std::string& path) {
  try {
    return IsLedgerFile(path);
  } catch (const InputError&) {
    return false;
  }
}

std::vector<std::string> SortedEntries(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (entries.size() == kMostFiles) {
      throw InputError("several-captures", folder,
                       "the folder has more than 100,000 entries",
                       "name the traces with a pattern");
    }
    entries.push_back(it->path().string());
  }
  if (error) {
    throw InputError("unreadable-file", folder,
                     "cannot list the folder: " + error.message(),
                     "check its permissions");
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void AddFolder(const std::string& folder, bool inner, std::vector<Found>* found,
               std::vector<std::string>* passed_over) {
  for (const std::string& entry : SortedEntries(folder)) {
    const std::string name = NameOf(entry);
    if (name.empty() || name[0] == '.') continue;
    std::error_code error;
    if (fs::is_directory(entry, error)) {
      if (!inner && FactsOfFileName(entry + "/").rank)
        AddFolder(entry, true, found, passed_over);
      continue;
    }
    if (!fs::is_regular_file(entry, error)) continue;
    // By its ending, too: a part that is being written has none.
    if (name.ends_with(".ledger") && LooksLikeLedger(entry)) {
      found->push_back({entry, {}, true, true});
      continue;
    }
    if (IsNoRank(name) || !LooksLikeTrace(entry)) {
      passed_over->push_back(entry);
      continue;
    }
    found->push_back({entry, FactsOfFileName(entry), true});
  }
}

/// Ledgers lie beside the traces that they were made of: those count.
void DropLedgersBesideTraces(size_t first, std::vector<Found>* found,
                             std::vector<std::string>* passed_over) {
  const auto begin = found->begin() + static_cast<ptrdiff_t>(first);
  const auto is_ledger = [](const Found& file) { return file.ledger; };
  if (std::all_of(begin, found->end(), is_ledger)) return;
  for (auto it = begin; it != found->end(); ++it)
    if (it->ledger) passed_over->push_back(it->path);
  found->erase(std::remove_if(begin, found->end(), is_ledger), found->end());
}

/// A pattern that the shell left alone.
std::vector<std::string> Glob(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    for (size_t i = 0; i < matches.gl_pathc; ++i)
      paths.emplace_back(matches.gl_pathv[i]);
  }
  globfree(&matches);
  return paths;
}

bool IsPattern(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos;
}

void AddWord(const std::string& word, std::vector<Found>* found,
             std::vector<std::string>* passed_over) {
  std::error_code error;
  if (fs::is_directory(word, error)) {
    const size_t before = found->size();
    AddFolder(word, false, found, passed_over);
    DropLedgersBesideTraces(before, found, passed_over);
    if (found->size() > before) return;
    throw InputError("no-traces", word,
                     "the folder holds no trace and no ledger file",
                     "name a folder with one trace a rank, or the files");
  }
  if (fs::exists(word, error) || !IsPattern(word)) {
    found->push_back({word, FactsOfFileName(word), false, IsLedgerFile(word)});
    return;
  }
  const std::vector<std::string> paths = Glob(word);
  if (paths.empty()) {
    throw InputError("no-traces", word, "no file matches the pattern",
                     "check it with ls");
  }
  for (const std::string& path : paths) AddWord(path, found, passed_over);
}

/// Of the tables of one rocprof run the first stands for all.
void JoinRuns(std::vector<Found>* found) {
  std::set<std::string> seen;
  const auto again = [&](const Found& file) {
    const std::string run = FindRocprofRun(file.path).prefix;
    return !run.empty() && !seen.insert(fs::absolute(run).string()).second;
  };
  found->erase(std::remove_if(found->begin(), found->end(), again),
               found->end());
}

void RefuseDoubles(const std::vector<Found>& found) {
  std::set<std::string> seen;
  for (const Found& file : found) {
    std::error_code error;
    const fs::path real = fs::canonical(file.path, error);
    if (seen.insert(error ? file.path : real.string()).second) continue;
    FailUsage(Printable(file.path) + " is named twice", "name each file once");
  }
}

/// Whether all are ledgers.
bool AreLedgers(const std::vector<Found>& found) {
  const auto ledgers =
      std::count_if(found.begin(), found.end(),
                    [](const Found& file) { return file.ledger; });
  if (ledgers == 0) return false;
  if (static_cast<size_t>(ledgers) == found.size()) return true;
  FailUsage("ledger files and traces are named together",
            "name the ones or the others; `inferdiff compare` takes a ledger "
            "on one side and traces on the other");
}

/// Paths of one capture's files, by run and stage.
using Captures =
    std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

/// "run/a-TP-*-DECODE.json" for what two names have in common at their ends.
std::string PatternOf(const std::vector<std::string>& paths) {
  std::string head = paths[0], tail = paths[0];
  for (const std::string& path : paths) {
    head.erase(
        std::mismatch(head.begin(), head.end(), path.begin(), path.end()).first,
        head.end());
    const auto apart =
        std::mismatch(tail.rbegin(), tail.rend(), path.rbegin(), path.rend());
    tail.erase(tail.begin(), apart.first.base());
  }
  return IsPattern(head + tail) ? "" : head + "*" + tail;
}

/// How to name the largest capture: by its one file, by a pattern that fits all
/// of its files and no others, or in words.
std::string HowToName(const Captures& captures) {
  const std::vector<std::string>* largest = &captures.begin()->second;
  for (const auto& [key, paths] : captures)
    if (paths.size() > largest->size()) largest = &paths;
  if (largest->size() == 1)
    return fmt::format("name one capture's files, such as '{}'", (*largest)[0]);
  const std::string pattern = PatternOf(*largest);
  size_t fitting = 0;
  for (const auto& [key, paths] : captures) {
    for (const std::string& path : paths)
      fitting += fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
  }
  if (pattern.empty() || fitting != largest->size())
    return "name one capture's files";
  return fmt::format("name one capture's files, such as '{}'", pattern);
}

/// What a folder holds must be one capture: ranks of two would be summed up.
void ExpectOneCapture(const std::vector<Found>& found) {
  Captures captures;
  for (const Found& file : found) {
    if (!file.from_folder) continue;
    captures[{file.facts.run, file.facts.stage}].push_back(file.path);
  }
  // Files that differ in a number only, such as a time or a process id, are
  // ranks where each names another rank.
  std::set<std::tuple<std::string, std::optional<int64_t>,
                      std::optional<int64_t>, std::optional<int64_t>>>
      ranks;
  bool distinct = true;
  std::set<std::string> stages;
  for (const Found& file : found) {
    const FileNameFacts& facts = file.facts;
    stages.insert(facts.stage);
    distinct &=
        ranks
            .insert({facts.stage, facts.rank ? facts.rank : facts.tensor,
                     facts.pipeline, facts.rank ? std::nullopt : facts.data})
            .second;
  }
  if (captures.size() < 2 || (distinct && stages.size() < 2)) return;
  std::string examples;
  for (const auto& [key, paths] : captures) {
    examples += (examples.empty() ? "" : ", ") + NameOf(paths[0]);
    if (examples.size() > 200) break;
  }
  throw InputError(
      "several-captures", fs::path(found[0].path).parent_path().string(),
      "the folder holds traces of several captures or stages: " + examples,
      HowToName(captures));
}

/// Ranks by name: "rank3" where all have one, else tensor-parallel ranks
/// within pipeline stages.
void NumberRanks(const std::vector<Found>& found, InputSet* set) {
  std::vector<std::optional<int64_t>> ranks;
  int64_t tensor_size = 1;
  for (const Found& file : found)
    tensor_size = std::max(tensor_size, file.facts.tensor.value_or(0) + 1);
  const bool all_named = std::all_of(
      found.begin(), found.end(),
      [](const Found& file) { return file.facts.rank.has_value(); });
  std::set<int64_t> seen;
  for (const Found& file : found) {
    const FileNameFacts& facts = file.facts;
    std::optional<int64_t> rank = facts.rank;
    if (!all_named) {
      const auto inner = facts.tensor ? facts.tensor : facts.data;
      rank =
          inner
              ? std::optional(facts.pipeline.value_or(0) * tensor_size + *inner)
              : facts.pipeline;
    }
    if (!rank || !seen.insert(*rank).second) ranks.clear();
    if (!rank || seen.size() != ranks.size() + 1) break;
    ranks.push_back(rank);
  }
  ranks.resize(found.size() == ranks.size() ? ranks.size() : 0);
  for (size_t i = 0; i < found.size(); ++i)
    set->files.push_back(
        {found[i].path, ranks.empty() ? std::nullopt : ranks[i]});
  std::stable_sort(set->files.begin(), set->files.end(),
                   [](const InputFileName& a, const InputFileName& b) {
                     return std::tie(a.rank, a.path) < std::tie(b.rank, b.path);
                   });
}

/// What the names of the files have in common in front of their ranks:
/// "run-TP-0", "run-TP-1" -> "run".
std::string CommonName(const InputSet& set) {
  std::string common = LabelOf(set.files[0].path);
  for (const InputFileName& file : set.files) {
    const std::string label = LabelOf(file.path);
    const auto apart =
        std::mismatch(common.begin(), common.end(), label.begin(), label.end());
    common.erase(apart.first, common.end());
  }
  const auto drop = [&](std::string_view ending) {
    if (common.ends_with(ending)) common.resize(common.size() - ending.size());
  };
  const auto trim = [&] {
    while (!common.empty() && (common.back() == '-' || common.back() == '_' ||
                               common.back() == '.')) {
      common.pop_back();
    }
  };
  trim();
  for (const std::string_view word : {"TP", "rank", "tp"}) drop(word);
  trim();
  return common;
}

/// "runs/mi355x/" -> "mi355x"; of files their common name.
std::string LabelOfSet(const std::vector<std::string>& words,
                       const InputSet& set) {
  if (set.files.size() == 1) return LabelOf(set.files[0].path);
  std::error_code error;
  if (words.size() == 1 && fs::is_directory(words[0], error)) {
    fs::path folder = fs::absolute(words[0], error).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    if (folder.has_filename()) return folder.filename().string();
  }
  const std::string common = CommonName(set);
  return common.empty() ? LabelOf(set.files[0].path) : common;
}

/// "a, b, c and 5 more"
std::string ListOfNames(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + Printable(names[i]);
  if (names.size() > kNamed)
    text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

}  // namespace

InputSet ExpandInputs(const std::vector<std::string>& words) {
  InputSet set;
  std::vector<Found> found;
  std::vector<std::string> passed_over;
  for (const std::string& word : words) AddWord(word, &found, &passed_over);
  set.ledgers = AreLedgers(found);
  if (!set.ledgers) JoinRuns(&found);
  RefuseDoubles(found);
  if (set.ledgers) {
    for (const Found& file : found) set.files.push_back({file.path, {}});
  } else {
    ExpectOneCapture(found);
    NumberRanks(found, &set);
    set.label = LabelOfSet(words, set);
  }
  // The set-up of a capture is read, from beside its first trace.
  const fs::path set_up =
      fs::path(set.files[0].path).parent_path() / "server_args.json";
  for (const std::string& path : passed_over)
    if (set.ledgers || path != set_up) set.passed_over.push_back(NameOf(path));
  return set;
}

void KeepRank(InputSet* set, std::optional<int64_t>* rank) {
  if (!*rank || set->files.size() == 1 || !set->files[0].rank) return;
  const auto chosen = std::find_if(
      set->files.begin(), set->files.end(),
      [&](const InputFileName& file) { return file.rank == *rank; });
  if (chosen == set->files.end()) {
    throw InputError(
        "no-rank", "",
        fmt::format("rank {} is not among the files: {}", **rank,
                    NamesOf(set->files)),
        fmt::format("the first is rank {}, the last rank {}",
                    *set->files.front().rank, *set->files.back().rank));
  }
  const InputFileName file = *chosen;
  set->files = {file};
  set->label = LabelOf(file.path);
  rank->reset();
}

std::string NamesOf(const std::vector<InputFileName>& files) {
  std::vector<std::string> names;
  for (const InputFileName& file : files) names.push_back(NameOf(file.path));
  return ListOfNames(names);
}

std::string PassedOverText(const InputSet& set) {
  if (set.passed_over.empty()) return "";
  return fmt::format(
      "{} of the folder passed over, not a rank's trace: {}",
      Plural(static_cast<int64_t>(set.passed_over.size()), "file"),
      ListOfNames(set.passed_over));
}

}  // namespace inferdiff
