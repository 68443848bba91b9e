// SPDX-License-Identifier: Apache-2.0
#include "layers/role.h"

#include <array>

namespace inferdiff {
namespace {

constexpr std::array<std::string_view, kRoleCount> kIds = {
#define X(constant, id) id,
    INFERDIFF_ROLES(X)
#undef X
};

}  // namespace

std::string_view IdOf(Role role) { return kIds[static_cast<size_t>(role)]; }

std::optional<Role> RoleFromId(std::string_view id) {
  for (size_t i = 0; i < kRoleCount; ++i)
    if (kIds[i] == id) return static_cast<Role>(i);
  return std::nullopt;
}

}  // namespace inferdiff
