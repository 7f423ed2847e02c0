// Owns: the list of the operations that wait, in the order of their beginning (watched_door.h).
// Must never: allocate for an operation.
#include "io/rados/watched_door.h"

#include <cerrno>
#include <utility>

namespace varve::io {

namespace {

ObjectClass class_of(std::string_view object, bool is_log) noexcept {
  if (is_log) return ObjectClass::kLog;
  if (object.ends_with("/root")) return ObjectClass::kRoot;
  return object.ends_with("/lease") ? ObjectClass::kLease : ObjectClass::kFile;
}

}  // namespace

/// One operation, from its beginning to its answer.
class WatchedDoor::Watched {
 public:
  Watched(WatchedDoor& door, Kind& kind, std::string_view object, bool is_log = false)
      : door_(door), kind_(kind), class_(class_of(object, is_log)) {
    const std::lock_guard<std::mutex> guard(door_.mutex_);
    call_.object = object;
    call_.begun = door_.clock_.monotonic();
    call_.before = kind_.newest;
    (kind_.newest != nullptr ? kind_.newest->after : kind_.oldest) = &call_;
    kind_.newest = &call_;
    ++kind_.figures.waiting;
  }
  ~Watched() {
    const std::lock_guard<std::mutex> guard(door_.mutex_);
    (call_.before != nullptr ? call_.before->after : kind_.oldest) = call_.after;
    (call_.after != nullptr ? call_.after->before : kind_.newest) = call_.before;
    const std::chrono::nanoseconds time = door_.clock_.monotonic() - call_.begun;
    --kind_.figures.waiting;
    ++kind_.figures.answered;
    kind_.figures.time += time;
    if (time > kSlow) ++kind_.figures.slow;
    ClassFigures& of_class = kind_.by_class[static_cast<std::size_t>(class_)];
    ++of_class.answered;
    of_class.time += time;
    if (time > kSlow) ++of_class.slow;
    if (answer_ == ETIMEDOUT) ++kind_.figures.given_up;
    if (answer_ == ENOSPC || answer_ == EDQUOT) ++kind_.figures.refused_full;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ObjectAnswer answered(ObjectAnswer answer) noexcept { return answer_ = answer; }

 private:
  WatchedDoor& door_;
  Kind& kind_;
  const ObjectClass class_;
  Call call_;
  ObjectAnswer answer_ = 0;
};

class WatchedDoor::WatchedChange final : public SentChange {
 public:
  WatchedChange(WatchedDoor& door, const ObjectChange& change)
      : door_(door), object_(change.object), of_log_(change.of_log) {}
  void set_sent(std::unique_ptr<SentChange> sent) noexcept { sent_ = std::move(sent); }

  ObjectAnswer await() noexcept override {
    if (sent_ == nullptr) return answer_;
    Watched watched(door_, door_.changes_, object_, of_log_);
    answer_ = watched.answered(sent_->await());
    sent_.reset();
    return answer_;
  }

  bool is_answered() noexcept override { return sent_ == nullptr || sent_->is_answered(); }

 private:
  WatchedDoor& door_;
  const std::string object_;
  const bool of_log_;
  std::unique_ptr<SentChange> sent_;  // null once it is answered
  ObjectAnswer answer_ = 0;
};

DoorFigures WatchedDoor::figures_of(const Kind& kind) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  DoorFigures figures = kind.figures;
  if (kind.oldest != nullptr) {
    figures.longest_wait = clock_.monotonic() - kind.oldest->begun;
    figures.longest_object = kind.oldest->object;
  }
  return figures;
}

ClassFigures WatchedDoor::figures_of(const Kind& kind, ObjectClass of) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return kind.by_class[static_cast<std::size_t>(of)];
}

ObjectAnswer WatchedDoor::change(const ObjectChange& change) {
  Watched watched(*this, changes_, change.object, change.of_log);
  return watched.answered(door_.change(change));
}

std::unique_ptr<SentChange> WatchedDoor::send(const ObjectChange& change) {
  auto watched = std::make_unique<WatchedChange>(*this, change);
  watched->set_sent(door_.send(change));
  return watched;
}

ObjectAnswer WatchedDoor::look(std::string_view object, ObjectLook& found) {
  Watched watched(*this, reads_, object);
  return watched.answered(door_.look(object, found));
}

ObjectAnswer WatchedDoor::entries(std::string_view object, TextMap& found) {
  Watched watched(*this, reads_, object);
  return watched.answered(door_.entries(object, found));
}

ObjectAnswer WatchedDoor::read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes,
                               std::size_t& count, std::chrono::milliseconds patience) {
  Watched watched(*this, reads_, object);
  return watched.answered(door_.read(object, offset, bytes, count, patience));
}

ObjectAnswer WatchedDoor::read_log(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes,
                                   std::size_t& count, std::chrono::milliseconds patience) {
  Watched watched(*this, reads_, object, true);
  return watched.answered(door_.read_log(object, offset, bytes, count, patience));
}

}  // namespace varve::io
