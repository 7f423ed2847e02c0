// Owns: the handles of files that lie in objects.
// Must never: write an object of a file that is not in the directory (S4), or after a failure.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/aligned_buffer.h"
#include "io/file.h"
#include "io/file_system.h"
#include "io/posix/posix_handle.h"
#include "io/rados/bytes_in_flight.h"
#include "io/rados/rados_root.h"

namespace varve::io {

/// A file in objects of kStripeBytes. Appended bytes wait in memory until they fill an object, or for sync(). Before the
/// first sync, up to kStripesInFlight objects are on their way at once, with copies of their bytes, if the other files of the
/// process leave room (RadosProcess::stripes_in_flight()). That sync waits for all of them. From then on, objects are made one
/// after the other. A reader sees no byte before its sync.
class RadosWritableFile final : public WritableFile {
 public:
  /// `entry` was just added under `name`. Errors: kOutOfMemory.
  static Result<std::unique_ptr<WritableFile>> make(std::shared_ptr<RadosRoot> root, std::string_view name,
                                                    const FileEntry& entry);
  /// Only make() calls it.
  RadosWritableFile(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry,
                    AlignedBuffer waiting);
  /// Waits for the objects that are on their way.
  ~RadosWritableFile() override;
  RadosWritableFile(const RadosWritableFile&) = delete;
  RadosWritableFile& operator=(const RadosWritableFile&) = delete;

  Status append(std::span<const std::byte> bytes) override;
  Status sync(SyncPoint point) override;
  std::uint64_t size_bytes() const noexcept override { return written_bytes_ + waiting_bytes_; }
  /// The local cache of new files gets the bytes when their object is on its way.
  void expect_read(std::uint64_t offset, std::uint64_t bytes) noexcept override;

 private:
  struct Expected {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  Status append_once(std::span<const std::byte> bytes);
  Status sync_once(SyncPoint point);
  Status write_waiting(std::string_view point);
  Status send_waiting(std::string_view point);
  Status await_sent(std::uint64_t left, std::string_view point);
  Status take_place(std::string_view point);
  struct OnTheWay {
    RadosRoot::Sent sent;
    BytesInFlight::Share share;  // gone before `sent`, which it may watch
  };
  OnTheWay& on_the_way(std::uint64_t stripe) noexcept { return on_the_way_[stripe % kStripesInFlight]; }
  void keep_expected(std::string_view object, std::span<const std::byte> bytes) noexcept;

  const std::shared_ptr<RadosRoot> root_;
  const std::string name_;
  HandleGuard guard_;
  FileEntry entry_;
  AlignedBuffer waiting_;  // the end of the file that no object has, within one object
  std::size_t waiting_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;  // in objects, or on their way to them
  bool was_finished_ = false;        // a sync recorded the size, once
  /// Before that, the objects from `answered_` to `sent_`, each at its number modulo the size.
  std::array<OnTheWay, kStripesInFlight> on_the_way_;
  std::uint64_t answered_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<Expected> expected_;  // what is not on its way yet
};

class RadosReadableFile final : public ReadableFile {
 public:
  /// A file with ReadMode::kDirect is read for callers, so that its reads have the patience of the process. They also use
  /// its local cache, if the file is finished. Other reads are parts of changes, which wait.
  RadosReadableFile(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry,
                    std::uint64_t size_bytes, ReadMode mode);
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  FileKey key() const noexcept override { return key_; }
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override;
  /// The local cache forgets the bytes, if it has them as one entry.
  Status read_past_cache(std::uint64_t offset, std::span<std::byte> bytes) const override;

 private:
  enum class CacheUse : std::uint8_t { kRead, kForget };
  class Patience;
  ReadCache* cache() const noexcept;
  Status read_from(CacheUse use, std::uint64_t offset, std::span<std::byte> bytes) const;
  Status read_object(CacheUse use, std::uint64_t stripe, std::uint64_t offset, std::span<std::byte> bytes,
                     const Patience& patience) const;
  Status read_from_cluster(std::string_view object, std::uint64_t stripe, std::uint64_t offset,
                           std::span<std::byte> bytes, const Patience& patience) const;

  const std::shared_ptr<RadosRoot> root_;
  const std::string path_;
  const FileEntry entry_;
  const std::uint64_t size_bytes_;
  const FileKey key_;
  const bool is_patient_;
};

/// One object. Nothing needs to be prepared in it.
class RadosLogSegment final : public LogSegment {
 public:
  RadosLogSegment(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry);
  std::uint64_t allocated_bytes() const noexcept override { return allocated_bytes_; }
  Status fill_to(std::uint64_t end) override;
  void stop_filling() noexcept override {}
  std::uint64_t filled_bytes() const noexcept override { return 0; }
  std::uint64_t prepared_bytes() const noexcept override { return allocated_bytes_; }
  bool direct() const noexcept override { return true; }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) override;
  Status cut(std::uint64_t size_bytes, SyncPoint point) override;

 private:
  const std::shared_ptr<RadosRoot> root_;
  const std::string name_;
  const std::uint64_t allocated_bytes_;
  HandleGuard guard_;
  FileEntry entry_;  // changed by cut() alone, when no write is in flight
};

}  // namespace varve::io
