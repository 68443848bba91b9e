// SPDX-License-Identifier: Apache-2.0
#include "report/start_items.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/number.h"

namespace inferdiff {
namespace {

/// "7 %", "<1 %". Of a whole part of the gap, as the waterfall has it: there
/// the last digits are rounded so that they add up.
std::string ShareOfGap(const CompareResult& result, Rational time) {
  for (const GapPart& part : result.causes.parts)
    if (Magnitude(part.delta) == time)
      return fmt::format("{} %", std::abs(part.percent));
  const Rational whole = Magnitude(result.causes.total);
  const std::string percent = Percent(time, whole, 0);
  return (percent == "0" ? "<1" : percent) + " %";
}

std::string GainText(const CompareResult& result, const Finding& finding) {
  const auto& gain = finding.prize ? finding.prize : finding.bound;
  if (!gain) return "";
  std::string text = fmt::format("{}{} a step", finding.prize ? "" : "\u2264 ",
                                 Duration(*gain));
  if (result.causes.total.num != 0)
    text += fmt::format(", {} of the gap", ShareOfGap(result, *gain));
  return fmt::format("{} ({})", text, IdOf(finding.how));
}

StartDetail DetailOf(const CompareResult& result, const FindingDetail& detail) {
  std::string share;
  if (result.causes.total.num != 0)
    share = ", " + ShareOfGap(result, detail.part);
  return {Duration(detail.part) + share, detail.text};
}

}  // namespace

std::vector<StartItem> StartItems(const CompareResult& result) {
  std::vector<StartItem> items;
  for (const Finding& finding : result.findings) {
    if (finding.advice.empty()) continue;
    StartItem item{GainText(result, finding), finding.text, finding.advice, {}};
    for (const FindingDetail& detail : finding.details)
      item.details.push_back(DetailOf(result, detail));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace inferdiff
