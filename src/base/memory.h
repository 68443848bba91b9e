// SPDX-License-Identifier: Apache-2.0
// Large arrays. On virtual machines the first touch of a 4 kB page costs up to
// ten microseconds, which for the columns of a trace is as much as scanning
// the file; huge pages divide that by twenty.
//
// The program (cli/operator_new.cc) takes all its memory from here, so that the
// arrays of vectors lie in huge pages, too; who links the library keeps their
// own operator new.
#pragma once

#include <cstddef>
#include <memory>

namespace inferdiff {

/// Gives what was freed in small pieces back to the system, where the library
/// would keep it.
void ReturnFreeMemory();

/// Empties a container and frees its memory, which a vector keeps where it is
/// assigned {}.
template <typename Container>
void Free(Container* container) {
  *container = Container();
}

struct FreeMemory {
  void operator()(void* memory) const;
};

/// malloc's memory; of two megabytes and more it begins at a huge page and lies
/// in huge pages as far as it fills them. nullptr where there is none.
void* AllocateHuge(size_t bytes);

/// The same, owned. Throws std::bad_alloc.
std::unique_ptr<void, FreeMemory> NewHuge(size_t bytes);

}  // namespace inferdiff
