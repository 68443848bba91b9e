// SPDX-License-Identifier: Apache-2.0
#include "readers/op_columns.h"

#include <gtest/gtest.h>

namespace inferdiff {
namespace {

OpRow RowOf(size_t i) {
  const auto value = static_cast<int64_t>(i);
  return {value,
          value * 2,
          value * 3,
          i * 4,
          static_cast<NameId>(i * 5),
          static_cast<uint32_t>(i * 6),
          i % 2 == 0 ? OpKind::kKernel : OpKind::kMemcpy};
}

TEST(OpColumns, KeepsRowsWhileTheyGrow) {
  OpColumns columns;
  constexpr size_t kRows = 20'000;
  for (size_t i = 0; i < kRows; ++i) {
    if (i == 1000) columns.Expect(kRows);
    columns.Add(RowOf(i));
  }
  const GpuOps ops = columns.Take();
  EXPECT_EQ(columns.size(), 0U);
  ASSERT_EQ(ops.size(), kRows);
  EXPECT_EQ(ops.kind.size(), kRows);
  for (const size_t i : {size_t{0}, size_t{63}, size_t{5000}, kRows - 1}) {
    const OpRow row = RowOf(i);
    EXPECT_EQ(ops.start_ns[i], row.start_ns);
    EXPECT_EQ(ops.dur_ns[i], row.dur_ns);
    EXPECT_EQ(ops.correlation[i], row.correlation);
    EXPECT_EQ(ops.ordinal[i], row.ordinal);
    EXPECT_EQ(ops.name[i], row.name);
    EXPECT_EQ(ops.lane[i], row.lane);
    EXPECT_EQ(ops.kind[i], row.kind);
  }
}

TEST(RowForecast, CountsFromTheFirstRowOn) {
  RowForecast forecast;
  constexpr double kSpare = 1.0625;
  EXPECT_EQ(forecast.Of(0, 0.5), 0U);
  // As many in each hundredth of the file as in the one behind its middle.
  const auto rows = [&](size_t seen, double share) {
    return static_cast<double>(forecast.Of(seen, share));
  };
  EXPECT_NEAR(rows(1000, 0.51), 50'000 * kSpare, 2);
  EXPECT_NEAR(rows(50'000, 1.0), 50'000 * kSpare, 2);
  // Nothing is known: memory that one may ask for.
  EXPECT_NEAR(rows(1000, 0.5), 64'000 * kSpare, 2);
}

}  // namespace
}  // namespace inferdiff
