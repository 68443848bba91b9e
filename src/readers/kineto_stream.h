// SPDX-License-Identifier: Apache-2.0
// The elements of `traceEvents` of a compressed file, by several threads.
//
//   stream  ....e e e e e|e e e e e|e e e e....
//                     ^~~~~^
//   Decoding is one thread's at a time, in blocks; walking anybody's. The first
//   block that is not accepted is walked from where the one in front ended. One
//   behind it is walked from a guess; when its turn comes the seam, from there
//   to the guess, is walked too, and where that does not end at the guess the
//   whole block again. So the result is that of one walk from the beginning.
//
// Nobody waits while there is a block to decode or to walk: decoding goes ahead
// as long as blocks are free, and else the thread that decodes helps walking.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "readers/kineto_records.h"
#include "readers/kineto_scan.h"
#include "readers/kineto_walker.h"

namespace inferdiff {

class StreamScan {
 public:
  StreamScan(ByteSource* source, size_t block, unsigned threads,
             std::function<void(double)> progress);

  /// Walks from `text`, at the [ of the array, whose continuation the source
  /// gives. Returns what was decoded of the text behind the array; the source
  /// goes on behind that. Throws what the source throws.
  std::string Run(std::string_view text, ScannedEvents* events);

 private:
  enum class State : uint8_t { kFree, kDecoding, kDecoded, kWalking, kWalked };
  struct Block {
    State state = State::kFree;
    char* text = nullptr;  // decoded; kRoom bytes in front of it are free
    size_t size = 0;
    bool last = false;
    double progress = 0;
    std::exception_ptr error;
    // Walked from a guess; none where that is the block's size.
    size_t guess = 0;
    EventWalker::Result walked{};
    StoredBatch batch;
  };
  /// What a thread walks with.
  struct Worker {
    Worker() { batch.lexicon = lexicon.get(); }
    std::unique_ptr<Lexicon> lexicon = std::make_unique<Lexicon>();
    std::unique_ptr<RecordStore> store = std::make_unique<RecordStore>();
    EventWalker walker;
    RecordBatch batch;
  };
  static constexpr size_t kRoom = 64 * 1024;
  /// Walking takes at most twice as long as decoding.
  static constexpr unsigned kMostThreads = 4;

  Block& BlockOf(uint64_t number) { return blocks_[number % blocks_.size()]; }
  void Work(Worker* worker);
  bool MayDecode() const;
  void Decode(Block* block);
  void WalkFromGuess(Block* block, Worker* worker);
  void Accept(Block* block, Worker* worker);
  bool AcceptSeam(std::string_view text, const Block& block, Worker* worker);
  void AcceptWhole(std::string_view text, bool last, Worker* worker);
  void TakeEnd(std::string_view text, bool last,
               const EventWalker::Result& end);
  std::string_view Join(Block* block);

  ByteSource* source_;
  size_t block_size_;
  unsigned threads_;
  std::function<void(double)> progress_;
  std::unique_ptr<char[]> memory_;
  std::vector<Block> blocks_;  // block n at n modulo their number
  char before_[kTextBefore];   // in front of what is decoded next

  // Of the walk that was accepted, one thread's at a time.
  ScannedEvents* events_ = nullptr;
  std::string carry_;         // text that is not done with
  size_t looked_at_ = 0;      // of it
  std::vector<char> joined_;  // a carry too long for the room, and its block
  EventWalker::From from_ = EventWalker::From::kArray;
  std::string rest_;  // behind the array

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t decoded_ = 0;   // blocks of which decoding has begun
  uint64_t walking_ = 0;   // blocks of which walking has begun
  uint64_t accepted_ = 0;  // blocks
  bool decoding_ = false;
  bool accepting_ = false;
  bool source_over_ = false;
  bool done_ = false;
};

}  // namespace inferdiff
