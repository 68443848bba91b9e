// SPDX-License-Identifier: Apache-2.0
// Which texts of a trace may be published, and what stands for the others.
//
// Secrets cannot be told by their looks: a host may be called anything. So a
// text stays only where all its words are known ones (of markers, categories,
// dtypes ...) and it holds no address; everything else gets a placeholder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace inferdiff {

struct Replacement {
  std::string original, placeholder;
  uint64_t count = 0;
};

class Placeholders {
 public:
  /// `keep_originals`: for a preview, which lists them.
  explicit Placeholders(bool keep_originals);

  /// Only known words, numbers and the punctuation between them.
  bool IsPublic(std::string_view text) const;

  /// "path-3": the same for the same text as long as this lives. `key` is that
  /// of the field, which may tell what it holds.
  std::string Of(std::string_view text, std::string_view key);

  /// The text with each word that is not known made "x" and each address cut:
  /// for what a reader has to understand still.
  std::string Cropped(std::string_view text) const;

  /// In order of first appearance; empty without `keep_originals`.
  const std::vector<Replacement>& replacements() const { return list_; }
  uint64_t replaced() const { return replaced_; }

 private:
  struct Known {
    std::string placeholder;
    size_t listed = 0;  // index in list_
  };

  bool keep_originals_;
  std::unordered_set<std::string> words_;
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, uint32_t> last_number_;  // by kind
  std::vector<Replacement> list_;
  uint64_t replaced_ = 0;
};

}  // namespace inferdiff
