// Owns: counting latencies in buckets whose width is 1/64 of their value, so that quantiles are exact to 1.6 %.
// Must never: allocate or lock while an operation is timed. Each thread has its own histogram, and they are merged
// afterwards.
//
// The layout is that of HdrHistogram (Gil Tene), with six bits below the leading one. Debian 12 packages no such
// library for C++.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace varve::bench {

class Histogram {
 public:
  void add(std::uint64_t nanoseconds) noexcept {
    ++buckets_[bucket_of(nanoseconds)];
    ++count_;
    max_ = std::max(max_, nanoseconds);
  }

  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const noexcept { return count_; }
  /// Returns the exact maximum in nanoseconds.
  std::uint64_t max() const noexcept { return max_; }

  /// Returns the quantile for a share from 0 to 1, in nanoseconds. Returns zero if the histogram is empty.
  std::uint64_t quantile(double share) const noexcept {
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (buckets_[i] > 0 && static_cast<double>(seen) >= wanted) return std::min(upper_bound_of(i), max_);
    }
    return max_;
  }

 private:
  static constexpr std::size_t kSteps = 64;
  static constexpr std::size_t kBuckets = 59 * kSteps;

  static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < kSteps) return static_cast<std::size_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - 7;
    return static_cast<std::size_t>(shift) * kSteps + static_cast<std::size_t>(value >> shift);
  }

  static constexpr std::uint64_t upper_bound_of(std::size_t bucket) noexcept {
    if (bucket < 2 * kSteps) return bucket;
    const std::size_t shift = bucket / kSteps - 1;
    return ((std::uint64_t{bucket % kSteps + kSteps} + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace varve::bench
