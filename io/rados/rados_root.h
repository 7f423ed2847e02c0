// Owns: one handle of a store's root: its epoch, the directory of files, takeover, and the building of every change.
// Must never: let another room make a change of a store's objects, or read what a former owner can still change.
//
// Rules (with S1 and S6 of object_door.h)
//   S2  Epochs of a root only rise. An epoch has one owner. It is taken by one conditional change of the root.
//   S3  take() seals every object that a former owner may still write and that a reader looks at, before the directory may
//       be used. Of a growing file, this includes the first object that is missing past the recorded size.
//   S4  The root has a file's id before the first object is made: under its name, or without one. Its entry says that it is
//       finished only after each of its objects was answered. The name of a segment comes after its object, and so does a
//       size that reaches into a further object of a file that was synced. So a takeover knows which objects were there.
//   S5  An object's name has the epoch and a number of that epoch, so no two owners ever make one name.
//   S13 Only the owner of a root removes its objects, after no name leads to them. Those of former owners that did not let
//       go wait until these are blocklisted: what they sent before could make the objects anew, and no name would lead to
//       them. The root names these owners, so that a later one than the next knows of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/os_error.h"
#include "io/rados/object_door.h"
#include "io/rados/owner_question.h"
#include "io/rados/rados_names.h"
#include "io/rados/rados_process.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

using FileMap = std::map<std::string, FileEntry, std::less<>>;

/// Any thread may use it. Without take(), it only reads.
class RadosRoot {
 public:
  /// Makes the root of a new, empty store. A root that exists is a success.
  static Status make(RadosProcess& process, std::string_view path, std::string_view name);
  /// Errors: ENOENT; kFenced (this client is blocklisted), kUnsupported.
  static Result<std::shared_ptr<RadosRoot>> find(std::shared_ptr<RadosProcess> process, std::string_view path,
                                                 std::string_view name);
  /// Only find() calls it.
  RadosRoot(std::shared_ptr<RadosProcess> process, std::string_view path, std::string_view name, std::string store);
  ~RadosRoot();
  RadosRoot(const RadosRoot&) = delete;
  RadosRoot& operator=(const RadosRoot&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Returns the whole path of a file, for messages.
  std::string path_of(std::string_view name) const { return path_ + "/" + std::string(name); }
  RadosProcess& process() noexcept { return *process_; }
  const std::string& store() const noexcept { return store_; }

  /// Takes the root over: waits out the lease of an owner that did not let go, raises the epoch, seals what the former
  /// owner could write, and removes what it left without a name. Errors: kLocked (the owner lives; nothing was
  /// touched), others of the door.
  Status take(std::chrono::milliseconds wait_max);
  /// Ends the ownership. If no change is in doubt, the next owner need not wait.
  void let_go() noexcept;
  /// Returns zero before take().
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
  /// Returns Ok while no later owner is known. Errors: kFenced, kLocked (a fork, or the root was not taken).
  Status check(const FailedCall& call) const noexcept;
  /// Returns Ok while this owner may answer from memory: between the end of take() and the beginning of let_go(), while
  /// the lease is fresh. Errors: those of Lease::check().
  Status check_answer() const noexcept;
  /// As check_answer(). With RadosOptions::verified_reads, it then asks the root, by one question for all who call at that
  /// moment. Waits for RadosProcess::read_patience(). Errors also: kBusy (no answer in time), kIoError, kOutOfMemory.
  Status confirm_answer() const noexcept;
  /// Asks the root whether its epoch is still that of this handle. Errors: kFenced, kCorruption (the root is gone), kLocked
  /// (this handle has let go meanwhile).
  Status confirm();

  /// Makes one change of an object of this store under the epoch. If the change has an epoch, it must be this one: a file of
  /// an earlier ownership by this handle takes nothing more. Errors: kFenced; EEXIST, if the object was to be
  /// absent and is not one that a repeated change made; kCorruption (the cluster has lost the object, or the root, as this
  /// handle has noticed); kIoError.
  Status change(ObjectChange change, const FailedCall& call);
  /// A change of an object that was sent. It has no answer to wait for if it was made at once.
  struct Sent {
    std::string object;
    std::unique_ptr<SentChange> answer;
  };
  /// Sends one change, as change() does, without waiting for its answer. It copies the bytes. Errors: those of change().
  Result<Sent> send(ObjectChange change, const FailedCall& call);
  /// Waits for the answer. Errors: those of change(); kNoSpace, also if a ballast was given up since the change was sent.
  Status await(Sent& sent, const FailedCall& call);

  Result<FileMap> files();
  /// Errors: ENOENT.
  Result<FileEntry> find_file(std::string_view name, const FailedCall& call);
  /// Returns an entry that no file had before.
  FileEntry new_entry(FilePhase phase, std::uint64_t size_bytes);
  /// Adds a file. Errors: EEXIST.
  Status add(std::string_view name, const FileEntry& entry, const FailedCall& call);
  /// Makes the object of a segment, and then its name. Errors: EEXIST; kNoSpace; others of change().
  Status add_segment(std::string_view name, const FileEntry& entry, const FailedCall& call);
  /// Changes the entry of a file, if the name still leads to it. Errors: kFenced otherwise.
  Status update(std::string_view name, const FileEntry& entry, const FailedCall& call);
  /// Notes the size of a growing file of this owner, without a change of the root.
  void note_size(std::string_view name, const FileEntry& entry);
  /// Makes `name` lead to one object with these bytes, in place of what it leads to now.
  Status put(std::string_view name, std::span<const std::byte> bytes, const FailedCall& call);
  Status remove(std::string_view name, const FailedCall& call);
  /// Holds back so many bytes: RADOS cannot set space aside, so they are what a pool may exceed its limit by. New
  /// objects may use the difference to the most that was ever held. Errors: kNoSpace (the pool has no space again yet).
  Status set_ballast(std::uint64_t bytes, const FailedCall& call);

  /// Returns the size of a file that `entry` describes. Asks the objects if the entry does not know.
  Result<std::uint64_t> size_of(const FileEntry& entry, const FailedCall& call);
  /// Returns the status of a read whose object is missing. Asks the root, for `patience` at most, or without end if it is
  /// zero. Errors: those of confirm(); kBusy (the root gave no answer in time); kCorruption (the cluster has lost the
  /// object); ENOENT (its file was removed, or this handle owns nothing and cannot know).
  Status missing(std::string_view object, std::chrono::milliseconds patience, const FailedCall& call);
  /// Returns the status of a read that the cluster refuses, because this client is blocklisted: kFenced.
  Status shut_out(const FailedCall& call) const noexcept;

 private:
  struct Claim;
  using Nameless = std::pair<std::string, std::uint64_t>;  // an id and the number of objects
  enum class Replaces : std::uint8_t { kNone, kAny };
  Status take_once(std::chrono::milliseconds wait_max);
  Status take_owned(std::chrono::milliseconds wait_max);
  Status take_raised(const Claim& former, const std::string& owner, bool was_foreign);
  Status await_lapse(const Claim& former, std::chrono::milliseconds wait_max, Claim& now);
  Result<Claim> look_at_root();
  Status raise_epoch(const Claim& former, const std::string& owner, const FormerOwners& formers);
  Result<FormerOwners> formers_after(const Claim& former, bool was_foreign);
  Status end_lease(const Claim& former, const std::string& owner);
  Status take_directory();
  Status begin(ObjectChange& change, const FailedCall& call) const;
  Status judge(const std::string& object, ObjectAnswer answer, const FailedCall& call);
  Status seal(const FileEntry& entry);
  Result<bool> seal_stripe(const std::string& object, bool was_made);
  Status announce(const FileEntry& entry, const FailedCall& call);
  Status give_name(std::string_view name, const FileEntry& entry, Replaces replaces, const FailedCall& call);
  Result<std::uint64_t> end_of_objects(const std::string& id, std::uint64_t stripes);
  Status remove_objects(const std::string& id, std::uint64_t stripes);
  Status remove_nameless(const std::string& id, std::uint64_t stripes, const FailedCall& call);
  std::vector<Nameless> take_removable() VARVE_REQUIRES(mutex_);
  bool may_be_made_anew(std::string_view id) VARVE_REQUIRES(mutex_);
  Status forget(const std::string& id, std::uint64_t stripes, const FailedCall& call);
  /// Errors: kUnsupported (a later build made the root, or it is none).
  static Status check_root(std::string_view name, std::string_view path, const ObjectLook& root);
  Status lost(const std::string& object, const FailedCall& call);
  /// Returns what the known directory has under a name.
  std::optional<FileEntry> known(std::string_view name);
  /// Notes, in the known directory, a name that the root has now. The one node of `named` moves there, so that no
  /// allocation follows the change of the root.
  void enter(FileMap& named) noexcept VARVE_REQUIRES(mutex_);
  /// Returns whether a file of the known directory has the object.
  bool is_named(std::string_view object);
  /// Refuses every later change of an object. Returns kCorruption.
  Status root_lost(const FailedCall& call) const;
  Status change_root(ObjectChange change, const FailedCall& call) VARVE_REQUIRES(mutex_);
  /// Takes bytes of a ballast that was given up, for a new object.
  bool take_excess(std::uint64_t bytes) noexcept;
  /// Lets the root be asked now and then, without a wait. A store that was removed by hand, and made again, ends the lease of
  /// no former owner.
  void look_after_root() const noexcept;
  /// Makes a small object and removes it.
  Status probe_space(const FailedCall& call);
  Result<TextMap> read_entries();
  Status fenced(const FailedCall& call) const noexcept;
  void note_fenced() const noexcept;
  Status lock_failure(std::string_view client = {}) const;

  const std::shared_ptr<RadosProcess> process_;
  const std::string path_;
  const std::string name_;
  const std::string store_;
  std::atomic<std::uint64_t> epoch_{0};
  mutable std::atomic<bool> is_fenced_{false};
  mutable std::atomic<bool> is_root_lost_{false};
  std::atomic<bool> may_answer_{false};
  std::atomic<std::uint64_t> next_number_{1};

  std::atomic<std::uint64_t> excess_left_{0};

  Mutex mutex_;   // one change of the root at a time; held while the root is asked, and while no other object is
  Mutex naming_;  // of the known directory; held briefly, after mutex_. So a file is found while a change waits.
  std::optional<FileMap> files_ VARVE_GUARDED_BY(naming_);    // known while the root is owned
  std::uint64_t ballast_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // the most held; zero until the first set_ballast()
  std::uint64_t ballast_held_ VARVE_GUARDED_BY(mutex_) = 0;   // the part that no object may use
  /// Owners before this one, while their changes may still arrive.
  FormerOwners formers_ VARVE_GUARDED_BY(mutex_);
  /// The ids of their objects that may still come: of files that were open, and of those without a name.
  std::set<std::string, std::less<>> may_come_ VARVE_GUARDED_BY(mutex_);
  /// Objects without a name that wait for that. They have keys in the root.
  std::vector<Nameless> waiting_ VARVE_GUARDED_BY(mutex_);
  Status failure_ VARVE_GUARDED_BY(mutex_);         // of a change of the root with an unknown outcome
  std::unique_ptr<OwnerQuestion> question_;         // made by the first take()
  mutable std::atomic<std::uint64_t> asked_at_{0};  // the number of renewals when the last question was sent unasked
};

}  // namespace varve::io
