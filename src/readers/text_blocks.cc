// SPDX-License-Identifier: Apache-2.0
#include "readers/text_blocks.h"

#include <cstring>

#include "readers/kineto_event_reader.h"

namespace inferdiff {

TextBlocks::TextBlocks(ByteSource* source, size_t block, bool ahead)
    : source_(source), block_size_(block), ahead_(ahead) {
  if (ahead_) thread_ = std::thread([this] { DecodeAhead(); });
}

void TextBlocks::Finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TextBlocks::Fill(Block* block) {
  block->memory.resize(kRoom + block_size_ + kTextPadding);
  block->size = source_->Read(block->memory.data() + kRoom, block_size_);
  block->last = block->size < block_size_;
  block->progress = source_->Progress();
}

void TextBlocks::DecodeAhead() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last && !stop_;) {
    // One block is in use until the next one is asked for.
    changed_.wait(lock,
                  [&] { return stop_ || filled_ - taken_ < kBlocks - 1; });
    if (stop_) return;
    Block* const block = &ring_[filled_ % kBlocks];
    lock.unlock();
    std::exception_ptr error;
    try {
      Fill(block);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    last = error != nullptr || block->last;
    ++filled_;
    changed_.notify_all();
  }
}

TextBlocks::Block* TextBlocks::WaitForBlock() {
  Block* const block = &ring_[taken_ % kBlocks];
  if (!ahead_) {
    Fill(block);
    return block;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return filled_ > taken_; });
  if (error_ && filled_ == taken_ + 1) std::rethrow_exception(error_);
  return block;
}

std::string_view TextBlocks::Next(std::string_view carry) {
  Block* const block = WaitForBlock();
  final_ = block->last;
  progress_ = block->progress;
  std::string_view text;
  if (carry.size() <= kRoom) {
    char* const begin = block->memory.data() + kRoom - carry.size();
    if (!carry.empty()) std::memcpy(begin, carry.data(), carry.size());
    text = {begin, carry.size() + block->size};
  } else {
    std::vector<char> joined(carry.size() + block->size + kTextPadding);
    std::memcpy(joined.data(), carry.data(), carry.size());
    std::memcpy(joined.data() + carry.size(), block->memory.data() + kRoom,
                block->size);
    joined_.swap(joined);
    text = {joined_.data(), carry.size() + block->size};
  }
  {
    // Only now: the carry lay in the block that is free for decoding again.
    const std::lock_guard lock(mutex_);
    ++taken_;
  }
  changed_.notify_all();
  return text;
}

}  // namespace inferdiff
