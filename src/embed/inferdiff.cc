// SPDX-License-Identifier: Apache-2.0
#include "embed/inferdiff.h"

#include <utility>

#include "base/error.h"
#include "compare/compare.h"
#include "compare/gate.h"
#include "load/load_set.h"
#include "report/compare_report.h"
#include "report/ledger_json.h"
#include "report/ledger_text.h"
#include "report/ledger_tsv.h"

namespace inferdiff {
namespace {

constexpr size_t kTop = 10;  // kernels and families, as the program lists

/// Makes the library's exceptions the public one.
template <typename Work>
Report Guarded(const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    std::string what = error.what();
    if (!error.file.empty()) what = error.file + ": " + what;
    throw ReportError(error.id, what, error.fix);
  } catch (const ContractError& error) {
    throw ReportError("bug", error.what(), "please report it with the input");
  }
}

std::vector<Gate> GatesOf(const ReportOptions& options, GateScope scope) {
  std::vector<Gate> gates;
  for (const std::string& text : options.fail_if)
    gates.push_back(ParseGate(text, scope));
  return gates;
}

LoadOptions LoadOptionsOf(const ReportOptions& options) {
  return {options.threads, {options.device, options.rank}, {}, true};
}

std::string TextOf(const Document& document, ReportForm form) {
  return form == ReportForm::kMarkdown ? MarkdownDocument(document)
                                       : TerminalText(document, {});
}

TextSink AppendingTo(std::string* text) {
  return [text](std::string_view piece) { text->append(piece); };
}

SetupFacts FactsOf(const SideLoader& side, bool ambiguous) {
  return ambiguous ? SetupFacts() : side.ServerArgs().facts;
}

}  // namespace

Report Account(const std::vector<std::string>& traces,
               const ReportOptions& options) {
  return Guarded([&] {
    const std::vector<Gate> gates = GatesOf(options, GateScope::kLedger);
    const Rules rules = LoadRules(options.rules_path, options.threads);
    SideLoader side(traces, rules, LoadOptionsOf(options));
    const LedgerResult ledger = std::move(side).Account({});
    Report report;
    if (options.form == ReportForm::kJson)
      WriteLedgerJson(ledger, AppendingTo(&report.text));
    else if (options.form == ReportForm::kTsv)
      report.text = LedgerTsv(ledger);
    else
      report.text = TextOf(LedgerDocument(ledger, kTop), options.form);
    report.failed_gates = FailedGates(gates, ledger);
    return report;
  });
}

Report Compare(const std::vector<std::string>& a,
               const std::vector<std::string>& b,
               const ReportOptions& options) {
  return Guarded([&] {
    const std::vector<Gate> gates = GatesOf(options, GateScope::kCompare);
    const Rules rules = LoadRules(options.rules_path, options.threads);
    SideLoader side_a(a, rules, LoadOptionsOf(options));
    SideLoader side_b(b, rules, LoadOptionsOf(options));
    const GroupChoice group = ChooseGroups(side_a.steps(), side_b.steps());
    const bool ambiguous = ShareFolder(side_a, side_b);
    const SetupFacts facts_a = FactsOf(side_a, ambiguous);
    const SetupFacts facts_b = FactsOf(side_b, ambiguous);
    const CompareResult result =
        Compare(std::move(side_a).Account(group.a), facts_a,
                std::move(side_b).Account(group.b), facts_b, {});
    Report report;
    if (options.form == ReportForm::kJson)
      WriteCompareJson(result, AppendingTo(&report.text));
    else if (options.form == ReportForm::kTsv)
      report.text = CompareTsvText(result);
    else
      report.text = TextOf(CompareDocument(result), options.form);
    report.failed_gates = FailedGates(gates, result);
    return report;
  });
}

}  // namespace inferdiff
