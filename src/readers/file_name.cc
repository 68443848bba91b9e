// SPDX-License-Identifier: Apache-2.0
#include "readers/file_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace inferdiff {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

/// A run of letters, of digits, or one other character.
std::vector<std::string_view> Tokens(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    const auto extend = [&](bool (*is)(char)) {
      while (end < text.size() && is(text[end])) ++end;
    };
    if (IsLetter(text[at])) extend(IsLetter);
    if (IsDigit(text[at])) extend(IsDigit);
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), Lower);
  return lowered;
}

std::optional<int64_t> Number(std::string_view digits) {
  int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr int64_t kMost = 1'000'000;  // a longer one is a time or an id
  if (error != std::errc() || stop != digits.data() + digits.size() ||
      value > kMost) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t>* FieldOf(std::string_view word, FileNameFacts* facts) {
  const std::array<std::pair<std::string_view, std::optional<int64_t>*>, 5>
      fields = {{{"rank", &facts->rank},
                 {"tp", &facts->tensor},
                 {"dp", &facts->data},
                 {"pp", &facts->pipeline},
                 {"ep", &facts->expert}}};
  for (const auto& [name, field] : fields)
    if (word == name) return field;
  return nullptr;
}

std::string_view StageOf(std::string_view word) {
  if (word == "decode") return "decode";
  if (word == "extend" || word == "prefill") return "prefill";
  return {};
}

/// `rank 3`, `rank-3`, `rank3`, `dcp0`: tokens used, 0 where it is none.
size_t TakeIndex(const std::vector<std::string_view>& tokens, size_t at,
                 FileNameFacts* facts) {
  const std::string word = Lowered(tokens[at]);
  std::optional<int64_t> ignored;
  std::optional<int64_t>* field =
      word == "dcp" || word == "cp" ? &ignored : FieldOf(word, facts);
  if (field == nullptr) return 0;
  size_t digits = at + 1;
  if (digits < tokens.size() &&
      (tokens[digits] == "-" || tokens[digits] == "_"))
    ++digits;
  if (digits >= tokens.size() || !IsDigit(tokens[digits][0])) return 0;
  const std::optional<int64_t> value = Number(tokens[digits]);
  if (!value) return 0;
  *field = value;
  return digits + 1 - at;
}

void Read(std::string_view text, FileNameFacts* facts) {
  const std::vector<std::string_view> tokens = Tokens(text);
  for (size_t at = 0; at < tokens.size();) {
    if (const size_t used = TakeIndex(tokens, at, facts)) {
      at += used;
      continue;
    }
    const std::string_view stage = StageOf(Lowered(tokens[at]));
    if (!stage.empty()) {
      facts->stage = stage;
    } else {
      facts->run += tokens[at];
    }
    ++at;
  }
}

}  // namespace

FileNameFacts FactsOfFileName(std::string_view path) {
  FileNameFacts facts;
  const size_t slash = path.rfind('/');
  const std::string_view name =
      slash == path.npos ? path : path.substr(slash + 1);
  if (slash != path.npos) {
    std::string_view folder = path.substr(0, slash);
    if (const size_t before = folder.rfind('/'); before != folder.npos)
      folder.remove_prefix(before + 1);
    FileNameFacts of_folder;
    Read(folder, &of_folder);
    facts.rank = of_folder.rank;
  }
  Read(name, &facts);
  return facts;
}

}  // namespace inferdiff
