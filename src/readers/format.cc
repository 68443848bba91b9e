// SPDX-License-Identifier: Apache-2.0
#include "readers/format.h"

#include <array>

#include "readers/chrome_json.h"
#include "readers/kineto_json.h"
#include "readers/rocprof_csv.h"
#include "readers/rocprof_json.h"
#include "readers/sqlite_trace.h"

namespace inferdiff {

std::span<const Format> Formats() {
  static constexpr std::array kFormats = {
      Format{
          "rocprof-json",
          [](const SniffInput& input) { return SniffRocprofJson(input.head); },
          [](const InputFile& file, Compression compression,
             const ReadOptions& options) {
            return ReadRocprofJson(file, compression, options);
          }},
      Format{"chrome",
             [](const SniffInput& input) { return SniffChrome(input.head); },
             [](const InputFile& file, Compression compression,
                const ReadOptions& options) {
               return ReadChrome(file, compression, options);
             }},
      Format{"kineto",
             [](const SniffInput& input) { return SniffKineto(input.head); },
             [](const InputFile& file, Compression compression,
                const ReadOptions& options) {
               return ReadKineto(file, compression, options);
             }},
      Format{"sqlite",
             [](const SniffInput& input) { return SniffSqlite(input.head); },
             ReadSqlite},
      Format{
          "rocprof-csv",
          [](const SniffInput& input) { return SniffRocprofCsv(input.head); },
          [](const InputFile& file, Compression compression,
             const ReadOptions& options) {
            return ReadRocprofCsv(file, compression, options);
          }},
  };
  return kFormats;
}

}  // namespace inferdiff
