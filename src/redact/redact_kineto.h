// SPDX-License-Identifier: Apache-2.0
// A Kineto trace without what should not be published. The text is copied
// value by value: numbers and structure stay as they are written, strings stay
// where docs/redact.md says so and are replaced otherwise.
#pragma once

#include "base/byte_source.h"
#include "base/input_file.h"
#include "base/text_pieces.h"
#include "redact/placeholders.h"

namespace inferdiff {

/// Memory is bounded by the largest event, and by what Placeholders keeps.
/// Throws InputError "not-redactable" for what is no whole and well-formed
/// Kineto JSON.
void RedactKineto(const InputFile& file, Compression compression,
                  Placeholders* placeholders, const TextSink& sink);

}  // namespace inferdiff
