// SPDX-License-Identifier: Apache-2.0
// The kernels of a ledger, and the rules that classified them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text_pieces.h"
#include "classify/category.h"
#include "ledger/ledger.h"
#include "report/document.h"

namespace inferdiff {

struct KernelsChoice {
  std::vector<Category> categories;  // none: all
  size_t top = 0;
};

Document KernelsDocument(const LedgerResult& ledger,
                         const KernelsChoice& choice);
void WriteKernelsJson(const LedgerResult& ledger, const KernelsChoice& choice,
                      const TextSink& sink);
std::string KernelsTsv(const LedgerResult& ledger, const KernelsChoice& choice);

}  // namespace inferdiff
