// SPDX-License-Identifier: Apache-2.0
#include "ledger/published_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace inferdiff {
namespace {

/// A word of a row's name and what it says.
struct Word {
  std::string_view word;
  std::vector<Category> categories;
};

const std::vector<Category> kMoe = {Category::kMoeGemm, Category::kMoeRouting,
                                    Category::kMoeQuantAct};

/// The first that occurs decides alone: a collective with an epilogue is a
/// collective, and a draft model's attention is the draft's.
const std::vector<Word>& Deciding() {
  static const std::vector<Word> kWords = {
      {"draft", {Category::kSpeculativeDraft}},
      {"speculative", {Category::kSpeculativeDraft}},
      {"allreduce", {Category::kCommunication}},
      {"communication", {Category::kCommunication}},
      {"collective", {Category::kCommunication}},
      {"collectives", {Category::kCommunication}},
      {"nccl", {Category::kCommunication}},
      {"rccl", {Category::kCommunication}},
      {"mhc", {Category::kMhc}},
      {"moe", kMoe},
      {"expert", kMoe},
      {"experts", kMoe},
  };
  return kWords;
}

/// All that occur count.
const std::vector<Word>& Adding() {
  static const std::vector<Word> kWords = {
      {"attention", {Category::kAttention}},
      {"attn", {Category::kAttention}},
      {"indexer", {Category::kAttentionIndexer}},
      {"kv", {Category::kKvCacheWrite}},
      {"gemm", {Category::kDenseGemm}},
      {"dense", {Category::kDenseGemm}},
      {"quant", {Category::kQuantization}},
      {"quantization", {Category::kQuantization}},
      {"norm", {Category::kNorm}},
      {"norms", {Category::kNorm}},
      {"rmsnorm", {Category::kNorm}},
      {"layernorm", {Category::kNorm}},
      {"rope", {Category::kRope}},
      {"activation", {Category::kActivation}},
      {"elementwise", {Category::kElementwiseMemory}},
      {"sampling", {Category::kSampling}},
      {"memcpy", {Category::kMemcpy}},
      {"copies", {Category::kMemcpy}},
      {"memset", {Category::kMemset}},
      {"memsets", {Category::kMemset}},
  };
  return kWords;
}

// What a table has no row for is compared together.
constexpr std::string_view kNoRow = "what has no row";
constexpr size_t kNobody = static_cast<size_t>(-1);

constexpr std::array<std::string_view, 5> kRest = {"glue", "rest", "other",
                                                   "misc", "unclassified"};

/// In lower case; "all-reduce" is one.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : Lower(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += c;
    else if (!words.back().empty() && !(c == '-' && words.back() == "all"))
      words.emplace_back();
  }
  return words;
}

bool Has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool NamesRest(const std::vector<std::string>& words) {
  return std::any_of(kRest.begin(), kRest.end(),
                     [&](std::string_view word) { return Has(words, word); });
}

std::vector<Category> CategoriesOf(const std::string& name) {
  const std::vector<std::string> words = WordsOf(name);
  const auto category = CategoryFromName(name);
  if (category && *category != Category::kOther &&
      *category != Category::kUnclassified)
    return {*category};
  for (const Word& word : Deciding())
    if (Has(words, word.word)) return word.categories;
  std::vector<Category> categories;
  for (const Word& word : Adding()) {
    if (!Has(words, word.word)) continue;
    categories.insert(categories.end(), word.categories.begin(),
                      word.categories.end());
  }
  if (categories.empty() && !NamesRest(words)) return {Category::kOther};
  return categories;
}

}  // namespace

NamedRows RowsOfNames(const std::vector<std::string>& names) {
  NamedRows named;
  std::array<size_t, kCategoryCount> owner;  // an index in named.rows
  owner.fill(kNobody);
  std::vector<size_t> rest;  // indices in `names`
  for (size_t i = 0; i < names.size(); ++i) {
    named.row_of_name.push_back(named.rows.size());
    const std::vector<Category> wanted = CategoriesOf(names[i]);
    if (wanted.empty()) {
      rest.push_back(i);
      continue;
    }
    std::vector<Category> free;
    for (const Category one : wanted) {
      size_t& of = owner[static_cast<size_t>(one)];
      if (of != kNobody) continue;
      of = named.rows.size();
      free.push_back(one);
    }
    if (free.empty()) {
      const size_t row = owner[static_cast<size_t>(wanted[0])];
      named.row_of_name.back() = row;
      named.rows[row].title += ", " + names[i];
      continue;
    }
    named.rows.push_back({names[i], std::move(free)});
  }
  PublishedRow row;
  if (rest.empty()) row.title = kNoRow;
  for (const size_t i : rest) {
    row.title += (row.title.empty() ? "" : ", ") + names[i];
    named.row_of_name[i] = named.rows.size();
  }
  // Unclassified time comes first: no word of a name ever takes it.
  row.categories.push_back(Category::kUnclassified);
  for (size_t i = 0; i < kCategoryCount; ++i)
    if (owner[i] == kNobody && i != static_cast<size_t>(row.categories[0]))
      row.categories.push_back(static_cast<Category>(i));
  named.rows.push_back(std::move(row));
  return named;
}

}  // namespace inferdiff
