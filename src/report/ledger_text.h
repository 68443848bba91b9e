// SPDX-License-Identifier: Apache-2.0
// A ledger for people: verdict first, then why, then proof, then doubts.
#pragma once

#include <vector>

#include "ledger/ledger.h"
#include "report/document.h"

namespace inferdiff {

/// `top` limits the lists of kernels and families.
Document LedgerDocument(const LedgerResult& ledger, size_t top);

/// The last line of every report: versions, inputs.
Section ProvenanceSection(const std::vector<const Provenance*>& sources);

}  // namespace inferdiff
