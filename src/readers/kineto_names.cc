// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_names.h"

#include "readers/json_text.h"

namespace inferdiff {
namespace {

void CountLength(std::string_view text, ImportCounters* counters) {
  constexpr size_t kLong = 16 * 1024;
  if (text.size() > kLong) counters->Add(Counter::kLongName);
}

}  // namespace

NameTable::NameTable(const std::vector<std::unique_ptr<Lexicon>>& lexicons) {
  for (const auto& lexicon : lexicons) {
    first_.push_back(static_cast<uint32_t>(raw_.size()));
    for (NameId id = 0; id < lexicon->names.size(); ++id) {
      raw_.push_back(lexicon->names[id]);
    }
  }
  numbers_.assign(raw_.size(), kNone);
}

NameId NameTable::Intern(std::string_view raw, ImportCounters* counters) {
  const NameId before = pool_->size();
  if (IsPlainText(raw)) {
    const NameId id = pool_->Intern(raw);
    if (id == before) CountLength(raw, counters);
    return id;
  }
  const DecodedText decoded = DecodeJsonText(raw);
  const NameId id = pool_->Intern(decoded.text);
  if (id != before) return id;
  CountLength(decoded.text, counters);
  if (decoded.replaced) counters->Add(Counter::kInvalidUtf8);
  if (decoded.has_control) counters->Add(Counter::kControlCharacter);
  return id;
}

}  // namespace inferdiff
