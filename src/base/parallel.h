// SPDX-License-Identifier: Apache-2.0
// A few threads for one piece of work.
#pragma once

#include <functional>

namespace inferdiff {

/// `asked`, or one a processor where that is 0.
unsigned ThreadCount(unsigned asked);

/// Calls work(0) ... work(parts - 1), each in a thread of its own where the
/// system gives one. Returns when all are done; throws what the part of the
/// smallest number threw.
void InParallel(unsigned parts, const std::function<void(unsigned)>& work);

/// Calls both, at once where `threads` (0: one a processor) are more than one.
void RunBoth(unsigned threads, const std::function<void()>& first,
             const std::function<void()>& second);

}  // namespace inferdiff
