// Owns: a model of a RADOS pool in memory: objects, epochs, clients, and what may happen to a change on its way.
// Must never: make a change in part, or remember an object's epoch after the object was removed. RADOS forgets it too.
//
// A change arrives once, or twice (it was sent again, and its maker sees the second answer), or late, or never. The
// changes of one client arrive in the order in which they were sent. A client that is cut off gets no answer any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/rados/object_door.h"
#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_content.h"

namespace varve::io {

/// Any thread may use it. Doors must not outlive it.
class ObjectCluster {
 public:
  /// At every operation, `scheduler` may let another thread run. The seed chooses the changes that are sent twice.
  ObjectCluster(Scheduler& scheduler, std::uint64_t seed);

  /// Objects and clients at a moment, as a crash of every process leaves them.
  class Image;
  Image image() const;
  /// Goes on with an image. Its clients are gone, but what they sent late may still arrive.
  ObjectCluster(Scheduler& scheduler, std::uint64_t seed, const Image& image);

  /// Makes a door for a new client.
  std::unique_ptr<ObjectDoor> make_door();

  /// Sets how many of 100 changes are made twice.
  void repeat(unsigned percent);
  /// Cuts a client off after `changes` further changes: nothing that it sends is answered (ETIMEDOUT). Its next
  /// `late_max` changes are kept and may arrive later. All others never arrive.
  void cut_off(std::string_view name, std::uint64_t changes, std::size_t late_max);
  /// Ends a cut: the client's later operations are answered again.
  void reconnect(std::string_view name);
  /// Lets up to `count` kept changes of a client arrive now, the oldest first. Returns how many succeeded.
  std::size_t deliver(std::string_view name, std::size_t count);

  /// Makes the pool full, or frees it.
  void set_full(bool is_full);

  /// From now on, operations on objects whose names begin with `prefix` wait: their OSD hangs, or too few copies are left.
  void stand_still(std::string_view prefix);
  /// Lets them go on.
  void go_on();
  /// Sets how many of the two copies that each object must have are there. With one, every operation waits.
  void set_copies(std::uint64_t copies);

  /// Lets no blocklist reach the objects from now on, and answers as if it had. The fence alone must suffice.
  void hold_blocklists();
  /// Answers that blocklists are still on their way. None arrives.
  void delay_blocklists();
  /// Leaves out a half of the fence, for tests that show what each half is for.
  void ignore_epochs();
  void ignore_presence();

  /// Returns the names of all objects, in byte order.
  std::vector<std::string> names() const;
  /// Returns the number of changes that were sent so far, by all clients.
  std::uint64_t change_count() const;

 private:
  friend class ModelDoor;
  static constexpr std::uint64_t kCopiesMin = 2;

  struct Object {
    std::uint64_t epoch = 0;
    MemoryContent content;
    TextMap attributes;
    TextMap entries;
  };
  /// A change with its own copy of the bytes.
  struct Kept {
    ObjectChange change;
    std::vector<std::byte> bytes;
  };
  struct Client {
    bool is_blocked = false;
    std::uint64_t changes_left = UINT64_MAX;  // before it is cut off
    std::size_t late_left = 0;
    std::vector<Kept> late;
  };

  // The functions below are called under the lock.
  ObjectAnswer apply(const ObjectChange& change);
  PoolLook look_at_pool() const;
  static bool has_expected(const Object& object, const ObjectChange& change);
  Client& client(std::string_view name);
  /// Returns the answer if the client gets one that depends on no object.
  ObjectAnswer refusal(const Client& client) const;

  /// Waits while operations on the object wait, without the lock. Returns false if that outlasts a patience that is not zero.
  bool await(std::string_view object, std::chrono::milliseconds patience = std::chrono::milliseconds(0));

  Scheduler& scheduler_;
  std::atomic<bool> has_still_{false};  // saves the others a look under the mutex, and their schedules a turn
  Mutex standing_;                      // never held with mutex_
  Condition gone_on_;
  std::optional<std::string> still_prefix_ VARVE_GUARDED_BY(standing_);
  mutable std::mutex mutex_;  // guards the members below; held briefly
  SeededRandom random_;
  unsigned repeat_percent_ = 0;
  bool is_full_ = false;
  std::uint64_t copies_ = kCopiesMin;
  bool heeds_epochs_ = true;
  bool heeds_presence_ = true;
  bool heeds_blocklists_ = true;
  bool delays_blocklists_ = false;
  std::uint64_t change_count_ = 0;
  std::map<std::string, Object, std::less<>> objects_;
  std::map<std::string, Client, std::less<>> clients_;
};

class ObjectCluster::Image {
 public:
  /// Adds a change that was on its way, after all earlier ones of this client.
  void add_late(std::string_view client, const ObjectChange& change);

 private:
  friend class ObjectCluster;
  std::map<std::string, Object, std::less<>> objects_;
  std::map<std::string, Client, std::less<>> clients_;
};

/// Returns whether the calling thread is in a function of a model's door. Its allocations are none of the caller's.
bool inside_object_cluster() noexcept;

}  // namespace varve::io
