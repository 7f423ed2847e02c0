// Owns: making the files of the log: a segment with its header sector, the log buffer.
// Must never: make a name durable by itself: the caller syncs the directory before anything refers to it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/file_scale.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The header sector; the first record of a segment stands behind it.
inline constexpr std::uint64_t kFirstRecordOffset = io::kSectorBytes;
inline constexpr std::uint64_t kSegmentBytesMin = (std::uint64_t{1} << 20) / kFileScale;
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{64} << 20;
/// What recovery reads of one file at most. A record too large for a common segment gets one of its own size.
inline constexpr std::uint64_t kSegmentBytesReadMax = 2 * kSegmentBytesMax;

struct SegmentFile {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::shared_ptr<io::LogSegment> file;  // shared from the beginning: who takes it over must not need memory
  /// The ballast was not whole when it was made: it is for commits that give space back, until there is room for both.
  bool is_reserved = false;
};

struct BufferFile {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::unique_ptr<io::SharedMemory> memory;
};

/// Makes a segment of `bytes`, writes its header durably, and does not fill it (that may follow: fill() leaves the
/// header alone). A file of that name is a leftover of an unfinished attempt (numbers are handed out once) and is
/// removed first. Errors: kNoSpace, kOutOfMemory and others of io; no segment was made.
Result<SegmentFile> create_segment(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                   std::uint64_t bytes);

/// Makes the log buffer: a header sector and `slot_count` slots of a header sector and `slot_bytes` each. Leftovers and
/// errors as create_segment().
Result<BufferFile> create_log_buffer(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                     std::size_t slot_count, std::size_t slot_bytes);

inline constexpr std::size_t kLogBufferSlots = 4;
inline constexpr std::size_t kLogBufferSlotBytes = (256 << 10) / kFileScale;

/// Of the whole file: its header sector, and for each slot a header sector and its bytes.
constexpr std::uint64_t log_buffer_bytes(std::size_t slot_count, std::size_t slot_bytes) noexcept {
  return format::kLogBufferSectorBytes + std::uint64_t{slot_count} * (format::kLogBufferSectorBytes + slot_bytes);
}

}  // namespace varve::engine
