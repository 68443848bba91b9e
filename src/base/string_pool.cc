// SPDX-License-Identifier: Apache-2.0
#include "base/string_pool.h"

namespace inferdiff {

NameId StringPool::Intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const NameId id = size();
  strings_.emplace_back(text);
  ids_.emplace(strings_.back(), id);
  return id;
}

}  // namespace inferdiff
