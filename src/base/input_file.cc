// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace inferdiff {
namespace {

std::string ReasonOf(int error) {
  return std::generic_category().message(error);
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // Without O_NONBLOCK a named pipe would wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw InputError("unreadable-file", path,
                     "the file cannot be opened: " + ReasonOf(error),
                     "check the path and its permissions");
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw InputError("not-a-file", path,
                     S_ISDIR(status.st_mode) ? "this is a directory"
                                             : "this is not a regular file",
                     "name the trace file itself");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ == 0) {
    ::close(descriptor_);
    throw InputError("empty-file", path, "the file is empty",
                     "the writer may have been killed; capture again");
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

size_t InputFile::ReadAt(uint64_t offset, char* to, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor_, to + done, size - done,
                                static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw InputError("unreadable-file", path_,
                       "the file cannot be read: " + ReasonOf(errno),
                       "check the disk; copy the file and try again");
    }
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace inferdiff
