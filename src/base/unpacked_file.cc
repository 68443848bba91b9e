// SPDX-License-Identifier: Apache-2.0
#include "base/unpacked_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"

namespace inferdiff {
namespace {

std::string TemporaryFolder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

InputError NoRoom(const InputFile& original, int error) {
  return InputError(
      "no-room", original.path(),
      fmt::format("the file cannot be unpacked to {}: {}", TemporaryFolder(),
                  std::generic_category().message(error)),
      "unpack it yourself, or set TMPDIR to a folder with room");
}

/// Closes what nobody took over.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// Open for writing and reading, and without a name.
int OpenTemporary(const InputFile& original) {
  std::string path = TemporaryFolder() + "/inferdiff-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) throw NoRoom(original, errno);
  ::unlink(path.c_str());
  return descriptor;
}

/// 0, or what went wrong.
int WriteAll(int descriptor, const char* from, size_t size) {
  while (size != 0) {
    const ssize_t done = ::write(descriptor, from, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    from += done;
    size -= static_cast<size_t>(done);
  }
  return 0;
}

}  // namespace

uint64_t MostUnpacked(uint64_t compressed_size) {
  constexpr uint64_t kFree = uint64_t{1} << 30;
  constexpr uint64_t kRatio = 64;
  return std::max(kFree, compressed_size * kRatio);
}

std::unique_ptr<InputFile> Unpack(ByteSource* source, const InputFile& original,
                                  uint64_t most) {
  Descriptor file(OpenTemporary(original));
  std::vector<char> block(size_t{1} << 18);
  uint64_t size = 0;
  for (size_t got = block.size(); got == block.size(); size += got) {
    got = source->Read(block.data(), block.size());
    if (size + got > most) {
      throw InputError(
          "expands-too-far", original.path(),
          fmt::format("the file unfolds to more than {} MB", most / 1'000'000),
          "unpack it yourself if you trust it");
    }
    const int error = WriteAll(file.get(), block.data(), got);
    if (error != 0) throw NoRoom(original, error);
  }
  return std::make_unique<InputFile>(original.path(), file.Release(), size);
}

}  // namespace inferdiff
