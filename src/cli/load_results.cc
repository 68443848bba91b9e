// SPDX-License-Identifier: Apache-2.0
#include "cli/load_results.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/crc32.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "cli/load.h"
#include "cli/options.h"
#include "ledger/published_table.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

// No table that somebody reads is larger.
constexpr uint64_t kMostTable = 1 << 20;

/// "ledger.csv:mi355x", where no file is called so as a whole.
struct NamedSide {
  std::string file, side;
};

NamedSide SplitWord(const std::string& word) {
  std::error_code error;
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon == 0 || fs::exists(word, error))
    return {word, ""};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

std::string ReadSmall(const InputFile& file) {
  if (file.size() > kMostTable) {
    throw InputError("bad-table", file.path(),
                     "the table is larger than a megabyte",
                     "a published table has one row a category");
  }
  std::string text(static_cast<size_t>(file.size()), '\0');
  text.resize(file.ReadAt(0, text.data(), text.size()));
  return text;
}

bool LooksLikeTable(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0)
    return false;
  const InputFile file(path);
  std::string head(4096, '\0');
  head.resize(file.ReadAt(0, head.data(), head.size()));
  return IsPublishedTable(head);
}

}  // namespace

std::string FileOfResult(const std::string& word) {
  return SplitWord(word).file;
}

std::optional<LedgerResult> LoadResult(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  NamedSide named = SplitWord(words[0]);
  if (!LooksLikeTable(named.file)) return std::nullopt;
  const InputFile file(named.file);
  const std::string text = ReadSmall(file);
  const std::vector<std::string> sides = SidesOfTable(text);
  if (named.side.empty() && sides.size() == 1) named.side = sides[0];
  LedgerResult ledger = ReadPublishedTable(text, named.side, named.file);
  ledger.source.label =
      fmt::format("{}:{}", LabelOf(named.file), ledger.published->side);
  ledger.source.format = "published table";
  ledger.source.size_bytes = file.size();
  ledger.source.crc32 = Crc32(0, text.data(), text.size());
  return ledger;
}

Rational TimeOrArm(const std::string& option, const std::string& text) {
  const auto time = ParseDuration(text);
  if (time && time->num > 0) return *time;
  const NamedSide arm = SplitWord(text);
  std::error_code error;
  if (!arm.side.empty() && fs::is_regular_file(arm.file, error))
    return ReadTimedArm(ReadSmall(InputFile(arm.file)), arm.side, arm.file);
  FailUsage(fmt::format("{} takes a time such as 4.61ms, or the arm of a table "
                        "such as arms.csv:base, not '{}'",
                        option, Printable(text)),
            "");
}

}  // namespace inferdiff
