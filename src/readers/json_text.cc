// SPDX-License-Identifier: Apache-2.0
#include "readers/json_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace inferdiff {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

void AppendUtf8(uint32_t code, std::string* out) {
  const auto append = [&](uint32_t byte) {
    out->push_back(static_cast<char>(byte));
  };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xc0 | code >> 6);
    append(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    append(0xe0 | code >> 12);
    append(0x80 | (code >> 6 & 0x3f));
    append(0x80 | (code & 0x3f));
  } else {
    append(0xf0 | code >> 18);
    append(0x80 | (code >> 12 & 0x3f));
    append(0x80 | (code >> 6 & 0x3f));
    append(0x80 | (code & 0x3f));
  }
}

/// The four hex digits of \uXXXX at text[at].
std::optional<uint32_t> HexAt(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  uint32_t code = 0;
  const char* p = text.data() + at;
  const auto [stop, error] = std::from_chars(p, p + 4, code, 16);
  if (error != std::errc() || stop != p + 4) return std::nullopt;
  return code;
}

/// Appends what \uXXXX at text[at] (behind the u) stands for, surrogate pairs
/// included. Returns the digits and escapes consumed; 0 = malformed.
size_t AppendUnicodeEscape(std::string_view text, size_t at, DecodedText* out) {
  std::optional<uint32_t> code = HexAt(text, at);
  if (!code) return 0;
  size_t used = 4;
  if (*code >= 0xd800 && *code < 0xdc00 && text.substr(at + 4, 2) == "\\u") {
    const std::optional<uint32_t> low = HexAt(text, at + 6);
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      code = 0x10000 + ((*code - 0xd800) << 10 | (*low - 0xdc00));
      used = 10;
    }
  }
  if (*code >= 0xd800 && *code < 0xe000) {
    code = kReplacement;
    out->replaced = true;
  }
  AppendUtf8(*code, &out->text);
  return used;
}

/// Length of the UTF-8 sequence at `at`, 0 when it is not one. Overlong forms,
/// surrogates and codes beyond 0x10ffff are not.
size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) >= 0xa0) return 0;
    return 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

/// Appends the escape at text[at] == '\\'; returns the bytes consumed.
size_t AppendEscape(std::string_view text, size_t at, DecodedText* out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = at + 1 < text.size() ? text[at + 1] : '\0';
  if (letter == 'u') {
    if (const size_t used = AppendUnicodeEscape(text, at + 2, out)) {
      return 2 + used;
    }
  }
  const size_t which = kLetters.find(letter);
  if (which == std::string_view::npos) {
    out->text.push_back('\\');
    return 1;
  }
  out->text.push_back(kMeanings[which]);
  return 2;
}

DecodedText Decode(std::string_view raw, bool escapes) {
  DecodedText out;
  for (size_t at = 0; at < raw.size();) {
    if (escapes && raw[at] == '\\') {
      at += AppendEscape(raw, at, &out);
      continue;
    }
    const size_t length = Utf8Length(raw, at);
    if (length == 0) {
      AppendUtf8(kReplacement, &out.text);
      out.replaced = true;
      ++at;
      continue;
    }
    if (static_cast<unsigned char>(raw[at]) < 0x20) out.has_control = true;
    out.text.append(raw, at, length);
    at += length;
  }
  return out;
}

}  // namespace

bool IsPlainText(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 &&
           static_cast<unsigned char>(c) < 0x80 && c != '\\';
  });
}

DecodedText DecodeJsonText(std::string_view raw) { return Decode(raw, true); }

DecodedText RepairText(std::string_view raw) { return Decode(raw, false); }

}  // namespace inferdiff
