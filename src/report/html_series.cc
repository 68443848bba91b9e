// SPDX-License-Identifier: Apache-2.0
// Steps over time, and ranks beside each other.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "report/html_charts.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/ledger_tables.h"

namespace inferdiff {
namespace {

constexpr size_t kMostPoints = 600;  // more cannot be told apart
constexpr int kHeight = 96;          // of the drawing, in pixels
constexpr int kMargin = 10;          // above its highest point

struct Point {
  uint32_t step = 0;
  int64_t x = 0;  // its place among its rank's steps
  int64_t ns = 0;
  bool used = false;
};

std::optional<int64_t> WallOf(const Step& step) {
  if (!step.next_begin_ns) return std::nullopt;
  int64_t wall = 0;
  if (__builtin_sub_overflow(*step.next_begin_ns, step.begin_ns, &wall) ||
      wall < 0)
    return std::nullopt;
  return wall;
}

/// Used steps by their amounts, left-out ones by their borders.
std::vector<Point> PointsOf(const LedgerResult& ledger) {
  std::unordered_map<uint32_t, int64_t> used;
  const bool walls = WallKnown(ledger);
  for (const StepAmounts& step : ledger.step_amounts) {
    if (walls && !step.wall) continue;
    used[step.step] = walls ? *step.wall : step.span;
  }
  std::vector<Point> points;
  std::unordered_map<uint32_t, int64_t> seen;  // steps by rank
  const std::vector<Step>& steps = ledger.steps.steps;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const int64_t x = seen[steps[i].rank]++;
    if (const auto it = used.find(i); it != used.end()) {
      points.push_back({i, x, it->second, true});
    } else if (steps[i].group == ledger.group && walls) {
      if (const auto wall = WallOf(steps[i]))
        points.push_back({i, x, *wall, false});
    }
  }
  return points;
}

/// Every nth where there are too many, and the longest and shortest always.
std::vector<Point> Thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) return points;
  const size_t nth = (points.size() + kMostPoints - 1) / kMostPoints;
  const auto by_time = [](const Point& a, const Point& b) {
    return a.ns < b.ns;
  };
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(), by_time);
  std::vector<Point> kept;
  for (auto it = points.begin(); it != points.end(); ++it) {
    if (static_cast<size_t>(it - points.begin()) % nth == 0 || it == low ||
        it == high)
      kept.push_back(*it);
  }
  return kept;
}

struct Scale {
  int64_t low = 0, high = 1, last_x = 1;

  int Y(int64_t ns) const {
    const int64_t room = std::max<int64_t>(high - low, 1);
    const auto share = static_cast<int>((high - ns) / ((room + 999) / 1000));
    return kMargin + share * (kHeight - 2 * kMargin) / 1000;
  }
  /// Points keep off the border by a hundredth of the width.
  std::string X(int64_t x) const {
    return HtmlLength(2 * x + last_x / 50 + 1, 2 * last_x + last_x / 25 + 2);
  }
};

std::string Circle(const Point& point, const Scale& scale) {
  return fmt::format(
      "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"><title>step {}: {}{}"
      "</title></circle>",
      point.used ? "used" : "left-out", scale.X(point.x), scale.Y(point.ns),
      point.step, Duration({point.ns, 1}), point.used ? "" : ", left out");
}

std::string Caption(const std::vector<Point>& points, const Stat& stat,
                    std::string_view quantity, bool thinned) {
  const Point *low = nullptr, *high = nullptr;
  for (const Point& point : points) {
    if (!point.used) continue;
    if (low == nullptr || point.ns < low->ns) low = &point;
    if (high == nullptr || point.ns > high->ns) high = &point;
  }
  std::string text;
  if (high != nullptr && high->ns != low->ns) {
    text = fmt::format(
        "{} of {} used steps: median {}, p10 {}, p90 {}; longest step {} ({}), "
        "shortest step {} ({}).",
        quantity, stat.n, Duration({stat.median, 1}), Duration({stat.p10, 1}),
        Duration({stat.p90, 1}), high->step, Duration({high->ns, 1}), low->step,
        Duration({low->ns, 1}));
  }
  if (std::any_of(points.begin(), points.end(),
                  [](const Point& point) { return !point.used; }))
    text += " Hollow: left out.";
  if (thinned) text += " Only some of the steps are drawn.";
  return text;
}

}  // namespace

std::string HtmlSteps(const LedgerResult& ledger, std::string_view name) {
  const std::vector<Point> all = PointsOf(ledger);
  if (all.size() < 2) return "";
  const bool walls = WallKnown(ledger);
  const Stat& stat = walls ? ledger.per_step.wall : ledger.per_step.span;
  const std::vector<Point> points = Thinned(all);
  Scale scale{INT64_MAX, INT64_MIN, 1};
  for (const Point& point : points) {
    scale.low = std::min(scale.low, point.ns);
    scale.high = std::max(scale.high, point.ns);
    scale.last_x = std::max(scale.last_x, point.x);
  }
  std::string out = fmt::format(
      "<figure class=\"series\"><svg class=\"{0}\" width=\"100%\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2} of each step{3}{0}\">",
      name, kHeight, walls ? "Wall time" : "Span", name.empty() ? "" : " of ");
  out += fmt::format(
      "<rect class=\"spread\" x=\"0\" width=\"100%\" y=\"{0}\" height=\"{1}\"/>"
      "<line class=\"median\" x1=\"0\" x2=\"100%\" y1=\"{2}\" y2=\"{2}\"/>",
      scale.Y(stat.p90), std::max(1, scale.Y(stat.p10) - scale.Y(stat.p90)),
      scale.Y(stat.median));
  for (const Point& point : points) out += Circle(point, scale);
  const std::string mark =
      name.empty() ? "" : fmt::format("<b class=\"side {0}\">{0}</b> ", name);
  return out +
         fmt::format("</svg><figcaption>{}{}</figcaption></figure>\n", mark,
                     HtmlText(Caption(all, stat, walls ? "Wall time" : "Span",
                                      points.size() < all.size())));
}

std::string HtmlRanks(const LedgerResult& ledger) {
  int64_t longest = 1;
  for (const RankRow& rank : ledger.ranks)
    if (rank.walls > 0) longest = std::max(longest, rank.wall_ns / rank.walls);
  std::string out;
  for (const RankRow& rank : ledger.ranks) {
    if (rank.walls == 0 || rank.used_steps == 0 || rank.left_out) continue;
    const int64_t wait = rank.rank_wait_ns / rank.used_steps;
    const int64_t busy = rank.busy_ns / rank.used_steps;
    const int64_t moving =
        rank.category_sum_ns[static_cast<size_t>(Category::kCommunication)] /
        rank.used_steps;
    const std::string name = rank.rank ? fmt::format("rank {}", *rank.rank)
                                       : ElideMiddle(Printable(rank.label), 20);
    const int64_t work = std::max<int64_t>(0, busy - wait - moving);
    out += fmt::format(
        "<div class=\"rank\"><span>{}</span><svg width=\"100%\" "
        "height=\"18\" role=\"img\" aria-label=\"{}: wait {}, "
        "transfer {}, other work {}\">",
        HtmlEscaped(name), HtmlEscaped(name), Duration({wait, 1}),
        Duration({moving, 1}), Duration({work, 1}));
    int64_t at = 0;
    const auto add = [&](std::string_view look, std::string_view title,
                         int64_t ns) {
      out += fmt::format(
          "<rect class=\"c-{}\" x=\"{}\" width=\"{}\" "
          "height=\"18\"><title>{}: {}</title></rect>",
          look, HtmlLength(at, longest), HtmlLength(ns, longest), title,
          Duration({ns, 1}));
      at += ns;
    };
    add("gemm", "other work", work);
    add("comm", "transfer (communication without the wait)", moving);
    add("wait", "rank wait", wait);
    out += "</svg></div>\n";
  }
  if (out.empty()) return "";
  return fmt::format(
      "<div class=\"ranks\">{}</div><p class=\"legend\"><span><i "
      "class=\"swatch c-gemm\"></i>other work</span><span><i class=\"swatch "
      "c-comm\"></i>transfer</span><span><i class=\"swatch "
      "c-wait\"></i>rank wait</span><span>The rest of the step is idle or "
      "others' work.</span></p>\n",
      out);
}

}  // namespace inferdiff
