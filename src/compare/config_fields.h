// SPDX-License-Identifier: Apache-2.0
// Small JSON files that people hand in beside their traces: a model's
// config.json, a probe's results. Every field is checked when it is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

/// Larger ones are something else.
inline constexpr size_t kMaxConfigBytes = 8 << 20;

/// What a whole number may be.
struct WholeRange {
  int64_t least = 1;
  int64_t most = int64_t{1} << 24;
};

/// One object of such a file. It stays valid as long as a copy of any object of
/// the file exists. All Throw InputError "bad-config" with the file, the field
/// and what is wrong with it.
class ConfigFields {
 public:
  /// The whole of a file; `path` and `what` ("a model's config.json") are for
  /// messages.
  static ConfigFields Parse(std::string_view text, const std::string& path,
                            const std::string& what);

  /// null counts as absent.
  bool Has(std::string_view key) const;
  std::optional<int64_t> Whole(std::string_view key,
                               WholeRange range = {}) const;
  int64_t NeededWhole(std::string_view key, WholeRange range = {}) const;
  /// The first of several names of one field.
  std::optional<int64_t> WholeOf(std::initializer_list<std::string_view> keys,
                                 WholeRange range = {}) const;
  /// `value` in units of 1 / `scale`, rounded; 0 or more.
  std::optional<int64_t> Scaled(std::string_view key, int64_t scale) const;
  std::optional<bool> Truth(std::string_view key) const;
  std::string Text(std::string_view key) const;  // empty where absent
  std::string NeededText(std::string_view key) const;
  std::vector<std::string> Texts(std::string_view key) const;
  std::vector<int64_t> Wholes(std::string_view key, WholeRange range) const;
  bool IsArray(std::string_view key) const;
  std::optional<ConfigFields> Object(std::string_view key) const;
  /// The objects of an array; of an object, its members that are objects.
  std::vector<ConfigFields> Objects(std::string_view key) const;
  /// The key that this object has in the one above; "quantization_config".
  const std::string& name() const { return name_; }
  /// Every key of the object with whether it holds a number above 0, or an
  /// array or object that is not empty.
  void EachKey(
      const std::function<void(const std::string&, bool)>& visit) const;

  [[noreturn]] void Fail(const std::string& what) const;

 private:
  struct File;
  ConfigFields(std::shared_ptr<const File> file, const nlohmann::json* object,
               std::string name);
  const nlohmann::json* Find(std::string_view key) const;
  [[noreturn]] void FailField(std::string_view key,
                              const std::string& what) const;

  std::shared_ptr<const File> file_;
  const nlohmann::json* object_;
  std::string name_;
};

}  // namespace inferdiff
