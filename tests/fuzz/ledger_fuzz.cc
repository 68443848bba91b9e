// SPDX-License-Identifier: Apache-2.0
// Ledger files and what is in them, with checksums that fit, so that all the
// checks behind those are met.
//
//   'f' + a file: its size and checksum are put right
//   'r' + 4 bytes + collectives + the rest: archives of a rank, unpacked,
//   joined with itself, compared with itself and written in all forms
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../faults/whole_program.h"
#include "base/archive.h"
#include "base/crc32.h"
#include "base/zstd_frame.h"
#include "ledger/ledger_file.h"
#include "ledger/rank_set.h"
#include "scratch_file.h"

namespace inferdiff {
namespace {

std::string Fixed(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

/// As inferdiff does it: sums that do not hold when ranks are joined are the
/// file's fault, and none that fails later is.
LedgerResult Joined(const std::vector<PackedRank>& ranks) {
  try {
    return JoinRanks(ranks, "joined");
  } catch (const ContractError& error) {
    FailDamaged(error.what());
  }
}

void FuzzFile(std::string bytes) {
  constexpr size_t kHead = 32;
  if (bytes.size() >= kHead) {
    const size_t size = bytes.size() - kHead;
    bytes.replace(20, 4, Fixed(Crc32(0, bytes.data() + kHead, size), 4));
    bytes.replace(24, 8, Fixed(size, 8));
  }
  static const ScratchFile scratch("ledger_fuzz");
  scratch.Write(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const LedgerPart part = ReadLedgerFile(scratch.path());
  const auto again =
      Written([&](const TextSink& sink) { WriteLedgerFile(part, sink); });
  scratch.Write(reinterpret_cast<const uint8_t*>(again.data()), again.size());
  if (ReadLedgerFile(scratch.path()).ranks.size() != part.ranks.size())
    FailWhole("another ledger when it is written again");
  if (!part.ranks.empty()) Joined(part.ranks);
}

void FuzzRank(std::string_view bytes) {
  if (bytes.size() < 4) return;
  uint32_t size = 0;
  for (size_t i = 4; i-- > 0;)
    size = size << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(4);
  PackedRank rank;
  rank.calls = ZstdFrame(bytes.substr(0, size));
  rank.rest = ZstdFrame(bytes.substr(std::min<size_t>(size, bytes.size())));
  LedgerResult alone = Joined({rank});
  const auto json =
      Written([&](const TextSink& sink) { WriteLedgerJson(alone, sink); });
  if (!nlohmann::json::accept(json)) FailWhole("broken JSON");
  LedgerResult joined = Joined({rank, rank});
  const Document document = LedgerDocument(joined, 10);
  if (TerminalText(document, {}).empty() || LedgerTsv(joined).empty())
    FailWhole("an empty report");
  const CompareResult result =
      Compare(std::move(alone), {}, std::move(joined), {}, {});
  if (MarkdownDocument(CompareDocument(result)).empty())
    FailWhole("an empty comparison");
}

}  // namespace
}  // namespace inferdiff

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  try {
    if (bytes[0] == 'f')
      inferdiff::FuzzFile(std::string(bytes.substr(1)));
    else
      inferdiff::FuzzRank(bytes.substr(1));
  } catch (const inferdiff::InputError&) {
    return 0;
  }
  return 0;
}
