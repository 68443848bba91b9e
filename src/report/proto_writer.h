// SPDX-License-Identifier: Apache-2.0
// Protocol buffers, encoded: what a trace needs of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inferdiff {

/// One message. Fields may be added in any order and repeated.
class ProtoMessage {
 public:
  void Varint(uint32_t field, uint64_t value) {
    Base128(field << 3);
    Base128(value);
  }
  void Bytes(uint32_t field, std::string_view value) {
    Base128(field << 3 | 2);
    Base128(value.size());
    bytes_ += value;
  }
  void Message(uint32_t field, const ProtoMessage& value) {
    Bytes(field, value.bytes_);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  void Base128(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace inferdiff
