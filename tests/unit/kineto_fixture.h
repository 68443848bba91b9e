// SPDX-License-Identifier: Apache-2.0
// Small Kineto traces as text, and what the reader makes of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "readers/kineto_json.h"
#include "trace_text.h"

namespace inferdiff {

class TempFile {
 public:
  explicit TempFile(const std::string& text)
      : path_(testing::TempDir() + "/kineto_" + std::to_string(::getpid()) +
              ".json") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline SourceFile Read(const std::string& text, unsigned threads = 1,
                       size_t window = 1 << 16) {
  const TempFile temp(text);
  const InputFile file(temp.path());
  ReadOptions options;
  options.threads = threads;
  KinetoTuning tuning;
  tuning.window = window;
  return ReadKineto(file, DetectCompression(file), options, tuning);
}

inline std::string Outcome(const std::string& text, unsigned threads,
                           size_t window) {
  try {
    return TextOf(Read(text, threads, window));
  } catch (const InputError& error) {
    return error.id;
  }
}

/// The same for every way of reading.
inline void ExpectOneOutcome(const std::string& text) {
  const std::string whole = Outcome(text, 1, 1 << 16);
  EXPECT_EQ(Outcome(text, 1, 300), whole);
  EXPECT_EQ(Outcome(text, 2, 256), whole);
  EXPECT_EQ(Outcome(text, 5, 1000), whole);
}

inline std::string Kernel(int i, const std::string& name) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name +
         R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(1000 + i) +
         R"(.250, "dur": 0.5, "args": {"device": 0, "stream": 7, )"
         R"("correlation": )" +
         std::to_string(100 + i) + "}}";
}

inline std::string Launch(int i) {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )"
         R"("pid": 9, "tid": 9, "ts": )" +
         std::to_string(900 + i) +
         R"(, "dur": 3, "args": {"cbid": 211, "correlation": )" +
         std::to_string(100 + i) + "}}";
}

inline std::string TraceOf(const std::vector<std::string>& events,
                           const std::string& between = ",\n  ") {
  std::string text = "{\"schemaVersion\": 1,\n  \"traceEvents\": [\n  ";
  for (size_t i = 0; i < events.size(); ++i) {
    if (i != 0) text += between;
    text += events[i];
  }
  return text + "\n  ],\n  \"traceName\": \"x\"\n}\n";
}

inline std::vector<std::string> Plain(int count) {
  std::vector<std::string> events;
  for (int i = 0; i < count; ++i) {
    events.push_back(Launch(i));
    events.push_back(Kernel(i, "kernel_" + std::to_string(i % 3)));
    events.push_back(R"({"ph": "f", "id": 3, "pid": 0, "tid": 7, "ts": 1, )"
                     R"("cat": "ac2g", "name": "ac2g", "bp": "e"})");
    events.push_back(R"({"ph": "X", "cat": "python_function", "name": )"
                     R"("a.py(1): <lambda>{}", "pid": 9, "tid": 9, "ts": 5, )"
                     R"("dur": 1, "args": {"Python id": 4}})");
  }
  return events;
}

/// An event with one argument of `bytes` bytes of `item`, over and over.
inline std::string Giant(const std::string& item, size_t bytes) {
  std::string event =
      R"({"ph": "X", "cat": "cpu_op", "name": "giant", "pid": 9, "tid": 9, )"
      R"("ts": 5, "dur": 1, "args": {"x": [)" +
      item;
  while (event.size() < bytes) event += "," + item;
  return event + "]}}";
}

}  // namespace inferdiff
