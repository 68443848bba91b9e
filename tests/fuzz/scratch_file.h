// SPDX-License-Identifier: Apache-2.0
// A file in memory for readers that want one.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace inferdiff {

class ScratchFile {
 public:
  /// `name`: the target's, so that several can run at once.
  explicit ScratchFile(const std::string& name)
      : path_("/dev/shm/" + name + "_" + std::to_string(getpid())) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { unlink(path_.c_str()); }
  void Write(const uint8_t* data, size_t size) const {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    if (file == nullptr) std::abort();
    if (std::fwrite(data, 1, size, file) != size) std::abort();
    std::fclose(file);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace inferdiff
