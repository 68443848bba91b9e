// SPDX-License-Identifier: Apache-2.0
// Names of a published table's rows -> the categories that they stand for.
#pragma once

#include <string>
#include <vector>

#include "ledger/published.h"

namespace inferdiff {

/// Rows that stand for distinct categories, and which of them each name is:
/// names that mean the same become one row. The last row holds all categories
/// that no name stands for.
///   "MoE experts + routing"      -> the three MoE categories
///   "all-reduce + MoE finalize"  -> communication
///   "other glue"                 -> the last row
///   "Engram"                     -> other
struct NamedRows {
  std::vector<PublishedRow> rows;
  std::vector<size_t> row_of_name;
};
NamedRows RowsOfNames(const std::vector<std::string>& names);

}  // namespace inferdiff
