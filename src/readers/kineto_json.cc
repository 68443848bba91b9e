// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_json.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "readers/kineto_assemble.h"
#include "readers/kineto_boundary.h"
#include "readers/kineto_meta.h"
#include "readers/kineto_scan.h"
#include "readers/kineto_stream.h"
#include "readers/text_blocks.h"

namespace inferdiff {
namespace {

/// Text around the events that is looked at.
constexpr size_t kMostMetadata = size_t{4} << 20;

/// Looks for the [ of the array of events in text that grows at its end. That
/// of the outermost object counts, however many a tool has nested in front of
/// it; a nested one only where there is no other.
class ArrayFinder {
 public:
  static constexpr size_t kNowhere = std::string_view::npos;

  /// Where it stands; kNowhere: not in this text. `final`: no more will come.
  size_t Find(std::string_view text, bool final);

 private:
  enum class Match : uint8_t { kNo, kYes, kNeedText };
  Match MatchKey(std::string_view text, size_t* bracket) const;

  size_t at_ = 0;  // what is in front has been looked at
  int64_t depth_ = 0;
  bool in_string_ = false;
  size_t nested_ = kNowhere;
};

/// Whether `"traceEvents": [` stands at at_.
ArrayFinder::Match ArrayFinder::MatchKey(std::string_view text,
                                         size_t* bracket) const {
  constexpr std::string_view kKey = "\"traceEvents\"";
  const std::string_view here = text.substr(at_, kKey.size());
  if (here != kKey.substr(0, here.size())) return Match::kNo;
  const size_t colon = SkipJsonSpace(text, at_ + here.size());
  if (colon >= text.size()) return Match::kNeedText;
  if (text[colon] != ':') return Match::kNo;
  *bracket = SkipJsonSpace(text, colon + 1);
  if (*bracket >= text.size()) return Match::kNeedText;
  return text[*bracket] == '[' ? Match::kYes : Match::kNo;
}

size_t ArrayFinder::Find(std::string_view text, bool final) {
  const size_t first = SkipJsonSpace(text, 0);
  if (first < text.size() && text[first] == '[') return first;
  for (; at_ < text.size(); ++at_) {
    const char c = text[at_];
    if (c == '"') {
      size_t bracket = kNowhere;
      const Match match = MatchKey(text, &bracket);
      if (match == Match::kNeedText && !final) return kNowhere;
      if (match == Match::kYes) {
        if (depth_ == 1 && !in_string_) return bracket;
        nested_ = std::min(nested_, bracket);
      }
      in_string_ = !in_string_;
    } else if (in_string_) {
      if (c != '\\') continue;
      if (at_ + 1 == text.size() && !final) return kNowhere;
      ++at_;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      --depth_;
    }
  }
  return final ? nested_ : kNowhere;
}

struct Prologue {
  std::string text;       // up to the array
  std::string_view rest;  // of the last block, from the [ on
};

Prologue ReadPrologue(const InputFile& file, TextBlocks* blocks) {
  ArrayFinder finder;
  std::string_view text = blocks->Next({});
  while (true) {
    const bool final = blocks->final() || text.size() > kMostMetadata;
    const size_t array = finder.Find(text, final);
    if (array != text.npos) {
      return {std::string(text.substr(0, array)), text.substr(array)};
    }
    if (final) {
      throw InputError("no-trace-events", file.path(),
                       "the file is JSON without an array of trace events",
                       "name a trace written by torch.profiler");
    }
    text = blocks->Next(text);
  }
}

/// What stands behind the events.
std::string_view ReadEpilogue(std::string_view text, TextBlocks* blocks) {
  while (!blocks->final() && text.size() < kMostMetadata) {
    text = blocks->Next(text);
  }
  return text.substr(0, kMostMetadata);
}

/// An object that ends with its brace, or an array; or more text than is looked
/// at.
bool IsWhole(std::string_view prologue, std::string_view epilogue) {
  if (epilogue.size() == kMostMetadata) return true;
  const size_t first = prologue.find_first_not_of(" \n\r\t");
  if (first == prologue.npos || prologue[first] != '{') return true;
  const size_t last = epilogue.find_last_not_of(" \n\r\t");
  return last != epilogue.npos && epilogue[last] == '}';
}

/// Whether events stand in text that should have none: of another trace in
/// the file, or because damage looked like the end of the array.
bool HoldsEvents(std::string_view epilogue) {
  constexpr std::string_view kKey = "\"ph\"";
  for (size_t at = epilogue.find(kKey); at != epilogue.npos;
       at = epilogue.find(kKey, at + 1)) {
    const size_t colon = SkipJsonSpace(epilogue, at + kKey.size());
    if (colon < epilogue.size() && epilogue[colon] == ':') return true;
  }
  return false;
}

struct Input {
  const InputFile& file;
  Compression compression;
  const ReadOptions& options;
  const KinetoTuning& tuning;
};

/// The events, and the metadata around them.
struct Content {
  ScannedEvents events;
  KinetoMetadata metadata;
  bool whole = true;
  size_t left_out = 0;  // bytes behind the array that hold events
  bool truncated = false;
  bool corrupt = false;
  uint32_t crc32 = 0;
};

void TakeEnds(std::string_view prologue, std::string_view epilogue,
              Content* content) {
  content->metadata.Add(prologue);
  if (content->events.cut) return;
  content->metadata.Add(epilogue);
  if (HoldsEvents(epilogue)) {
    content->left_out = epilogue.size();
  }
  content->whole = IsWhole(prologue, epilogue);
}

constexpr size_t kEndsBlock = 64 * 1024;

Content ReadPlain(const Input& input) {
  Content content;
  const auto head = OpenPlain(input.file, 0);
  TextBlocks head_blocks(head.get(), kEndsBlock, false);
  const Prologue prologue = ReadPrologue(input.file, &head_blocks);
  content.events = ScanWindows(input.file, prologue.text.size(), input.options,
                               input.tuning.window);
  content.crc32 = content.events.crc32;
  const auto tail = OpenPlain(input.file, content.events.end);
  TextBlocks tail_blocks(tail.get(), kEndsBlock, false);
  TakeEnds(prologue.text, ReadEpilogue(tail_blocks.Next({}), &tail_blocks),
           &content);
  return content;
}

Content ReadCompressed(const Input& input) {
  Content content;
  const auto source = OpenCompressed(input.file, input.compression);
  TextBlocks blocks(source.get(), kEndsBlock, false);
  const Prologue prologue = ReadPrologue(input.file, &blocks);
  // Decoding, the longer part, is interrupted half as often.
  StreamScan scan(source.get(), 2 * input.tuning.window, input.options.threads,
                  input.options.progress);
  const std::string rest = scan.Run(prologue.rest, &content.events);
  TakeEnds(prologue.text, ReadEpilogue(rest, &blocks), &content);
  content.truncated = source->truncated();
  content.corrupt = source->corrupt();
  content.crc32 = source->DiskCrc32();
  return content;
}

}  // namespace

bool SniffKineto(std::string_view head) {
  const size_t first = head.find_first_not_of(" \n\r\t");
  if (first == head.npos) return false;
  if (head[first] == '{') {
    return head.find("\"traceEvents\"") != head.npos ||
           head.find("\"schemaVersion\"") != head.npos ||
           head.find("\"deviceProperties\"") != head.npos;
  }
  return head[first] == '[' && head.find("\"ph\"") != head.npos;
}

SourceFile ReadKineto(const InputFile& file, Compression compression,
                      const ReadOptions& options, const KinetoTuning& tuning) {
  const Input input{file, compression, options, tuning};
  Content content = compression == Compression::kPlain ? ReadPlain(input)
                                                       : ReadCompressed(input);
  SourceFile result;
  result.format = "Kineto JSON";
  result.crc32 = content.crc32;
  const bool truncated =
      content.events.cut || content.truncated || !content.whole;
  if (truncated) result.counters.Add(Counter::kTruncatedInput);
  result.counters.Add(Counter::kSkippedBytes, content.left_out);
  if (content.corrupt) result.counters.Add(Counter::kCorruptCompression);
  AssembleTraces(std::move(content.events), content.metadata,
                 truncated || content.corrupt, options.threads, &result);
  return result;
}

}  // namespace inferdiff
