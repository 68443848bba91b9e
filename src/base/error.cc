// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <utility>

namespace inferdiff {

InputError::InputError(std::string id_in, std::string file_in,
                       const std::string& what, std::string fix_in,
                       std::optional<InputPosition> where_in)
    : std::runtime_error(what),
      id(std::move(id_in)),
      file(std::move(file_in)),
      fix(std::move(fix_in)),
      where(where_in) {}

void FailUsage(const std::string& what, std::string fix) {
  throw InputError("usage", "", what, std::move(fix));
}

}  // namespace inferdiff
