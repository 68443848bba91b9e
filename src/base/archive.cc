// SPDX-License-Identifier: Apache-2.0
#include "base/archive.h"

#include "base/error.h"

namespace inferdiff {

void ArchiveWriter::Unsigned(uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ArchiveWriter::Text(std::string_view text) {
  Unsigned(text.size());
  bytes_ += text;
}

uint64_t ArchiveReader::Unsigned() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) FailDamaged("it ends in the middle of a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  FailDamaged("a number has more than 64 bits");
}

std::string_view ArchiveReader::Text() {
  const std::string_view text = rest_.substr(0, Count(1));
  rest_.remove_prefix(text.size());
  return text;
}

size_t ArchiveReader::Count(size_t least_bytes) {
  const uint64_t count = Unsigned();
  if (count > rest_.size() / least_bytes)
    FailDamaged("it ends before all that it announces");
  return static_cast<size_t>(count);
}

void ArchiveReader::ExpectEnd() const {
  if (!rest_.empty()) FailDamaged("something follows the last field");
}

void FailDamaged(const std::string& what) {
  throw InputError("damaged-ledger", "", "the ledger file is damaged: " + what,
                   "copy it again, or make it anew with `inferdiff ledger`");
}

}  // namespace inferdiff
