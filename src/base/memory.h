// SPDX-License-Identifier: Apache-2.0
// Large arrays. On virtual machines the first touch of a 4 kB page costs up to
// ten microseconds, which for the columns of a trace is as much as scanning
// the file; huge pages divide that by twenty.
//
// So whatever `new` gives of two megabytes and more, the arrays of vectors
// included, begins at a huge page and lies in huge pages as far as it fills
// them: memory.cc replaces operator new.
#pragma once

#include <cstddef>
#include <memory>

namespace inferdiff {

/// Gives what was freed in small pieces back to the system, where the library
/// would keep it.
void ReturnFreeMemory();

struct FreeMemory {
  void operator()(void* memory) const;
};

/// `bytes` of raw memory.
std::unique_ptr<void, FreeMemory> AllocateHuge(size_t bytes);

}  // namespace inferdiff
