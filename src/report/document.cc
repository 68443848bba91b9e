// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include <fmt/core.h>

#include "base/text.h"

namespace inferdiff {
namespace {

void AddSentences(const std::vector<std::string>& sentences, size_t indent,
                  size_t width, std::string& out) {
  for (const std::string& sentence : sentences) {
    // A second line of a sentence hangs, so that its first can be seen.
    const size_t first = sentence.starts_with(kDetailMark) ? 3 : 0;
    const size_t taken = indent + first + 2;
    size_t hang = first;
    for (const std::string& line :
         Wrap(Printable(sentence), width - std::min(width, taken))) {
      out += std::string(indent + hang, ' ') + line + '\n';
      hang = first + 2;
    }
  }
}

std::string MarkdownSentences(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences)
    if (sentence.starts_with(kDetailMark))
      out += fmt::format("  - {}\n",
                         MarkdownText(sentence.substr(kDetailMark.size())));
    else
      out += fmt::format("- {}\n", MarkdownText(sentence));
  if (!out.empty()) out += '\n';
  return out;
}

std::string MarkdownSection(const Section& section) {
  std::string out;
  const std::string title = MarkdownText(section.title);
  if (section.folded) {
    out += fmt::format("<details><summary>{}</summary>\n\n", title);
  } else if (!title.empty()) {
    out += fmt::format("#### {}\n\n", title);
  }
  out += MarkdownSentences(section.before);
  if (section.table) out += MarkdownTable(*section.table) + '\n';
  out += MarkdownSentences(section.after);
  if (section.folded) out += "</details>\n\n";
  return out;
}

}  // namespace

std::string TerminalText(const Document& document, const TerminalStyle& style) {
  std::string out;
  for (const Section& section : document.sections) {
    if (!out.empty()) out += '\n';
    TerminalStyle inner = style;
    if (!section.title.empty()) {
      out += std::string(style.indent, ' ') + Printable(section.title) + '\n';
      inner.indent += 2;
    }
    AddSentences(section.before, inner.indent, style.width, out);
    if (section.table) out += TerminalTable(*section.table, inner);
    AddSentences(section.after, inner.indent, style.width, out);
  }
  return out;
}

std::string MarkdownDocument(const Document& document, size_t max_bytes) {
  std::string out;
  if (!document.title.empty())
    out += fmt::format("### {}\n\n", MarkdownText(document.title));
  constexpr size_t kForLeftOut = 1000;  // bytes of the line at the end
  std::string left_out;
  for (const Section& section : document.sections) {
    const std::string text = MarkdownSection(section);
    const std::string title = MarkdownText(section.title);
    if (out.size() + text.size() + kForLeftOut <= max_bytes) {
      out += text;
    } else if (left_out.size() + title.size() < kForLeftOut / 2) {
      left_out += left_out.empty() ? "" : ", ";
      left_out += title;
    }
  }
  if (!left_out.empty()) {
    out += fmt::format(
        "Left out, to fit a pull-request comment: {}. "
        "`--format terminal` and `json` have all of it.\n",
        left_out);
  }
  return out;
}

}  // namespace inferdiff
