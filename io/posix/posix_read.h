// Owns: one read of a file as a sequence of transfers, whoever makes them: a plain call or a ring.
// Must never: tell a read as done that has a byte missing.
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

/// Whole, or an error: short transfers are continued, interrupted ones repeated within a bound. A direct read that is
/// not made of whole sectors goes through an aligned buffer of its own; one that the file system refuses is begun anew
/// through the page cache. One thread. File and memory outlive it.
class PosixRead {
 public:
  PosixRead() noexcept = default;  // Done, of nothing.
  PosixRead(const PosixReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes) noexcept;

  bool done() const noexcept { return done_; }
  /// Of a read that is done. Errors: kCorruption (the file ends first), kIoError, kOutOfMemory.
  const Status& outcome() const noexcept { return outcome_; }

  /// What to transfer next: at most kPartBytesMax.
  struct Part {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::span<std::byte> memory;
  };
  Part part() const noexcept;
  /// Takes what became of part(): the bytes that were read, or an errno, negative.
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

  // The window: a stretch of the file that is read into one piece of memory, which may be asked for more than is
  // needed, since direct reads take whole sectors and the file may end within the last one.
  std::uint64_t window_offset_ = 0;
  std::span<std::byte> window_;
  std::size_t window_lead_bytes_ = 0;    // before the ones asked for
  std::size_t window_needed_bytes_ = 0;  // the lead, and those asked for
  std::size_t window_done_bytes_ = 0;
  AlignedBuffer bounce_;

  Status outcome_;
};

/// Brings a read to its end by plain, blocking calls.
Status finish_by_calls(PosixRead& read) noexcept;

}  // namespace varve::io
