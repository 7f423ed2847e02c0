// Owns: the mapping of a file's bytes to offsets in its objects.
// Must never: report bytes as durable that no answer of the cluster confirmed (S6).
#include "io/rados/rados_file.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace varve::io {

namespace {

/// Returns the result of `call`. Names of objects are texts, so memory may be lacking. Reads of blocks and writes of the log
/// may throw nothing, and a file must know of each change that failed.
template <typename Call>
Status caught(const Call& call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace

// -- RadosWritableFile ------------------------------------------------------------------------------------------------

Result<std::unique_ptr<WritableFile>> RadosWritableFile::make(std::shared_ptr<RadosRoot> root, std::string_view name,
                                                              const FileEntry& entry) {
  Result<AlignedBuffer> waiting = AlignedBuffer::allocate_unfilled(kStripeBytes);
  if (!waiting.ok()) return waiting.status();
  return std::unique_ptr<WritableFile>(
      std::make_unique<RadosWritableFile>(std::move(root), name, entry, *std::move(waiting)));
}

RadosWritableFile::RadosWritableFile(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry,
                                     AlignedBuffer waiting)
    : root_(std::move(root)),
      name_(name),
      guard_(root_->path_of(name), root_->process().owner()),
      entry_(entry),
      waiting_(std::move(waiting)) {}

RadosWritableFile::~RadosWritableFile() {
  if (!root_->process().owner().is_this_process()) return;
  for (; answered_ < sent_; ++answered_) {
    const RadosRoot::Sent& oldest = on_the_way_[answered_ % kStripesInFlight];
    if (oldest.answer != nullptr) (void)oldest.answer->await();
    root_->process().stripes_in_flight().fetch_sub(1, std::memory_order_relaxed);
  }
}

Status RadosWritableFile::append(std::span<const std::byte> bytes) {
  if (Status usable = guard_.check("append"); !usable.ok()) return usable;
  const Status appended = caught([&] { return append_once(bytes); });
  return appended.ok() ? appended : guard_.fail(appended);
}

Status RadosWritableFile::append_once(std::span<const std::byte> bytes) {
  if (Status owned = root_->check({"append", guard_.path()}); !owned.ok()) return owned;
  while (!bytes.empty()) {
    const std::uint64_t room = kStripeBytes - written_bytes_ % kStripeBytes - waiting_bytes_;
    const std::size_t count = std::min<std::uint64_t>(room, bytes.size());
    std::memcpy(waiting_.bytes().data() + waiting_bytes_, bytes.data(), count);
    waiting_bytes_ += count;
    bytes = bytes.subspan(count);
    if (count < room) continue;
    if (Status written = write_waiting(""); !written.ok()) return written;
  }
  return Status();
}

Status RadosWritableFile::sync(SyncPoint point) {
  if (Status usable = guard_.check("sync"); !usable.ok()) return usable;
  const Status synced = caught([&] { return sync_once(point); });
  return synced.ok() ? synced : guard_.fail(synced);
}

Status RadosWritableFile::sync_once(SyncPoint point) {
  const FailedCall call{"sync", guard_.path(), std::nullopt, point.name};
  if (Status written = write_waiting(point.name); !written.ok()) return written;
  if (Status answered = await_sent(0, point.name); !answered.ok()) return answered;
  FileEntry entry = entry_;
  entry.size_bytes = written_bytes_;
  // A table file is synced once, and its recorded size saves readers a look. A manifest is synced again and again; its
  // size is not recorded any more.
  if (!was_finished_) {
    entry.phase = FilePhase::kFinished;
    if (Status updated = root_->update(name_, entry, call); !updated.ok()) return updated;
    was_finished_ = true;
    entry_ = entry;
    return Status();
  }
  const Result<FileEntry> named = root_->find_file(name_, call);
  if (!named.ok() || named->id() != entry_.id()) {
    return call_error(Code::kFenced, call, {"another file has taken the name of this one, or it was removed"});
  }
  if (Status owned = root_->check(call); !owned.ok()) return owned;
  root_->note_size(name_, entry);
  return Status();
}

/// Writes the waiting bytes into the last object, which is made if it is new. Before the first sync, it is only sent.
Status RadosWritableFile::write_waiting(std::string_view point) {
  const FailedCall call{"write", guard_.path(), written_bytes_, point};
  if (waiting_bytes_ == 0) return root_->check(call);
  if (!was_finished_ && written_bytes_ % kStripeBytes == 0) return send_waiting(point);
  if (entry_.phase == FilePhase::kFinished) {
    // It grows again. A takeover must know that, before the first object changes.
    FileEntry growing = entry_;
    growing.phase = FilePhase::kGrowing;
    if (Status updated = root_->update(name_, growing, call); !updated.ok()) return updated;
    entry_ = growing;
  }
  ObjectChange writing;
  writing.object = stripe_object(root_->store(), entry_.id(), written_bytes_ / kStripeBytes);
  writing.epoch = entry_.epoch;
  writing.offset = written_bytes_ % kStripeBytes;
  if (writing.offset == 0) writing.presence = ObjectChange::Presence::kMustBeAbsent;
  writing.bytes = waiting_.bytes().first(waiting_bytes_);
  writing.may_exceed = true;  // It is a manifest, which was admitted with its first object.
  if (Status written = root_->change(std::move(writing), call); !written.ok()) return written;
  written_bytes_ += waiting_bytes_;
  waiting_bytes_ = 0;
  return Status();
}

/// Sends the waiting bytes as a new object.
Status RadosWritableFile::send_waiting(std::string_view point) {
  std::atomic<std::uint64_t>& of_process = root_->process().stripes_in_flight();
  const bool is_crowded = of_process.load(std::memory_order_relaxed) >= kStripesOfProcess;
  if (Status has_place = await_sent(is_crowded ? 0 : kStripesInFlight - 1, point); !has_place.ok()) return has_place;
  assert(written_bytes_ == sent_ * kStripeBytes);
  ObjectChange making;
  making.object = stripe_object(root_->store(), entry_.id(), sent_);
  making.epoch = entry_.epoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.bytes = waiting_.bytes().first(waiting_bytes_);
  Result<RadosRoot::Sent> sent = root_->send(std::move(making), {"write", guard_.path(), written_bytes_, point});
  if (!sent.ok()) return sent.status();
  on_the_way_[sent_++ % kStripesInFlight] = *std::move(sent);
  of_process.fetch_add(1, std::memory_order_relaxed);
  written_bytes_ += waiting_bytes_;
  waiting_bytes_ = 0;
  return Status();
}

/// Waits until at most `left` objects are on their way, for the oldest first.
Status RadosWritableFile::await_sent(std::uint64_t left, std::string_view point) {
  for (; sent_ - answered_ > left; ++answered_) {
    const FailedCall call{"write", guard_.path(), answered_ * kStripeBytes, point};
    RadosRoot::Sent& oldest = on_the_way_[answered_ % kStripesInFlight];
    if (Status made = root_->await(oldest, call); !made.ok()) return made;
    oldest = RadosRoot::Sent();
    root_->process().stripes_in_flight().fetch_sub(1, std::memory_order_relaxed);
  }
  return Status();
}

// -- RadosReadableFile ------------------------------------------------------------------------------------------------

namespace {

/// Epochs and numbers of files are small. Files of one process have distinct keys.
FileKey key_of(std::string_view store, const FileEntry& entry) noexcept {
  constexpr int kNumberBits = 40;
  std::uint64_t device = 0;
  for (const char c : store.substr(0, 16))
    device = device << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return {device, entry.epoch << kNumberBits | entry.number};
}

}  // namespace

RadosReadableFile::RadosReadableFile(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry,
                                     std::uint64_t size_bytes, ReadMode mode)
    : root_(std::move(root)),
      path_(root_->path_of(name)),
      entry_(entry),
      size_bytes_(size_bytes),
      key_(key_of(root_->store(), entry)),
      is_patient_(mode != ReadMode::kDirect) {}

/// Returns the local cache if it may have bytes of this file, else null.
ReadCache* RadosReadableFile::cache() const noexcept {
  const bool may_cache =
      !is_patient_ && entry_.phase == FilePhase::kFinished && root_->process().owner().is_this_process();
  return may_cache ? root_->process().read_cache() : nullptr;
}

Status RadosReadableFile::read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const {
  return caught([&] { return read_from(CacheUse::kRead, offset, bytes); });
}

Status RadosReadableFile::read_past_cache(std::uint64_t offset, std::span<std::byte> bytes) const {
  return caught([&] { return read_from(CacheUse::kForget, offset, bytes); });
}

Status RadosReadableFile::read_from(CacheUse use, std::uint64_t offset, std::span<std::byte> bytes) const {
  if (offset > size_bytes_ || bytes.size() > size_bytes_ - offset) {
    return call_error(Code::kCorruption, {"read", path_, offset},
                      {"the file ends at ", std::to_string(size_bytes_), ", before the end of the ",
                       std::to_string(bytes.size()), " requested bytes"});
  }
  while (!bytes.empty()) {
    const std::uint64_t stripe = entry_.is_segment() ? 0 : offset / kStripeBytes;
    const std::uint64_t begin = offset - stripe * kStripeBytes;
    const std::uint64_t room = entry_.is_segment() ? bytes.size() : kStripeBytes - begin;
    const std::span<std::byte> part = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
    if (Status read = read_object(use, stripe, begin, part); !read.ok()) return read;
    offset += part.size();
    bytes = bytes.subspan(part.size());
  }
  return Status();
}

Status RadosReadableFile::read_object(CacheUse use, std::uint64_t stripe, std::uint64_t offset,
                                      std::span<std::byte> bytes) const {
  const std::string object = stripe_object(root_->store(), entry_.id(), stripe);
  ReadCache* const from = cache();
  if (from != nullptr && use == CacheUse::kForget) from->forget(object, offset, bytes.size());
  if (from == nullptr || use == CacheUse::kForget) return read_from_cluster(object, stripe, offset, bytes);
  if (from->read(object, offset, bytes)) return Status();
  const Status read = read_from_cluster(object, stripe, offset, bytes);
  if (read.ok()) from->offer(object, offset, bytes);
  return read;
}

Status RadosReadableFile::read_from_cluster(std::string_view object, std::uint64_t stripe, std::uint64_t offset,
                                            std::span<std::byte> bytes) const {
  const FailedCall call{"read", path_, stripe * kStripeBytes + offset};
  std::size_t count = 0;
  const std::chrono::milliseconds patience =
      is_patient_ ? std::chrono::milliseconds(0) : root_->process().read_patience();
  const ObjectAnswer answer = root_->process().door().read(object, offset, bytes, count, patience);
  if (answer == ENOENT) return root_->missing(object, call);
  if (answer == ETIMEDOUT && patience.count() > 0) {
    return call_error(Code::kBusy, call, {"the cluster does not answer in time; repeat the call when it does"});
  }
  if (answer == ESHUTDOWN) return root_->shut_out(call);
  if (answer != 0) return os_error(answer, call);
  if (count == bytes.size()) return Status();
  if (!entry_.is_segment()) {
    return call_error(Code::kCorruption, call, {"an object ends before the end of its file"});
  }
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end(), std::byte{0});
  return Status();
}

// -- RadosLogSegment --------------------------------------------------------------------------------------------------

RadosLogSegment::RadosLogSegment(std::shared_ptr<RadosRoot> root, std::string_view name, const FileEntry& entry)
    : root_(std::move(root)),
      name_(name),
      allocated_bytes_(entry.size_bytes),
      guard_(root_->path_of(name), root_->process().owner()),
      entry_(entry) {}

Status RadosLogSegment::fill_to(std::uint64_t /*end*/) {
  return guard_.check("fill");
}

Status RadosLogSegment::write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) {
  if (Status usable = guard_.check("write"); !usable.ok()) return usable;
  assert(is_sector_multiple(offset));
  assert(offset + bytes.size() <= allocated_bytes_);
  const Status written = caught([&] {
    ObjectChange writing;
    writing.object = stripe_object(root_->store(), entry_.id(), 0);
    writing.epoch = entry_.epoch;
    writing.offset = offset;
    writing.bytes = bytes;
    writing.may_exceed = true;  // The segment was admitted when it was made.
    return root_->change(std::move(writing), {"write", guard_.path(), offset, point.name});
  });
  return written.ok() ? written : guard_.fail(written);
}

/// Records the size. The bytes after it stay in the object, and no reader looks at them.
Status RadosLogSegment::cut(std::uint64_t size_bytes, SyncPoint point) {
  if (Status usable = guard_.check("cut"); !usable.ok()) return usable;
  FileEntry entry = entry_;
  entry.phase = FilePhase::kCutSegment;
  entry.size_bytes = size_bytes;
  const FailedCall call{"cut", guard_.path(), size_bytes, point.name};
  if (Status cut = caught([&] { return root_->update(name_, entry, call); }); !cut.ok()) return guard_.fail(cut);
  entry_ = entry;
  guard_.cut_at(size_bytes);
  return Status();
}

}  // namespace varve::io
