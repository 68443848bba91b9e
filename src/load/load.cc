// SPDX-License-Identifier: Apache-2.0
#include "load/load.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/parallel.h"
#include "ledger/ledger_file.h"
#include "ledger/step_layers.h"
#include "readers/reader.h"
#include "readers/rocprof_run.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

void RefuseLedger(const std::string& path) {
  if (!IsLedgerFile(path)) return;
  throw InputError("is-ledger", path, "this is a ledger file, not a trace",
                   "`inferdiff ledger` prints it and `inferdiff compare` takes "
                   "it; other commands need the trace itself");
}

// "rank 1 device 0"; without the rank where the trace names none.
std::string DeviceText(const DeviceTotals& device) {
  return device.rank
             ? fmt::format("rank {} device {}", *device.rank, device.device)
             : fmt::format("device {}", device.device);
}

[[noreturn]] void FailDevice(const std::string& path,
                             const std::vector<DeviceTotals>& devices,
                             const DeviceChoice& wanted) {
  constexpr size_t kListed = 16;
  std::string known;
  for (size_t i = 0; i < devices.size() && i < kListed; ++i)
    known += (i == 0 ? "" : ", ") + DeviceText(devices[i]);
  if (devices.size() > kListed)
    known += fmt::format(" and {} more", devices.size() - kListed);
  const std::string fix = "the trace holds " + known;
  if (wanted.rank &&
      std::none_of(devices.begin(), devices.end(), [&](const DeviceTotals& d) {
        return d.rank == wanted.rank;
      })) {
    throw InputError("no-rank", path,
                     fmt::format("rank {} is not in this trace", *wanted.rank),
                     fix);
  }
  throw InputError(
      "no-device", path,
      fmt::format("device {} did nothing {}", wanted.device.value_or(0),
                  wanted.rank ? fmt::format("on rank {}", *wanted.rank)
                              : "in this trace"),
      fix);
}

size_t ChooseDevice(const std::string& path,
                    const std::vector<DeviceTotals>& devices,
                    const DeviceChoice& wanted) {
  std::optional<size_t> chosen;
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceTotals& device = devices[i];
    if (wanted.device && device.device != *wanted.device) continue;
    if (wanted.rank && device.rank != wanted.rank) continue;
    if (!chosen || devices[*chosen].busy_ns < device.busy_ns) chosen = i;
  }
  if (!chosen) FailDevice(path, devices, wanted);
  return *chosen;
}

// Errors of the stages behind the reader do not know the file.
template <typename Work>
auto Naming(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (InputError& error) {
    if (error.file.empty()) error.file = path;
    throw;
  }
}

}  // namespace

std::string LabelOf(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  std::string label = WithoutRocprofEnding(name);
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view ending :
         {".gz", ".zst", ".json", ".csv", ".trace", ".pt", ".sqlite", ".db",
          ".rpd", "_results"}) {
      if (!label.ends_with(ending)) continue;
      label.resize(label.size() - ending.size());
      again = true;
    }
  }
  return label.empty() ? name : label;
}

Rules LoadRules(const std::string& path, unsigned threads) {
  if (path.empty()) {
    const auto when = ThreadCount(threads) > 1
                          ? std::launch::async | std::launch::deferred
                          : std::launch::deferred;
    return std::async(when, [] { return RuleSet::Load(); }).share();
  }
  // The built-in rules have 100 kB; a device such as /dev/zero never ends.
  constexpr size_t kMost = size_t{16} << 20;
  std::string text(kMost, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(kMost));
  text.resize(static_cast<size_t>(file.gcount()));
  if (!file.is_open() || file.bad() || text.size() == kMost) {
    throw InputError("cannot-read", path,
                     text.size() == kMost ? "the rules are longer than 16 MiB"
                                          : "cannot read the rules",
                     "name a TOML file of kernel rules; docs/rules.md says "
                     "what is in one");
  }
  if (text.empty()) {
    throw InputError("bad-rules", path, "the file of rules is empty",
                     "write [[rule]] tables; docs/rules.md shows one");
  }
  // At once: what is wrong with them is said before a long file is read.
  std::promise<RuleSet> rules;
  rules.set_value(RuleSet::Load(text, path));
  return rules.get_future().share();
}

LoadedTrace LoadTrace(const std::string& path, const Rules& rules,
                      const LoadOptions& options) {
  RefuseLedger(path);
  return Naming(path, [&] {
    LoadedTrace loaded;
    loaded.threads = options.threads;
    loaded.source = ReadTrace(path, {options.threads, options.progress});
    for (const Trace& trace : loaded.source.traces)
      loaded.devices.push_back(TotalsOfDevice(trace));
    loaded.index = ChooseDevice(path, loaded.devices, options.device);
    auto [classes, steps] = ClassifyAndFindSteps(
        loaded.trace(), [&]() -> const RuleSet& { return rules.get(); },
        options.threads);
    loaded.classes = std::move(classes);
    loaded.steps = std::move(steps);
    return loaded;
  });
}

Provenance ProvenanceOf(const LoadedTrace& loaded, const RuleSet& rules) {
  Provenance source;
  source.label = LabelOf(loaded.source.path);
  source.size_bytes = loaded.source.size_bytes;
  source.crc32 = loaded.source.crc32;
  source.format = loaded.source.format;
  source.info = loaded.trace().info;
  source.counters = loaded.source.counters;
  source.rules_hash = rules.hash();
  return source;
}

namespace {

LedgerResult Build(LoadedTrace* loaded, const RuleSet& rules,
                   const LedgerOptions& options) {
  Provenance source = ProvenanceOf(*loaded, rules);
  LedgerResult result = Naming(loaded->source.path, [&] {
    return BuildLedger(loaded->trace(), loaded->classes, rules,
                       std::move(loaded->steps), options);
  });
  source.framework_hint = std::move(result.source.framework_hint);
  result.source = std::move(source);
  result.coverage.dropped_records =
      result.source.counters.Total(Severity::kDataLoss);
  return result;
}

}  // namespace

LedgerResult AccountRank(LoadedTrace* loaded, const RuleSet& rules,
                         uint32_t group) {
  LedgerOptions options;
  options.threads = loaded->threads;
  options.group = group;
  options.keep_samples = true;
  return Build(loaded, rules, options);
}

uint32_t ChosenGroup(const LoadedTrace& loaded, std::optional<int64_t> group) {
  if (!group) return loaded.steps.main_group;
  const auto groups = static_cast<int64_t>(loaded.steps.groups.size());
  if (*group < groups) return static_cast<uint32_t>(*group);
  throw InputError(
      "no-group", loaded.source.path,
      fmt::format("there is no group {}: the steps have {} group{}", *group,
                  groups, groups == 1 ? "" : "s"),
      "`inferdiff steps TRACE` lists them, numbered from 0");
}

LedgerResult AccountTrace(LoadedTrace loaded, const RuleSet& rules,
                          std::optional<int64_t> group) {
  LedgerOptions options;
  options.threads = loaded.threads;
  options.group = ChosenGroup(loaded, group);
  LedgerResult result = Build(&loaded, rules, options);
  result.devices = std::move(loaded.devices);
  BoundRankWait(&result);
  FillLayers(&result);
  return result;
}

bool LostData(const ImportCounters& counters) {
  return counters.Total(Severity::kDataLoss) > 0;
}

}  // namespace inferdiff
