// SPDX-License-Identifier: Apache-2.0
// Fields of a ledger's JSON, each checked when it is taken. All throw
// InputError "bad-ledger-json" where a field is missing or of another kind.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/error.h"

namespace inferdiff {

using DocumentJson = nlohmann::json;

InputError BadDocument(const std::string& path, const std::string& what);
[[noreturn]] void FailDocument(const std::string& what);

const DocumentJson& Field(const DocumentJson& object, const char* name);
const DocumentJson& List(const DocumentJson& object, const char* name);
/// Integers beyond 2^53 are strings; null is unknown.
std::optional<int64_t> OptionalInt(const DocumentJson& object,
                                   const char* name);
int64_t Int(const DocumentJson& object, const char* name);
/// A count or a time that cannot be below zero.
int64_t Amount(const DocumentJson& object, const char* name);
std::string Text(const DocumentJson& object, const char* name);  // null: empty
bool Bool(const DocumentJson& object, const char* name);

}  // namespace inferdiff
