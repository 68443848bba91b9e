// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/archive.h"
#include "base/crc32.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "base/zstd_frame.h"
#include "ledger/archive_fields.h"

namespace inferdiff {

auto Tie(Is<SetFile> auto& value) {
  auto& [label, name_rank, size] = value;
  return std::tie(label, name_rank, size);
}

auto Tie(Is<SetupFact> auto& value) {
  auto& [name, of] = value;
  return std::tie(name, of);
}

auto Tie(Is<RankSetFacts> auto& value) {
  auto& [program, rules_hash, label, files, setup, group, device, rank] = value;
  return std::tie(program, rules_hash, label, files, setup, group, device,
                  rank);
}

namespace {

constexpr std::string_view kMagic = "INFERDIFF-LEDGER";
constexpr size_t kHeadBytes = 32;

/// The fixed head: magic, format, CRC-32 and number of the bytes behind it.
struct Head {
  uint32_t format = kLedgerFormat;
  uint32_t crc32 = 0;
  uint64_t size = 0;
};

/// Where a rank's frames are: one behind the other, behind the index.
struct IndexEntry {
  uint32_t file = 0;
  Provenance source;
  StepShape shape;
  uint64_t calls_bytes = 0;
  uint64_t rest_bytes = 0;
};

struct Index {
  uint32_t vocabulary = 0;
  RankSetFacts set;
  uint32_t shard = 0;
  uint32_t shards = 1;
  std::vector<IndexEntry> ranks;
};

auto Tie(Is<IndexEntry> auto& value) {
  auto& [file, source, shape, calls_bytes, rest_bytes] = value;
  return std::tie(file, source, shape, calls_bytes, rest_bytes);
}

auto Tie(Is<Index> auto& value) {
  auto& [vocabulary, set, shard, shards, ranks] = value;
  return std::tie(vocabulary, set, shard, shards, ranks);
}

/// Of the words that a file holds as numbers: one more among them, and the
/// numbers mean others.
uint32_t Vocabulary() {
  uint32_t crc = 0;
  const auto add = [&](auto word, uint64_t last) {
    for (uint64_t i = 0; i <= last; ++i) {
      const std::string_view id = IdOf(static_cast<decltype(word)>(i));
      crc = Crc32(crc, id.data(), id.size());
    }
  };
  add(Category{}, LastOf(Category{}));
  add(StepKind{}, LastOf(StepKind{}));
  add(Evidence{}, LastOf(Evidence{}));
  add(WaitBasis{}, LastOf(WaitBasis{}));
  add(CheckKind{}, LastOf(CheckKind{}));
  return crc;
}

void AppendFixed(uint64_t value, size_t bytes, std::string* to) {
  for (size_t i = 0; i < bytes; ++i)
    *to += static_cast<char>(value >> (8 * i) & 0xff);
}

uint64_t Fixed(std::string_view from, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  return value;
}

std::string HeadText(const Head& head) {
  std::string text(kMagic);
  AppendFixed(head.format, 4, &text);
  AppendFixed(head.crc32, 4, &text);
  AppendFixed(head.size, 8, &text);
  return text;
}

std::string IndexText(const LedgerPart& part) {
  Index index{Vocabulary(), part.set, part.shard, part.shards, {}};
  for (const PackedRank& one : part.ranks)
    index.ranks.push_back(
        {one.file, one.source, one.shape, one.calls.size(), one.rest.size()});
  const std::string frame = ZstdFrame(ToArchive(index));
  std::string text;
  AppendFixed(frame.size(), 8, &text);
  return text + frame;
}

/// The bytes behind the head, in order, as they are read.
class Body {
 public:
  Body(const InputFile& file, uint64_t size) : file_(file), rest_(size) {}

  std::string Read(uint64_t size) {
    if (size > rest_) FailDamaged("a part of it is longer than the file");
    std::string text(static_cast<size_t>(size), '\0');
    if (file_.ReadAt(at_, text.data(), text.size()) != text.size())
      FailDamaged("it became shorter while it was read");
    at_ += size;
    rest_ -= size;
    crc32_ = Crc32(crc32_, text.data(), text.size());
    return text;
  }
  uint64_t rest() const { return rest_; }
  uint32_t crc32() const { return crc32_; }

 private:
  const InputFile& file_;
  uint64_t at_ = kHeadBytes;
  uint64_t rest_ = 0;
  uint32_t crc32_ = 0;
};

[[noreturn]] void FailVersion(const std::string& what) {
  throw InputError("other-version", "", what,
                   "use the inferdiff that wrote it, or make it anew with "
                   "`inferdiff ledger`");
}

Head ReadHead(const InputFile& file) {
  std::array<char, kHeadBytes> bytes{};
  const size_t got = file.ReadAt(0, bytes.data(), bytes.size());
  const std::string_view text(bytes.data(), got);
  if (!text.starts_with(kMagic)) FailDamaged("it does not begin like one");
  if (got < kHeadBytes) FailDamaged("it ends in its head");
  Head head;
  head.format = static_cast<uint32_t>(Fixed(text, 16, 4));
  head.crc32 = static_cast<uint32_t>(Fixed(text, 20, 4));
  head.size = Fixed(text, 24, 8);
  if (head.format != kLedgerFormat) {
    FailVersion(
        fmt::format("the ledger file has format {}, this inferdiff reads {}",
                    head.format, kLedgerFormat));
  }
  const uint64_t size = file.size() - kHeadBytes;
  if (size != head.size) {
    FailDamaged(fmt::format("{} bytes follow its head, it should be {}", size,
                            head.size));
  }
  return head;
}

void CheckIndex(const Index& index) {
  if (index.vocabulary != Vocabulary()) {
    FailVersion(fmt::format("inferdiff {} wrote the ledger file in other words",
                            Printable(index.set.program)));
  }
  if (index.shards == 0 || index.shards > kMostShards ||
      index.shard >= index.shards)
    FailDamaged("its part is none of the parts");
  if (index.set.files.empty()) FailDamaged("it is of no file");
  uint32_t last = 0;
  for (const IndexEntry& entry : index.ranks) {
    if (entry.file >= index.set.files.size() || entry.file < last ||
        entry.file % index.shards != index.shard)
      FailDamaged("a rank is of no file of this part");
    last = entry.file;
  }
}

/// Every file of the part has a rank.
bool IsComplete(const LedgerPart& part) {
  auto next = part.ranks.begin();
  for (size_t file = part.shard; file < part.set.files.size();
       file += part.shards) {
    if (next == part.ranks.end() || next->file != file) return false;
    while (next != part.ranks.end() && next->file == file) ++next;
  }
  return true;
}

LedgerPart ReadPart(const InputFile& file) {
  const Head head = ReadHead(file);
  Body body(file, head.size);
  const std::string size = body.Read(8);
  const auto bytes = UnfoldZstdFrame(body.Read(Fixed(size, 0, 8)));
  if (!bytes) FailDamaged("its index cannot be unfolded");
  Index index = FromArchive<Index>(*bytes);
  CheckIndex(index);
  LedgerPart part{std::move(index.set), index.shard, index.shards, {}};
  for (IndexEntry& entry : index.ranks) {
    std::string calls = body.Read(entry.calls_bytes);
    std::string rest = body.Read(entry.rest_bytes);
    part.ranks.push_back({entry.file, std::move(entry.source), entry.shape,
                          std::move(calls), std::move(rest)});
  }
  if (body.rest() != 0) FailDamaged("something follows the last rank");
  if (body.crc32() != head.crc32) FailDamaged("its checksum is wrong");
  if (!IsComplete(part)) FailDamaged("a file of its part has no rank");
  return part;
}

/// What is not the same in two parts of one set; empty if they fit.
std::string DifferenceOf(const LedgerPart& a, const LedgerPart& b) {
  if (a.set.program != b.set.program) {
    return fmt::format("it is of inferdiff {}, not {}",
                       Printable(b.set.program), Printable(a.set.program));
  }
  if (a.set.rules_hash != b.set.rules_hash) return "it is of other rules";
  if (ToArchive(a.set.files) != ToArchive(b.set.files))
    return "it is of other trace files";
  if (a.shards != b.shards) {
    if (b.shards == 1) return "it is of all files, no part";
    if (a.shards == 1) return "it is a part, the other is of all files";
    return fmt::format("it is one of {} parts, not of {}", b.shards, a.shards);
  }
  if (ToArchive(a.set) != ToArchive(b.set))
    return "it is of another group of steps, device or rank";
  return "";
}

/// "part 3 (TP-3, TP-67 and 14 more)"
std::string MissingText(const LedgerPart& part, uint32_t shard) {
  constexpr size_t kNamed = 2;
  const std::vector<SetFile>& files = part.set.files;
  std::string names;
  size_t count = 0;
  for (size_t i = shard; i < files.size(); i += part.shards, ++count)
    if (count < kNamed)
      names += (count == 0 ? "" : ", ") + Printable(files[i].label);
  if (count == 0) names = "no trace";
  if (count > kNamed) names += fmt::format(" and {} more", count - kNamed);
  return fmt::format("part {} ({})", shard, names);
}

[[noreturn]] void FailMissing(const LedgerPart& part,
                              const std::vector<uint32_t>& missing) {
  constexpr size_t kNamed = 8;
  std::string names;
  for (size_t i = 0; i < missing.size() && i < kNamed; ++i)
    names += (i == 0 ? "" : ", ") + MissingText(part, missing[i]);
  if (missing.size() > kNamed)
    names += fmt::format(" and {} more parts", missing.size() - kNamed);
  throw InputError(
      "missing-parts", "",
      fmt::format("of {} parts {} missing: {}", part.shards,
                  missing.size() == 1 ? "one is" : "some are", names),
      fmt::format("name all parts; make a missing one with `inferdiff ledger "
                  "--shard {}/{}`",
                  missing[0], part.shards));
}

/// Parts by shard.
void ExpectOneSet(const std::vector<NamedPart>& parts) {
  const auto fail = [](const NamedPart& part, const std::string& what) {
    throw InputError("parts-differ", part.path, what,
                     "name the parts of one set, each once");
  };
  const NamedPart& first = parts.front();
  for (const NamedPart& one : parts) {
    const std::string difference = DifferenceOf(first.part, one.part);
    if (!difference.empty()) {
      fail(one, fmt::format("it does not belong to {}: {}",
                            Printable(first.path), difference));
    }
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].part.shard != parts[i - 1].part.shard) continue;
    fail(parts[i],
         fmt::format("it is part {} of {}, as is {}", parts[i].part.shard,
                     first.part.shards, Printable(parts[i - 1].path)));
  }
}

void ExpectAll(const std::vector<NamedPart>& parts) {
  std::vector<uint32_t> missing;
  auto next = parts.begin();
  const LedgerPart& first = parts.front().part;
  for (uint32_t shard = 0; shard < first.shards; ++shard) {
    if (next != parts.end() && next->part.shard == shard)
      ++next;
    else
      missing.push_back(shard);
  }
  if (!missing.empty()) FailMissing(first, missing);
}

}  // namespace

bool IsLedgerFile(const std::string& path) {
  const InputFile file(path);
  std::array<char, kMagic.size()> bytes{};
  return file.ReadAt(0, bytes.data(), bytes.size()) == bytes.size() &&
         std::string_view(bytes.data(), bytes.size()) == kMagic;
}

void WriteLedgerFile(const LedgerPart& part, const TextSink& sink) {
  const std::string index = IndexText(part);
  Head head;
  const auto add = [&](const std::string& piece) {
    head.crc32 = Crc32(head.crc32, piece.data(), piece.size());
    head.size += piece.size();
  };
  add(index);
  for (const PackedRank& one : part.ranks) {
    add(one.calls);
    add(one.rest);
  }
  sink(HeadText(head));
  sink(index);
  for (const PackedRank& one : part.ranks) {
    sink(one.calls);
    sink(one.rest);
  }
}

LedgerPart ReadLedgerFile(const std::string& path) {
  const InputFile file(path);
  try {
    return ReadPart(file);
  } catch (InputError& error) {
    if (error.file.empty()) error.file = path;
    throw;
  }
}

LedgerPart JoinParts(std::vector<NamedPart> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const NamedPart& a, const NamedPart& b) {
                     return a.part.shard < b.part.shard;
                   });
  ExpectOneSet(parts);
  ExpectAll(parts);
  LedgerPart whole{parts.front().part.set, 0, 1, {}};
  for (NamedPart& one : parts)
    std::move(one.part.ranks.begin(), one.part.ranks.end(),
              std::back_inserter(whole.ranks));
  std::stable_sort(
      whole.ranks.begin(), whole.ranks.end(),
      [](const PackedRank& a, const PackedRank& b) { return a.file < b.file; });
  return whole;
}

}  // namespace inferdiff
