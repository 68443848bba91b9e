// SPDX-License-Identifier: Apache-2.0
// A plain file read by several threads, window by window, with the result of
// one walk from the beginning.
//
//   file    ....[row row row|row row row|row row row]....
//                           ^           ^
//   Each thread takes a window, guesses where its first record starts, and
//   walks to the first record of the next window. A window counts only when
//   its guess is where the one in front ended; else it is walked again from
//   there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc32.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "readers/kineto_walker.h"
#include "readers/walk_end.h"

namespace inferdiff {

/// The batches of a file, and the walkers that made them.
template <typename Walker>
struct Scanned {
  std::vector<typename Walker::Batch> batches;  // in file order
  std::vector<std::unique_ptr<Walker>> walkers;
  uint32_t crc32 = 0;  // of the file
};

/// Walker is one thread's:
///   struct Batch                              what a stretch gives; movable
///   size_t Guess(string_view text, size_t from)   a record's start, or npos
///   WalkEnd Walk(text, from, limit, final, lost, Batch*)
/// with the text readable for kTextPadding bytes behind its end.
template <typename Walker>
class WindowScan {
 public:
  /// `make` gives a walker for each thread.
  WindowScan(const InputFile& file, uint64_t begin, size_t window,
             unsigned threads, std::function<std::unique_ptr<Walker>()> make)
      : file_(file),
        begin_(begin),
        window_(window),
        threads_(threads),
        make_(std::move(make)) {}

  Scanned<Walker> Run();

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr size_t kBehind = 4096;

  struct Window {
    uint64_t begin = kNone;
    uint64_t end = kNone;
    bool over = false;
    bool lost = false;
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
  Window Run(uint64_t index, uint64_t begin, bool lost, Walker* walker,
             Memory* memory) const;
  void Work(Walker* walker, Memory* memory, bool in_order);

  const InputFile& file_;
  uint64_t begin_;
  size_t window_;
  unsigned threads_;
  std::function<std::unique_ptr<Walker>()> make_;
  std::vector<Window> windows_;
  std::atomic<uint64_t> next_{0};
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

/// Window number `index` from `begin`, or from a guess when that is kNone.
template <typename Walker>
typename WindowScan<Walker>::Window WindowScan<Walker>::Run(
    uint64_t index, uint64_t begin, bool lost, Walker* walker,
    Memory* memory) const {
  Window result;
  const uint64_t first = index * window_;
  memory->offset = first - std::min<uint64_t>(first, kTextBefore);
  if (begin != kNone) memory->offset = std::min(memory->offset, begin);
  memory->size = 0;
  const auto before = static_cast<size_t>(first - memory->offset);
  ReadMore(before + window_ + kBehind, memory);
  const size_t limit = std::min(before + window_, memory->size);
  result.crc32 = Crc32(0, memory->bytes.data() + before, limit - before);
  size_t at = begin == kNone ? walker->Guess(memory->text(), before)
                             : static_cast<size_t>(begin - memory->offset);
  if (at >= limit) return result;  // no record starts here
  result.begin = memory->offset + at;
  const bool last = memory->offset + limit >= file_.size();
  WalkEnd walked;
  walked.lost = lost;
  for (size_t more = kBehind;; more *= 2) {
    walked = walker->Walk(memory->text(), at, last ? memory->size + 1 : limit,
                          memory->final, walked.lost, &result.batch);
    if (walked.stop != WalkEnd::Stop::kNeedText) break;
    at = walked.at;
    if (at >= limit && !last) break;  // between two records
    ReadMore(more, memory);
  }
  result.over = walked.stop == WalkEnd::Stop::kEnd;
  result.end = memory->offset + walked.at;
  result.lost = walked.lost;
  return result;
}

/// Takes windows until none is left. With one thread the start of each is
/// known when its turn comes.
template <typename Walker>
void WindowScan<Walker>::Work(Walker* walker, Memory* memory, bool in_order) {
  uint64_t at = begin_;
  while (true) {
    const uint64_t index = next_++;
    if (index >= windows_.size()) return;
    const bool first = index == begin_ / window_;
    const bool here = at / window_ == index && at < file_.size();
    const uint64_t begin = (in_order && here) || first ? at : kNone;
    windows_[index] = Run(index, begin, false, walker, memory);
    if (in_order && here && !windows_[index].lost) at = windows_[index].end;
  }
}

template <typename Walker>
Scanned<Walker> WindowScan<Walker>::Run() {
  windows_.resize((file_.size() + window_ - 1) / window_);
  const auto workers = static_cast<unsigned>(
      std::min<uint64_t>(ThreadCount(threads_), windows_.size()));
  Scanned<Walker> out;
  for (unsigned i = 0; i < workers; ++i) out.walkers.push_back(make_());
  std::vector<Memory> memories(workers);
  InParallel(workers, [&](unsigned i) {
    Work(out.walkers[i].get(), &memories[i], workers == 1);
  });
  uint64_t at = begin_;
  bool lost = false;
  bool over = false;
  for (uint64_t i = 0; i < windows_.size(); ++i) {
    Window& window = windows_[i];
    const uint64_t from = i * window_;
    const uint64_t bytes = std::min<uint64_t>(window_, file_.size() - from);
    out.crc32 = CombineCrc32(out.crc32, window.crc32, bytes);
    if (over || at >= from + window_) continue;  // one record spans it
    if (lost || window.begin != at) {
      window = Run(i, at, lost, out.walkers[0].get(), &memories[0]);
    }
    at = window.end;
    lost = window.lost;
    over = window.over;
    out.batches.push_back(std::move(window.batch));
  }
  return out;
}

}  // namespace inferdiff
