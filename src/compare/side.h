// SPDX-License-Identifier: Apache-2.0
// One side of a comparison on the basis that both sides have.
#pragma once

#include "compare/compare.h"

namespace inferdiff {

/// The strongest basis that all ledgers support. Replay spans count only where
/// one replay does most of a step's work in all of them: the span of one of
/// sixty pieces says nothing about the step.
Basis ChooseBasis(const std::vector<const LedgerResult*>& ledgers);

/// The wall: totals of the ledger. The spans: the representative step alone.
///
///   replay      |[op][op] gap [op]|       gap: idle inside
///   other lane     [foreign............]  counted where no replay op runs
///
/// Throws ContractError when the parts do not add up to the headline.
SideTotals TotalsOn(Basis basis, const LedgerResult& ledger);

/// Share of the representative step's attributed time inside replays.
Rational ReplayShare(const LedgerResult& ledger);

}  // namespace inferdiff
