// SPDX-License-Identifier: Apache-2.0
// Large arrays. On virtual machines the first touch of a 4 kB page costs up to
// ten microseconds, which for the columns of a trace is as much as scanning
// the file; huge pages divide that by twenty.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace inferdiff {

/// Asks the system to back [data, data + bytes) with huge pages. Advice only.
void AdviseHuge(const void* data, size_t bytes);

/// Gives what was freed in small pieces back to the system, where the library
/// would keep it.
void ReturnFreeMemory();

struct FreeMemory {
  void operator()(void* memory) const;
};

/// `bytes` of raw memory, in huge pages as far as it fills them.
std::unique_ptr<void, FreeMemory> AllocateHuge(size_t bytes);

template <typename T>
void ReserveHuge(std::vector<T>* column, size_t size) {
  column->reserve(size);
  AdviseHuge(column->data(), size * sizeof(T));
}

template <typename T>
void ResizeHuge(std::vector<T>* column, size_t size) {
  ReserveHuge(column, size);
  column->resize(size);
}

}  // namespace inferdiff
