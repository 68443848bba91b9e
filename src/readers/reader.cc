// SPDX-License-Identifier: Apache-2.0
#include "readers/reader.h"

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/gzip.h"
#include "readers/kineto_assemble.h"

namespace inferdiff {

SourceFile ReadTrace(const std::string& path, const ReadOptions&) {
  SourceFile file;
  file.path = path;
  file.format = "Kineto JSON";
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)),
                   std::istreambuf_iterator<char>());
  file.size_bytes = text.size();
  file.crc32 = Crc32(text);
  if (text.substr(0, 2) == "\x1f\x8b") text = Inflate(text);
  const size_t events = text.find("\"traceEvents\"");
  size_t at = text.find('[', events == std::string::npos ? 0 : events);
  KinetoMetadata metadata;
  std::vector<std::unique_ptr<Lexicon>> lexicons;
  lexicons.push_back(std::make_unique<Lexicon>());
  std::vector<RecordBatch> batches(1);
  batches[0].lexicon = lexicons[0].get();
  const std::string_view all = text;
  while (at != std::string::npos) {
    at = all.find('{', at);
    if (at == std::string::npos) break;
    EventFields fields;
    const auto end = ParseEvent(all.substr(at), Strictness::kStrict, &fields,
                                &batches[0].counters);
    if (!end) {
      batches[0].counters.Add(Counter::kMalformedRecord);
      break;
    }
    const EventKind kind = KindOf(fields.cat.text);
    if (fields.ph.text == "X" && kind != EventKind::kOther) {
      AddEvent(fields, kind, batches[0].elements, &batches[0]);
    }
    ++batches[0].elements;
    at = all.find_first_not_of(" \n\r\t,", at + *end);
    if (at == std::string::npos || all[at] != '{') break;
  }
  for (const std::string_view part :
       {all.substr(0, std::min(all.size(), events)),
        all.substr(std::min(all.size(), at))}) {
    for (size_t key = part.find('"'); key != std::string_view::npos;) {
      const size_t end = part.find('"', key + 1);
      if (end == std::string_view::npos) break;
      const size_t colon = part.find_first_not_of(" \n\r\t", end + 1);
      if (colon == std::string_view::npos || part[colon] != ':') {
        key = part.find('"', end + 1);
        continue;
      }
      size_t value = part.find_first_not_of(" \n\r\t", colon + 1);
      if (value == std::string_view::npos) break;
      // Wrap the value as an event to find its end.
      const std::string wrapped = "{\"x\":" + std::string(part.substr(value));
      size_t depth = 0;
      size_t stop = value;
      bool in_string = false;
      for (; stop < part.size(); ++stop) {
        const char c = part[stop];
        if (in_string) {
          if (c == '\\') ++stop;
          if (c == '"') in_string = false;
          continue;
        }
        if (c == '"') in_string = true;
        if (c == '{' || c == '[') ++depth;
        if ((c == ',' || c == '}') && depth == 0) break;
        if (c == '}' || c == ']') --depth;
      }
      metadata.Add(part.substr(key + 1, end - key - 1),
                   part.substr(value, std::min(stop, part.size()) - value));
      key = part.find('"', std::min(stop, part.size()));
    }
  }
  AssembleTraces(std::move(batches), std::move(lexicons), metadata, false,
                 &file);
  if (file.traces.empty()) {
    throw InputError("no-gpu-events", path, "the trace has no GPU activity",
                     "capture with ProfilerActivity.CUDA");
  }
  return file;
}

}  // namespace inferdiff
