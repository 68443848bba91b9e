// SPDX-License-Identifier: Apache-2.0
#include "redact/redact_kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "readers/json_text.h"
#include "readers/kineto_json.h"
#include "steps/markers.h"

namespace inferdiff {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool IsIdentifier(std::string_view text) {
  constexpr size_t kMostBytes = 100;
  return !text.empty() && text.size() <= kMostBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '_';
         });
}

template <size_t n>
bool IsOneOf(std::string_view text,
             const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 6> kGpuCategories = {
    "kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"};
constexpr std::array<std::string_view, 5> kCallCategories = {
    "cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "hip_driver"};
constexpr std::array<std::string_view, 2> kRangeCategories = {
    "user_annotation", "gpu_user_annotation"};

bool IsCall(std::string_view name) {
  return IsIdentifier(name) &&
         (name.starts_with("cu") || name.starts_with("hip") ||
          name.starts_with("nccl"));
}

/// "NVIDIA A100-PG509-200": behind a known maker only words that are known, and
/// short ones of capitals and digits.
bool IsGpuName(std::string_view name, const Placeholders& placeholders) {
  constexpr size_t kMostBytes = 48, kShort = 8;
  constexpr std::array<std::string_view, 4> kMakers = {"NVIDIA ", "AMD ",
                                                       "Tesla ", "GeForce "};
  if (name.size() > kMostBytes ||
      std::none_of(kMakers.begin(), kMakers.end(), [&](std::string_view maker) {
        return name.starts_with(maker);
      }))
    return false;
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find_first_of(" -", at), name.size());
    const std::string_view word = name.substr(at, end - at);
    const bool code = word.size() <= kShort &&
                      std::all_of(word.begin(), word.end(), [](char c) {
                        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                      });
    if (!code && !placeholders.IsPublic(word)) return false;
    at = end + 1;
  }
  return true;
}

/// "aten::mm": PyTorch's own, as far as the namespace says.
bool IsOperator(std::string_view name) {
  for (const std::string_view space : {"aten::", "c10d::", "prim::"})
    if (name.starts_with(space)) return IsIdentifier(name.substr(space.size()));
  return false;
}

// --- one value, in memory
// ------------------------------------------------------

/// Rewrites the raw text of a value.
class ValueRewriter {
 public:
  ValueRewriter(std::string_view raw, Placeholders* placeholders,
                std::string* out)
      : raw_(raw), placeholders_(*placeholders), out_(*out) {}

  /// An element of traceEvents.
  void Event() {
    FindCategory();
    at_ = 0;
    is_event_ = true;
    Value("", 0);
  }
  void Other(std::string_view key) {
    is_device_ = key == "deviceProperties";
    Value(key, 1);
  }

 private:
  [[noreturn]] void Fail() const {
    throw InputError("not-redactable", "", "a value of the trace is no JSON",
                     "a damaged trace is not rewritten: capture again");
  }

  char Peek() const { return at_ < raw_.size() ? raw_[at_] : '\0'; }
  void Copy() { out_ += raw_[at_++]; }
  void Spaces() {
    while (IsSpace(Peek())) Copy();
  }
  void Expect(char c) {
    if (Peek() != c) Fail();
    Copy();
  }

  /// The raw contents; at_ goes behind the closing quote.
  std::string_view String() {
    if (Peek() != '"') Fail();
    const size_t begin = ++at_;
    while (at_ < raw_.size() && raw_[at_] != '"')
      at_ += raw_[at_] == '\\' ? 2 : 1;
    if (at_ >= raw_.size()) Fail();
    return raw_.substr(begin, at_++ - begin);
  }

  void Quote(std::string_view contents) {
    out_ += '"';
    out_ += contents;
    out_ += '"';
  }

  void Value(std::string_view key, int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) Fail();
    Spaces();
    if (Peek() == '{') {
      Object(depth);
    } else if (Peek() == '[') {
      Array(key, depth);
    } else if (Peek() == '"') {
      Text(key, depth);
    } else {
      Scalar();
    }
    Spaces();
  }

  void Object(int depth) {
    Copy();
    Spaces();
    while (Peek() != '}') {
      const std::string_view key = String();
      Quote(placeholders_.IsPublic(key)
                ? std::string(key)
                : placeholders_.Of(DecodeJsonText(key).text, "key"));
      Spaces();
      Expect(':');
      Value(key, depth + 1);
      if (Peek() != ',') break;
      Copy();
      Spaces();
    }
    Expect('}');
  }

  void Array(std::string_view key, int depth) {
    Copy();
    Spaces();
    while (Peek() != ']') {
      Value(key, depth + 1);
      if (Peek() != ',') break;
      Copy();
    }
    Expect(']');
  }

  /// A number or a word, or what profilers write in their place: inf, nan.
  void Scalar() {
    const size_t begin = at_;
    while (at_ < raw_.size() && raw_[at_] != ',' && raw_[at_] != '}' &&
           raw_[at_] != ']' && !IsSpace(raw_[at_]))
      ++at_;
    const std::string_view text = raw_.substr(begin, at_ - begin);
    constexpr size_t kMostBytes = 64;
    constexpr std::array<std::string_view, 10> kWords = {
        "true", "false", "null", "nan",      "NaN",
        "inf",  "-inf",  "-nan", "Infinity", "-Infinity"};
    const bool number = !text.empty() && text.size() <= kMostBytes &&
                        text.find_first_not_of("+-.0123456789eE") == text.npos;
    if (!number && !IsOneOf(text, kWords)) Fail();
    out_ += text;
  }

  void Text(std::string_view key, int depth) {
    const std::string_view raw = String();
    if (is_event_ && depth == 1 && key == "name")
      Quote(Name(raw));
    else
      Quote(placeholders_.IsPublic(raw) || (is_device_ && key == "name" &&
                                            IsGpuName(raw, placeholders_))
                ? std::string(raw)
                : placeholders_.Of(DecodeJsonText(raw).text, key));
  }

  /// The name of an event, by its category.
  std::string Name(std::string_view raw) {
    if (IsOneOf(category_, kGpuCategories) || placeholders_.IsPublic(raw))
      return std::string(raw);
    if (IsOneOf(category_, kCallCategories) && IsCall(raw))
      return std::string(raw);
    if (category_ == "cpu_op" && IsOperator(raw)) return std::string(raw);
    const std::string text = DecodeJsonText(raw).text;
    if (IsOneOf(category_, kRangeCategories) || category_ == "Operator") {
      // A step marker has to be one still, and say the same.
      if (MarkerRules::Builtin().Match(text)) return Marker(text);
    }
    return placeholders_.Of(text, category_ == "python_function"
                                      ? std::string_view("path")
                                      : category_);
  }

  std::string Marker(const std::string& text) {
    std::string cropped = placeholders_.Cropped(text);
    if (cropped != text) placeholders_.Of(text, "annotation");
    return cropped;
  }

  /// The first "cat" of the event itself, which is what the reader takes.
  void FindCategory() {
    int depth = 0;
    for (at_ = 0; at_ < raw_.size();) {
      const char c = raw_[at_];
      if (c == '"') {
        const std::string_view key = String();
        if (depth != 1 || key != "cat") continue;
        while (IsSpace(Peek()) || Peek() == ':') ++at_;
        if (Peek() == '"') category_ = String();
        return;
      }
      depth += c == '{' || c == '[' ? 1 : (c == '}' || c == ']' ? -1 : 0);
      ++at_;
    }
  }

  std::string_view raw_;
  Placeholders& placeholders_;
  std::string& out_;
  size_t at_ = 0;
  bool is_event_ = false, is_device_ = false;
  std::string_view category_;
};

// --- the document, streamed
// -----------------------------------------------------

class Redactor {
 public:
  Redactor(std::unique_ptr<ByteSource> source, Placeholders* placeholders,
           const TextSink& sink)
      : source_(std::move(source)),
        placeholders_(placeholders),
        out_(sink),
        window_(kWindow, '\0') {}

  void Run() {
    CopySpaces();
    if (Peek() == '[') {
      Events();
    } else {
      Document();
    }
    CopySpaces();
    if (Peek() != '\0' || source_->truncated() || source_->corrupt()) Fail();
  }

 private:
  static constexpr size_t kWindow = size_t{1} << 20;

  [[noreturn]] void Fail() const {
    throw InputError("not-redactable", "",
                     source_->truncated() || source_->corrupt()
                         ? "the trace is cut off or damaged"
                         : "the trace is cut off, or is no well-formed JSON",
                     "only whole traces are rewritten: capture again");
  }

  /// NUL at the end: JSON has none.
  char Peek() {
    if (at_ == end_) {
      end_ = source_->Read(window_.data(), window_.size());
      at_ = 0;
      if (end_ == 0) return '\0';
    }
    return window_[at_];
  }

  void Copy() { out_.Append({&window_[at_++], 1}); }
  void Expect(char c) {
    if (Peek() != c) Fail();
    Copy();
  }
  void CopySpaces() {
    while (IsSpace(Peek())) Copy();
  }

  void Take() {
    if (value_.size() >= kMostBytes) Fail();
    value_ += window_[at_++];
  }

  void TakeString() {
    do {
      if (Peek() == '\\') {
        Take();
        if (Peek() == '\0') Fail();
      }
      Take();
      if (Peek() == '\0') Fail();
    } while (Peek() != '"');
    Take();
  }

  /// Reads a value's raw text into value_.
  void TakeValue() {
    value_.clear();
    int depth = 0;
    for (;;) {
      const char c = Peek();
      if (c == '\0') Fail();
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return;
      if (c == '"') {
        TakeString();
        continue;
      }
      depth += c == '{' || c == '[' ? 1 : (c == '}' || c == ']' ? -1 : 0);
      Take();
    }
  }

  void Document() {
    Expect('{');
    CopySpaces();
    while (Peek() != '}') {
      value_.clear();
      if (Peek() != '"') Fail();
      TakeString();
      const std::string key = value_.substr(1, value_.size() - 2);
      if (!placeholders_->IsPublic(key))
        value_ = '"' + placeholders_->Of(DecodeJsonText(key).text, "key") + '"';
      out_.Append(value_);
      CopySpaces();
      Expect(':');
      CopySpaces();
      if (key == "traceEvents" && Peek() == '[') {
        Events();
      } else {
        TakeValue();
        Write([&](ValueRewriter& value) { value.Other(key); });
      }
      CopySpaces();
      if (Peek() != ',') break;
      Copy();
      CopySpaces();
    }
    Expect('}');
  }

  void Events() {
    Expect('[');
    CopySpaces();
    while (Peek() != ']') {
      TakeValue();
      Write([](ValueRewriter& value) { value.Event(); });
      if (Peek() != ',') break;
      Copy();
      CopySpaces();
    }
    Expect(']');
  }

  template <typename Rewrite>
  void Write(const Rewrite& rewrite) {
    rewritten_.clear();
    ValueRewriter value(value_, placeholders_, &rewritten_);
    rewrite(value);
    out_.Append(rewritten_);
  }

  static constexpr size_t kMostBytes = size_t{64} << 20;

  std::unique_ptr<ByteSource> source_;
  Placeholders* placeholders_;
  TextPieces out_;
  std::string window_, value_, rewritten_;
  size_t at_ = 0, end_ = 0;
};

}  // namespace

void RedactKineto(const InputFile& file, Compression compression,
                  Placeholders* placeholders, const TextSink& sink) {
  const auto open = [&] {
    return compression == Compression::kPlain
               ? OpenPlain(file, 0)
               : OpenCompressed(file, compression);
  };
  constexpr size_t kHead = size_t{64} << 10;
  std::string head(kHead, '\0');
  head.resize(open()->Read(head.data(), head.size()));
  if (!SniffKineto(head)) {
    throw InputError("not-redactable", "",
                     "only PyTorch profiler traces (JSON) can be rewritten",
                     "publish what `inferdiff ledger` says of it");
  }
  Redactor(open(), placeholders, sink).Run();
}

}  // namespace inferdiff
