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
  if (!root_->process().owner().is_this_process()) {
    for (OnTheWay& of_parent : on_the_way_) of_parent.share.leave_to_parent();
    return;
  }
  for (; answered_ < sent_; ++answered_) {
    OnTheWay& oldest = on_the_way(answered_);
    oldest.share.unwatch();
    if (oldest.sent.answer != nullptr) (void)oldest.sent.answer->await();
    oldest.share.give_back();
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
  const bool is_new = writing.offset == 0;
  if (is_new) writing.presence = ObjectChange::Presence::kMustBeAbsent;
  writing.bytes = waiting_.bytes().first(waiting_bytes_);
  writing.may_exceed = true;  // It is a manifest, which was admitted with its first object.
  if (Status written = root_->change(std::move(writing), call); !written.ok()) return written;
  written_bytes_ += waiting_bytes_;
  waiting_bytes_ = 0;
  if (!is_new) return Status();
  // A takeover takes an object that is missing for a lost one, if the root knows of it.
  FileEntry larger = entry_;
  larger.size_bytes = written_bytes_;
  if (Status updated = root_->update(name_, larger, call); !updated.ok()) return updated;
  entry_ = larger;
  return Status();
}

/// Takes the place of one more object. A file waits for other files with nothing of its own on its way.
Status RadosWritableFile::take_place(std::string_view point) {
  if (Status has_place = await_sent(kStripesInFlight - 1, point); !has_place.ok()) return has_place;
  BytesInFlight& of_process = root_->process().stripes_in_flight();
  if (of_process.try_take(on_the_way(sent_).share, waiting_bytes_)) return Status();
  if (Status answered = await_sent(0, point); !answered.ok()) return answered;
  (void)of_process.take(on_the_way(sent_).share, waiting_bytes_, std::chrono::milliseconds(0));
  return Status();
}

/// Sends the waiting bytes as a new object.
Status RadosWritableFile::send_waiting(std::string_view point) {
  if (Status taken = take_place(point); !taken.ok()) return taken;
  OnTheWay& next = on_the_way(sent_);
  // An allocation may fail by an exception.
  struct Return {
    ~Return() {
      if (share != nullptr) share->give_back();
    }
    BytesInFlight::Share* share;
  } unsent{&next.share};
  assert(written_bytes_ == sent_ * kStripeBytes);
  ObjectChange making;
  const std::string object = stripe_object(root_->store(), entry_.id(), sent_);
  making.object = object;
  making.epoch = entry_.epoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.bytes = waiting_.bytes().first(waiting_bytes_);
  making.compressed_bytes_max = kStripeBytes;  // Tables are. The first object of a manifest is not worth a difference.
  Result<RadosRoot::Sent> sent = root_->send(std::move(making), {"write", guard_.path(), written_bytes_, point});
  if (!sent.ok()) return sent.status();
  next.sent = *std::move(sent);
  ++sent_;
  if (next.sent.answer != nullptr) {
    next.share.watch(*next.sent.answer);
    unsent.share = nullptr;
  }
  keep_expected(object, waiting_.bytes().first(waiting_bytes_));
  written_bytes_ += waiting_bytes_;
  waiting_bytes_ = 0;
  return Status();
}

void RadosWritableFile::expect_read(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (was_finished_ || root_->process().fresh_cache() == nullptr) return;
  try {
    expected_.push_back({offset, offset + bytes});
  } catch (const std::bad_alloc&) {
    // The first reader reads them from the cluster.
  }
}

/// Passes the expected parts of an object to the local cache, by the same parts as readers ask for them. The object's name is
/// never used again, so they are right or of no use, whatever becomes of the object.
void RadosWritableFile::keep_expected(std::string_view object, std::span<const std::byte> bytes) noexcept {
  const std::uint64_t end = written_bytes_ + bytes.size();
  for (const Expected& range : expected_) {
    const std::uint64_t from = std::max(range.begin, written_bytes_);
    const std::uint64_t to = std::min(range.end, end);
    if (from >= to) continue;
    root_->process().fresh_cache()->keep(object, from - written_bytes_,
                                         bytes.subspan(from - written_bytes_, to - from));
  }
  std::erase_if(expected_, [end](const Expected& range) { return range.end <= end; });
}

/// Waits until at most `left` objects are on their way, for the oldest first.
Status RadosWritableFile::await_sent(std::uint64_t left, std::string_view point) {
  for (; sent_ - answered_ > left; ++answered_) {
    const FailedCall call{"write", guard_.path(), answered_ * kStripeBytes, point};
    OnTheWay& oldest = on_the_way(answered_);
    oldest.share.unwatch();
    const Status made = root_->await(oldest.sent, call);
    oldest.share.give_back();
    if (!made.ok()) return made;
    oldest.sent = RadosRoot::Sent();
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

/// Waits for a place among the large reads of the process. Returns false after the patience.
bool take_place_of_read(RadosProcess& process, BytesInFlight::Share& share, std::uint64_t bytes,
                        std::chrono::milliseconds patience) noexcept {
  if (bytes <= kSmallReadBytes || !process.owner().is_this_process()) return true;
  return process.reads_in_flight().take(share, bytes, patience);
}

}  // namespace

/// The time that one read may take. All its waits share it: for room, for each object, and for the owner of the root.
class RadosReadableFile::Patience {
 public:
  Patience(Clock& clock, std::chrono::milliseconds whole) noexcept
      : clock_(clock), whole_(whole), begin_(clock.monotonic()) {}
  bool has_end() const noexcept { return whole_.count() > 0; }
  /// Returns the time that is left, at least 1 ms. Zero: without end.
  std::chrono::milliseconds left() const noexcept {
    if (!has_end()) return whole_;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.monotonic() - begin_);
    return std::max(whole_ - passed, std::chrono::milliseconds(1));
  }

 private:
  Clock& clock_;
  const std::chrono::milliseconds whole_;
  const std::chrono::nanoseconds begin_;
};

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
  RadosProcess& process = root_->process();
  const Patience patience(process.clock(), is_patient_ ? std::chrono::milliseconds(0) : process.read_patience());
  while (!bytes.empty()) {
    const std::uint64_t stripe = entry_.is_segment() ? 0 : offset / kStripeBytes;
    const std::uint64_t begin = offset - stripe * kStripeBytes;
    const std::uint64_t room = entry_.is_segment() ? bytes.size() : kStripeBytes - begin;
    const std::span<std::byte> part = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
    if (Status read = read_object(use, stripe, begin, part, patience); !read.ok()) return read;
    offset += part.size();
    bytes = bytes.subspan(part.size());
  }
  return Status();
}

Status RadosReadableFile::read_object(CacheUse use, std::uint64_t stripe, std::uint64_t offset,
                                      std::span<std::byte> bytes, const Patience& patience) const {
  const std::string object = stripe_object(root_->store(), entry_.id(), stripe);
  ReadCache* const from = cache();
  ReadCache* const fresh = from == nullptr ? nullptr : root_->process().fresh_cache();
  if (use == CacheUse::kForget) {
    for (ReadCache* const cache : {from, fresh}) {
      if (cache != nullptr) cache->forget(object, offset, bytes.size());
    }
  }
  if (from == nullptr || use == CacheUse::kForget) return read_from_cluster(object, stripe, offset, bytes, patience);
  if (from->read(object, offset, bytes)) return Status();
  if (fresh == nullptr || !fresh->read(object, offset, bytes)) {
    if (Status read = read_from_cluster(object, stripe, offset, bytes, patience); !read.ok()) return read;
  }
  from->offer(object, offset, bytes);
  return Status();
}

Status RadosReadableFile::read_from_cluster(std::string_view object, std::uint64_t stripe, std::uint64_t offset,
                                            std::span<std::byte> bytes, const Patience& patience) const {
  const FailedCall call{"read", path_, stripe * kStripeBytes + offset};
  RadosProcess& process = root_->process();
  std::size_t count = 0;
  BytesInFlight::Share share;
  if (!take_place_of_read(process, share, bytes.size(), patience.left())) {
    return call_error(Code::kBusy, call,
                      {"the cluster does not answer other reads in time; repeat the call when it does"});
  }
  ObjectDoor& door = process.door();
  const ObjectAnswer answer = entry_.is_segment() ? door.read_log(object, offset, bytes, count, patience.left())
                                                  : door.read(object, offset, bytes, count, patience.left());
  if (answer == ENOENT) {
    share.give_back();  // A read that has its answer keeps no room from others.
    return root_->missing(object, patience.left(), call);
  }
  if (answer == ETIMEDOUT && patience.has_end()) {
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
    writing.of_log = true;
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
