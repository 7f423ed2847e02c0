// Owns: creating the log's files: a segment with its header sector, and the log buffer.
// Must never: make a name durable. The caller syncs the directory before anything refers to the name.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/file_scale.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Size in bytes of the header sector, which precedes a segment's first record.
inline constexpr std::uint64_t kFirstRecordOffset = io::kSectorBytes;
inline constexpr std::uint64_t kSegmentBytesMin = (std::uint64_t{1} << 20) / kFileScale;
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{64} << 20;
/// Limit in bytes of a file that recovery reads. A record that is too large for a common segment gets a segment of its
/// own size.
inline constexpr std::uint64_t kSegmentBytesReadMax = 2 * kSegmentBytesMax;

struct SegmentFile {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  std::shared_ptr<io::LogSegment> file;  // shared from the beginning: who takes it over must not need memory
  /// True if the ballast was incomplete when the segment was created. The segment is then for commits that release
  /// space, until there is room for both.
  bool is_reserved = false;
  /// True if the file was a segment of another number before. The announcement says so.
  bool is_recycled = false;
};

struct BufferFile {
  std::uint64_t number = 0;  // zero: the memory has no file, because the file system cannot make one
  std::uint64_t seed = 0;
  std::unique_ptr<io::SharedMemory> memory;
};

/// Creates a segment of `bytes` and writes its header durably. It does not fill the segment; fill() may follow, and
/// does not touch the header. File numbers are used once, so an existing file of that name is a leftover of an
/// unfinished attempt and is removed first. Errors: kNoSpace, kOutOfMemory and others of io; no segment was created.
Result<SegmentFile> create_segment(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                   std::uint64_t bytes);

/// Makes the segment `number` of the file of the segment `old_number`, which nothing refers to any more, as
/// create_segment() makes it of a new file. Errors: those of io; neither file is left.
Result<SegmentFile> recycle_segment(const io::Env& env, io::Directory& directory, std::uint64_t old_number,
                                    std::uint64_t number, std::uint64_t bytes);

/// Creates the log buffer: a header sector, and `slot_count` slots of a header sector and `slot_bytes` each. Leftovers
/// and errors are handled as in create_segment(). If the file system has no shared memory (kUnsupported), the buffer is
/// memory of this process alone. Then the death of the process loses the commits that only the buffer has.
Result<BufferFile> create_log_buffer(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                     std::size_t slot_count, std::size_t slot_bytes);

inline constexpr std::size_t kLogBufferSlots = 4;
inline constexpr std::size_t kLogBufferSlotBytes = (256 << 10) / kFileScale;

/// Returns the size of the whole file in bytes: its header sector, and for each slot a header sector and its bytes.
constexpr std::uint64_t log_buffer_bytes(std::size_t slot_count, std::size_t slot_bytes) noexcept {
  return format::kLogBufferSectorBytes + std::uint64_t{slot_count} * (format::kLogBufferSectorBytes + slot_bytes);
}

}  // namespace varve::engine
