// SPDX-License-Identifier: Apache-2.0
// `inferdiff ledger --format json`, read back as a side of a comparison. What
// the document does not hold is unknown: the representative step's operations
// and layers, so that only walls can be compared; docs/json.md.
#pragma once

#include <string>
#include <string_view>

#include "ledger/ledger.h"

namespace inferdiff {

/// Does a file that begins so look like such a document?
bool IsLedgerDocument(std::string_view prefix);

/// Throws InputError "bad-ledger-json": no JSON, another schema, a field
/// missing or of another kind, sums that do not hold, steps without a wall.
LedgerResult ReadLedgerDocument(const std::string& text,
                                const std::string& path);

}  // namespace inferdiff
