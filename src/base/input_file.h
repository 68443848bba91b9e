// SPDX-License-Identifier: Apache-2.0
// A file opened for reading at any place, from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace inferdiff {

class InputFile {
 public:
  /// Throws InputError "unreadable-file", "not-a-file" or "empty-file".
  explicit InputFile(const std::string& path);
  /// Takes over a descriptor of `size` bytes; `path` is for messages.
  InputFile(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), size_(size), descriptor_(descriptor) {}
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  /// Bytes read: `size`, or fewer at the end of the file. Throws InputError
  /// "unreadable-file". Into memory that is used again and again: the first
  /// touch of a page costs more than reading it.
  size_t ReadAt(uint64_t offset, char* to, size_t size) const;

 private:
  std::string path_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace inferdiff
