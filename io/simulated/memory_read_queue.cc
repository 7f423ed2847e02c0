// Owns: the order in which reads of files in memory finish.
// Must never: touch a file or memory after reap() has returned the read.
#include "io/simulated/memory_read_queue.h"

#include <algorithm>
#include <utility>

#include "io/posix/posix_handle.h"

namespace varve::io {

Result<std::unique_ptr<ReadQueue>> MemoryReadQueue::make(std::size_t depth, std::uint64_t seed) {
  if (Status valid = check_read_depth(depth); !valid.ok()) return valid;
  return std::unique_ptr<ReadQueue>(std::make_unique<MemoryReadQueue>(depth, seed));
}

MemoryReadQueue::MemoryReadQueue(std::size_t depth, std::uint64_t seed) : depth_(depth), random_(seed) {
  wanted_.reserve(depth);
}

// Finishes the reads into their memory like a kernel would, so that tools detect memory that was freed too early.
MemoryReadQueue::~MemoryReadQueue() {
  while (!wanted_.empty()) (void)finish_any();
}

Status MemoryReadQueue::submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                               std::uint64_t tag) noexcept {
  if (!owner_.is_this_process()) return HandleGuard::refuse_fork("read", "in a queue");
  if (wanted_.size() == depth_) return read_queue_full();
  std::fill(bytes.begin(), bytes.end(), kScribble);
  wanted_.push_back({&file, offset, bytes, tag});
  return Status();
}

std::size_t MemoryReadQueue::reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept {
  if (wait_count > 0 && is_woken_.exchange(false, std::memory_order_acquire)) wait_count = 0;
  const std::size_t count_max = std::min(finished.size(), wanted_.size());
  std::size_t count = std::min(wait_count, count_max);
  count += static_cast<std::size_t>(random_below(random_, count_max - count + 1));
  for (FinishedRead& read : finished.first(count)) read = finish_any();
  return count;
}

FinishedRead MemoryReadQueue::finish_any() noexcept {
  std::swap(wanted_[static_cast<std::size_t>(random_below(random_, wanted_.size()))], wanted_.back());
  const Wanted wanted = wanted_.back();
  wanted_.pop_back();
  return {wanted.tag, wanted.file->read_exactly(wanted.offset, wanted.bytes)};
}

}  // namespace varve::io
