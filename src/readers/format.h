// SPDX-License-Identifier: Apache-2.0
// One entry a format: how to recognise it, how to read it.
#pragma once

#include <span>
#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// What a format may be recognised by. Names of files lie, so `path` only
/// decides between formats that the text leaves open.
struct SniffInput {
  std::string_view head;  // the first 64 KiB, decoded
  std::string_view path;  // as given by the user
};

struct Format {
  std::string_view id;  // "kineto"
  bool (*sniff)(const SniffInput& input);
  /// Fills everything of SourceFile but path, and size unless the trace is in
  /// several files. No traces: no GPU activity. Throws InputError.
  SourceFile (*read)(const InputFile& file, Compression compression,
                     const ReadOptions& options);
};

/// In the order in which they are tried: the first that recognises a file
/// reads it.
std::span<const Format> Formats();

}  // namespace inferdiff
