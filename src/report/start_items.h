// SPDX-License-Identifier: Apache-2.0
// "Where to start", item by item.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"

namespace inferdiff {

struct StartDetail {
  std::string gain;  // "281 µs, 26 %"
  std::string text;
};

struct StartItem {
  std::string gain;    // "2.73 ms a step, 60 % of the gap (measured)"; empty:
                       // something to keep
  std::string text;    // a sentence or a few
  std::string advice;  // a clause without a full stop
  std::vector<StartDetail> details;
};

/// In the order in which they are worth it.
std::vector<StartItem> StartItems(const CompareResult& result);

}  // namespace inferdiff
