// Owns: the watch over a door: how many operations it was asked for, how long they took, and which of them wait.
// Must never: change an answer, or hold its mutex while the door is asked.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "io/clock.h"
#include "io/rados/object_door.h"

namespace varve::io {

/// What an object is for. A file is a table file, a manifest or CURRENT.
enum class ObjectClass : std::uint8_t { kRoot, kLease, kLog, kFile };
inline constexpr std::size_t kObjectClasses = 4;

/// The answered operations of one kind on objects of one class.
struct ClassFigures {
  std::uint64_t answered = 0;
  std::chrono::nanoseconds time{0};
  std::uint64_t slow = 0;
};

/// The operations of one kind.
struct DoorFigures {
  std::uint64_t answered = 0;
  std::chrono::nanoseconds time{0};  // of the answered ones, together
  std::uint64_t slow = 0;            // answered ones that took longer than WatchedDoor::kSlow
  std::uint64_t given_up = 0;        // reads that were not answered within their patience; also among the answered ones
  std::uint64_t refused_full = 0;    // changes that the pool refused because it was full
  std::uint64_t waiting = 0;
  std::chrono::nanoseconds longest_wait{0};
  std::string longest_object;  // empty if none waits
};

/// Any thread may use it.
class WatchedDoor final : public ObjectDoor {
 public:
  static constexpr std::chrono::seconds kSlow{1};

  /// The referenced objects must outlive this one.
  WatchedDoor(ObjectDoor& door, Clock& clock) noexcept : door_(door), clock_(clock) {}

  DoorFigures reads() const { return figures_of(reads_); }
  DoorFigures changes() const { return figures_of(changes_); }
  ClassFigures reads(ObjectClass of) const { return figures_of(reads_, of); }
  /// The looks at segments, and the changes that seal or remove them, are among those of files.
  ClassFigures changes(ObjectClass of) const { return figures_of(changes_, of); }

  std::string client() const override { return door_.client(); }
  ObjectAnswer change(const ObjectChange& change) override;
  /// The change counts as waiting while its maker is in await().
  std::unique_ptr<SentChange> send(const ObjectChange& change) override;
  ObjectAnswer look(std::string_view object, ObjectLook& found) override;
  ObjectAnswer entries(std::string_view object, TextMap& found) override;
  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    std::chrono::milliseconds patience) override;
  ObjectAnswer read_log(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override;
  ObjectAnswer blocklist(std::string_view client) override { return door_.blocklist(client); }
  ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) override {
    return door_.look_at_pool(object, found);
  }

 private:
  /// An operation that waits. Its neighbours began before and after it.
  struct Call {
    std::string_view object;
    std::chrono::nanoseconds begun{0};
    Call* before = nullptr;
    Call* after = nullptr;
  };
  /// Guarded by mutex_.
  struct Kind {
    Call* oldest = nullptr;
    Call* newest = nullptr;
    DoorFigures figures;  // without what waits
    std::array<ClassFigures, kObjectClasses> by_class;
  };
  class Watched;
  class WatchedChange;

  DoorFigures figures_of(const Kind& kind) const;
  ClassFigures figures_of(const Kind& kind, ObjectClass of) const;

  ObjectDoor& door_;
  Clock& clock_;
  mutable std::mutex mutex_;  // held briefly; guards the members below
  Kind reads_;
  Kind changes_;
};

}  // namespace varve::io
