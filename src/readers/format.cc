// SPDX-License-Identifier: Apache-2.0
#include "readers/format.h"

#include <array>

#include "readers/kineto_json.h"
#include "readers/sqlite_trace.h"

namespace inferdiff {

std::span<const Format> Formats() {
  static constexpr std::array kFormats = {
      Format{"kineto",
             [](const SniffInput& input) { return SniffKineto(input.head); },
             [](const InputFile& file, Compression compression,
                const ReadOptions& options) {
               return ReadKineto(file, compression, options);
             }},
      Format{"sqlite",
             [](const SniffInput& input) { return SniffSqlite(input.head); },
             ReadSqlite},
  };
  return kFormats;
}

}  // namespace inferdiff
