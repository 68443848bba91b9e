// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <isa-l.h>

namespace inferdiff {

std::string Inflate(const std::string& in) {
  std::string out;
  std::string buffer(1 << 20, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(in.data()));
  state.avail_in = static_cast<uint32_t>(in.size());
  do {
    state.next_out = reinterpret_cast<uint8_t*>(buffer.data());
    state.avail_out = static_cast<uint32_t>(buffer.size());
    if (isal_inflate(&state) != ISAL_DECOMP_OK) break;
    out.append(buffer, 0, buffer.size() - state.avail_out);
  } while (state.block_state != ISAL_BLOCK_FINISH && state.avail_out == 0);
  return out;
}

uint32_t Crc32(std::string_view bytes) {
  return crc32_gzip_refl(
      0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace inferdiff
