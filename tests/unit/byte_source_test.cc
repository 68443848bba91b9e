// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/crc32.h"
#include "base/error.h"

namespace inferdiff {
namespace {

class TempFile {
 public:
  explicit TempFile(const std::string& bytes)
      : path_(testing::TempDir() + "/bytes_" + std::to_string(::getpid())) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TempFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string LittleEndian(uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(value >> (8 * i)));
  }
  return text;
}

/// One member with one stored block.
std::string Gzip(const std::string& text) {
  const std::string header("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  return header + '\x01' + LittleEndian(text.size(), 2) +
         LittleEndian(~text.size(), 2) + text +
         LittleEndian(Crc32(0, text.data(), text.size()), 4) +
         LittleEndian(text.size(), 4);
}

/// One frame with one raw block, its size in eight bytes.
std::string Zstd(const std::string& text) {
  return "\x28\xb5\x2f\xfd\xe0" + LittleEndian(text.size(), 8) +
         LittleEndian(text.size() << 3 | 1, 3) + text;
}

struct Decoded {
  std::string text;
  bool truncated, corrupt;
  uint32_t crc;
};

Decoded Decode(const std::string& bytes) {
  const TempFile temp(bytes);
  const InputFile file(temp.path());
  const auto source = OpenCompressed(file, DetectCompression(file));
  Decoded decoded{};
  char buffer[7];  // small, so that every place is a border once
  while (const size_t got = source->Read(buffer, sizeof(buffer))) {
    decoded.text.append(buffer, got);
  }
  decoded.truncated = source->truncated();
  decoded.corrupt = source->corrupt();
  decoded.crc = source->DiskCrc32();
  return decoded;
}

TEST(ByteSource, WholeStreams) {
  const std::string text = "{\"traceEvents\": [1, 2, 3]}";
  for (const std::string& bytes :
       {Gzip(text), Gzip(text.substr(0, 9)) + Gzip(text.substr(9)),
        Gzip(text) + std::string(512, '\0'), Zstd(text),
        Zstd(text.substr(0, 9)) + Zstd(text.substr(9))}) {
    const Decoded decoded = Decode(bytes);
    EXPECT_EQ(decoded.text, text);
    EXPECT_FALSE(decoded.truncated);
    EXPECT_FALSE(decoded.corrupt);
    EXPECT_EQ(decoded.crc, Crc32(0, bytes.data(), bytes.size()));
  }
}

TEST(ByteSource, EveryCutGivesAPrefix) {
  const std::string text = "{\"traceEvents\": [1, 2, 3]}";
  for (const std::string& bytes : {Gzip(text), Zstd(text)}) {
    for (size_t size = 4; size < bytes.size(); ++size) {
      const Decoded decoded = Decode(bytes.substr(0, size));
      EXPECT_TRUE(decoded.truncated || decoded.corrupt) << size;
      EXPECT_EQ(decoded.text, text.substr(0, decoded.text.size()));
    }
  }
}

TEST(ByteSource, DamageIsTold) {
  std::string bytes = Gzip("some text");
  bytes[bytes.size() - 7] ^= 1;  // of the checksum
  EXPECT_TRUE(Decode(bytes).corrupt);
  EXPECT_TRUE(Decode(Gzip("some text") + "garbage").corrupt);
}

TEST(InputFile, RefusesWhatIsNoFile) {
  const auto id_of = [](const std::string& path) -> std::string {
    try {
      const InputFile file(path);
      return "";
    } catch (const InputError& error) {
      return error.id;
    }
  };
  EXPECT_EQ(id_of("/"), "not-a-file");
  EXPECT_EQ(id_of("/no/such/file"), "unreadable-file");
  const TempFile empty("");
  EXPECT_EQ(id_of(empty.path()), "empty-file");
}

TEST(Crc32, OfPartsIsThatOfTheWhole) {
  const std::string text = "123456789";
  EXPECT_EQ(Crc32(0, text.data(), text.size()), 0xcbf43926U);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const uint32_t first = Crc32(0, text.data(), cut);
    const uint32_t second = Crc32(0, text.data() + cut, text.size() - cut);
    EXPECT_EQ(CombineCrc32(first, second, text.size() - cut), 0xcbf43926U);
  }
}

std::string ErrorOf(const std::string& bytes) {
  try {
    Decode(bytes);
  } catch (const InputError& error) {
    return error.id + ": " + error.what();
  }
  return "none";
}

TEST(ByteSource, ZstdSettingsAreNoDamage) {
  const std::string block = LittleEndian(4 << 3 | 1, 3) + "text";
  const std::string magic = "\x28\xb5\x2f\xfd";
  // A window descriptor of exponent e is a window of 2^(10 + e) bytes.
  const auto of_window = [&](char exponent) {
    return magic + '\0' + static_cast<char>(exponent << 3) + block;
  };
  EXPECT_EQ(Decode(of_window(17)).text, "text");
  EXPECT_EQ(ErrorOf(of_window(17)), "none");
  EXPECT_NE(ErrorOf(of_window(18)).find("window"), std::string::npos);
  EXPECT_NE(ErrorOf(of_window(21)).find("window"), std::string::npos);
  // One byte of dictionary id.
  EXPECT_NE(ErrorOf(magic + "\x21\x07\x04" + block).find("dictionary"),
            std::string::npos);
}

TEST(ByteSource, ZstdBehindASkippableFrame) {
  const std::string skipped = "\x50\x2a\x4d\x18" + LittleEndian(4, 4) + "size";
  const std::string file = skipped + Zstd("one ") + skipped + Zstd("two");
  EXPECT_EQ(Decode(file).text, "one two");
}

}  // namespace
}  // namespace inferdiff
