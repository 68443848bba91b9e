// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace inferdiff {

unsigned ThreadCount(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

void InParallel(unsigned parts, const std::function<void(unsigned)>& work) {
  std::vector<std::exception_ptr> thrown(parts);
  const auto run = [&](unsigned part) {
    try {
      work(part);
    } catch (...) {
      thrown[part] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned part = 1; part < parts; ++part) {
    try {
      threads.emplace_back(run, part);
    } catch (const std::system_error&) {
      run(part);  // no thread to be had: slower, but the same result
    }
  }
  if (parts > 0) run(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

void RunBoth(unsigned threads, const std::function<void()>& first,
             const std::function<void()>& second) {
  if (ThreadCount(threads) > 1) {
    InParallel(2, [&](unsigned part) { part == 0 ? first() : second(); });
  } else {
    first();
    second();
  }
}

}  // namespace inferdiff
