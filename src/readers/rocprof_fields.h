// SPDX-License-Identifier: Apache-2.0
// The numbers in a record of rocprofv3's JSON.
//
//   {"size":48,"kind":5,"operation":212,"correlation_id":{"internal":7,...
//               kKind    kOperation                       kCorrelation
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "readers/text_layout.h"

namespace inferdiff {

/// What a number of a record is.
enum class RocprofSlot : uint8_t {
  kNothing,  // nobody asks
  kKind,
  kOperation,
  kThread,
  kCorrelation,
  kStart,
  kEnd,
  kKernel,
  kAgent,  // of a copy the source
  kDestination,
  kQueue,
  kStream,
  kCount
};
using RocprofLayout = ValuesLayout<RocprofSlot>;

/// The numbers of any record: those that it does not have are 0.
struct RocprofFields {
  std::array<uint64_t, static_cast<size_t>(RocprofSlot::kCount)> numbers{};
  uint32_t present = 0;  // a bit a slot
  bool out_of_range = false;

  uint64_t operator[](RocprofSlot slot) const {
    return numbers[static_cast<size_t>(slot)];
  }
  int64_t Signed(RocprofSlot slot) const {
    return static_cast<int64_t>((*this)[slot]);
  }
  bool Has(RocprofSlot slot) const {
    return (present >> static_cast<unsigned>(slot) & 1U) != 0;
  }
  void Set(RocprofSlot slot, uint64_t number) {
    numbers[static_cast<size_t>(slot)] = number;
    present |= 1U << static_cast<unsigned>(slot);
  }
};

/// Behind the record at `p`, where it is written as the last one that was
/// learned: whole numbers, and the same text around them. Else nullptr. Text is
/// readable for kTextPadding bytes behind `end`.
const char* ReadRocprofByLayout(const RocprofLayout& layout, const char* p,
                                const char* end, RocprofFields* fields);

/// Of one whole object; learns its layout where others failed to fit for long.
/// False: it is malformed.
bool ReadRocprofRecord(std::string_view text, RocprofLayout* layout,
                       RocprofFields* fields);

}  // namespace inferdiff
