// SPDX-License-Identifier: Apache-2.0
// Results as a side of a comparison: published tables, tables of timed arms and
// ledgers in JSON. Whatever is taken can be compared, and written in all forms.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "../faults/whole_program.h"
#include "ledger/ledger_document.h"
#include "ledger/published_table.h"

namespace inferdiff {
namespace {

void CompareWithItself(const LedgerResult& ledger) {
  const CompareResult result =
      Compare(LedgerResult(ledger), {}, ledger, {}, {});
  const Document page = CompareDocument(result);
  if (TerminalText(page, {}).empty() || MarkdownDocument(page).empty() ||
      CompareTsvText(result).empty() ||
      !nlohmann::json::accept(Written(
          [&](const TextSink& sink) { WriteCompareJson(result, sink); })))
    FailWhole("an empty or broken comparison");
}

void Try(const std::string& text) {
  if (IsLedgerDocument(text))
    CompareWithItself(ReadLedgerDocument(text, "ledger.json"));
  if (!IsPublishedTable(text)) return;
  for (const std::string& side : SidesOfTable(text))
    CompareWithItself(ReadPublishedTable(text, side, "table.csv"));
}

}  // namespace
}  // namespace inferdiff

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    inferdiff::Try(text);
  } catch (const inferdiff::InputError&) {
  }
  try {
    inferdiff::ReadTimedArm(text, "base", "arms.csv");
  } catch (const inferdiff::InputError&) {
  }
  return 0;
}
