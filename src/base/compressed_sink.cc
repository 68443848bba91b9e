// SPDX-License-Identifier: Apache-2.0
#include "base/compressed_sink.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <cstdint>
#include <new>
#include <vector>

namespace inferdiff {
namespace {

constexpr size_t kPiece = size_t{1} << 16;

class PlainSink : public CompressedSink {
 public:
  explicit PlainSink(const TextSink& sink) : sink_(sink) {}
  void Write(std::string_view text) override { sink_(text); }
  void Finish() override {}

 private:
  const TextSink& sink_;
};

class GzipSink : public CompressedSink {
 public:
  explicit GzipSink(const TextSink& sink)
      : sink_(sink), level_(ISAL_DEF_LVL1_DEFAULT), out_(kPiece) {
    isal_deflate_init(&stream_);
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.level = 1;
    stream_.level_buf = level_.data();
    stream_.level_buf_size = static_cast<uint32_t>(level_.size());
  }

  void Write(std::string_view text) override {
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, kPiece);
      text.remove_prefix(piece.size());
      Deflate(piece, false);
    }
  }
  void Finish() override { Deflate({}, true); }

 private:
  void Deflate(std::string_view text, bool end) {
    // The library reads, and does not write, what next_in points to.
    stream_.next_in =
        const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
    stream_.avail_in = static_cast<uint32_t>(text.size());
    stream_.end_of_stream = end ? 1 : 0;
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<uint32_t>(out_.size());
      isal_deflate(&stream_);
      sink_({reinterpret_cast<const char*>(out_.data()),
             out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0 || stream_.avail_in > 0 ||
             (end && stream_.internal_state.state != ZSTATE_END));
  }

  const TextSink& sink_;
  isal_zstream stream_{};
  std::vector<uint8_t> level_, out_;
};

class ZstdSink : public CompressedSink {
 public:
  explicit ZstdSink(const TextSink& sink)
      : sink_(sink), context_(ZSTD_createCCtx(), ZSTD_freeCCtx), out_(kPiece) {
    if (!context_) throw std::bad_alloc();
  }

  void Write(std::string_view text) override {
    Compress(text, ZSTD_e_continue);
  }
  void Finish() override { Compress({}, ZSTD_e_end); }

 private:
  void Compress(std::string_view text, ZSTD_EndDirective what) {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, what);
      sink_({out_.data(), out.pos});
      const bool done = what == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done || ZSTD_isError(left) != 0) return;
    }
  }

  const TextSink& sink_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
  std::vector<char> out_;
};

}  // namespace

std::unique_ptr<CompressedSink> CompressTo(Compression compression,
                                           const TextSink& sink) {
  if (compression == Compression::kGzip)
    return std::make_unique<GzipSink>(sink);
  if (compression == Compression::kZstd)
    return std::make_unique<ZstdSink>(sink);
  return std::make_unique<PlainSink>(sink);
}

}  // namespace inferdiff
