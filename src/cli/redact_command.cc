// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/compressed_sink.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "redact/redact_kineto.h"

namespace inferdiff {
namespace {

constexpr std::string_view kHelp =
    R"(Example: inferdiff redact TP-0.trace.json.gz -o public.trace.json.gz

Writes a PyTorch profiler trace that people may publish: names of hosts and
users, paths, command lines, addresses, job names, tokens and whatever else is
not known to be harmless are replaced, the same text by the same placeholder
(path-1, host-2). Kernel names, times, numbers and step markers stay, so that
the ledger is the same. docs/redact.md says what stays. Look at the preview, and
at the names of your kernels, before you publish.

Usage: inferdiff redact TRACE -o OUT
       inferdiff redact TRACE --preview

  -o, --output OUT     the trace to write; compressed where it ends in .gz or
                       .zst
      --preview        write nothing, and list what would be replaced, by what
                       and how often
  -h, --help           this text
)";

struct RedactArguments {
  CommonOptions common;
  std::vector<std::string> words;
  bool preview = false;
};

Compression CompressionOf(const std::string& path) {
  if (path.ends_with(".gz")) return Compression::kGzip;
  if (path.ends_with(".zst")) return Compression::kZstd;
  return Compression::kPlain;
}

std::string PreviewText(const Placeholders& placeholders) {
  std::string text = "placeholder\tcount\toriginal\n";
  for (const Replacement& one : placeholders.replacements()) {
    text += fmt::format("{}\t{}\t{}\n", one.placeholder, one.count,
                        TsvField(one.original));
  }
  return text;
}

int Run(const RedactArguments& arguments) {
  const auto& outputs = arguments.common.outputs;
  if (arguments.words.size() != 1)
    FailUsage("one trace is redacted at a time",
              "write `inferdiff redact TRACE -o OUT`");
  if (arguments.preview != outputs.empty() || outputs.size() > 1)
    FailUsage("either one -o OUT or --preview is needed",
              "--preview lists what would be replaced, and writes nothing");
  const std::string& path = arguments.words[0];
  try {
    const InputFile file(path);
    Placeholders placeholders(arguments.preview);
    const auto redact = [&](const TextSink& sink) {
      RedactKineto(file, DetectCompression(file), &placeholders, sink);
    };
    if (arguments.preview) {
      redact([](std::string_view) {});
      WriteStdout(PreviewText(placeholders));
      return 0;
    }
    Outputs output(arguments.common, arguments.words, {Format::kTrace});
    output.Write([&](Format, const TerminalStyle&, const TextSink& sink) {
      const auto compressed = CompressTo(CompressionOf(outputs[0]), sink);
      redact([&](std::string_view text) { compressed->Write(text); });
      compressed->Finish();
    });
    WriteMessage(
        fmt::format("inferdiff: {} texts replaced\n", placeholders.replaced()));
  } catch (InputError& error) {
    if (error.file.empty() && error.id != "usage") error.file = path;
    throw;
  }
  return 0;
}

}  // namespace

Command AddRedact(CLI::App& root) {
  const auto arguments = std::make_shared<RedactArguments>();
  CLI::App* app = AddSubcommand(root, "redact", {kHelp});
  AddPositionals(*app, arguments->words);
  AddOutputs(*app, arguments->common.outputs);
  AddFlag(*app, "--preview", arguments->preview);
  return {app, [arguments] { return Run(*arguments); }};
}

}  // namespace inferdiff
