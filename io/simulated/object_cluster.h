// Owns: a model of a RADOS pool in memory: objects, epochs, clients, and what may happen to a change on its way.
// Must never: make a change in part, or remember an object's epoch after the object was removed. RADOS forgets it too.
//
// A change arrives once, or twice (it was sent again, and its maker sees the second answer), or late, or never. What arrives
// late or again may come after later changes of other objects. So may a change whose answer is not awaited: it arrives at
// the latest with the wait for it, or with a question whether it is answered. The changes of one client to one object arrive in the order in which they were sent. A
// client that is cut off gets no answer any more, or none until the network is whole again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
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

class ModelSentChange;

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
  /// Sets how many of 100 changes that are sent without a wait arrive when their answers are awaited (50). Others arrive
  /// at once.
  void delay_sent(unsigned percent);
  /// Cuts a client off after `changes` further changes: nothing that it sends is answered (ETIMEDOUT). Its next
  /// `late_max` changes are kept and may arrive later. All others never arrive.
  void cut_off(std::string_view name, std::uint64_t changes, std::size_t late_max);
  /// What a network in one direction loses.
  enum class Loss : std::uint8_t { kRequests, kAnswers };
  /// Cuts a client off in one direction. Its operations wait until reconnect(). Then those whose requests were lost arrive.
  /// Those whose answers were lost have arrived before, and arrive again.
  void lose(std::string_view name, Loss loss);
  /// Ends a cut: the client's operations are answered again.
  void reconnect(std::string_view name);
  /// Lets up to `count` kept changes of a client arrive now, in any order that keeps that of each object. Returns how many
  /// succeeded.
  std::size_t deliver(std::string_view name, std::size_t count);
  /// Lets the oldest kept change of a client never arrive.
  void drop_late(std::string_view name);

  /// Makes the pool full, or frees it.
  void set_full(bool is_full);
  /// Makes the pool full, and some disks full past their last reserve: they drop changes that may exceed the limit, of
  /// the objects for which `has` returns true. Each of those waits for its patience, or until the pool is freed.
  void fill_reserve(std::function<bool(std::string_view)> has);

  /// Refuses objects above this size with EFBIG, as the OSDs do by a setting of theirs.
  void limit_objects(std::uint64_t bytes);

  /// From now on, operations on objects whose names begin with `prefix` wait: their OSD hangs, or too few copies are left.
  void stand_still(std::string_view prefix);
  /// Lets them go on.
  void go_on();
  /// Sets how many of the two copies that each object must have are there. With one, every operation waits.
  void set_copies(std::uint64_t copies);

  /// Lets no blocklist reach the objects from now on, and answers as if it had. The fence alone must suffice.
  void hold_blocklists();
  /// Answers the first questions about each client with a blocklist that is on its way. It then takes effect. By default,
  /// none ever does.
  void delay_blocklists(std::uint64_t questions = UINT64_MAX);
  /// Leaves out a half of the fence, for tests that show what each half is for.
  void ignore_epochs();
  void ignore_presence();

  /// Returns the names of all objects, in byte order.
  std::vector<std::string> names() const;
  /// Returns the number of changes that were sent so far, by all clients.
  std::uint64_t change_count() const;

 private:
  friend class ModelDoor;
  friend class ModelSentChange;
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
  /// A change on its way. Its maker waits for it.
  struct Passage {
    const ObjectChange* change = nullptr;
    ObjectAnswer answer = 0;
    bool is_refused = false;  // without a look at the object
    bool has_come_again = false;
    unsigned turns = 1;  // of the scheduler, before its maker has the answer
  };
  struct Client {
    bool is_blocked = false;
    std::uint64_t questions = 0;              // about its blocklist, which were answered that it is on its way
    std::uint64_t changes_left = UINT64_MAX;  // before it is cut off
    std::size_t late_left = 0;
    std::vector<Kept> late;
    std::vector<ModelSentChange*> on_the_way;  // in the order in which they were sent
    std::vector<Passage*> repeats;             // changes that arrived, and come again
  };

  // The functions below are called under the lock.
  ObjectAnswer apply(const ObjectChange& change);
  /// Lets a change arrive for the first time.
  void arrive(Client& own, Passage& passage);
  /// Lets the client's repeats of changes of one object arrive, before a later one does.
  void repeat_earlier(Client& own, std::string_view object);
  PoolLook look_at_pool() const;
  static bool has_expected(const Object& object, const ObjectChange& change);
  Client& client(std::string_view name);
  /// Returns the answer if the client gets one that depends on no object.
  ObjectAnswer refusal(const Client& client) const;

  /// Waits, without the lock, for the answer to a change that arrived. It may arrive again meanwhile.
  ObjectAnswer await_answer(std::string_view name, Passage& passage);
  /// Returns whether a change of the object, by the client, cannot arrive now.
  bool is_held_up(std::string_view client, std::string_view object);
  /// Waits while operations on the object wait, without the lock. Returns false if that outlasts a patience that is not zero.
  bool await(std::string_view object, std::chrono::milliseconds patience = std::chrono::milliseconds(0));
  /// The same for a change that a disk past its last reserve drops. Returns false if its patience has ended.
  bool await_reserve(const ObjectChange& change);
  /// The same for what the network loses of a client.
  enum class Passed : std::uint8_t { kAtOnce, kAfterAWait, kNever };
  Passed await_network(std::string_view client, std::optional<Loss> loss,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(0));
  void note_still() VARVE_REQUIRES(standing_);

  Scheduler& scheduler_;
  std::atomic<bool> has_still_{false};  // saves the others a look under the mutex, and their schedules a turn
  Mutex standing_;                      // never held with mutex_
  Condition gone_on_;
  std::optional<std::string> still_prefix_ VARVE_GUARDED_BY(standing_);
  std::function<bool(std::string_view)> past_reserve_ VARVE_GUARDED_BY(standing_);
  std::map<std::string, Loss, std::less<>> losses_ VARVE_GUARDED_BY(standing_);
  mutable std::mutex mutex_;  // guards the members below; held briefly
  SeededRandom random_;
  unsigned repeat_percent_ = 0;
  unsigned delay_percent_ = 50;
  bool is_full_ = false;
  std::uint64_t object_bytes_max_ = std::uint64_t{128} << 20;
  std::uint64_t copies_ = kCopiesMin;
  bool heeds_epochs_ = true;
  bool heeds_presence_ = true;
  bool heeds_blocklists_ = true;
  std::uint64_t delayed_questions_ = 0;
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
