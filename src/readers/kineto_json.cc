// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_json.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "readers/kineto_assemble.h"
#include "readers/kineto_meta.h"
#include "readers/kineto_scan.h"
#include "readers/text_blocks.h"

namespace inferdiff {
namespace {

/// Text around the events that is looked at.
constexpr size_t kMostMetadata = size_t{4} << 20;

/// Where the [ of the array of events stands; npos when `text` has no array of
/// events, or not yet.
size_t FindArray(std::string_view text) {
  const auto skip = [&](size_t at) {
    return text.find_first_not_of(" \n\r\t", at);
  };
  const size_t first = skip(0);
  if (first == text.npos) return first;
  if (text[first] == '[') return first;
  constexpr std::string_view kKey = "\"traceEvents\"";
  for (size_t at = text.find(kKey); at != text.npos;
       at = text.find(kKey, at + 1)) {
    const size_t colon = skip(at + kKey.size());
    if (colon == text.npos || text[colon] != ':') continue;
    const size_t bracket = skip(colon + 1);
    if (bracket != text.npos && text[bracket] == '[') return bracket;
  }
  return text.npos;
}

struct Prologue {
  std::string text;       // up to the array
  std::string_view rest;  // of the last block, from the [ on
};

Prologue ReadPrologue(const InputFile& file, TextBlocks* blocks) {
  std::string_view text = blocks->Next({});
  while (true) {
    const size_t array = FindArray(text);
    if (array != text.npos) {
      return {std::string(text.substr(0, array)), text.substr(array)};
    }
    if (blocks->final() || text.size() > kMostMetadata) {
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
  return text;
}

/// An object that ends with its brace, or an array.
bool IsWhole(std::string_view prologue, std::string_view epilogue) {
  const size_t first = prologue.find_first_not_of(" \n\r\t");
  if (first == prologue.npos || prologue[first] != '{') return true;
  const size_t last = epilogue.find_last_not_of(" \n\r\t");
  return last != epilogue.npos && epilogue[last] == '}';
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
  bool truncated = false;
  bool corrupt = false;
  uint32_t crc32 = 0;
};

void TakeEnds(std::string_view prologue, std::string_view epilogue,
              Content* content) {
  content->metadata.Add(prologue);
  if (content->events.cut) return;
  content->metadata.Add(epilogue);
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
  TextBlocks blocks(source.get(), input.tuning.window,
                    input.options.threads != 1);
  const Prologue prologue = ReadPrologue(input.file, &blocks);
  const std::string_view rest = ScanStream(
      prologue.rest, &blocks, input.options.progress, &content.events);
  TakeEnds(prologue.text, ReadEpilogue(rest, &blocks), &content);
  blocks.Finish();
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
  if (content.corrupt) result.counters.Add(Counter::kCorruptCompression);
  AssembleTraces(std::move(content.events.batches),
                 std::move(content.events.lexicons), content.metadata,
                 truncated || content.corrupt, &result);
  return result;
}

}  // namespace inferdiff
