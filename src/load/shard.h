// SPDX-License-Identifier: Apache-2.0
// Which share of a set one process takes.
#pragma once

#include <cstdint>
#include <string>

namespace inferdiff {

/// Files f with f mod count = index.
struct Shard {
  uint32_t index = 0;
  uint32_t count = 1;

  bool Has(size_t file) const { return file % count == index; }
};

/// "3/64", or "auto": SLURM_PROCID and SLURM_NTASKS, which srun sets. Throws
/// InputError "usage".
Shard ParseShard(const std::string& text);

/// "ledger-00003-of-00064.ledger": in order of number for every shell.
std::string FileNameOf(const Shard& shard);

}  // namespace inferdiff
