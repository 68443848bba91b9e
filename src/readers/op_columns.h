// SPDX-License-Identifier: Apache-2.0
// The columns of GPU ops while they are filled: all but `launch`.
#pragma once

#include <cstddef>

#include "model/trace.h"

namespace inferdiff {

/// Makes all columns longer. Their memory doubles, or becomes enough for
/// `expected` ops; little of it is touched before it is needed.
void GrowOps(size_t expected, GpuOps* ops);

/// To the first `size` ops.
void ShrinkOps(size_t size, GpuOps* ops);

/// Sorts by (start, end, lane, ordinal).
void SortOps(GpuOps* ops);

}  // namespace inferdiff
