// SPDX-License-Identifier: Apache-2.0
#include "readers/rpd_reader.h"
#include "sqlite_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return inferdiff::FuzzDatabase(data, size, inferdiff::ReadRpd);
}
