// SPDX-License-Identifier: Apache-2.0
#include "load/load_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/version.h"
#include "ledger/rank_set.h"
#include "load/load_ledgers.h"
#include "load/load_results.h"

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

/// Nothing where the markers do not say.
std::optional<int64_t> MiddleContext(const StepGroup& group) {
  if (!group.context_min || !group.context_max) return group.shape.context;
  // Halves first: a hostile marker may carry any number.
  return *group.context_min / 2 + *group.context_max / 2;
}

int64_t ContextApart(const StepGroup& a, const StepGroup& b) {
  const auto middle_a = MiddleContext(a);
  const auto middle_b = MiddleContext(b);
  if (!middle_a || !middle_b) return middle_a == middle_b ? 0 : INT64_MAX;
  const auto [low, high] = std::minmax(*middle_a, *middle_b);
  return SaturatingSub(high, low);
}

/// The group of the same work, of nearest context; without one, what the rank
/// did most.
uint32_t GroupLike(const Steps& steps, const StepGroup& wanted) {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < steps.groups.size(); ++i) {
    const StepGroup& group = steps.groups[i];
    if (group.used == 0 || group.shape.kind != wanted.shape.kind ||
        group.shape.batch != wanted.shape.batch ||
        group.shape.tokens != wanted.shape.tokens) {
      continue;
    }
    if (!best || ContextApart(group, wanted) <
                     ContextApart(steps.groups[*best], wanted)) {
      best = i;
    }
  }
  return best.value_or(steps.main_group);
}

StepGroup GroupAt(const Steps& steps, uint32_t group) {
  return group < steps.groups.size() ? steps.groups[group] : StepGroup{};
}

bool WantsOneDevice(const LoadOptions& options) {
  return options.device.device || options.device.rank;
}

}  // namespace

SideLoader::SideLoader(const std::vector<std::string>& words,
                       const Rules& rules, LoadOptions options)
    : rules_(rules), options_(std::move(options)) {
  if (options_.results && TryResult(words)) return;
  inputs_ = ExpandInputs(words);
  if (inputs_.ledgers) {
    LoadLedgers();
    return;
  }
  KeepRank(&inputs_, &options_.device.rank);
  LoadOptions first = options_;
  if (options_.progress) {
    first.progress = [this](double share) {
      options_.progress(share / static_cast<double>(inputs_.files.size()));
    };
  }
  first_ = LoadTrace(inputs_.files[0].path, rules, first);
}

void SideLoader::RefuseDeviceChoice() const {
  if (!WantsOneDevice(options_)) return;
  FailUsage("--device and --rank choose from traces, not from ledger files",
            "give them to the `inferdiff ledger` that writes the file");
}

bool SideLoader::TryResult(const std::vector<std::string>& words) {
  result_ = LoadResult(words);
  if (!result_) return false;
  RefuseDeviceChoice();
  inputs_.files.push_back({FileOfResult(words[0]), {}});
  inputs_.label = result_->source.label;
  inputs_.ledgers = true;
  if (result_->published) result_->source.rules_hash = rules_.get().hash();
  first_.steps = result_->steps;
  first_.steps.main_group = result_->group;
  return true;
}

void SideLoader::LoadLedgers() {
  const std::string& path = inputs_.files[0].path;
  RefuseDeviceChoice();
  ledger_ = ReadLedgers(inputs_);
  inputs_.label = ledger_->set.label;
  if (ledger_->set.rules_hash != rules_.get().hash()) {
    throw InputError(
        "other-rules", path,
        fmt::format("the ledger was made with the rules {}, these are {}",
                    Printable(ledger_->set.rules_hash), rules_.get().hash()),
        "give the --rules that it was made with, or make it anew");
  }
  LedgerResult rank = Unpack(ledger_->ranks[0]);
  first_.source.path = path;
  first_.steps = std::move(rank.steps);
  first_.steps.main_group = rank.group;
  for (uint32_t i = 0; i < first_.steps.groups.size(); ++i)
    if (i != rank.group) first_.steps.groups[i].used = 0;
}

ServerFacts SideLoader::ServerArgs() const {
  if (result_) return {};
  if (!ledger_) return ReadServerArgsBeside(inputs_.files[0].path);
  ServerFacts server;
  for (const SetupFact& fact : ledger_->set.setup)
    server.facts.emplace_back(fact.name, fact.value);
  return server;
}

bool SideLoader::IsSet() const {
  return inputs_.files.size() > 1 ||
         (!WantsOneDevice(options_) && RanksIn(first_).size() > 1);
}

/// `group`: in the file's main trace.
std::vector<PackedRank> SideLoader::AccountFile(LoadedTrace loaded, size_t file,
                                                uint32_t group) const {
  const StepGroup wanted = GroupAt(loaded.steps, group);
  const size_t main = loaded.index;
  const std::vector<size_t> ranks =
      WantsOneDevice(options_) ? std::vector<size_t>{main} : RanksIn(loaded);
  const bool alone = ranks.size() == 1 && inputs_.files.size() == 1;
  std::vector<PackedRank> packed;
  for (const size_t index : ranks) {
    if (index != loaded.index) {
      loaded.index = index;
      loaded.classes = Classify(loaded.trace(), rules_.get());
      loaded.steps = FindSteps(loaded.trace(), loaded.classes);
    }
    LedgerResult ledger =
        AccountRank(&loaded, rules_.get(),
                    index == main ? group : GroupLike(loaded.steps, wanted));
    if (ranks.size() == 1) ledger.source.name_rank = inputs_.files[file].rank;
    if (alone) ledger.devices = loaded.devices;
    packed.push_back(Pack(ledger));
    packed.back().file = static_cast<uint32_t>(file);
  }
  return packed;
}

std::vector<PackedRank> SideLoader::AccountOther(
    size_t file, const StepGroup& wanted, const LoadOptions& options) const {
  LoadedTrace loaded = LoadTrace(inputs_.files[file].path, rules_, options);
  const uint32_t group = GroupLike(loaded.steps, wanted);
  return AccountFile(std::move(loaded), file, group);
}

void SideLoader::AccountOthers(
    const StepGroup& wanted, const std::vector<size_t>& files,
    std::vector<std::vector<PackedRank>>* by_file) const {
  if (files.empty()) return;
  const unsigned threads = ThreadCount(options_.threads);
  const auto workers =
      static_cast<unsigned>(std::min<size_t>(threads, files.size()));
  LoadOptions options = options_;
  options.threads = std::max(1U, threads / workers);
  options.progress = {};
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  std::vector<std::exception_ptr> failed(files.size());
  const auto account = [&](size_t i) {
    try {
      (*by_file)[files[i]] = AccountOther(files[i], wanted, options);
    } catch (...) {
      failed[i] = std::current_exception();
      stop = true;
    }
  };
  InParallel(workers, [&](unsigned worker) {
    for (size_t i; !stop && (i = next++) < files.size();) {
      account(i);
      // The first worker is the calling thread, which alone may report.
      if (worker == 0 && options_.progress) {
        options_.progress(static_cast<double>(i + 2) /
                          static_cast<double>(files.size() + 1));
      }
    }
  });
  // Files are taken in order: the first that fails is the same for any number
  // of threads.
  for (const std::exception_ptr& exception : failed)
    if (exception) std::rethrow_exception(exception);
}

LedgerPart SideLoader::EmptyPart(uint32_t group, Shard shard) const {
  LedgerPart part;
  part.shard = shard.index;
  part.shards = shard.count;
  part.set.program = fmt::format("{} ({})", Version(), Commit());
  part.set.rules_hash = rules_.get().hash();
  part.set.label = inputs_.label;
  part.set.group = GroupAt(first_.steps, group);
  part.set.device = options_.device.device;
  part.set.rank = options_.device.rank;
  for (auto& [name, value] : ServerArgs().facts)
    part.set.setup.push_back({name, value});
  for (const InputFileName& file : inputs_.files) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(file.path, error);
    part.set.files.push_back(
        {LabelOf(file.path), file.rank, error ? 0 : uint64_t{size}});
  }
  return part;
}

/// A ledger is of one group.
void SideLoader::ExpectGroup(std::optional<int64_t> group) const {
  if (!group || *group == int64_t{first_.steps.main_group}) return;
  throw InputError(
      "no-group", inputs_.files[0].path,
      fmt::format("the ledger holds the account of group {} only",
                  first_.steps.main_group),
      "make one of the other group with `inferdiff ledger --group`");
}

LedgerPart SideLoader::AccountPart(std::optional<int64_t> group,
                                   Shard shard) && {
  if (ledger_) {
    ExpectGroup(group);
    return *std::move(ledger_);
  }
  const uint32_t chosen = ChosenGroup(first_, group);
  LedgerPart part = EmptyPart(chosen, shard);
  std::vector<std::vector<PackedRank>> by_file(inputs_.files.size());
  if (shard.Has(0)) by_file[0] = AccountFile(std::move(first_), 0, chosen);
  first_ = {};
  std::vector<size_t> others;
  for (size_t file = 1; file < by_file.size(); ++file)
    if (shard.Has(file)) others.push_back(file);
  AccountOthers(part.set.group, others, &by_file);
  for (std::vector<PackedRank>& file : by_file)
    std::move(file.begin(), file.end(), std::back_inserter(part.ranks));
  return part;
}

LedgerResult SideLoader::Account(std::optional<int64_t> group) && {
  if (result_) {
    if (!result_->published) ExpectGroup(group);
    return *std::move(result_);
  }
  if (!ledger_ && !IsSet())
    return AccountTrace(std::move(first_), rules_.get(), group);
  const bool from_files = inputs_.ledgers;
  const LedgerPart part = std::move(*this).AccountPart(group, {});
  return from_files ? JoinLedger(part) : JoinRanks(part.ranks, part.set.label);
}

bool ShareFolder(const SideLoader& a, const SideLoader& b) {
  if (a.inputs().ledgers || b.inputs().ledgers) return false;
  const auto folder = [](const SideLoader& side) {
    return std::filesystem::absolute(side.inputs().files[0].path).parent_path();
  };
  std::error_code error;
  return std::filesystem::equivalent(folder(a), folder(b), error);
}

}  // namespace inferdiff
