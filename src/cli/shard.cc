// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "cli/options.h"
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

}  // namespace

Shard ParseShard(const std::string& text) {
  std::string share = text;
  if (text == "auto") {
    const std::string task = Environment("SLURM_PROCID");
    const std::string tasks = Environment("SLURM_NTASKS");
    if (task.empty() || tasks.empty()) {
      FailUsage("--shard auto finds no SLURM_PROCID and SLURM_NTASKS",
                "run it with srun, or say the share: --shard 3/64");
    }
    share = task + "/" + tasks;
  }
  const std::string_view view = share;
  const size_t slash = share.find('/');
  const auto index = Number(view.substr(0, slash));
  const auto count =
      slash == share.npos ? std::nullopt : Number(view.substr(slash + 1));
  if (!index || !count || *index >= *count || *count > kMostShards) {
    FailUsage(fmt::format("--shard '{}' is no share", Printable(share)),
              "write K/N with K from 0 to N-1, such as 3/64, or auto");
  }
  return {*index, *count};
}

std::string FileNameOf(const Shard& shard) {
  return fmt::format("ledger-{:05}-of-{:05}.ledger", shard.index, shard.count);
}

}  // namespace inferdiff
