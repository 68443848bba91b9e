// SPDX-License-Identifier: Apache-2.0
// A decoded stream as blocks of text, what is not done with carried along.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/byte_source.h"

namespace inferdiff {

class TextBlocks {
 public:
  /// `ahead`: a thread of its own decodes while the last block is in use.
  TextBlocks(ByteSource* source, size_t block, bool ahead);
  ~TextBlocks() { Finish(); }
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  /// `carry`, the end of the last text, and the next block behind it; the last
  /// text is gone. Readable for kTextPadding bytes beyond its end. Throws what
  /// the source throws.
  std::string_view Next(std::string_view carry);
  /// Whether the last text ends the stream.
  bool final() const { return final_; }
  double progress() const { return progress_; }
  /// Stops decoding; the source is the caller's again.
  void Finish();

 private:
  struct Block {
    std::vector<char> memory;  // room for a carry, the text, padding
    size_t size = 0;
    bool last = false;
    double progress = 0;
  };
  static constexpr size_t kBlocks = 3;  // in use, ready, being filled
  static constexpr size_t kRoom = 64 * 1024;

  void Fill(Block* block);
  void DecodeAhead();
  Block* WaitForBlock();

  ByteSource* source_;
  size_t block_size_;
  bool ahead_;
  bool final_ = false;
  double progress_ = 0;
  Block ring_[kBlocks];
  size_t taken_ = 0;          // blocks taken so far
  std::vector<char> joined_;  // a carry too long for the room, and its block

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0;  // blocks filled so far
  bool stop_ = false;
  std::exception_ptr error_;
};

}  // namespace inferdiff
