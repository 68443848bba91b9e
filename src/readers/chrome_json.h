// SPDX-License-Identifier: Apache-2.0
// Chrome traces of other writers than Kineto.
//
//   rocprof, rpd2tracing   [{}, {"ph":"X","name":"f","pid":"6","tid":"0",
//                          "ts":"213757592882","dur":"143","args":{
//                          "BeginNs":"213757592882000","EndNs":"..."}}, ...]
//   XLA (JAX, TensorFlow)  {"displayTimeUnit":"ns","metadata":{
//                          "highres-ticks":true},"traceEvents":[
//                          {"ph":"M","pid":2,"name":"process_name",
//                           "args":{"name":"/device:GPU:0"}}, ..., {}]}
//   Triton Proton          {"displayTimeUnit":"us","traceEvents":[{"cat":
//                          "kernel","ph":"X","name":"f","ts":0,"dur":4.5,
//                          "tid":0,"args":{...}}, ...]}
//                          one such object a stream, each on a line
//
// ts and dur are microseconds, as numbers or in quotes. Names of processes and
// threads, in events of their own, tell what is a GPU. The ordinal of a record
// is its index among all events of the file. See docs/format-chrome.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_source.h"
#include "base/input_file.h"
#include "model/trace.h"
#include "readers/reader.h"

namespace inferdiff {

/// By the first 64 KiB of decoded text. Traces of Kineto are not recognised.
bool SniffChrome(std::string_view head);

/// Fills everything of SourceFile but path and size. No traces: no GPU
/// activity.
SourceFile ReadChrome(const InputFile& file, Compression compression,
                      const ReadOptions& options, size_t block = 256 * 1024);

/// Microseconds in decimal text, with an exponent or without, in picoseconds;
/// digits beyond are cut off. Nothing where it is no number or beyond 2^63.
std::optional<int64_t> ParsePicoseconds(std::string_view text);

}  // namespace inferdiff
