// SPDX-License-Identifier: Apache-2.0
#include "load/load_results.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/crc32.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "ledger/ledger_document.h"
#include "ledger/published_table.h"
#include "load/load.h"

namespace inferdiff {
namespace {

namespace fs = std::filesystem;

// No table that somebody reads is larger, and no ledger of 100,000 kernels.
constexpr uint64_t kMostTable = 1 << 20;
constexpr uint64_t kMostDocument = 128 << 20;

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

std::string ReadAll(const InputFile& file) {
  std::string text(static_cast<size_t>(file.size()), '\0');
  text.resize(file.ReadAt(0, text.data(), text.size()));
  return text;
}

std::string ReadTable(const InputFile& file) {
  if (file.size() > kMostTable) {
    throw InputError("bad-table", file.path(),
                     "the table is larger than a megabyte",
                     "a published table has one row a category");
  }
  return ReadAll(file);
}

/// Empty where there is no such file.
std::string HeadOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0)
    return {};
  const InputFile file(path);
  std::string head(4096, '\0');
  head.resize(file.ReadAt(0, head.data(), head.size()));
  return head;
}

LedgerResult LoadTable(NamedSide named) {
  const InputFile file(named.file);
  const std::string text = ReadTable(file);
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

LedgerResult LoadDocument(const std::string& path) {
  const InputFile file(path);
  if (file.size() > kMostDocument) {
    throw InputError("bad-ledger-json", path, "it is larger than 128 MB",
                     "name the trace, or write it packed: inferdiff ledger -o "
                     "FILE.ledger");
  }
  return ReadLedgerDocument(ReadAll(file), path);
}

}  // namespace

std::string FileOfResult(const std::string& word) {
  return SplitWord(word).file;
}

std::optional<LedgerResult> LoadResult(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  NamedSide named = SplitWord(words[0]);
  const std::string head = HeadOf(named.file);
  if (IsPublishedTable(head)) return LoadTable(std::move(named));
  if (named.side.empty() && IsLedgerDocument(head))
    return LoadDocument(named.file);
  return std::nullopt;
}

std::optional<Rational> AcceptedOrArm(std::string_view text) {
  constexpr int64_t kMost = 1'000'000;  // beyond, it is no number of drafts
  std::optional<Rational> tokens;
  if (const auto thousandths = ParseFixed(text, 3))
    tokens = Rational{*thousandths, 1000};
  const NamedSide arm = SplitWord(std::string(text));
  std::error_code error;
  if (!tokens && !arm.side.empty() && fs::is_regular_file(arm.file, error))
    tokens =
        ReadAcceptedOfArm(ReadTable(InputFile(arm.file)), arm.side, arm.file);
  if (tokens && (*tokens < Rational{1, 1} || Rational{kMost, 1} < *tokens))
    tokens.reset();
  return tokens;
}

Rational TimeOrArm(const std::string& option, const std::string& text) {
  const auto time = ParseDuration(text);
  if (time && time->num > 0) return *time;
  const NamedSide arm = SplitWord(text);
  std::error_code error;
  if (!arm.side.empty() && fs::is_regular_file(arm.file, error))
    return ReadTimedArm(ReadTable(InputFile(arm.file)), arm.side, arm.file);
  FailUsage(fmt::format("{} takes a time such as 4.61ms, or the arm of a table "
                        "such as arms.csv:base, not '{}'",
                        option, Printable(text)),
            "");
}

}  // namespace inferdiff
