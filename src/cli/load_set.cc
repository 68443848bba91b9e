// SPDX-License-Identifier: Apache-2.0
#include "cli/load_set.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "ledger/rank_set.h"

namespace inferdiff {
namespace {

/// Traces of a file that are ranks of their own: of several ranks or
/// processes, as far as they do a tenth of the busiest one's work. Two devices
/// of one process are no two ranks.
std::vector<size_t> RanksIn(const LoadedTrace& loaded) {
  const std::vector<Trace>& traces = loaded.source.traces;
  int64_t most = 0;
  for (const DeviceTotals& device : loaded.devices)
    most = std::max(most, device.busy_ns);
  std::vector<size_t> ranks;
  std::set<std::tuple<std::optional<int64_t>, std::string>> distinct;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (loaded.devices[i].busy_ns < most / 10) continue;
    ranks.push_back(i);
    distinct.emplace(traces[i].info.rank, traces[i].info.process);
  }
  if (distinct.size() < ranks.size()) return {loaded.index};
  return ranks;
}

/// The group of the same work; without one, what the rank did most.
uint32_t GroupLike(const Steps& steps, const StepShape& wanted) {
  for (uint32_t i = 0; i < steps.groups.size(); ++i) {
    const StepShape& shape = steps.groups[i].shape;
    if (steps.groups[i].used > 0 && shape.kind == wanted.kind &&
        shape.batch == wanted.batch && shape.tokens == wanted.tokens) {
      return i;
    }
  }
  return steps.main_group;
}

StepShape ShapeOfGroup(const Steps& steps, std::optional<int64_t> group) {
  const size_t index =
      group ? static_cast<size_t>(*group) : size_t{steps.main_group};
  return index < steps.groups.size() ? steps.groups[index].shape : StepShape{};
}

bool WantsOneDevice(const LoadOptions& options) {
  return options.device.device || options.device.rank;
}

}  // namespace

SideLoader::SideLoader(const std::vector<std::string>& words,
                       const RuleSet& rules, LoadOptions options)
    : inputs_(ExpandInputs(words)),
      rules_(rules),
      options_(std::move(options)) {
  LoadOptions first = options_;
  if (options_.progress) {
    first.progress = [this](double share) {
      options_.progress(share / static_cast<double>(inputs_.files.size()));
    };
  }
  first_ = LoadTrace(inputs_.files[0].path, rules, first);
}

bool SideLoader::IsSet() const {
  return inputs_.files.size() > 1 ||
         (!WantsOneDevice(options_) && RanksIn(first_).size() > 1);
}

std::vector<LedgerResult> SideLoader::AccountFile(
    LoadedTrace loaded, const StepShape& wanted,
    std::optional<int64_t> rank) const {
  const std::vector<size_t> ranks = WantsOneDevice(options_)
                                        ? std::vector<size_t>{loaded.index}
                                        : RanksIn(loaded);
  std::vector<LedgerResult> ledgers;
  for (const size_t index : ranks) {
    if (index != loaded.index) {
      loaded.index = index;
      loaded.classes = Classify(loaded.trace(), rules_);
      loaded.steps = FindSteps(loaded.trace(), loaded.classes);
    }
    const uint32_t group = GroupLike(loaded.steps, wanted);
    LedgerResult ledger = AccountRank(&loaded, rules_, group);
    if (ranks.size() == 1) ledger.source.name_rank = rank;
    ledgers.push_back(std::move(ledger));
  }
  return ledgers;
}

void SideLoader::AccountOthers(
    const StepShape& wanted,
    std::vector<std::vector<LedgerResult>>* by_file) const {
  const size_t files = inputs_.files.size();
  if (files < 2) return;
  const unsigned threads = ThreadCount(options_.threads);
  const auto workers =
      static_cast<unsigned>(std::min<size_t>(threads, files - 1));
  LoadOptions options = options_;
  options.threads = std::max(1U, threads / workers);
  options.progress = {};
  std::atomic<size_t> next = 1;
  std::atomic<bool> stop = false;
  std::vector<std::exception_ptr> failed(files);
  const auto account = [&](size_t file) {
    const InputFileName& input = inputs_.files[file];
    try {
      (*by_file)[file] = AccountFile(LoadTrace(input.path, rules_, options),
                                     wanted, input.rank);
    } catch (...) {
      failed[file] = std::current_exception();
      stop = true;
    }
  };
  InParallel(workers, [&](unsigned worker) {
    for (size_t file; !stop && (file = next++) < files;) {
      account(file);
      // The first worker is the calling thread, which alone may report.
      if (worker == 0 && options_.progress) {
        options_.progress(static_cast<double>(file + 1) /
                          static_cast<double>(files));
      }
    }
  });
  // Files are taken in order: the first that fails is the same for any number
  // of threads.
  for (const std::exception_ptr& exception : failed)
    if (exception) std::rethrow_exception(exception);
}

std::vector<LedgerResult> SideLoader::AccountRanks(
    std::optional<int64_t> group) && {
  const StepShape wanted = ShapeOfGroup(first_.steps, group);
  std::vector<std::vector<LedgerResult>> by_file(inputs_.files.size());
  by_file[0] = AccountFile(std::move(first_), wanted, inputs_.files[0].rank);
  AccountOthers(wanted, &by_file);
  std::vector<LedgerResult> ledgers;
  for (std::vector<LedgerResult>& file : by_file)
    std::move(file.begin(), file.end(), std::back_inserter(ledgers));
  return ledgers;
}

LedgerResult SideLoader::Account(std::optional<int64_t> group) && {
  if (!IsSet()) return AccountTrace(std::move(first_), rules_, group);
  const std::string label = inputs_.label;
  return JoinRanks(std::move(*this).AccountRanks(group), label);
}

}  // namespace inferdiff
