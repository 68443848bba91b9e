// SPDX-License-Identifier: Apache-2.0
// A published table of what a step's time goes to, as CSV:
//
//   category,mi355x_us,gb300_wall_us,gb300_kernel_us,kernels_mi,kernels_gb
//   MoE experts,1962.7,814.72,1545.34,288,240
//   GPU idle,687.0,148.88,0,,
//   total,2649.7,963.60,1545.34,288,240
//
// One row a category, with a row for idle time and one for the total; any
// number of sides, each by the name that its columns share:
//
//   NAME_us, NAME_wall_us          time that adds up to the step
//   NAME_kernel_us, NAME_sum_us    durations added up, overlap counted twice
//   kernels_NAME, NAME_kernels     operations a step
//
// "us" may be "ms" or "ns". In the columns of operations the words of a name
// may be shortened. An empty field is unknown, never zero.
// docs/format-table.md says what that means for a comparison.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"

namespace inferdiff {

/// Does a file that begins so hold such a table?
bool IsPublishedTable(std::string_view prefix);

/// The sides of the table, in the order of their columns.
std::vector<std::string> SidesOfTable(std::string_view text);

/// One side's ledger. Throws InputError "bad-table" with `path` in it: no such
/// side, no row for the total or for idle time, a field that is no number, rows
/// that add up to more than the total.
LedgerResult ReadPublishedTable(std::string_view text, std::string_view side,
                                const std::string& path);

/// The timed step of one arm in ns: the field ms_cycle_or_step (or ms_step,
/// us_step) of the row with that name in column `arm`. Throws "bad-table".
Rational ReadTimedArm(std::string_view text, std::string_view arm,
                      const std::string& path);

/// Tokens that a sequence gets of a cycle, as that arm's server counted them:
/// the field al_server (or acceptance_length, accept_length). Throws the same.
Rational ReadAcceptedOfArm(std::string_view text, std::string_view arm,
                           const std::string& path);

}  // namespace inferdiff
