// SPDX-License-Identifier: Apache-2.0
// Rounds of one measurement: when there are enough, and what they say.
#pragma once

#include <functional>
#include <vector>

namespace inferdiff {

/// What the rounds gave, in the unit of a round.
struct Measured {
  double median = 0;
  double spread = 0;  // from the lower to the upper quartile
  int rounds = 0;
  bool steady = false;  // the rule's precision was met, not its limit
};

/// Rounds go on until the median is known well enough: until half the width of
/// its 95% interval is at most `precision` of it.
struct StopRule {
  int least = 11;
  int most = 101;
  double seconds = 0.3;      // no round begins later than this
  double precision = 0.005;  // of the median
  double near = 0;           // precise enough in any case: in a round's unit
};

/// Linear between the two nearest; NaN of nothing. `fraction` is 0 to 1.
double Quantile(std::vector<double> samples, double fraction);
double Median(std::vector<double> samples);

/// Half the width of the median's 95% interval from order statistics, which
/// asks for no distribution: the ranks n/2 ± 0.98 √n. Infinite for fewer than
/// six samples, whose extremes do not hold 95%.
double MedianHalfWidth(std::vector<double> samples);

Measured Summary(const std::vector<double>& samples, const StopRule& rule);

/// One round that is no number (NaN) is dropped: it was disturbed in a way that
/// it noticed itself.
Measured Measure(const StopRule& rule, const std::function<double()>& round);

}  // namespace inferdiff
