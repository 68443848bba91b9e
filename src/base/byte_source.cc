// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32.h"
#include "base/error.h"

namespace inferdiff {
namespace {

constexpr size_t kInput = 256 * 1024;

/// The compressed bytes in order, and their checksum.
class DiskReader {
 public:
  explicit DiskReader(const InputFile& file)
      : file_(file), current_(kInput), ahead_(kInput) {}

  /// The next bytes; empty at the end of the file.
  std::string_view Next() {
    const std::lock_guard lock(mutex_);
    if (!has_ahead_) Fill();
    has_ahead_ = false;
    std::swap(current_, ahead_);
    offset_ += size_;
    return {current_.data(), size_};
  }
  /// Gets the next bytes ready, in any thread.
  void ReadAhead() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && !has_ahead_) Fill();
  }
  uint32_t CrcOfAll() {
    while (!Next().empty()) {
    }
    return crc_;
  }
  const InputFile& file() const { return file_; }
  /// Of what Next() gave.
  uint64_t offset() const { return offset_; }

 private:
  void Fill() {
    size_ = file_.ReadAt(read_, ahead_.data(), ahead_.size());
    crc_ = Crc32(crc_, ahead_.data(), size_);
    read_ += size_;
    has_ahead_ = true;
  }

  const InputFile& file_;
  uint64_t offset_ = 0;
  std::vector<char> current_;
  std::mutex mutex_;  // for what follows
  std::vector<char> ahead_;
  size_t size_ = 0;  // of what is in it
  bool has_ahead_ = false;
  uint64_t read_ = 0;
  uint32_t crc_ = 0;
};

class CompressedSource : public ByteSource {
 public:
  explicit CompressedSource(const InputFile& file) : disk_(file) {}

  size_t Read(char* to, size_t size) final {
    const size_t got = Decode(to, size);
    decoded_ += got;
    // Traces shrink by 10 to 40; beyond this somebody wants our time.
    constexpr uint64_t kFree = uint64_t{1} << 30;
    constexpr uint64_t kMostRatio = 300;
    if (decoded_ > kFree && decoded_ / kMostRatio > disk_.file().size()) {
      throw InputError("expands-too-far", disk_.file().path(),
                       "the file unfolds to more than 300 times its size",
                       "no profiler writes such a file; unpack it yourself if "
                       "you trust it");
    }
    return got;
  }
  void ReadAhead() final { disk_.ReadAhead(); }
  uint32_t DiskCrc32() final { return disk_.CrcOfAll(); }
  double Progress() const final {
    return static_cast<double>(disk_.offset()) /
           static_cast<double>(disk_.file().size());
  }

 protected:
  virtual size_t Decode(char* to, size_t size) = 0;

  DiskReader disk_;

 private:
  uint64_t decoded_ = 0;
};

class GzipSource : public CompressedSource {
 public:
  explicit GzipSource(const InputFile& file) : CompressedSource(file) {
    StartMember();
    state_.avail_in = 0;
  }

 private:
  size_t Decode(char* to, size_t size) override {
    state_.next_out = reinterpret_cast<uint8_t*>(to);
    state_.avail_out = static_cast<uint32_t>(std::min(size, kMost));
    const size_t wanted = state_.avail_out;
    while (state_.avail_out != 0 && !done_) Step();
    return wanted - state_.avail_out;
  }

  void Step() {
    if (state_.avail_in == 0 && !Refill()) return;
    if (state_.block_state == ISAL_BLOCK_FINISH && !NextMember()) return;
    const uint32_t room = state_.avail_out;
    const uint32_t left = state_.avail_in;
    if (isal_inflate(&state_) != ISAL_DECOMP_OK) {
      corrupt_ = done_ = true;
      return;
    }
    // Data in the library's own buffer comes out without any input.
    stuck_ =
        room == state_.avail_out && left == state_.avail_in ? stuck_ + 1 : 0;
    if (stuck_ > 2) corrupt_ = done_ = true;
  }

  /// More input; without any the stream is over, whole or not.
  bool Refill() {
    const std::string_view input = disk_.Next();
    if (input.empty()) {
      const uint32_t room = state_.avail_out;
      if (state_.block_state != ISAL_BLOCK_FINISH) {
        if (isal_inflate(&state_) == ISAL_DECOMP_OK &&
            state_.avail_out != room) {
          return false;  // what the library still held
        }
        truncated_ = state_.block_state != ISAL_BLOCK_FINISH;
      }
      done_ = true;
      return false;
    }
    state_.next_in =
        reinterpret_cast<uint8_t*>(const_cast<char*>(input.data()));
    state_.avail_in = static_cast<uint32_t>(input.size());
    return true;
  }

  /// Files may be put together from several; zeros pad some to a block.
  bool NextMember() {
    while (state_.avail_in != 0 && *state_.next_in == 0) {
      ++state_.next_in;
      --state_.avail_in;
    }
    if (state_.avail_in == 0) return false;
    if (*state_.next_in != 0x1f) {
      corrupt_ = done_ = true;
      return false;
    }
    uint8_t* const next_in = state_.next_in;
    const uint32_t avail_in = state_.avail_in;
    uint8_t* const next_out = state_.next_out;
    const uint32_t avail_out = state_.avail_out;
    StartMember();
    state_.next_in = next_in;
    state_.avail_in = avail_in;
    state_.next_out = next_out;
    state_.avail_out = avail_out;
    return true;
  }

  void StartMember() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  static constexpr size_t kMost = size_t{1} << 30;
  inflate_state state_{};
  int stuck_ = 0;
  bool done_ = false;
};

class ZstdSource : public CompressedSource {
 public:
  explicit ZstdSource(const InputFile& file)
      : CompressedSource(file), context_(ZSTD_createDCtx()) {}
  ~ZstdSource() override { ZSTD_freeDCtx(context_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

 private:
  size_t Decode(char* to, size_t size) override {
    ZSTD_outBuffer out = {to, size, 0};
    while (out.pos < out.size && !done_) {
      if (in_.pos == in_.size && !flushing_) {
        const std::string_view input = disk_.Next();
        in_ = {input.data(), input.size(), 0};
        if (input.empty()) {
          truncated_ = in_frame_;
          done_ = true;
          break;
        }
      }
      const size_t before = out.pos;
      const size_t in_before = in_.pos;
      const size_t hint = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(hint) != 0) {
        RefuseSettings(ZSTD_getErrorCode(hint));
        corrupt_ = done_ = true;
        break;
      }
      if (out.pos != before || in_.pos != in_before) in_frame_ = hint != 0;
      // A full output may hide more behind it.
      flushing_ = out.pos == out.size && out.pos != before;
      if (flushing_) break;
    }
    return out.pos;
  }

  /// Sound data of settings that this program does not follow.
  void RefuseSettings(ZSTD_ErrorCode code) const {
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      throw InputError("zstd-settings", disk_.file().path(),
                       "unpacking the file takes a window of more than 128 MiB",
                       "unpack it first: zstd -d --memory=2048MB FILE");
    }
    if (code == ZSTD_error_dictionary_wrong) {
      throw InputError("zstd-settings", disk_.file().path(),
                       "the file was packed with a dictionary",
                       "unpack it first: zstd -d -D DICTIONARY FILE");
    }
  }

  ZSTD_DCtx* context_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool in_frame_ = false;
  bool flushing_ = false;
  bool done_ = false;
};

class PlainSource : public ByteSource {
 public:
  PlainSource(const InputFile& file, uint64_t offset)
      : file_(file), offset_(offset) {}

  size_t Read(char* to, size_t size) override {
    const size_t got = file_.ReadAt(offset_, to, size);
    offset_ += got;
    return got;
  }
  uint32_t DiskCrc32() override { return 0; }
  double Progress() const override {
    return static_cast<double>(offset_) / static_cast<double>(file_.size());
  }

 private:
  const InputFile& file_;
  uint64_t offset_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenPlain(const InputFile& file, uint64_t offset) {
  return std::make_unique<PlainSource>(file, offset);
}

Compression DetectCompression(const InputFile& file) {
  char head[4] = {};
  const std::string_view bytes(head, file.ReadAt(0, head, sizeof(head)));
  if (bytes.substr(0, 2) == "\x1f\x8b") return Compression::kGzip;
  if (bytes == "\x28\xb5\x2f\xfd") return Compression::kZstd;
  // pzstd puts frames of its own in front, 0x184d2a5X in little endian.
  if ((head[0] & '\xf0') == '\x50' && bytes.substr(1) == "\x2a\x4d\x18") {
    return Compression::kZstd;
  }
  return Compression::kPlain;
}

std::unique_ptr<ByteSource> OpenCompressed(const InputFile& file,
                                           Compression compression) {
  if (compression == Compression::kGzip) {
    return std::make_unique<GzipSource>(file);
  }
  return std::make_unique<ZstdSource>(file);
}

}  // namespace inferdiff
