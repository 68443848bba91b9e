// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger_output.h"

#include <algorithm>

#include "cli/one_trace.h"
#include "ledger/rank_set.h"
#include "load/load_ledgers.h"
#include "report/html_page.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"
#include "report/perfetto.h"

namespace inferdiff {
namespace {

ReportForms FormsOf(const LedgerResult& ledger, int64_t top) {
  return {[&ledger, top] {
            return LedgerDocument(ledger, static_cast<size_t>(top));
          },
          [&ledger](const TextSink& sink) { WriteLedgerJson(ledger, sink); },
          [&ledger] { return LedgerTsv(ledger); },
          [&ledger](const TextSink& sink) { WriteLedgerPage(ledger, sink); },
          [&ledger](const TextSink& sink) { WritePerfetto(ledger, sink); }};
}

int CodeOf(const LedgerOutput& output, const LedgerResult& ledger) {
  return std::max(
      GateCode(FailedGates(output.gates, ledger)),
      ExitCode(output.common, ledger.source.counters, ledger.capture_checks));
}

}  // namespace

const std::vector<Format> kLedgerFormats = {
    Format::kTerminal, Format::kMarkdown, Format::kJson,  Format::kTsv,
    Format::kHtml,     Format::kPerfetto, Format::kLedger};

int WriteLedger(Outputs& outputs, const LedgerOutput& output,
                const LedgerResult& ledger) {
  WriteReport(outputs, FormsOf(ledger, output.top));
  return CodeOf(output, ledger);
}

int WriteLedger(Outputs& outputs, const LedgerOutput& output,
                const LedgerPart& part, bool from_files) {
  LedgerResult ledger;
  const bool needed =
      outputs.WantsReport() || output.common.strict || !output.gates.empty();
  if (needed && !part.ranks.empty()) {
    ledger =
        from_files ? JoinLedger(part) : JoinRanks(part.ranks, part.set.label);
  }
  ReportForms forms = FormsOf(ledger, output.top);
  forms.ledger = [&](const TextSink& sink) { WriteLedgerFile(part, sink); };
  WriteReport(outputs, forms);
  return CodeOf(output, ledger);
}

}  // namespace inferdiff
