// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.h"
#include "readers/kineto_boundary.h"

namespace inferdiff {

using From = EventWalker::From;
using Stop = EventWalker::Stop;

StreamScan::StreamScan(ByteSource* source, size_t block, unsigned threads,
                       std::function<void(double)> progress)
    : source_(source),
      block_size_(block),
      threads_(std::min(ThreadCount(threads), kMostThreads)),
      progress_(std::move(progress)),
      blocks_(2 * size_t{threads_} + 2) {
  const size_t stride = kRoom + block_size_ + kTextPadding;
  // In one piece, so that it may lie in huge pages.
  memory_.reset(new char[stride * blocks_.size()]);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].text = memory_.get() + i * stride + kRoom;
  }
}

/// By the thread that has set decoding_.
void StreamScan::Decode(Block* block) {
  block->error = nullptr;
  std::memcpy(block->text - kTextBefore, before_, kTextBefore);
  try {
    block->size = source_->Read(block->text, block_size_);
    block->last = block->size < block_size_;
    block->progress = source_->Progress();
  } catch (...) {
    block->error = std::current_exception();
    block->size = 0;
    block->last = true;
  }
  std::memmove(before_, block->text + block->size - kTextBefore, kTextBefore);
}

void StreamScan::WalkFromGuess(Block* block, Worker* worker) {
  source_->ReadAhead();
  const std::string_view text(block->text - kTextBefore,
                              kTextBefore + block->size);
  const size_t at = std::min(FindEventStart(text, kTextBefore), text.size());
  block->guess = at - kTextBefore;
  if (at == text.size()) return;
  worker->batch.Restart();
  block->walked = worker->walker.Walk(text, at, text.size() + 1, block->last,
                                      From::kBetween, &worker->batch);
  block->walked.at -= kTextBefore;
  block->batch = worker->store->Keep(worker->batch);
}

/// The carry with the block behind it.
std::string_view StreamScan::Join(Block* block) {
  const size_t size = carry_.size() + block->size;
  char* begin = block->text - carry_.size();
  if (carry_.size() > kRoom) {
    joined_.resize(size + kTextPadding);
    begin = joined_.data();
    std::memcpy(begin + carry_.size(), block->text, block->size);
  }
  std::memcpy(begin, carry_.data(), carry_.size());
  return {begin, size};
}

/// The next block in order, by the thread that has set accepting_.
void StreamScan::Accept(Block* block, Worker* worker) {
  if (block->error) std::rethrow_exception(block->error);
  source_->ReadAhead();
  if (progress_) progress_(block->progress);
  const std::string_view text = Join(block);
  // A long carry doubles, so that every byte is looked at twice at most.
  if (text.size() < 2 * looked_at_ && !block->last) {
    carry_.append(block->text, block->size);
    return;
  }
  const bool has_guess =
      block->state == State::kWalked && block->guess < block->size;
  if (has_guess && AcceptSeam(text, *block, worker)) {
    events_->batches.push_back(std::move(block->batch));
    TakeEnd({block->text, block->size}, block->last, block->walked);
  } else {
    AcceptWhole(text, block->last, worker);
  }
}

/// Walks from the carry to the block's guess; false: it does not get there.
bool StreamScan::AcceptSeam(std::string_view text, const Block& block,
                            Worker* worker) {
  const size_t guess = text.size() - block.size + block.guess;
  worker->batch.Restart();
  const EventWalker::Result seam =
      worker->walker.Walk(text, 0, guess, block.last, from_, &worker->batch);
  if (seam.stop != Stop::kLimit || seam.at != guess || seam.lost) return false;
  events_->batches.push_back(worker->store->Keep(worker->batch));
  return true;
}

void StreamScan::AcceptWhole(std::string_view text, bool last, Worker* worker) {
  worker->batch.Restart();
  const EventWalker::Result end = worker->walker.Walk(
      text, 0, text.size() + 1, last, from_, &worker->batch);
  events_->batches.push_back(worker->store->Keep(worker->batch));
  TakeEnd(text, last, end);
}

/// What the walk through `text` leaves to the next block.
void StreamScan::TakeEnd(std::string_view text, bool last,
                         const EventWalker::Result& end) {
  if (end.lost) {
    from_ = From::kLost;
  } else if (from_ != From::kArray || end.at != 0) {
    from_ = From::kBetween;
  }
  const std::string_view rest = text.substr(std::min(end.at, text.size()));
  if (end.stop == Stop::kNeedText && !last) {
    carry_ = rest;
    looked_at_ = rest.size();
    return;
  }
  events_->cut = end.stop != Stop::kEnd;
  rest_ = rest;
  const std::lock_guard lock(mutex_);
  done_ = true;
}

bool StreamScan::MayDecode() const {
  return !decoding_ && !source_over_ && decoded_ - walking_ < threads_ &&
         decoded_ - accepted_ < blocks_.size();
}

void StreamScan::Work(Worker* worker) {
  std::unique_lock lock(mutex_);
  const auto without_lock = [&](const auto& work) {
    lock.unlock();
    work();
    lock.lock();
    changed_.notify_all();
  };
  while (!done_) {
    Block& next = BlockOf(accepted_);
    const bool is_decoded =
        accepted_ == walking_ && next.state == State::kDecoded;
    if (MayDecode()) {
      Block& block = BlockOf(decoded_++);
      decoding_ = true;
      block.state = State::kDecoding;
      without_lock([&] { Decode(&block); });
      source_over_ = block.last;
      block.state = State::kDecoded;
      decoding_ = false;
    } else if (!accepting_ && (is_decoded || next.state == State::kWalked)) {
      accepting_ = true;
      if (is_decoded) ++walking_;
      without_lock([&] { Accept(&next, worker); });
      next.state = State::kFree;
      ++accepted_;
      accepting_ = false;
    } else if (walking_ < decoded_ &&
               BlockOf(walking_).state == State::kDecoded) {
      Block& block = BlockOf(walking_++);
      block.state = State::kWalking;
      without_lock([&] { WalkFromGuess(&block, worker); });
      block.state = State::kWalked;
    } else {
      changed_.wait(lock);
    }
  }
}

std::string StreamScan::Run(std::string_view text, ScannedEvents* events) {
  events_ = events;
  carry_ = text;
  const std::string_view end =
      text.substr(text.size() - std::min(text.size(), kTextBefore));
  std::memset(before_, ' ', kTextBefore);
  std::memcpy(before_ + kTextBefore - end.size(), end.data(), end.size());
  std::vector<Worker> workers(threads_);
  InParallel(threads_, [&](unsigned i) {
    try {
      Work(&workers[i]);
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        done_ = true;
      }
      changed_.notify_all();
      throw;
    }
  });
  for (Worker& worker : workers) {
    events->lexicons.push_back(std::move(worker.lexicon));
    events->stores.push_back(std::move(worker.store));
  }
  for (uint64_t i = accepted_; i < decoded_; ++i) {
    const Block& block = BlockOf(i);
    rest_.append(block.text, block.size);
  }
  return std::move(rest_);
}

}  // namespace inferdiff
