// SPDX-License-Identifier: Apache-2.0
// Sums that do not close are never printed.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compare/compare.h"
#include "compare_fixture.h"

namespace inferdiff {
namespace {

LedgerResult Sound() {
  return FakeLedger(4)
      .Kernel("gemm", Category::kDenseGemm, 8, 8'000, 100, 50)
      .Kernel("norm", Category::kNorm, 8, 2'000)
      .Walls(400, 800, 120)
      .get();
}

bool Closes(const LedgerResult& ledger) {
  try {
    Compare(ledger, {}, Sound(), {}, {});
    return true;
  } catch (const ContractError&) {
    return false;
  }
}

TEST(Contract, ALedgerThatDoesNotCloseIsNotCompared) {
  EXPECT_TRUE(Closes(Sound()));
  // A nanosecond too much, wherever it stands.
  LedgerResult attributed = Sound();
  Amounts& gemm =
      attributed.categories[static_cast<size_t>(Category::kDenseGemm)];
  ++gemm.attributed_ns;
  EXPECT_FALSE(Closes(attributed));
  LedgerResult hidden = Sound();
  ++hidden.categories[static_cast<size_t>(Category::kNorm)]
        .hidden_cross_lane_ns;
  EXPECT_FALSE(Closes(hidden));
  LedgerResult idle = Sound();
  ++idle.per_step.idle.total;
  EXPECT_FALSE(Closes(idle));
  LedgerResult foreign = Sound();
  --foreign.per_step.foreign.total;
  EXPECT_FALSE(Closes(foreign));
  LedgerResult wall = Sound();
  ++wall.per_step.wall.total;
  EXPECT_FALSE(Closes(wall));
}

}  // namespace
}  // namespace inferdiff
