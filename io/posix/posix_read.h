// Owns: one read of a file as a sequence of transfers, which a plain call or a ring performs.
// Must never: report a read as done while a byte is missing.
//
//   PosixRead read(file, offset, bytes);
//   while (!read.done()) read.advance(... transfer read.part() ...);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/aligned_buffer.h"
#include "varve/status.h"

namespace varve::io {

class PosixReadableFile;

/// A read that ends complete or with an error: short transfers are continued, and interrupted ones are repeated up to a
/// limit. A direct read that does not consist of whole sectors uses an aligned buffer of its own. If the file system
/// refuses a direct read, the read restarts through the page cache. One thread at a time may use it. File and memory
/// must outlive it.
class PosixRead {
 public:
  PosixRead() noexcept = default;  // Done, without any bytes.
  PosixRead(const PosixReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes) noexcept;

  bool done() const noexcept { return done_; }
  /// Returns the result of a read that is done. Errors: kCorruption (the file ends first), kIoError, kOutOfMemory.
  const Status& outcome() const noexcept { return outcome_; }

  /// The next transfer: at most kPartBytesMax bytes.
  struct Part {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::span<std::byte> memory;
  };
  Part part() const noexcept;
  /// Receives the result of transferring part(): the number of bytes read, or a negative errno.
  void advance(int result) noexcept;

  static constexpr std::size_t kPartBytesMax = std::size_t{1} << 30;

 private:
  void begin_window() noexcept;
  Status aim_directly() noexcept;
  void finish(Status outcome) noexcept;

  const PosixReadableFile* file_ = nullptr;
  std::uint64_t offset_ = 0;
  std::span<std::byte> bytes_;
  std::size_t done_bytes_ = 0;  // of bytes_
  bool direct_ = false;
  bool done_ = true;
  int interruptions_ = 0;  // in a row

  // The window is a range of the file that is read into one piece of memory. It may be larger than needed, because
  // direct reads take whole sectors and the file may end within the last sector.
  std::uint64_t window_offset_ = 0;
  std::span<std::byte> window_;
  std::size_t window_lead_bytes_ = 0;    // before the requested bytes
  std::size_t window_needed_bytes_ = 0;  // the lead, and the requested bytes
  std::size_t window_done_bytes_ = 0;
  AlignedBuffer bounce_;

  Status outcome_;
};

/// Finishes a read with plain, blocking calls.
Status finish_by_calls(PosixRead& read) noexcept;

}  // namespace varve::io
