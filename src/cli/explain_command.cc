// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/explain_find.h"
#include "cli/one_trace.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff explain TP-0.trace.json.gz kernel:all_reduce

Why inferdiff says what it says. WHAT is one of

  kernel:NAME   the rule that gave a kernel its category. NAME is a name as any
                table prints it, or a part of one; * stands for anything
  step:N        the evidence for the borders of step N, and why it is left out
  gap:ROW       how a row of the ledger gets its value: a category by its id,
                rank_wait, idle (with the longest gaps), foreign or wall

Usage: inferdiff explain [OPTION]... TRACE WHAT

)";

constexpr std::string_view kOutputHelp =
    R"(      --format FORMAT  terminal or markdown (default: terminal)
  -o, --output FILE    write FILE, in the format of its ending: .txt or .md
)";

constexpr size_t kKernelsShown = 10;

Document ExplainKernel(const LoadedTrace& loaded, const RuleSet& rules,
                       const std::string& name) {
  std::vector<KernelExplanation> kernels = FindKernels(loaded, rules, name);
  const size_t all = kernels.size();
  if (all == 0) {
    throw InputError("no-kernel", loaded.source.path,
                     fmt::format("no kernel is called '{}'", Printable(name)),
                     "`inferdiff kernels TRACE` lists them; a part of a name "
                     "is enough");
  }
  kernels.resize(std::min(all, kKernelsShown));
  return KernelExplanationDocument(ProvenanceOf(loaded, rules), kernels, all);
}

Document ExplainStep(const LoadedTrace& loaded, const RuleSet& rules,
                     const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0)
    FailUsage(fmt::format("step:{} is no number", Printable(text)),
              "write step:0 for the first");
  return StepExplanationDocument(ProvenanceOf(loaded, rules),
                                 FindStep(loaded, rules, number));
}

/// "kernel:all_reduce" -> both halves.
struct Subject {
  std::string kind, object;
};

Subject SubjectOf(const std::string& what) {
  Subject subject{what.substr(0, what.find(':')), ""};
  if (subject.kind.size() < what.size())
    subject.object = what.substr(subject.kind.size() + 1);
  if (subject.object.empty() ||
      (subject.kind != "kernel" && subject.kind != "step" &&
       subject.kind != "gap")) {
    FailUsage(fmt::format("'{}' is nothing to explain", Printable(what)),
              "write kernel:NAME, step:N or gap:ROW");
  }
  return subject;
}

Document Explain(const OneTraceOptions& options, const Subject& subject,
                 const Rules& rules) {
  if (subject.kind == "gap") {
    const LedgerResult ledger = AccountOne(options, rules);
    const auto row = LedgerRowByName(subject.object);
    if (!row) {
      FailUsage(
          fmt::format("the ledger has no row '{}'", Printable(subject.object)),
          fmt::format("write gap:ROW with one of: {}", LedgerRowNames(ledger)));
    }
    return RowExplanationDocument(ledger, *row);
  }
  const LoadedTrace loaded = LoadOne(options, rules);
  return subject.kind == "kernel"
             ? ExplainKernel(loaded, rules.get(), subject.object)
             : ExplainStep(loaded, rules.get(), subject.object);
}

int Run(OneTraceOptions options) {
  if (options.paths.size() < 2) {
    FailUsage("`inferdiff explain` takes a trace and what to explain",
              "write `inferdiff explain TRACE kernel:NAME`, step:N or gap:ROW");
  }
  const Subject what = SubjectOf(options.paths.back());
  options.paths.pop_back();
  Outputs outputs(options.common, options.paths,
                  {Format::kTerminal, Format::kMarkdown});
  options.paths = {OneFile("explain", options.paths, outputs, &options.device)};
  const Rules rules = LoadRules(options.common);
  const Document document = Explain(options, what, rules);
  WriteReport(outputs, {[&] { return document; }, {}, {}});
  return 0;
}

}  // namespace

Command AddExplain(CLI::App& root) {
  const auto options = std::make_shared<OneTraceOptions>();
  CLI::App* app =
      AddSubcommand(root, "explain",
                    {kHelp, kGroupHelp, kDeviceHelp, kOutputHelp, kReadHelp});
  AddPositionals(*app, options->paths);
  AddIndex(*app, "--group", options->group);
  AddDeviceOptions(*app, options->device);
  AddFormatOptions(*app, options->common);
  AddReadOptions(*app, options->common);
  return {app, [options] { return Run(*options); }};
}

}  // namespace inferdiff
