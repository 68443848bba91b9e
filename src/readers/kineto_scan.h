// SPDX-License-Identifier: Apache-2.0
// The elements of `traceEvents` of a plain file, by several threads.
//
//   file    ....[e e e e|e e e e|e e e e]....
//                       ^       ^
//   Each thread takes a window, guesses where its first event starts, and
//   walks to the first event of the next window. A window counts only when its
//   guess is where the one in front ended; else it is walked again from there.
//   So the result is that of one walk from the beginning, whoever walks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/input_file.h"
#include "readers/kineto_records.h"
#include "readers/reader.h"

namespace inferdiff {

struct ScannedEvents {
  std::vector<StoredBatch> batches;  // in file order
  std::vector<std::unique_ptr<Lexicon>> lexicons;
  std::vector<std::unique_ptr<RecordStore>> stores;
  bool cut = false;    // the text is over before the array is
  uint64_t end = 0;    // behind the ], of a plain file
  uint32_t crc32 = 0;  // of a plain file
};

/// The elements of a plain file from `array` on.
ScannedEvents ScanWindows(const InputFile& file, uint64_t array,
                          const ReadOptions& options, size_t window);

}  // namespace inferdiff
