// SPDX-License-Identifier: Apache-2.0
// A plain file read by several threads, window by window, with the result of
// one walk from the beginning.
//
//   file    ....[row row row|row row row|row row row]....
//                           ^           ^
//   Each thread takes a window, guesses where its first record starts, and
//   walks to the first record of the next window. A window counts only when
//   its guess is where the one in front ended; else it is walked again from
//   there. What it gave is handed on in the order of the file, while others
//   are walked, by whichever thread comes by.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/crc32.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "readers/kineto_walker.h"
#include "readers/reader.h"
#include "readers/text_blocks.h"
#include "readers/walk_end.h"

namespace inferdiff {

/// What is left of the reading of a file.
template <typename Walker>
struct Scanned {
  std::vector<std::unique_ptr<Walker>> walkers;
  uint32_t crc32 = 0;  // of the file
};

/// Walker is one thread's:
///   struct Batch                   what a stretch gives; Restart() empties it
///   struct State                   what is known between two records, at the
///                                  file's begin as constructed; has ==
///   size_t Guess(text, from, State*)   a record's start, or npos
///   WalkEnd Walk(text, from, limit, final, State*, Batch*)
///   void End()                     behind the last walk of a batch
/// with the text readable for kTextPadding bytes behind its end. A batch holds
/// all that is needed of its walker, which goes on meanwhile.
template <typename Walker>
class WindowScan {
 public:
  /// Gets the batches in the order of the file, one at a time, each with the
  /// share of the file in front of it, in [0, 1).
  using Take = std::function<void(typename Walker::Batch*, double)>;

  /// `make` gives a walker for each thread.
  WindowScan(const InputFile& file, uint64_t begin, size_t window,
             const ReadOptions& options,
             std::function<std::unique_ptr<Walker>()> make, Take take)
      : file_(file),
        begin_(begin),
        window_(window),
        options_(options),
        make_(std::move(make)),
        take_(std::move(take)),
        at_{begin, {}} {}

  Scanned<Walker> Run();

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr size_t kBehind = 4096;

  using State = typename Walker::State;
  /// Where to go on, and knowing what.
  struct Place {
    uint64_t at = kNone;
    State state;
    bool operator==(const Place&) const = default;
  };
  struct Window {
    Place begin;
    Place end;
    bool over = false;
    bool done = false;
    typename Walker::Batch batch;
    uint32_t crc32 = 0;
  };
  /// What one thread reads into.
  struct Memory {
    std::vector<char> bytes;
    uint64_t offset = 0;
    size_t size = 0;
    bool final = false;
    std::string_view text() const { return {bytes.data(), size}; }
  };

  void ReadMore(size_t size, Memory* memory) const;
  void Run(uint64_t index, const Place& from, Walker* walker, Memory* memory,
           Window* window) const;
  typename Walker::Batch SpareBatch();
  void Settle(Walker* walker, Memory* memory);
  void SettleOne(uint64_t index, Walker* walker, Memory* memory);
  void Work(unsigned worker, Walker* walker, Memory* memory, bool in_order);

  const InputFile& file_;
  uint64_t begin_;
  size_t window_;
  const ReadOptions& options_;
  std::function<std::unique_ptr<Walker>()> make_;
  Take take_;
  std::vector<Window> windows_;
  std::atomic<uint64_t> next_{0};

  std::mutex mutex_;
  bool settling_ = false;  // some thread does
  uint64_t settled_ = 0;   // windows; the flags of those behind are guarded
  std::vector<typename Walker::Batch> spare_;
  // Of the thread that settles: behind the settled windows.
  Place at_;
  bool over_ = false;
  uint32_t crc32_ = 0;
};

template <typename Walker>
void WindowScan<Walker>::ReadMore(size_t size, Memory* memory) const {
  const size_t needed = memory->size + size + kTextPadding;
  if (memory->bytes.size() < needed) memory->bytes.resize(needed);
  const size_t got = file_.ReadAt(memory->offset + memory->size,
                                  memory->bytes.data() + memory->size, size);
  memory->size += got;
  memory->final = memory->offset + memory->size >= file_.size() || got < size;
}

/// Window number `index`, from a guess where `from` is nowhere.
template <typename Walker>
void WindowScan<Walker>::Run(uint64_t index, const Place& from, Walker* walker,
                             Memory* memory, Window* window) const {
  const uint64_t first = index * window_;
  memory->offset = first - std::min<uint64_t>(first, kTextBefore);
  memory->offset = std::min(memory->offset, from.at);
  memory->size = 0;
  const auto before = static_cast<size_t>(first - memory->offset);
  ReadMore(before + window_ + kBehind, memory);
  const size_t limit = std::min(before + window_, memory->size);
  window->crc32 = Crc32(0, memory->bytes.data() + before, limit - before);
  State state = from.state;
  size_t at = from.at == kNone ? walker->Guess(memory->text(), before, &state)
                               : static_cast<size_t>(from.at - memory->offset);
  if (at >= limit) return;  // no record starts here
  window->begin = {memory->offset + at, state};
  const bool last = memory->offset + limit >= file_.size();
  WalkEnd walked;
  for (size_t more = kBehind;; more *= 2) {
    walked = walker->Walk(memory->text(), at, last ? memory->size + 1 : limit,
                          memory->final, &state, &window->batch);
    if (walked.stop != WalkEnd::Stop::kNeedText) break;
    at = walked.at;
    if (at >= limit && !last) break;  // between two records
    ReadMore(more, memory);
  }
  walker->End();
  window->over = walked.stop == WalkEnd::Stop::kEnd;
  window->end = {memory->offset + walked.at, state};
}

template <typename Walker>
typename Walker::Batch WindowScan<Walker>::SpareBatch() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return {};
  typename Walker::Batch batch = std::move(spare_.back());
  spare_.pop_back();
  return batch;
}

/// Takes windows until none is left. With one thread the start of each is
/// known when its turn comes.
template <typename Walker>
void WindowScan<Walker>::Work(unsigned worker, Walker* walker, Memory* memory,
                              bool in_order) {
  while (true) {
    const uint64_t index = next_++;
    if (index >= windows_.size()) return;
    const bool first = index == begin_ / window_;
    const bool known =
        in_order && at_.at / window_ == index && at_.at < file_.size();
    Window& window = windows_[index];
    window.batch = SpareBatch();
    Run(index,
        first   ? Place{begin_, {}}
        : known ? at_
                : Place{},
        walker, memory, &window);
    {
      const std::lock_guard lock(mutex_);
      window.done = true;
    }
    Settle(walker, memory);
    if (worker == 0 && options_.progress) {
      options_.progress(static_cast<double>(index) /
                        static_cast<double>(windows_.size()));
    }
  }
}

/// Hands on the windows that are done and next in the file, unless another
/// thread is at it, which then sees what was done meanwhile.
template <typename Walker>
void WindowScan<Walker>::Settle(Walker* walker, Memory* memory) {
  std::unique_lock lock(mutex_);
  if (settling_) return;
  settling_ = true;
  while (settled_ < windows_.size() && windows_[settled_].done) {
    lock.unlock();
    typename Walker::Batch& batch = windows_[settled_].batch;
    try {
      SettleOne(settled_, walker, memory);
      batch.Restart();
    } catch (...) {
      next_ = windows_.size();  // nobody takes what others would give
      throw;
    }
    lock.lock();
    spare_.push_back(std::exchange(batch, {}));
    ++settled_;
  }
  settling_ = false;
}

template <typename Walker>
void WindowScan<Walker>::SettleOne(uint64_t index, Walker* walker,
                                   Memory* memory) {
  Window& window = windows_[index];
  const uint64_t from = index * window_;
  const uint64_t bytes = std::min<uint64_t>(window_, file_.size() - from);
  crc32_ = CombineCrc32(crc32_, window.crc32, bytes);
  if (over_ || at_.at >= from + window_) return;  // one record spans it
  if (!(window.begin == at_)) {
    window.batch.Restart();
    window.begin = window.end = {};
    Run(index, at_, walker, memory, &window);
  }
  at_ = window.end;
  over_ = window.over;
  take_(&window.batch,
        static_cast<double>(from) / static_cast<double>(file_.size()));
}

template <typename Walker>
Scanned<Walker> WindowScan<Walker>::Run() {
  windows_.resize((file_.size() + window_ - 1) / window_);
  const auto workers = static_cast<unsigned>(
      std::min<uint64_t>(ThreadCount(options_.threads), windows_.size()));
  Scanned<Walker> out;
  for (unsigned i = 0; i < workers; ++i) out.walkers.push_back(make_());
  std::vector<Memory> memories(workers);
  InParallel(workers, [&](unsigned i) {
    Work(i, out.walkers[i].get(), &memories[i], workers == 1);
  });
  out.crc32 = crc32_;
  return out;
}

/// The same of a stream, in blocks of `block` bytes at least; the first `begin`
/// bytes are no records. Without the checksum.
template <typename Walker>
Scanned<Walker> ScanStream(ByteSource* source, size_t begin, size_t block,
                           const ReadOptions& options,
                           std::unique_ptr<Walker> walker,
                           const typename WindowScan<Walker>::Take& take) {
  Scanned<Walker> out;
  TextBlocks blocks(source, std::max(block, begin), options.threads != 1);
  std::string_view text = blocks.Next({});
  text.remove_prefix(std::min(begin, text.size()));
  typename Walker::State state;
  typename Walker::Batch batch;
  double share = 0;
  while (true) {
    batch.Restart();
    const WalkEnd walked =
        walker->Walk(text, 0, text.size() + 1, blocks.final(), &state, &batch);
    walker->End();
    take(&batch, share);
    share = blocks.progress();
    if (walked.stop == WalkEnd::Stop::kEnd) break;
    const size_t carried = text.size() - walked.at;
    text = blocks.Next(text.substr(walked.at));
    // A long carry doubles, so that every byte is looked at twice at most.
    while (text.size() < 2 * carried && !blocks.final()) {
      text = blocks.Next(text);
    }
    if (options.progress) options.progress(blocks.progress());
  }
  blocks.Finish();
  out.walkers.push_back(std::move(walker));
  return out;
}

}  // namespace inferdiff
