// SPDX-License-Identifier: Apache-2.0
// Time during which everything that runs is of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ledger/collectives.h"

namespace inferdiff {

/// Time during which all running ops carry one and the same label, by label.
class SoleTime {
 public:
  explicit SoleTime(size_t labels) : running_(labels), sole_ns_(labels) {}

  void Start(uint32_t label) {
    if (running_[label]++ > 0) return;
    ++distinct_;
    mix_ ^= label;
  }
  void End(uint32_t label) {
    if (--running_[label] > 0) return;
    --distinct_;
    mix_ ^= label;
  }
  void Pass(int64_t dt) {
    if (distinct_ == 1) sole_ns_[mix_] += dt;
  }
  bool one_label() const { return distinct_ == 1; }
  /// Start, Pass and End at once, while nothing else runs.
  void Alone(uint32_t label, int64_t dt) { sole_ns_[label] += dt; }
  void Merge(const SoleTime& other) {
    for (size_t label = 0; label < sole_ns_.size(); ++label)
      sole_ns_[label] += other.sole_ns_[label];
  }
  const std::vector<int64_t>& sole_ns() const { return sole_ns_; }

 private:
  std::vector<uint32_t> running_;
  std::vector<int64_t> sole_ns_;
  uint32_t distinct_ = 0;
  uint32_t mix_ = 0;  // xor of the labels running: the label, if only one is
};

/// The same for the three ways in which tables group kernels.
class ExclusiveTime {
 public:
  /// Family and category of each kernel row; both must outlive this.
  ExclusiveTime(std::span<const uint32_t> family_of_kernel, size_t families,
                std::span<const uint32_t> category_of_kernel, size_t categories)
      : family_of_(family_of_kernel),
        category_of_(category_of_kernel),
        kernels_(family_of_kernel.size()),
        families_(families),
        categories_(categories) {}

  void Start(uint32_t kernel) {
    kernels_.Start(kernel);
    families_.Start(family_of_[kernel]);
    categories_.Start(category_of_[kernel]);
  }
  void End(uint32_t kernel) {
    kernels_.End(kernel);
    families_.End(family_of_[kernel]);
    categories_.End(category_of_[kernel]);
  }
  void Pass(int64_t dt) {
    kernels_.Pass(dt);
    families_.Pass(dt);
    categories_.Pass(dt);
  }
  void Alone(uint32_t kernel, int64_t dt) {
    kernels_.Alone(kernel, dt);
    families_.Alone(family_of_[kernel], dt);
    categories_.Alone(category_of_[kernel], dt);
  }
  /// The narrowest label that all running ops carry.
  Sole sole() const {
    if (kernels_.one_label()) return Sole::kKernel;
    if (families_.one_label()) return Sole::kFamily;
    return categories_.one_label() ? Sole::kCategory : Sole::kNo;
  }
  /// Adds the times of other steps.
  void Merge(const ExclusiveTime& other) {
    kernels_.Merge(other.kernels_);
    families_.Merge(other.families_);
    categories_.Merge(other.categories_);
  }
  const SoleTime& kernels() const { return kernels_; }
  const SoleTime& families() const { return families_; }
  const SoleTime& categories() const { return categories_; }

 private:
  std::span<const uint32_t> family_of_;
  std::span<const uint32_t> category_of_;
  SoleTime kernels_, families_, categories_;
};

}  // namespace inferdiff
