// SPDX-License-Identifier: Apache-2.0
#include "report/ledger_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "base/text.h"
#include "ledger/capture_text.h"

namespace inferdiff {
namespace {

void Append(std::string& text, std::string_view separator,
            std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += separator;
  text += more;
}

std::string GpuText(const TraceInfo& info) {
  constexpr std::string_view kVendors[] = {"GPU of unknown vendor",
                                           "NVIDIA GPU", "AMD GPU"};
  return info.gpu_name.empty()
             ? std::string(kVendors[static_cast<size_t>(info.vendor)])
             : ElideMiddle(info.gpu_name, 60);
}

// "SGLang"; where only markers look like it, that.
std::string FrameworkText(const FrameworkHint& hint) {
  return hint.basis == HintBasis::kMarkerForm ? hint.name + "-style markers"
                                              : hint.name;
}

// Begins with a capital letter and ends with a full stop.
std::string Sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.ends_with('.')) text += '.';
  return text;
}

std::string RankText(const TraceInfo& info) {
  if (!info.rank) return "";
  return info.world_size
             ? fmt::format("rank {} of {}", *info.rank, *info.world_size)
             : fmt::format("rank {}", *info.rank);
}

/// The check of the capture that says what an import counter says, and more.
std::optional<CheckKind> CheckBehind(Counter counter) {
  switch (counter) {
    case Counter::kAbsurdDuration:
      return CheckKind::kImpossibleDuration;
    case Counter::kRepeatedRecord:
      return CheckKind::kRepeatedRecord;
    case Counter::kDuplicateCorrelation:
      return CheckKind::kAmbiguousLaunch;
    default:
      return std::nullopt;
  }
}

/// Those that no check says as well: one fact, one sentence.
ImportCounters CountersToSay(const LedgerResult& ledger) {
  ImportCounters counters;
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    const auto counter = static_cast<Counter>(i);
    const std::optional<CheckKind> check = CheckBehind(counter);
    const auto& checks = ledger.capture_checks;
    if (!check || std::none_of(checks.begin(), checks.end(),
                               [&](const CaptureCheck& one) {
                                 return one.kind == *check;
                               }))
      counters.Add(counter, ledger.source.counters[counter]);
  }
  return counters;
}

void AddSourceDoubts(const LedgerResult& ledger,
                     std::vector<std::string>& doubts) {
  for (const ImportRow& row : ImportRows(CountersToSay(ledger))) {
    doubts.push_back(fmt::format("{}: {} ({})", row.sentence,
                                 Grouped(static_cast<int64_t>(row.count)),
                                 row.id));
  }
  if (ledger.devices.size() < 2 || !ledger.ranks.empty()) return;
  const auto& devices = ledger.devices;
  const TraceInfo& info = ledger.source.info;
  const bool ranks = std::any_of(
      devices.begin(), devices.end(),
      [&](const DeviceTotals& device) { return device.rank != info.rank; });
  doubts.push_back(fmt::format(
      "the file holds {} devices{}; this is {}device {}, {} chooses another",
      devices.size(), ranks ? " of several ranks" : "",
      ranks && info.rank ? fmt::format("rank {} ", *info.rank) : "",
      info.device, ranks ? "`--rank N` or `--device N`" : "`--device N`"));
}

void AddStepDoubts(const LedgerResult& ledger,
                   std::vector<std::string>& doubts) {
  const Steps& steps = ledger.steps;
  if (!steps.cross_check_agrees)
    doubts.push_back(fmt::format(
        "{}the step borders are in doubt: {}",
        ledger.source.info.truncated ? "the file is cut off, so " : "",
        steps.cross_check));
  if (ledger.used_steps > 0 && ledger.per_step.wall.n == 0) {
    doubts.push_back(
        "wall and idle time are unknown: no step here is followed by another");
  }
  if (steps.groups.size() > 1) {
    doubts.push_back(fmt::format(
        "the steps are of {} kinds or shapes; this is group {}, `inferdiff "
        "steps` lists them and `--group N` chooses another",
        steps.groups.size(), ledger.group));
  }
}

void AddCoverageDoubts(const LedgerResult& ledger,
                       std::vector<std::string>& doubts) {
  const Coverage& coverage = ledger.coverage;
  const Rational total{coverage.total_ns, 1};
  if (coverage.unclassified_ns > 0) {
    doubts.push_back(fmt::format(
        "{} % of the GPU time is in kernels that no rule knows: `inferdiff "
        "kernels` lists them, `--rules FILE` adds rules",
        Percent({coverage.unclassified_ns, 1}, total, 2)));
  }
  if (coverage.outside_steps_ns > 0) {
    doubts.push_back(
        fmt::format("{} % of the file's GPU time is outside the used steps",
                    Percent({coverage.outside_steps_ns, 1}, total)));
  }
  if (ledger.wait_basis == WaitBasis::kUnknown) {
    doubts.push_back(
        "communication includes waiting for slower ranks: one rank's trace "
        "cannot tell the two apart, unless four used steps have the same call");
  }
  if (ledger.wait_basis == WaitBasis::kOneRank) {
    doubts.push_back(
        "rank wait is a lower bound, from this rank alone: what a collective "
        "takes beyond the 10th percentile of the same call over the steps. "
        "Waiting that is as long in every step never shows; it is in "
        "communication");
  }
}

}  // namespace

std::string_view VendorId(Vendor vendor) {
  constexpr std::string_view kIds[] = {"unknown", "nvidia", "amd"};
  return kIds[static_cast<size_t>(vendor)];
}

std::string_view SeverityId(Severity severity) {
  constexpr std::string_view kIds[] = {"info", "repaired", "data_loss"};
  return kIds[static_cast<size_t>(severity)];
}

std::vector<ImportRow> ImportRows(const ImportCounters& counters) {
  std::vector<ImportRow> rows;
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCount); ++i) {
    const auto counter = static_cast<Counter>(i);
    const CounterInfo& info = InfoOf(counter);
    if (counters[counter] > 0)
      rows.push_back(
          {info.id, info.severity, counters[counter], info.sentence});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ImportRow& a, const ImportRow& b) {
                     return a.severity > b.severity;
                   });
  return rows;
}

std::string SideFacts(const LedgerResult& ledger) {
  if (ledger.published) return "published table";
  const std::string separator = fmt::format(" {} ", kDot);
  std::string text = GpuText(ledger.source.info);
  Append(text, separator,
         ledger.ranks.empty()
             ? RankText(ledger.source.info)
             : Plural(static_cast<int64_t>(ledger.ranks.size()), "rank"));
  Append(text, separator, FrameworkText(ledger.source.framework_hint));
  const auto& groups = ledger.steps.groups;
  if (ledger.group < groups.size())
    Append(text, separator, ShapeText(groups[ledger.group].shape));
  Append(text, separator,
         fmt::format(
             "{} of {}", Grouped(ledger.used_steps),
             Plural(static_cast<int64_t>(ledger.steps.steps.size()), "step")));
  return text;
}

std::string InputText(const Provenance& source) {
  return fmt::format("{}: {}, crc32 {:08x}, {}", source.label,
                     Bytes(source.size_bytes), source.crc32, source.format);
}

std::optional<int64_t> TokensOfStep(const StepShape& shape) {
  if (shape.tokens && *shape.tokens > 0) return shape.tokens;
  if (shape.kind == StepKind::kDecode && shape.batch && *shape.batch > 0)
    return shape.batch;
  return std::nullopt;
}

std::vector<std::string> StepEvidence(const Steps& steps, uint32_t group,
                                      const std::vector<RankRow>& ranks) {
  std::vector<std::string> lines = {fmt::format(
      "Evidence: {}. {}", IdOf(steps.evidence), Sentence(steps.how))};
  if (!steps.cross_check.empty()) {
    lines.push_back(fmt::format("Cross-check{}: {}",
                                steps.cross_check_agrees ? "" : " DISAGREES",
                                Sentence(steps.cross_check)));
  }
  for (const LeftOutReason& reason : LeftOutReasons(steps, group, ranks))
    lines.push_back(LeftOutText(reason, ""));
  return lines;
}

std::vector<std::string> Doubts(const LedgerResult& ledger) {
  std::vector<std::string> doubts;
  for (const CaptureCheck& check : ledger.capture_checks)
    if (check.weight != Weight::kRefusal)
      doubts.push_back(CaptureText(check, ledger));
  AddStepDoubts(ledger, doubts);
  AddCoverageDoubts(ledger, doubts);
  AddSourceDoubts(ledger, doubts);
  for (std::string& doubt : doubts) doubt = Sentence(std::move(doubt));
  return doubts;
}

std::string WithoutParameters(std::string_view name) {
  if (!name.ends_with(')')) return std::string(name);
  size_t depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0)
      return std::string(at == 0 ? name : name.substr(0, at));
  }
  return std::string(name);
}

std::string RankWaitTitle(const LedgerResult& ledger) {
  return IsMeasured(ledger.wait_basis) ? "rank wait" : "rank wait, at least";
}

Rational PerUsedStep(const LedgerResult& ledger, int64_t total) {
  return {total, std::max<int64_t>(ledger.used_steps, 1)};
}

}  // namespace inferdiff
