// SPDX-License-Identifier: Apache-2.0
// The two exceptions of the library. Both are caught in cli/ and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace inferdiff {

/// Where in an input something is wrong. A format has bytes, rows or lines.
struct InputPosition {
  enum class Unit : uint8_t { kByte, kRow, kLine };
  Unit unit = Unit::kByte;
  uint64_t value = 0;
};

/// An input that cannot be used at all (exit 2). A single bad record is not
/// this: it is a counter (model/counters.h) and reading goes on.
struct InputError : std::runtime_error {
  /// `id` is stable and listed in docs/errors.md, e.g. "no-gpu-events".
  /// `what` says what is wrong, `fix` what the user can do about it.
  InputError(std::string id, std::string file, const std::string& what,
             std::string fix, std::optional<InputPosition> where = {});

  std::string id;
  std::string file;
  std::string fix;
  std::optional<InputPosition> where;
};

/// Throws InputError "usage": what was asked for makes no sense.
[[noreturn]] void FailUsage(const std::string& what, std::string fix);

/// One of our own invariants does not hold (exit 70). Never thrown for what an
/// input contains: a wrong table is worse than no table.
struct ContractError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace inferdiff
