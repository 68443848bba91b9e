// SPDX-License-Identifier: Apache-2.0
#include "readers/text_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/byte_source.h"

namespace inferdiff {
namespace {

/// `count` numbers of eight bytes each, one behind the other.
class Numbers : public ByteSource {
 public:
  explicit Numbers(uint64_t count) : count_(count) {}
  size_t Read(char* out, size_t size) override {
    // Now slower than the reader, now faster.
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    for (uint64_t i = 0; i < random_ >> 51; ++i) spins_ = spins_ + 1;
    size_t got = 0;
    for (; got + sizeof(next_) <= size && next_ < count_; ++next_) {
      std::memcpy(out + got, &next_, sizeof(next_));
      got += sizeof(next_);
    }
    return got;
  }
  uint32_t DiskCrc32() override { return 0; }
  double Progress() const override { return 0; }

 private:
  uint64_t count_;
  uint64_t next_ = 0;
  uint64_t random_ = 1;
  volatile uint64_t spins_ = 0;
};

uint64_t NumberAt(std::string_view text, size_t index) {
  uint64_t number = 0;
  std::memcpy(&number, text.data() + index * sizeof(number), sizeof(number));
  return number;
}

/// A block may be filled again only once its end has been carried over.
TEST(TextBlocks, CarriesSurviveDecodingAhead) {
  constexpr uint64_t kCount = 24'000'000;
  constexpr size_t kBlock = 8192;
  constexpr size_t kCarried = 7'900;  // numbers: a copy that takes a while
  Numbers source(kCount);
  TextBlocks blocks(&source, kBlock, true);
  std::string_view text = blocks.Next({});
  uint64_t first = 0;
  uint64_t wrong = 0;
  while (true) {
    const size_t size = text.size() / sizeof(uint64_t);
    for (size_t i = size - std::min<size_t>(size, 2048); i < size; ++i)
      wrong += NumberAt(text, i) != first + i;
    if (blocks.final()) {
      EXPECT_EQ(first + size, kCount);
      break;
    }
    const size_t done = size - std::min(size, kCarried);
    first += done;
    text = blocks.Next(text.substr(done * sizeof(uint64_t)));
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace inferdiff
