// SPDX-License-Identifier: Apache-2.0
// Many ordered patterns, of which the first that matches a text is asked for.
//
// Nearly every pattern holds a literal that its matches must contain. The
// text's three-letter groups are looked up in a table of how those literals
// start; only patterns whose literal is there are tried, and only those are
// ever compiled. A program that classifies thirty names must not pay for a
// thousand patterns: one automaton over all of them costs 15 ms to warm up,
// this costs microseconds.
//
//   literal "moe_gemm"  ->  table["moe"] = {.., 17, ..}
//   text "_moe_gemm_a8w4": at "moe" the literal of 17 follows -> try 17
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace inferdiff {

class PatternList {
 public:
  using Id = uint16_t;
  static constexpr Id kNone = 0xffff;

  /// `buckets` of the table: a list of few patterns needs few.
  explicit PatternList(size_t buckets = 8192);
  PatternList(PatternList&&) noexcept;
  ~PatternList();

  /// `pattern` is RE2 syntax and known to compile. Ids need not be distinct;
  /// the lowest that matches wins.
  void Add(std::string_view pattern, Id id);

  /// The lowest id whose pattern is found in `text`, or kNone.
  Id First(std::string_view text) const;

 private:
  struct Item;
  std::vector<uint32_t> Candidates(std::string_view text) const;

  std::vector<std::unique_ptr<Item>> items_;
  std::vector<std::vector<uint32_t>> by_start_;  // by hash of three letters
  std::vector<uint32_t> without_literal_;        // tried on every text
};

/// The longest literal every match of `pattern` contains, in lower case; empty
/// when there is none. Exposed for tests.
std::string RequiredLiteral(std::string_view pattern);

/// "a|b(c|d)" -> "a", "b(c|d)". A leading "(?i)" goes to each.
std::vector<std::string> SplitAlternatives(std::string_view pattern);

}  // namespace inferdiff
