// SPDX-License-Identifier: Apache-2.0
#include "readers/rocprof_json.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/json_objects.h"
#include "readers/kineto_boundary.h"
#include "readers/rocprof_assemble.h"
#include "readers/rocprof_process.h"

namespace inferdiff {
namespace {

constexpr std::string_view kSize = "\"size\"";

/// Records of all arrays begin with their size.
bool IsRecord(std::string_view text, size_t brace) {
  const size_t key = SkipJsonSpace(text, brace + 1);
  return text.substr(key, kSize.size()) == kSize;
}

/// Hands the objects to their processes.
class Processes : public JsonObjectSink {
 public:
  explicit Processes(ImportCounters* counters) : counters_(counters) {}

  bool Enter(std::string_view text, size_t brace) override;
  void Leave() override { SetArray({}); }
  void Take(std::string_view object) override;
  size_t FindStart(std::string_view text, size_t at) const override;

  void Finish() {
    if (!process_) return;
    batches_.push_back(process_->Finish(&agents_));
    counters_->Merge(batches_.back().counters);
    process_.reset();
  }
  RocprofInput TakeAll() {
    RocprofInput input;
    input.files.push_back(std::move(batches_));
    input.agents = std::move(agents_);
    input.text = RocprofText::kJson;
    return input;
  }

 private:
  void SetArray(std::string_view key) {
    if (!array_.empty() && array_ != key) last_array_ = array_;
    array_ = key;
  }

  ImportCounters* counters_;
  std::string array_;  // key of the array that the text is in, or empty
  std::string last_array_;
  std::string taken_;  // key of the object to take: its array's, or its own
  RocprofLexicon lexicon_;
  RocprofProcess::Ordinals ordinals_;
  std::optional<RocprofProcess> process_;
  std::vector<RocprofBatch> batches_;
  std::vector<RocprofAgent> agents_;
};

bool Processes::Enter(std::string_view text, size_t brace) {
  const size_t inside = SkipJsonSpace(text, brace + 1);
  constexpr std::string_view kMetadata = "\"metadata\"";
  if (text.substr(inside, kMetadata.size()) == kMetadata) {
    Finish();
    process_.emplace(&lexicon_, &ordinals_);
    SetArray({});
    return true;
  }
  const size_t before = LastJsonBefore(text, brace);
  const char mark = before == text.npos ? '\0' : text[before];
  if (mark == '[') {
    const size_t colon = LastJsonBefore(text, before);
    const bool has_key = colon != text.npos && text[colon] == ':';
    SetArray(has_key ? JsonKeyBefore(text, colon) : std::string_view());
    if (array_ == "rocprofiler-sdk-tool") array_.clear();
  } else if (mark != ':' && IsRecord(text, brace)) {
    // Damage in front may have closed what is still open.
    if (array_.empty()) array_ = last_array_;
  } else if (mark != ',') {
    SetArray({});
  }
  taken_ = array_;
  if (mark == ':' && JsonKeyBefore(text, before) == "metadata") {
    taken_ = "metadata";
  }
  return taken_.empty();
}

void Processes::Take(std::string_view object) {
  if (!process_) process_.emplace(&lexicon_, &ordinals_);
  if (!process_->Take(taken_, object)) {
    counters_->Add(Counter::kMalformedRecord);
  }
}

/// Records hold no arrays of objects that begin as they do.
size_t Processes::FindStart(std::string_view text, size_t at) const {
  for (size_t key = text.find(kSize, at); key != text.npos;
       key = text.find(kSize, key + 1)) {
    const size_t brace = LastJsonBefore(text, key);
    if (brace == text.npos || brace < at || text[brace] != '{') continue;
    const size_t before = LastJsonBefore(text, brace);
    if (before == text.npos || before < at) continue;
    if ((text[before] == ',' || text[before] == '[') &&
        IsNearJson(text, brace)) {
      return brace;
    }
  }
  return text.npos;
}

}  // namespace

bool SniffRocprofJson(std::string_view head) {
  const size_t brace = head.find_first_not_of(" \n\r\t");
  if (brace == head.npos || head[brace] != '{') return false;
  const size_t key = head.find_first_not_of(" \n\r\t", brace + 1);
  constexpr std::string_view kRoot = "\"rocprofiler-sdk-tool\"";
  return key != head.npos && head.substr(key, kRoot.size()) == kRoot;
}

SourceFile ReadRocprofJson(const InputFile& file, Compression compression,
                           const ReadOptions& options,
                           const RocprofJsonTuning& tuning) {
  SourceFile result;
  result.format = "rocprofv3 JSON";
  ImportCounters& counters = result.counters;
  Processes processes(&counters);
  JsonObjects objects(&processes, &counters);
  const auto source = compression == Compression::kPlain
                          ? OpenPlain(file, 0)
                          : OpenCompressed(file, compression);
  result.crc32 = WalkJsonObjects(source.get(), compression, options,
                                 tuning.block, &objects);
  processes.Finish();
  const bool truncated = source->truncated() || !objects.whole();
  if (truncated) counters.Add(Counter::kTruncatedInput);
  if (source->corrupt()) counters.Add(Counter::kCorruptCompression);
  RocprofInput input = processes.TakeAll();
  input.truncated = truncated || source->corrupt();
  AssembleRocprof(std::move(input), &result);
  return result;
}

}  // namespace inferdiff
