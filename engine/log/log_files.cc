// Owns: names, headers and seeds of the log's files.
// Must never: reuse an existing file whose end is unknown. Its content belongs to another attempt.
#include "engine/log/log_files.h"

#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/sync_points.h"
#include "io/aligned_buffer.h"
#include "io/os_error.h"
#include "io/probe.h"

namespace varve::engine {
namespace {

Status remove_leftover(io::Directory& directory, std::string_view name) {
  Status removed = directory.remove(name);
  return io::is_missing(removed) ? Status() : removed;
}

Status write_header(io::LogSegment& segment, const format::FileHeader& header) {
  Result<io::AlignedBuffer> sector = io::AlignedBuffer::allocate(io::kSectorBytes);
  if (!sector.ok()) return sector.status();
  const std::string bytes = format::encode_file_header(header);
  std::memcpy(sector->bytes().data(), bytes.data(), bytes.size());
  return segment.write(0, sector->bytes(), sync_points::kSegmentHeader);
}

/// Writes the header, with a seed that no segment had before.
Result<SegmentFile> begin_segment(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                  std::unique_ptr<io::LogSegment> file) {
  const format::FileHeader header{format::FileType::kLogSegment, format::kFormatVersion, env.random.next(), number};
  if (Status written = write_header(*file, header); !written.ok()) {
    const std::string name = format::file_name(format::FileType::kLogSegment, number);
    (void)directory.remove(name);  // If the name remains, the next open removes the stray file.
    return written;
  }
  return SegmentFile{number, header.seed, std::move(file)};
}

/// A log buffer without a file, for file systems without shared memory.
class PrivateMemory final : public io::SharedMemory {
 public:
  explicit PrivateMemory(io::AlignedBuffer memory) noexcept : memory_(std::move(memory)) {}

  std::span<std::byte> bytes() noexcept override { return memory_.bytes(); }
  Status keep(std::size_t /*offset*/, std::size_t /*size_bytes*/) noexcept override { return Status(); }
  Status check() noexcept override { return Status(); }

 private:
  io::AlignedBuffer memory_;
};

Result<BufferFile> private_log_buffer(const io::Env& env, std::size_t size_bytes) {
  Result<io::AlignedBuffer> memory = io::AlignedBuffer::allocate(size_bytes);
  if (!memory.ok()) return memory.status();
  io::probe("a log buffer has no file");
  return BufferFile{0, env.random.next(), std::make_unique<PrivateMemory>(*std::move(memory))};
}

}  // namespace

Result<SegmentFile> create_segment(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                   std::uint64_t bytes) {
  assert(bytes > kFirstRecordOffset);
  assert(io::is_sector_multiple(bytes));
  const std::string name = format::file_name(format::FileType::kLogSegment, number);
  if (Status clear = remove_leftover(directory, name); !clear.ok()) return clear;
  Result<std::unique_ptr<io::LogSegment>> file = directory.create_log_segment(name, bytes);
  if (!file.ok()) return file.status();
  return begin_segment(env, directory, number, *std::move(file));
}

Result<SegmentFile> recycle_segment(const io::Env& env, io::Directory& directory, std::uint64_t old_number,
                                    std::uint64_t number, std::uint64_t bytes) {
  assert(bytes > kFirstRecordOffset);
  assert(io::is_sector_multiple(bytes));
  const std::string old_name = format::file_name(format::FileType::kLogSegment, old_number);
  const std::string name = format::file_name(format::FileType::kLogSegment, number);
  if (Status clear = remove_leftover(directory, name); !clear.ok()) return clear;
  Result<std::unique_ptr<io::LogSegment>> file = directory.recycle_log_segment(old_name, name, bytes);
  if (!file.ok()) {
    (void)remove_leftover(directory, old_name);  // If a name remains, the next open removes the stray file.
    (void)remove_leftover(directory, name);
    return file.status();
  }
  io::probe("a log segment was recycled");
  Result<SegmentFile> segment = begin_segment(env, directory, number, *std::move(file));
  if (segment.ok()) segment->is_recycled = true;
  return segment;
}

Result<BufferFile> create_log_buffer(const io::Env& env, io::Directory& directory, std::uint64_t number,
                                     std::size_t slot_count, std::size_t slot_bytes) {
  const std::string name = format::file_name(format::FileType::kLogBuffer, number);
  if (Status clear = remove_leftover(directory, name); !clear.ok()) return clear;
  Result<std::unique_ptr<io::SharedMemory>> memory =
      directory.create_shared_memory(name, log_buffer_bytes(slot_count, slot_bytes));
  if (memory.code() == Code::kUnsupported) return private_log_buffer(env, log_buffer_bytes(slot_count, slot_bytes));
  if (!memory.ok()) return memory.status();

  const format::FileHeader header{format::FileType::kLogBuffer, format::kFormatVersion, env.random.next(), number};
  const std::string bytes = format::encode_file_header(header);
  const std::span<std::byte> own = (*memory)->bytes();
  assert(own.size() >= bytes.size());
  std::memcpy(own.data(), bytes.data(), bytes.size());
  if (Status kept = (*memory)->keep(0, bytes.size()); !kept.ok()) {
    (void)directory.remove(name);  // If the name remains, the next open removes the stray file.
    return kept;
  }
  return BufferFile{number, header.seed, *std::move(memory)};
}

}  // namespace varve::engine
