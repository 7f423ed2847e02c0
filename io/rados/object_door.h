// Owns: the door to a store of objects: the few operations that the mapping of files to objects needs of RADOS.
// Must never: offer a change that carries no epoch, or that would make an object without being asked to (S1).
//
// Rules of the objects
//   S1  A change carries the epoch of its maker. It is refused with EOLDSNAPC once a change of a later epoch has reached
//       the object. It requires that the object exists, or makes it and requires that it does not exist. Both halves are
//       needed: the epoch goes with its object, and a late write would otherwise make a removed object anew.
//   S6  An answer other than those named here means that the change may have been made.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace varve::io {

/// Zero, or the errno of Linux that RADOS answers with, as a positive number:
///   kStaleEpoch        a later epoch was here; nothing was changed
///   ENOENT, EEXIST     the object is not as required; nothing was changed
///   ECANCELED          an attribute is not as expected; nothing was changed
///   ENOSPC, EDQUOT     the pool is full, and the change may not exceed it; nothing was changed
///   ESHUTDOWN          this client is blocklisted; nothing was changed
///   others             the change may have been made
using ObjectAnswer = int;

/// The answer to a change whose epoch is over. (RADOS calls it EOLDSNAPC.)
inline constexpr ObjectAnswer kStaleEpoch = 85;

using TextMap = std::map<std::string, std::string, std::less<>>;

/// One change of one object. It happens as a whole or not at all.
struct ObjectChange {
  enum class Presence : std::uint8_t { kMustExist, kMustBeAbsent };

  std::string object;
  std::uint64_t epoch = 0;
  Presence presence = Presence::kMustExist;
  /// The attributes that the object must have. Otherwise, the answer is ECANCELED. An absent attribute counts as an empty
  /// one. An object that the change would make has none, so that the answer is ENOENT then.
  TextMap expected_attributes;

  TextMap attributes;  // to be set
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;  // to be written at `offset`
  TextMap entries;                   // of the object's sorted map: to be set
  std::vector<std::string> entries_removed;
  bool removes = false;  // removes the object
  /// A pool that is full refuses a change that makes an object or lets one grow (RADOS: FULL_TRY). With this, the change
  /// is made all the same, up to the last reserve of the disks (FULL_FORCE). No change has both flags.
  bool may_exceed = false;
  /// How long the answer to a change that may exceed is awaited, or without end if it is zero. A disk past its last reserve
  /// drops such a change and never answers. After that time, the answer is ETIMEDOUT, and the change may have been made.
  std::chrono::milliseconds patience{0};
  bool of_log = false;  // makes or writes a segment of the log; for figures alone
  /// The size that the made object is expected to reach, if its bytes are compressed already and are written front to back.
  /// Zero: nothing is known. It is a hint for the disks, and no answer depends on it.
  std::uint64_t compressed_bytes_max = 0;
};

/// What an object shows in one look.
struct ObjectLook {
  std::uint64_t size_bytes = 0;
  TextMap attributes;
};

/// What the monitors of the cluster know of a pool, and of the placement group of one object in it.
struct PoolLook {
  bool is_full = false;
  bool is_nearly_full = false;
  /// The copies of the object that serve now, and how many must: below that, each operation on the object waits.
  std::uint64_t copies = 0;
  std::uint64_t copies_min = 0;
};

/// A change that was sent. One thread at a time may use it. The door outlives it.
class SentChange {
 public:
  /// Waits for the answer.
  virtual ~SentChange() = default;
  /// Waits for the answer and returns it, each time the same.
  virtual ObjectAnswer await() noexcept = 0;
  /// Returns whether await() would return at once. False if that is not known. Does not wait.
  virtual bool is_answered() noexcept { return false; }
};

/// Any thread may use it. A call waits for its answer, except send(). Changes by one client to one object are made in the
/// order of the calls. An answered change has reached every copy.
class ObjectDoor {
 public:
  virtual ~ObjectDoor() = default;
  /// Returns the name of this client for blocklist().
  virtual std::string client() const = 0;
  virtual ObjectAnswer change(const ObjectChange& change) = 0;
  /// Sends a change without waiting for its answer. Changes of other objects may be made before it, also later ones. The
  /// door copies the bytes, so that they need not outlive the call. Never returns null. Throws std::bad_alloc; then
  /// nothing was sent.
  virtual std::unique_ptr<SentChange> send(const ObjectChange& change) = 0;
  virtual ObjectAnswer look(std::string_view object, ObjectLook& found) = 0;
  /// Returns all entries of the object's sorted map.
  virtual ObjectAnswer entries(std::string_view object, TextMap& found) = 0;
  /// Reads into `bytes` as far as the object goes. `count` is the number of bytes read. Waits for `patience` at most, or
  /// without end if it is zero. After that, the answer is ETIMEDOUT, and nothing writes into `bytes` any more.
  virtual ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& count, std::chrono::milliseconds patience) = 0;
  /// The same for a segment of the log, which figures count apart.
  virtual ObjectAnswer read_log(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes,
                                std::size_t& count, std::chrono::milliseconds patience) {
    return read(object, offset, bytes, count, patience);
  }
  /// Asks that the operations of another client be refused from now on, and does not wait until they are. The answer is
  /// EINPROGRESS until then, and zero afterwards: a change of that client is refused if it arrives after a later one of
  /// this client at the same object.
  virtual ObjectAnswer blocklist(std::string_view client) = 0;
  /// Asks the monitors, not the object. Waits for some seconds at most.
  virtual ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) = 0;
};

/// Returns whether the pool refused a change because it is full.
inline bool is_full_answer(ObjectAnswer answer) noexcept {
  return answer == ENOSPC || answer == EDQUOT;
}

/// How long an object may be on its way into the reserve of a full pool. A disk past that reserve never answers.
inline constexpr std::chrono::milliseconds kReservePatience{10'000};

/// Makes an object that an owner needs even if the pool is full. The answer is ENOSPC if its disk is past the last reserve.
/// The object may then be made late, so nothing may depend on its absence.
inline ObjectAnswer make_in_reserve(ObjectDoor& door, ObjectChange making) {
  making.may_exceed = false;  // A disk past its reserve answers this one.
  const ObjectAnswer refused = door.change(making);
  if (!is_full_answer(refused)) return refused;
  making.may_exceed = true;
  making.patience = kReservePatience;
  const ObjectAnswer made = door.change(making);
  return made == ETIMEDOUT ? ENOSPC : made;
}

}  // namespace varve::io
