// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_scan.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/crc32.h"
#include "readers/kineto_boundary.h"
#include "readers/kineto_walker.h"

namespace inferdiff {
namespace {

constexpr uint64_t kNoEvent = ~uint64_t{0};

/// What a window gave, from where to where.
struct WindowResult {
  uint64_t begin = kNoEvent;
  uint64_t end = kNoEvent;
  EventWalker::Stop stop = EventWalker::Stop::kLimit;
  bool lost = false;  // `end` lies within an event that was given up
  StoredBatch batch;
  uint32_t crc32 = 0;
};

/// Walks windows of a plain file, one at a time, for one thread.
class WindowWorker {
 public:
  /// `array`: where the [ stands.
  WindowWorker(const InputFile& file, uint64_t array, size_t window)
      : file_(file),
        array_(array),
        window_(window),
        lexicon_(std::make_unique<Lexicon>()),
        store_(std::make_unique<RecordStore>()) {
    batch_.lexicon = lexicon_.get();
  }

  /// Window number `index` from `begin`, or from a guess when that is
  /// kNoEvent. `lost`: `begin` lies within an event that was given up.
  WindowResult Run(uint64_t index, uint64_t begin, bool lost, bool with_crc);
  void GiveBelongings(ScannedEvents* out) {
    out->lexicons.push_back(std::move(lexicon_));
    out->stores.push_back(std::move(store_));
  }

 private:
  static constexpr size_t kBehind = 4096;

  bool ReadMore(size_t size);
  std::string_view text() const { return {memory_.data(), size_}; }

  const InputFile& file_;
  uint64_t array_;
  size_t window_;
  std::unique_ptr<Lexicon> lexicon_;
  std::unique_ptr<RecordStore> store_;
  EventWalker walker_;
  RecordBatch batch_;
  std::vector<char> memory_;
  uint64_t offset_ = 0;  // of memory_[0] in the file
  size_t size_ = 0;
  bool final_ = false;
};

/// False at the end of the file.
bool WindowWorker::ReadMore(size_t size) {
  if (memory_.size() < size_ + size + kTextPadding) {
    memory_.resize(size_ + size + kTextPadding);
  }
  const size_t got =
      file_.ReadAt(offset_ + size_, memory_.data() + size_, size);
  size_ += got;
  final_ = offset_ + size_ >= file_.size() || got < size;
  return got != 0;
}

WindowResult WindowWorker::Run(uint64_t index, uint64_t begin, bool lost,
                               bool with_crc) {
  WindowResult result;
  const uint64_t first = index * window_;
  offset_ =
      begin == kNoEvent && first >= kTextBefore ? first - kTextBefore : first;
  if (begin != kNoEvent) offset_ = std::min(offset_, begin);
  size_ = 0;
  const auto before = static_cast<size_t>(first - offset_);
  ReadMore(before + window_ + kBehind);
  const size_t limit = std::min(before + window_, size_);
  if (with_crc) {
    result.crc32 = Crc32(0, memory_.data() + before, limit - before);
  }
  size_t at = begin == kNoEvent
                  ? FindEventStart(text().substr(0, size_), before)
                  : static_cast<size_t>(begin - offset_);
  if (at >= limit) return result;  // no event starts here
  result.begin = offset_ + at;
  batch_.Restart();
  using From = EventWalker::From;
  EventWalker::Result walked{};
  walked.lost = lost;
  for (size_t more = kBehind;; more *= 2) {
    // The last window takes what is left, the end of the array included.
    const bool last = offset_ + limit >= file_.size();
    const From from = walked.lost              ? From::kLost
                      : offset_ + at == array_ ? From::kArray
                                               : From::kBetween;
    walked = walker_.Walk(text(), at, last ? size_ + 1 : limit, final_, from,
                          &batch_);
    if (walked.stop != EventWalker::Stop::kNeedText) break;
    at = walked.at;
    if (at >= limit && !last) {  // between two events
      walked.stop = EventWalker::Stop::kLimit;
      break;
    }
    ReadMore(more);
  }
  result.stop = walked.stop;
  result.end = offset_ + walked.at;
  result.lost = walked.lost;
  result.batch = store_->Keep(batch_);
  return result;
}

class WindowScan {
 public:
  WindowScan(const InputFile& file, uint64_t array, const ReadOptions& options,
             size_t window)
      : file_(file), array_(array), options_(options), window_(window) {}

  ScannedEvents Run();

 private:
  void Work(WindowWorker* worker, bool in_order);
  void RunThreads(std::vector<std::unique_ptr<WindowWorker>>* workers);
  uint64_t GuessOf(uint64_t index) const {
    return index == array_ / window_ ? array_ : kNoEvent;
  }
  bool Accept(uint64_t index, uint64_t* at, bool* lost, WindowWorker* worker,
              ScannedEvents* out);

  const InputFile& file_;
  uint64_t array_;
  const ReadOptions& options_;
  size_t window_;
  std::vector<WindowResult> results_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Takes windows until none is left. With one thread the start of each is
/// known when its turn comes.
void WindowScan::Work(WindowWorker* worker, bool in_order) {
  try {
    uint64_t at = array_;
    while (!failed_) {
      const uint64_t index = next_++;
      if (index >= results_.size()) break;
      WindowResult& result = results_[index];
      const bool here = at / window_ == index && at < file_.size();
      const uint64_t begin = in_order && here ? at : GuessOf(index);
      result = worker->Run(index, begin, false, true);
      if (in_order && here && !result.lost) at = result.end;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
    failed_ = true;
  }
}

void WindowScan::RunThreads(
    std::vector<std::unique_ptr<WindowWorker>>* workers) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers->size(); ++i) {
    WindowWorker* const worker = (*workers)[i].get();
    threads.emplace_back([this, worker] { Work(worker, false); });
  }
  Work(workers->front().get(), workers->size() == 1);
  for (std::thread& thread : threads) thread.join();
  if (error_) std::rethrow_exception(error_);
}

/// Takes over the window in which `at` lies, walking it again when it did not
/// start there; false: the array ends in it.
bool WindowScan::Accept(uint64_t index, uint64_t* at, bool* lost,
                        WindowWorker* worker, ScannedEvents* out) {
  WindowResult& result = results_[index];
  if (*at >= (index + 1) * window_) return true;  // one event spans it
  if (*lost || result.begin != *at) {
    result = worker->Run(index, *at, *lost, false);
  }
  *at = result.end;
  *lost = result.lost;
  out->batches.push_back(result.batch);
  if (result.stop == EventWalker::Stop::kLimit) return true;
  out->cut = result.stop == EventWalker::Stop::kCut;
  return false;
}

ScannedEvents WindowScan::Run() {
  const uint64_t windows = (file_.size() + window_ - 1) / window_;
  const unsigned wanted =
      options_.threads != 0 ? options_.threads
                            : std::max(1U, std::thread::hardware_concurrency());
  results_.resize(windows);
  std::vector<std::unique_ptr<WindowWorker>> workers;
  for (uint64_t i = 0; i < std::min<uint64_t>(wanted, windows); ++i) {
    workers.push_back(std::make_unique<WindowWorker>(file_, array_, window_));
  }
  RunThreads(&workers);
  ScannedEvents out;
  for (uint64_t i = 0; i < windows; ++i) {
    const uint64_t bytes =
        std::min<uint64_t>(window_, file_.size() - i * window_);
    out.crc32 = CombineCrc32(out.crc32, results_[i].crc32, bytes);
  }
  uint64_t at = array_;
  bool lost = false;
  out.cut = true;
  for (uint64_t i = array_ / window_; i < windows; ++i) {
    if (!Accept(i, &at, &lost, workers.front().get(), &out)) break;
  }
  out.end = at;
  for (auto& worker : workers) worker->GiveBelongings(&out);
  return out;
}

}  // namespace

ScannedEvents ScanWindows(const InputFile& file, uint64_t array,
                          const ReadOptions& options, size_t window) {
  return WindowScan(file, array, options, window).Run();
}

}  // namespace inferdiff
