// Owns: the choice of a read's next transfer, and the handling of its result.
// Must never: return a byte that the file did not contain.
#include "io/posix/posix_read.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <unistd.h>

#include "io/os_error.h"
#include "io/posix/posix_file.h"
#include "io/posix/posix_transfer.h"
#include "io/probe.h"

namespace varve::io {
namespace {

constexpr std::size_t kBounceBytesMax = std::size_t{1} << 20;

/// A ring returns ECANCELED if its submitting thread has ended. The error is not about the file.
bool is_interruption(int error) noexcept {
  return error == EINTR || error == EAGAIN || error == ECANCELED;
}

}  // namespace

PosixRead::PosixRead(const PosixReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes) noexcept
    : file_(&file), offset_(offset), bytes_(bytes), direct_(file.direct()), done_(false) {
  if (offset > file.size_bytes() || bytes.size() > file.size_bytes() - offset) {
    finish(file.ended_early(offset, bytes.size()));
  } else {
    begin_window();
  }
}

PosixRead::Part PosixRead::part() const noexcept {
  assert(!done_);
  const std::span<std::byte> rest = window_.subspan(window_done_bytes_);
  return {file_->descriptor(), window_offset_ + window_done_bytes_, rest.first(std::min(rest.size(), kPartBytesMax))};
}

void PosixRead::advance(int result) noexcept {
  assert(!done_);
  const std::uint64_t position = window_offset_ + window_done_bytes_;
  if (result < 0) {
    const int error = -result;
    if (is_interruption(error) && ++interruptions_ < kInterruptionsMax) return probe("a read was interrupted");
    if (error == EINVAL && direct_) {
      if (Status stopped = file_->stop_direct(); !stopped.ok()) return finish(std::move(stopped));
      probe("a direct read was refused");
      direct_ = false;
      done_bytes_ = 0;
      return begin_window();
    }
    return finish(os_error(error, {"pread", file_->path(), position}));
  }
  interruptions_ = 0;
  const std::size_t reached = window_done_bytes_ + static_cast<std::size_t>(result);
  if (reached < window_needed_bytes_) {
    const std::size_t resumable = direct_ ? round_down_to_sector(reached) : reached;
    if (resumable <= window_done_bytes_) return finish(file_->ended_early(offset_, bytes_.size()));
    window_done_bytes_ = resumable;
    return;
  }
  const std::size_t wanted = window_needed_bytes_ - window_lead_bytes_;
  std::byte* const target = bytes_.data() + done_bytes_;
  if (window_.data() != target) std::memcpy(target, window_.data() + window_lead_bytes_, wanted);
  done_bytes_ += wanted;
  begin_window();
}

void PosixRead::begin_window() noexcept {
  if (done_bytes_ == bytes_.size()) return finish(Status());
  window_done_bytes_ = 0;
  window_lead_bytes_ = 0;
  window_offset_ = offset_ + done_bytes_;
  window_ = bytes_.subspan(done_bytes_);
  window_needed_bytes_ = window_.size();
  if (!direct_) return;
  if (Status aimed = aim_directly(); !aimed.ok()) finish(std::move(aimed));
}

Status PosixRead::aim_directly() noexcept {
  const std::size_t rest = window_.size();
  const std::uint64_t sector = round_down_to_sector(window_offset_);
  window_lead_bytes_ = static_cast<std::size_t>(window_offset_ - sector);
  if (window_lead_bytes_ == 0 && is_sector_multiple(rest) && is_sector_aligned(window_.data())) return Status();

  const std::size_t whole = round_up_to_sector(window_lead_bytes_ + rest);
  if (bounce_.size_bytes() == 0) {
    Result<AlignedBuffer> made = AlignedBuffer::allocate_unfilled(std::min(whole, kBounceBytesMax));
    if (!made.ok()) return made.status();
    bounce_ = *std::move(made);
  }
  window_offset_ = sector;
  window_ = bounce_.bytes().first(std::min(whole, bounce_.size_bytes()));
  window_needed_bytes_ = std::min(window_.size(), window_lead_bytes_ + rest);
  return Status();
}

void PosixRead::finish(Status outcome) noexcept {
  outcome_ = std::move(outcome);
  done_ = true;
}

Status finish_by_calls(PosixRead& read) noexcept {
  while (!read.done()) {
    const PosixRead::Part part = read.part();
    const ssize_t bytes =
        ::pread(part.descriptor, part.memory.data(), part.memory.size(), static_cast<off_t>(part.offset));
    const int result = bytes < 0 ? -errno : static_cast<int>(bytes);
    if (result == -EINTR || result == -EAGAIN) std::this_thread::yield();
    read.advance(result);
  }
  return read.outcome();
}

}  // namespace varve::io
