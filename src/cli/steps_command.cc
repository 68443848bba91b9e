// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/one_trace.h"
#include "integrity/check_capture.h"
#include "ledger/step_layers.h"
#include "report/steps_report.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff steps TP-0.trace.json.gz

The steps found in a trace: the evidence for their borders, the groups of equal
steps, and of each step its wall time and why it is left out, if it is. Of the
representative step, the one of median wall time, its layers.

Usage: inferdiff steps [OPTION]... TRACE

)";

std::optional<StepLayers> LayersOf(const LoadedTrace& loaded,
                                   const RuleSet& rules) {
  const uint32_t step =
      RepresentativeStep(loaded.trace(), loaded.steps, loaded.steps.main_group);
  if (step == kNone) return std::nullopt;
  return LayersOfStep(loaded.trace(), loaded.classes, rules, loaded.steps,
                      step);
}

int Run(OneTraceOptions options) {
  ExpectTraces("steps", options.paths);
  Outputs outputs(options.common, options.paths, kAllFormats);
  options.paths = {OneFile("steps", options.paths, outputs, &options.device)};
  const Rules rules = LoadRules(options.common);
  const LoadedTrace loaded = LoadOne(options, rules);
  const GpuOps& ops = loaded.trace().ops;
  const StepsReport report{
      ProvenanceOf(loaded, rules.get()), loaded.steps,
      CheckCapture(loaded.trace(), loaded.classes, loaded.steps),
      ops.size() == 0 ? 0 : ops.start_ns.front(),
      LayersOf(loaded, rules.get())};
  WriteReport(outputs,
              {[&] { return StepsDocument(report); },
               [&](const TextSink& sink) { WriteStepsJson(report, sink); },
               [&] { return StepsTsv(report); }});
  return ExitCode(options.common, loaded.source.counters, report.checks);
}

}  // namespace

Command AddSteps(CLI::App& root) {
  const auto options = std::make_shared<OneTraceOptions>();
  CLI::App* app = AddSubcommand(root, "steps",
                                {kHelp, kDeviceHelp, kFormatHelp, kReadHelp});
  AddPositionals(*app, options->paths);
  AddDeviceOptions(*app, options->device);
  AddFormatOptions(*app, options->common);
  AddReadOptions(*app, options->common);
  return {app, [options] { return Run(*options); }};
}

}  // namespace inferdiff
