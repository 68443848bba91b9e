// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace inferdiff {
namespace {

struct Decoded {
  char32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

// One character at the front of non-empty text; an invalid byte is one
// character of its own. Refuses overlong forms, surrogates and > U+10FFFF.
Decoded Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff ||
      (code >= 0xd800 && code < 0xe000)) {
    return {};
  }
  return {code, length, true};
}

struct Range {
  char32_t first, last;
};

bool In(const Range* begin, const Range* end, char32_t code) {
  return std::any_of(begin, end, [&](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

// Controls, and what moves or hides text: joiners, direction marks, line and
// paragraph separators, byte order mark, tags.
bool MustEscape(char32_t code) {
  static constexpr Range kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x061c, 0x061c},
      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
      {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};
  return In(std::begin(kRanges), std::end(kRanges), code);
}

size_t WidthOf(char32_t code) {
  static constexpr Range kCombining[] = {
      {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
      {0x064b, 0x065f}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0e31, 0x0e31},
      {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
      {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
  static constexpr Range kWide[] = {
      {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
      {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
      {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
      {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
      {0x20000, 0x3fffd}};
  if (code < 0x300) return 1;
  if (In(std::begin(kCombining), std::end(kCombining), code)) return 0;
  return In(std::begin(kWide), std::end(kWide), code) ? 2 : 1;
}

std::string EscapeCode(char32_t code) {
  const auto value = static_cast<uint32_t>(code);
  if (value < 0x100) return fmt::format("\\x{:02x}", value);
  if (value < 0x10000) return fmt::format("\\u{:04x}", value);
  return fmt::format("\\U{:08x}", value);
}

// The longest prefix of at most `width` columns, in bytes.
size_t PrefixBytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t used = 0;
  while (bytes < text.size()) {
    const Decoded next = Decode(text.substr(bytes));
    const size_t columns = next.valid ? WidthOf(next.code) : 1;
    if (used + columns > width) break;
    used += columns;
    bytes += next.bytes;
  }
  return bytes;
}

// The start of the longest suffix of at most `width` columns.
size_t SuffixStart(std::string_view text, size_t width) {
  size_t skip = DisplayWidth(text);
  size_t at = 0;
  while (at < text.size() && skip > width) {
    const Decoded next = Decode(text.substr(at));
    skip -= next.valid ? WidthOf(next.code) : 1;
    at += next.bytes;
  }
  // No combining mark without its base.
  while (at < text.size()) {
    const Decoded next = Decode(text.substr(at));
    if (!next.valid || WidthOf(next.code) > 0) break;
    at += next.bytes;
  }
  return at;
}

void AppendMarkdown(std::string& out, char c) {
  switch (c) {
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '&':
      out += "&amp;";
      return;
    case '@':  // a mention would notify a stranger; code never does
      out += "`@`";
      return;
    default:
      break;
  }
  constexpr std::string_view kSpecial = "\\*_{}[]#|~!$";
  if (kSpecial.find(c) != std::string_view::npos) out += '\\';
  out += c;
}

// What no line begins with: the unit of the number in front of it, or a dot
// between facts.
bool StaysBehind(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  while (!word.empty() && std::string_view(".,:;)").find(word.back()) !=
                              std::string_view::npos) {
    word.remove_suffix(1);
  }
  for (const std::string_view unit :
       {std::string_view("%"), std::string_view("ns"),
        std::string_view("\u00b5s"), std::string_view("ms"),
        std::string_view("s"), kTimes, kDot}) {
    if (word == unit) return true;
  }
  return false;
}

}  // namespace

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool SameName(std::string_view a, std::string_view b) {
  const auto key = [](std::string_view name) {
    std::string lower = Lower(name);
    std::replace(lower.begin(), lower.end(), '_', ' ');
    return lower;
  };
  return key(a) == key(b);
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = Decode(text);
    if (!next.valid) {
      out += "\ufffd";
    } else if (MustEscape(next.code)) {
      out += EscapeCode(next.code);
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Decoded next = Decode(text);
    width += next.valid ? WidthOf(next.code) : 1;
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string ElideMiddle(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  const size_t tail = (width - 1) / 3;
  std::string out(text.substr(0, PrefixBytes(text, width - 1 - tail)));
  out += kEllipsis;
  out += text.substr(SuffixStart(text, tail));
  return out;
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    size_t space = std::min(text.find(' '), text.size());
    while (space < text.size() && StaysBehind(text.substr(space + 1)))
      space = std::min(text.find(' ', space + 1), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string Quoted(std::string_view name) {
  std::string text = Printable(name);
  std::replace(text.begin(), text.end(), '`', '\'');
  return fmt::format("`{}`", text);
}

std::string MarkdownText(std::string_view raw, bool in_table) {
  const std::string text = Printable(raw);
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t close =
        text[at] == '`' ? text.find('`', at + 1) : std::string::npos;
    if (close != std::string::npos) {
      out += MarkdownCode(text.substr(at + 1, close - at - 1), in_table);
      at = close + 1;
      continue;
    }
    if (text[at] == '`') out += '\\';
    AppendMarkdown(out, text[at++]);
  }
  return out;
}

std::string MarkdownCode(std::string_view raw, bool in_table) {
  if (raw.empty()) return "";
  const std::string text = Printable(raw);
  // A span opens with more backticks than the text holds in a row.
  size_t longest = 0;
  size_t run = 0;
  std::string body;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    // A cell ends at a bare bar, even in code.
    if (c == '|' && in_table) body += '\\';
    body += c;
  }
  const std::string fence(longest + 1, '`');
  // Padding is stripped again where it is on both sides.
  const bool pad = longest > 0 || text.front() == ' ' || text.back() == ' ';
  const std::string_view space = pad ? " " : "";
  return fmt::format("{}{}{}{}{}", fence, space, body, space, fence);
}

std::string TsvField(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t plain =
        std::min(text.find_first_of("\\\t\n\r", at), text.size());
    out += Printable(text.substr(at, plain - at));
    if (plain < text.size()) {
      const char c = text[plain];
      out += c == '\\' ? "\\\\" : c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
    }
    at = plain + 1;
  }
  return out;
}

}  // namespace inferdiff
