// SPDX-License-Identifier: Apache-2.0
#include "load/shard.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "ledger/ledger_file.h"

namespace inferdiff {
namespace {

std::optional<uint32_t> Number(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

/// "3/64" -> its numbers, if that is a share.
std::optional<Shard> TryParse(std::string_view share) {
  const size_t slash = share.find('/');
  if (slash == share.npos) return std::nullopt;
  const auto index = Number(share.substr(0, slash));
  const auto count = Number(share.substr(slash + 1));
  if (!index || !count || *index >= *count || *count > kMostShards)
    return std::nullopt;
  return Shard{*index, *count};
}

Shard ShardOfTask() {
  const std::string task = Environment("SLURM_PROCID");
  const std::string tasks = Environment("SLURM_NTASKS");
  if (task.empty() || tasks.empty()) {
    FailUsage("--shard auto finds no SLURM_PROCID and SLURM_NTASKS",
              "run it with srun, or say the share: --shard 3/64");
  }
  if (const auto shard = TryParse(task + "/" + tasks)) return *shard;
  FailUsage(
      fmt::format("--shard auto: SLURM_PROCID={} is no task of "
                  "SLURM_NTASKS={}: tasks have numbers from 0 to "
                  "SLURM_NTASKS - 1",
                  Printable(task), Printable(tasks)),
      "run it with srun, which sets both, or say the share: --shard 3/64");
}

}  // namespace

Shard ParseShard(const std::string& text) {
  if (text == "auto") return ShardOfTask();
  if (const auto shard = TryParse(text)) return *shard;
  FailUsage(fmt::format("--shard '{}' is no share", Printable(text)),
            "write K/N with K from 0 to N-1, such as 3/64, or auto");
}

std::string FileNameOf(const Shard& shard) {
  return fmt::format("ledger-{:05}-of-{:05}.ledger", shard.index, shard.count);
}

}  // namespace inferdiff
