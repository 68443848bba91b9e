// SPDX-License-Identifier: Apache-2.0
// Text as a file, and what a reader makes of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "base/input_file.h"
#include "trace_text.h"

namespace inferdiff {

class TempText {
 public:
  explicit TempText(const std::string& text)
      : path_(testing::TempDir() + "/text_" + std::to_string(::getpid())) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempText() { ::unlink(path_.c_str()); }
  TempText(const TempText&) = delete;
  TempText& operator=(const TempText&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Everything that `read` found in the text, or the id of its error.
template <typename Read>
std::string OutcomeOf(const std::string& text, const Read& read) {
  const TempText temp(text);
  try {
    return TextOf(read(InputFile(temp.path())));
  } catch (const InputError& error) {
    return error.id;
  }
}

inline size_t CountOps(const std::string& outcome) {
  size_t ops = 0;
  for (size_t at = outcome.find("\nop "); at != outcome.npos;
       at = outcome.find("\nop ", at + 1)) {
    ++ops;
  }
  return ops;
}

}  // namespace inferdiff
