// SPDX-License-Identifier: Apache-2.0
// The kernels of both sides under the category that they work for.
#pragma once

#include <string>
#include <string_view>

#include "compare/compare.h"
#include "ledger/ledger.h"

namespace inferdiff {

/// The id of a category group's kernels; empty where it has none.
std::string KernelsId(const CompareResult& result, std::string_view group);

/// A row a kernel family, its kernels' full names one click away.
std::string HtmlKernels(const CompareResult& result);
std::string HtmlKernels(const LedgerResult& ledger);

}  // namespace inferdiff
