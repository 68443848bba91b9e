// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.h"

#include <fmt/core.h>

#include "base/text.h"
#include "base/wide.h"

namespace inferdiff {
namespace {

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        *out += "&amp;";
        break;
      case '<':
        *out += "&lt;";
        break;
      case '>':
        *out += "&gt;";
        break;
      case '"':
        *out += "&quot;";
        break;
      case '\'':
        *out += "&#39;";
        break;
      default:
        *out += c;
    }
  }
}

}  // namespace

std::string HtmlEscaped(std::string_view raw) {
  std::string out;
  AppendEscaped(Printable(raw), &out);
  return out;
}

std::string HtmlText(std::string_view raw) {
  const std::string text = Printable(raw);
  const std::string_view view = text;
  std::string out;
  size_t at = 0;
  while (at < view.size()) {
    const size_t open = view.find('`', at);
    const size_t close = open == std::string_view::npos
                             ? std::string_view::npos
                             : view.find('`', open + 1);
    if (close == std::string_view::npos) break;
    AppendEscaped(view.substr(at, open - at), &out);
    out += "<code>";
    AppendEscaped(view.substr(open + 1, close - open - 1), &out);
    out += "</code>";
    at = close + 1;
  }
  AppendEscaped(view.substr(at), &out);
  return out;
}

std::string HtmlName(std::string_view name, size_t width) {
  const std::string text = Printable(name);
  std::string whole;
  AppendEscaped(text, &whole);
  if (DisplayWidth(text) <= width) return fmt::format("<code>{}</code>", whole);
  std::string shown;
  AppendEscaped(ElideMiddle(text, width), &shown);
  return fmt::format(
      "<details class=\"name\"><summary><code>{}</code></summary>"
      "<code class=\"whole\">{}</code></details>",
      shown, whole);
}

std::string HtmlId(std::string_view raw) {
  std::string id;
  for (const char c : raw) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_';
    id += plain ? c : '-';
  }
  return id;
}

std::string ScriptJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  // Outside strings JSON has neither of them.
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else
      out += c;
  }
  return out;
}

std::string HtmlLength(int64_t part, int64_t whole) {
  if (whole <= 0) return "0%";
  const auto hundredths =
      static_cast<int64_t>(Wide{part} * 10'000 / Wide{whole});
  const int64_t size = hundredths < 0 ? -hundredths : hundredths;
  return fmt::format("{}{}.{:02}%", hundredths < 0 ? "-" : "", size / 100,
                     size % 100);
}

}  // namespace inferdiff
