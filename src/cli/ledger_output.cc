// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger_output.h"

#include "cli/load_ledgers.h"
#include "cli/one_trace.h"
#include "ledger/rank_set.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

ReportForms FormsOf(const LedgerResult& ledger, int64_t top) {
  return {[&ledger, top] {
            return LedgerDocument(ledger, static_cast<size_t>(top));
          },
          [&ledger](const TextSink& sink) { WriteLedgerJson(ledger, sink); },
          [&ledger] { return LedgerTsv(ledger); }};
}

}  // namespace

const std::vector<Format> kLedgerFormats = {Format::kTerminal,
                                            Format::kMarkdown, Format::kJson,
                                            Format::kTsv, Format::kLedger};

int WriteLedger(Outputs& outputs, const CommonOptions& common,
                const LedgerResult& ledger, int64_t top) {
  WriteReport(outputs, FormsOf(ledger, top));
  return ExitCode(common, ledger.source.counters, ledger.capture_checks);
}

int WriteLedger(Outputs& outputs, const CommonOptions& common,
                const LedgerPart& part, bool from_files, int64_t top) {
  LedgerResult ledger;
  if ((outputs.WantsReport() || common.strict) && !part.ranks.empty()) {
    ledger =
        from_files ? JoinLedger(part) : JoinRanks(part.ranks, part.set.label);
  }
  ReportForms forms = FormsOf(ledger, top);
  forms.ledger = [&](const TextSink& sink) { WriteLedgerFile(part, sink); };
  WriteReport(outputs, forms);
  return ExitCode(common, ledger.source.counters, ledger.capture_checks);
}

}  // namespace inferdiff
