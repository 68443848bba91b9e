// SPDX-License-Identifier: Apache-2.0
// The program's memory, large arrays in huge pages: base/memory.h says why.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/memory.h"

void* operator new(std::size_t bytes) {
  void* const memory = inferdiff::AllocateHuge(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// As the library's does; sanitizers have one of their own, whose memory is not
// freed by ours.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return inferdiff::AllocateHuge(bytes == 0 ? 1 : bytes);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
