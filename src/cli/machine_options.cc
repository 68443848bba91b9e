// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_options.h"

#include <fmt/core.h>

#include "base/decimal.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"

namespace inferdiff {
namespace {

constexpr int64_t kMostRanks = 65536;

std::string ReadSmallFile(const std::string& path) {
  const InputFile file(path);
  // One byte more than is allowed tells that the file is too long.
  std::string text(std::min<uint64_t>(file.size(), kMaxConfigBytes + 1), '\0');
  text.resize(file.ReadAt(0, text.data(), text.size()));
  return text;
}

std::optional<ModelConfig> ReadModel(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return ParseModelConfig(ReadSmallFile(path), path);
}

std::optional<ProbeResult> ReadProbe(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return ParseProbe(ReadSmallFile(path), path);
}

/// "4.8TB/s", "4800GB/s"; 0 for other text.
int64_t BytesPerSecond(std::string_view text) {
  for (const auto& [unit, places] :
       {std::pair{"TB/s", 12}, std::pair{"GB/s", 9}}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(std::string_view(unit).size());
    while (text.ends_with(' ')) text.remove_suffix(1);
    const int64_t bytes = ParseFixed(text, places).value_or(0);
    constexpr int64_t kLeast = 1'000'000'000;
    return bytes < kLeast ? 0 : bytes;
  }
  return 0;
}

MachineInput InputOf(std::optional<ModelConfig> model, Bandwidth bandwidth,
                     const std::optional<ProbeResult>& probe) {
  MachineInput input;
  input.model = std::move(model);
  input.bandwidth = std::move(bandwidth);
  if (input.bandwidth.bytes_per_s == 0 && probe && probe->bytes_per_s)
    input.bandwidth = {*probe->bytes_per_s, "probe"};
  return input;
}

void CheckChoice(std::string_view name, const SideChoice& choice, int64_t least,
                 int64_t most) {
  for (const auto& value : {choice.a, choice.b}) {
    if (!value || (*value >= least && *value <= most)) continue;
    FailUsage(fmt::format("{} takes a whole number from {} to {}, not '{}'",
                          name, least, most, *value),
              "");
  }
}

}  // namespace

const std::string_view kMachineHelp =
    R"(      --model FILE     the model's config.json: what bandwidth explains of the
                       gap, by role, as an estimate (default: not estimated)
      --model-b FILE   that of B, where its checkpoint is another one
      --bandwidth A=SPEED,B=SPEED
                       memory bandwidth, such as A=4.8TB/s,B=8TB/s (default: by
                       the probe, else the device's datasheet)
      --probe-a FILE   what inferdiff-probe measured on A's machine: bandwidth,
                       and the floor in place of --floor (default: unknown)
      --probe-b FILE   the same of B
      --batch N        sequences of a step, where the steps do not say; N,M for
                       A and B (default: unknown)
      --context N      tokens in the KV cache, all sequences together, where the
                       steps do not say; N,M for A and B (default: unknown)
      --tp N           ranks that share the model's weights; N,M for A and B
                       (default: by server_args.json, else the world's size)
)";

void AddMachineOptions(CLI::App& app, MachineArguments& arguments) {
  AddText(app, "--model", arguments.model);
  AddText(app, "--model-b", arguments.model_b);
  AddPerSide(app, "--bandwidth", "A=4.8TB/s,B=8TB/s",
             "it is that of the device's memory, from 1 GB/s on",
             [&arguments](Side side, std::string_view text) {
               const Bandwidth given{BytesPerSecond(text), "given"};
               (side == Side::kA ? arguments.bandwidth_a
                                 : arguments.bandwidth_b) = given;
               return given.bytes_per_s > 0;
             });
  AddText(app, "--probe-a", arguments.probe_a);
  AddText(app, "--probe-b", arguments.probe_b);
  AddSideChoice(app, "--batch", arguments.batch);
  AddSideChoice(app, "--context", arguments.context);
  AddSideChoice(app, "--tp", arguments.tensor_parallel);
}

std::vector<std::string> FilesOf(const MachineArguments& arguments) {
  std::vector<std::string> files;
  for (const std::string& path : {arguments.model, arguments.model_b,
                                  arguments.probe_a, arguments.probe_b})
    if (!path.empty()) files.push_back(path);
  return files;
}

MachineFiles ReadMachineFiles(const MachineArguments& arguments) {
  const SideChoice& batch = arguments.batch;
  const SideChoice& context = arguments.context;
  const SideChoice& ranks = arguments.tensor_parallel;
  const bool needs_model = !arguments.model_b.empty() || batch.a || context.a ||
                           ranks.a || arguments.bandwidth_a.bytes_per_s > 0 ||
                           arguments.bandwidth_b.bytes_per_s > 0;
  if (needs_model && arguments.model.empty()) {
    FailUsage(
        "--model-b, --bandwidth, --batch, --context and --tp are of no "
        "use without --model",
        "add --model FILE, the model's config.json");
  }
  CheckChoice("--batch", batch, 1, 1 << 20);
  CheckChoice("--context", context, 0, int64_t{1} << 40);
  CheckChoice("--tp", ranks, 1, kMostRanks);
  MachineFiles files;
  files.probe_a = ReadProbe(arguments.probe_a);
  files.probe_b = ReadProbe(arguments.probe_b);
  const std::string& path_b =
      arguments.model_b.empty() ? arguments.model : arguments.model_b;
  files.a =
      InputOf(ReadModel(arguments.model), arguments.bandwidth_a, files.probe_a);
  files.b = InputOf(ReadModel(path_b), arguments.bandwidth_b, files.probe_b);
  files.a.batch = batch.a;
  files.b.batch = batch.b;
  files.a.context = context.a;
  files.b.context = context.b;
  files.a.tensor_parallel = ranks.a;
  files.b.tensor_parallel = ranks.b;
  return files;
}

FloorTimes FloorsOf(const FloorTimes& given, const MachineFiles& files) {
  const ProbeFloors probed = SameFloors(files.probe_a, files.probe_b);
  FloorTimes floors = given;
  if (probed.a || probed.b)
    floors.source =
        fmt::format("{} is measured by a probe, {} a tracer",
                    probed.a && probed.b ? "each" : (probed.a ? "A's" : "B's"),
                    probed.traced ? "with" : "without");
  else if (files.probe_a || files.probe_b)
    floors.source = "the probes measured none, or not of one kind of tracing";
  const auto take = [](std::string_view name, std::optional<Rational> probe,
                       std::optional<Rational>* floor) {
    if (!probe) return;
    if (*floor)
      FailUsage(fmt::format("{}'s floor is given twice: by --floor and by its "
                            "probe",
                            name),
                "leave --floor of that side out");
    *floor = probe;
  };
  take("A", probed.a, &floors.a);
  take("B", probed.b, &floors.b);
  return floors;
}

void ExpectSameDevice(const MachineArguments& arguments,
                      const MachineFiles& files, const LedgerResult& a,
                      const LedgerResult& b) {
  const auto expect = [](const std::optional<ProbeResult>& probe,
                         const std::string& path, const LedgerResult& ledger) {
    const std::string& gpu = ledger.source.info.gpu_name;
    if (!probe || IsOf(*probe, gpu)) return;
    throw InputError("bad-config", path,
                     fmt::format("the probe ran on {}, the trace on {}",
                                 Printable(probe->device), Printable(gpu)),
                     "name the results of the traced machine");
  };
  expect(files.probe_a, arguments.probe_a, a);
  expect(files.probe_b, arguments.probe_b, b);
}

}  // namespace inferdiff
