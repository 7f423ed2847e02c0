#include "tools/serve/watch/request_figures.h"

#include <algorithm>

namespace varve::serve {
namespace {

std::size_t status_index(std::uint16_t status) noexcept {
  const auto* const found = std::find(kCountedStatuses.begin(), kCountedStatuses.end(), status);
  return std::min(static_cast<std::size_t>(found - kCountedStatuses.begin()), kCountedStatuses.size() - 1);
}

std::size_t latency_index(std::uint64_t nanoseconds) noexcept {
  const auto* const found = std::lower_bound(kLatencyBounds.begin(), kLatencyBounds.end(), nanoseconds);
  return static_cast<std::size_t>(found - kLatencyBounds.begin());
}

template <std::size_t size>
std::array<std::uint64_t, size> read_counts(const std::array<std::atomic<std::uint64_t>, size>& counts) noexcept {
  std::array<std::uint64_t, size> read{};
  for (std::size_t i = 0; i < size; ++i) read[i] = counts[i].load(std::memory_order_relaxed);
  return read;
}

}  // namespace

std::uint64_t OperationFigures::requests() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : latencies) sum += count;
  return sum;
}

std::uint64_t OperationFigures::failures() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < statuses.size(); ++i) sum += kCountedStatuses[i] >= 400 ? statuses[i] : 0;
  return sum;
}

void RequestFigures::add(const RequestRecord& record) noexcept {
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(record.duration.count(), 0));
  Counts& counts = operations_[static_cast<std::size_t>(record.operation)];
  counts.statuses[status_index(record.status)].fetch_add(1, std::memory_order_relaxed);
  counts.latencies[latency_index(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
  counts.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  counts.bytes_in.fetch_add(record.bytes_in, std::memory_order_relaxed);
  counts.bytes_out.fetch_add(record.bytes_out, std::memory_order_relaxed);
}

OperationFigures RequestFigures::of(Operation operation) const noexcept {
  const Counts& counts = operations_[static_cast<std::size_t>(operation)];
  OperationFigures figures;
  figures.statuses = read_counts(counts.statuses);
  figures.latencies = read_counts(counts.latencies);
  figures.nanoseconds = counts.nanoseconds.load(std::memory_order_relaxed);
  figures.bytes_in = counts.bytes_in.load(std::memory_order_relaxed);
  figures.bytes_out = counts.bytes_out.load(std::memory_order_relaxed);
  return figures;
}

}  // namespace varve::serve
