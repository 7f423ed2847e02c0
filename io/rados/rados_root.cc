// Owns: the changes of a store's objects and of its directory (rados_root.h).
// Must never: go on after a change of the root whose outcome is unknown.
#include "io/rados/rados_root.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "io/parents_object.h"

namespace varve::io {

namespace {

/// Returns a directory of one name.
FileMap one_name(std::string_view name, const FileEntry& entry) {
  FileMap named;
  named.emplace(name, entry);
  return named;
}

}  // namespace

RadosRoot::RadosRoot(std::shared_ptr<RadosProcess> process, std::string_view path, std::string_view name,
                     std::string store)
    : process_(std::move(process)),
      path_(path),
      name_(name),
      store_(std::move(store)),
      mutex_(process_->scheduler()),
      naming_(process_->scheduler()) {}

RadosRoot::~RadosRoot() {
  if (!process_->owner().is_this_process()) leave_to_parent(question_);
}

Status RadosRoot::fenced(const FailedCall& call) const noexcept {
  return call_error(Code::kFenced, call, {"another owner has taken the store over"});
}

void RadosRoot::note_fenced() const noexcept {
  if (!is_fenced_.exchange(true, std::memory_order_acq_rel)) process_->note_fence();
}

Status RadosRoot::check(const FailedCall& call) const noexcept {
  if (!process_->owner().is_this_process()) {
    return call_error(Code::kLocked, call, {"this process is a fork of the one that opened it"});
  }
  if (is_fenced_.load(std::memory_order_acquire)) return fenced(call);
  if (process_->is_fenced()) {
    if (epoch() != 0) note_fenced();  // It owned the root until then.
    return fenced(call);
  }
  if (epoch() == 0) return call_error(Code::kLocked, call, {"the store is not locked by this handle"});
  return Status();
}

Status RadosRoot::check_answer() const noexcept {
  const FailedCall call{"answer from", path_};
  if (Status owned = check(call); !owned.ok()) return owned;
  if (!may_answer_.load(std::memory_order_acquire)) {
    return call_error(Code::kLocked, call, {"the store is not locked by this handle"});
  }
  if (process_->is_fresh()) [[likely]] {
    look_after_root();
    return Status();
  }
  // Another owner may have ended the lease since the first look.
  if (process_->is_fenced()) return fenced(call);
  return call_error(Code::kBusy, call,
                    {"the cluster has not confirmed the ownership in time; repeat the call when it answers again"});
}

void RadosRoot::look_after_root() const noexcept {
  constexpr std::uint64_t kRenewalsUnasked = 8;  // about four seconds
  std::uint64_t asked = asked_at_.load(std::memory_order_relaxed);
  const std::uint64_t renewals = process_->renewal_count();
  if (renewals < asked + kRenewalsUnasked) [[likely]]
    return;
  // One of the threads that come here now sends the question. None waits for the answer. A fence ends the ownership.
  if (asked_at_.compare_exchange_strong(asked, renewals, std::memory_order_relaxed)) question_->send();
}

Status RadosRoot::confirm_answer() const noexcept {
  Status fresh = check_answer();
  if (!fresh.ok() || !process_->options().verified_reads) return fresh;
  return question_->ask(process_->read_patience());
}

Status RadosRoot::confirm() {
  const FailedCall call{"confirm the owner", path_};
  const std::uint64_t own = epoch();
  if (Status owned = check(call); !owned.ok()) return owned;
  ObjectLook root;
  const ObjectAnswer answer = process_->door().look(root_object(name_), root);
  if (epoch() != own) return call_error(Code::kLocked, call, {"the ownership ended meanwhile"});
  if (answer == ENOENT) return root_lost(call);
  if (answer != 0 && answer != ESHUTDOWN) return os_error(answer, call);
  if (answer == 0 && root.attributes["id"] == store_ && root.attributes["epoch"] == std::to_string(own)) {
    return Status();
  }
  note_fenced();
  return fenced(call);
}

/// Gives the change its epoch. One of a file has the epoch in which the file was made.
Status RadosRoot::begin(ObjectChange& change, const FailedCall& call) const {
  if (Status owned = check(call); !owned.ok()) return owned;
  if (is_root_lost_.load(std::memory_order_acquire)) return root_lost(call);
  const std::uint64_t now = epoch();
  if (change.epoch != 0 && change.epoch != now) return fenced(call);
  change.epoch = now;
  return Status();
}

Status RadosRoot::change(ObjectChange change, const FailedCall& call) {
  if (Status begun = begin(change, call); !begun.ok()) return begun;
  ObjectDoor& door = process_->door();
  const bool makes = change.presence == ObjectChange::Presence::kMustBeAbsent;
  ObjectAnswer answer = makes && change.may_exceed ? make_in_reserve(door, change) : door.change(change);
  if (is_full_answer(answer) && !change.may_exceed && take_excess(change.bytes.size())) {
    change.may_exceed = true;
    answer = makes ? make_in_reserve(door, change) : door.change(change);
  }
  return judge(change.object, answer, call);
}

/// While new objects may use a ballast, each waits for its answer: it is sent again if the pool refuses it.
Result<RadosRoot::Sent> RadosRoot::send(ObjectChange change, const FailedCall& call) {
  if (excess_left_.load(std::memory_order_relaxed) > 0) {
    if (Status made = this->change(std::move(change), call); !made.ok()) return made;
    return Sent();
  }
  if (Status begun = begin(change, call); !begun.ok()) return begun;
  std::unique_ptr<SentChange> answer = process_->door().send(change);
  return Sent{std::move(change.object), std::move(answer)};
}

Status RadosRoot::await(Sent& sent, const FailedCall& call) {
  return sent.answer == nullptr ? Status() : judge(sent.object, sent.answer->await(), call);
}

/// Returns the status of a change of an object.
Status RadosRoot::judge(const std::string& object, ObjectAnswer answer, const FailedCall& call) {
  switch (answer) {
    case 0: return Status();
    case kStaleEpoch:
    case ESHUTDOWN: note_fenced(); return fenced(call);
    case ENOENT: return lost(object, call);
    case EEXIST: {
      // A change that was sent again finds its own object. A seal is the mark of a later owner.
      ObjectLook found;
      const ObjectAnswer look = process_->door().look(object, found);
      if (look != 0) return os_error(look, call);
      if (found.attributes.contains("sealed")) return fenced(call);
      return Status();
    }
    default: return os_error(answer, call);
  }
}

// -- The directory ----------------------------------------------------------------------------------------------------

Status RadosRoot::change_root(ObjectChange change, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  if (!failure_.ok()) return failure_;
  change.object = root_object(name_);
  change.epoch = epoch();
  change.expected_attributes = {{"id", store_}, {"epoch", std::to_string(epoch())}};
  const ObjectAnswer answer = process_->door().change(change);
  if (answer == 0) return Status();
  if (answer == kStaleEpoch || answer == ECANCELED || answer == ESHUTDOWN) {
    note_fenced();
    return fenced(call);
  }
  if (answer == ENOENT) return failure_ = root_lost(call);
  if (is_full_answer(answer)) return os_error(answer, call);
  return failure_ = os_error(answer, call);
}

// -- A full pool ------------------------------------------------------------------------------------------------------

bool RadosRoot::take_excess(std::uint64_t bytes) noexcept {
  std::uint64_t left = excess_left_.load(std::memory_order_relaxed);
  while (left > 0 && left >= bytes) {
    if (excess_left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

Status RadosRoot::set_ballast(std::uint64_t bytes, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  bool was_given_up = false;
  {
    const MutexGuard guard(mutex_);
    if (bytes == 0 || bytes <= ballast_held_) {
      // All that is not held may be used again: a step that is repeated has removed what it made before.
      excess_left_.store(ballast_bytes_ - bytes, std::memory_order_relaxed);
      ballast_held_ = bytes;
      return Status();
    }
    was_given_up = ballast_bytes_ != 0;
  }
  if (was_given_up) {
    // A probe shows whether the pool has space again.
    if (Status has_space = probe_space(call); !has_space.ok()) return has_space;
  }
  const MutexGuard guard(mutex_);
  ballast_bytes_ = std::max(ballast_bytes_, bytes);
  ballast_held_ = bytes;
  excess_left_.store(0, std::memory_order_relaxed);
  return Status();
}

Status RadosRoot::probe_space(const FailedCall& call) {
  const FileEntry entry = new_entry(FilePhase::kFinished, 0);
  if (Status announced = announce(entry, call); !announced.ok()) return announced;
  const std::byte byte{0};
  ObjectChange making;
  making.object = stripe_object(store_, entry.id(), 0);
  making.epoch = entry.epoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.bytes = {&byte, 1};
  const ObjectAnswer made = process_->door().change(making);
  // An object that may still be made keeps its entry, and the next owner removes it.
  if (made != 0 && made != EEXIST && !is_full_answer(made)) return os_error(made, call);
  if (Status removed = remove_nameless(entry.id(), 1, call); !removed.ok()) return removed;
  return is_full_answer(made) ? os_error(made, call) : Status();
}

Result<TextMap> RadosRoot::read_entries() {
  TextMap entries;
  const ObjectAnswer answer = process_->door().entries(root_object(name_), entries);
  if (answer != 0) return os_error(answer, {"read the directory", path_});
  return entries;
}

namespace {

Result<FileMap> files_among(const TextMap& entries) {
  FileMap files;
  for (auto entry = entries.lower_bound(kFilePrefix); entry != entries.end(); ++entry) {
    if (!entry->first.starts_with(kFilePrefix)) break;
    const Result<FileEntry> parsed = parse_entry(entry->second);
    if (!parsed.ok()) return parsed.status();
    files.emplace(entry->first.substr(kFilePrefix.size()), *parsed);
  }
  return files;
}

}  // namespace

Result<FileMap> RadosRoot::files() {
  if (!process_->owner().is_this_process()) return check({"list", path_});
  {
    const MutexGuard guard(naming_);
    if (files_.has_value()) return *files_;
  }
  const Result<TextMap> entries = read_entries();
  if (!entries.ok()) return entries.status();
  return files_among(*entries);
}

Result<FileEntry> RadosRoot::find_file(std::string_view name, const FailedCall& call) {
  if (!process_->owner().is_this_process()) return check(call);
  {
    const MutexGuard guard(naming_);
    if (files_.has_value()) {
      const auto found = files_->find(name);
      if (found == files_->end()) return os_error(ENOENT, call);
      return found->second;
    }
  }
  const Result<FileMap> read = files();
  if (!read.ok()) return read.status();
  const auto found = read->find(name);
  if (found == read->end()) return os_error(ENOENT, call);
  return found->second;
}

FileEntry RadosRoot::new_entry(FilePhase phase, std::uint64_t size_bytes) {
  return {phase, epoch(), next_number_.fetch_add(1, std::memory_order_relaxed), size_bytes};
}

std::optional<FileEntry> RadosRoot::known(std::string_view name) {
  const MutexGuard guard(naming_);
  if (!files_.has_value()) return std::nullopt;
  const auto found = files_->find(name);
  return found == files_->end() ? std::nullopt : std::optional(found->second);
}

void RadosRoot::enter(FileMap& named) noexcept {
  const MutexGuard guard(naming_);
  files_->erase(named.begin()->first);
  files_->merge(named);
}

// A fork may have a mutex that a thread of its parent held. So each call checks the ownership before it takes one.

Status RadosRoot::add(std::string_view name, const FileEntry& entry, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  const MutexGuard guard(mutex_);
  if (known(name).has_value()) return os_error(EEXIST, call);
  ObjectChange adding;
  adding.entries[file_key(name)] = entry_text(entry);
  FileMap named = one_name(name, entry);
  if (Status added = change_root(std::move(adding), call); !added.ok()) return added;
  enter(named);
  return Status();
}

Status RadosRoot::update(std::string_view name, const FileEntry& entry, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  const MutexGuard guard(mutex_);
  if (entry.epoch != epoch()) return fenced(call);
  const std::optional<FileEntry> before = known(name);
  if (!before.has_value() || before->id() != entry.id()) {
    return call_error(Code::kFenced, call, {"another file has taken the name of this one, or it was removed"});
  }
  if (entry_text(*before) == entry_text(entry)) return Status();
  ObjectChange updating;
  updating.entries[file_key(name)] = entry_text(entry);
  FileMap named = one_name(name, entry);
  if (Status updated = change_root(std::move(updating), call); !updated.ok()) return updated;
  enter(named);
  return Status();
}

void RadosRoot::note_size(std::string_view name, const FileEntry& entry) {
  const MutexGuard guard(naming_);
  if (!files_.has_value()) return;
  const auto found = files_->find(name);
  if (found != files_->end() && found->second.id() == entry.id()) found->second.size_bytes = entry.size_bytes;
}

/// Lets the root have the id of a file without a name, before the file's one object is made.
Status RadosRoot::announce(const FileEntry& entry, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  const MutexGuard guard(mutex_);
  ObjectChange announcing;
  announcing.entries[nameless_key(entry.id())] = "1";
  return change_root(std::move(announcing), call);
}

Status RadosRoot::put(std::string_view name, std::span<const std::byte> bytes, const FailedCall& call) {
  const FileEntry entry = new_entry(FilePhase::kFinished, bytes.size());
  if (Status announced = announce(entry, call); !announced.ok()) return announced;
  ObjectChange making;
  making.object = stripe_object(store_, entry.id(), 0);
  making.epoch = entry.epoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.bytes = bytes;
  making.may_exceed = true;  // takes the place of another, and frees space in the end
  if (Status made = change(std::move(making), call); !made.ok()) return made;
  return give_name(name, entry, Replaces::kAny, call);
}

Status RadosRoot::add_segment(std::string_view name, const FileEntry& entry, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  if (known(name).has_value()) return os_error(EEXIST, call);
  if (Status announced = announce(entry, call); !announced.ok()) return announced;
  ObjectChange making;
  making.object = stripe_object(store_, entry.id(), 0);
  making.epoch = entry.epoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.of_log = true;
  Status named = change(std::move(making), call);
  if (named.ok()) named = give_name(name, entry, Replaces::kNone, call);
  // An object that may still be made keeps its id in the root, and the next owner removes it.
  const bool is_unused = named.code() == Code::kNoSpace || named.os_error() == EEXIST;
  if (is_unused) (void)remove_nameless(entry.id(), 1, call);
  return named;
}

/// Makes `name` lead to a file whose object is there, and whose id has no name yet. Errors: EEXIST.
Status RadosRoot::give_name(std::string_view name, const FileEntry& entry, Replaces replaces, const FailedCall& call) {
  std::optional<FileEntry> old;
  {
    const MutexGuard guard(mutex_);
    if (Status owned = check(call); !owned.ok()) return owned;
    if (entry.epoch != epoch()) return fenced(call);
    old = known(name);
    if (old.has_value() && replaces == Replaces::kNone) return os_error(EEXIST, call);
    ObjectChange naming;
    naming.entries[file_key(name)] = entry_text(entry);
    naming.entries_removed.push_back(nameless_key(entry.id()));
    if (old.has_value()) naming.entries[nameless_key(old->id())] = std::to_string(old->object_count());
    FileMap named = one_name(name, entry);
    if (Status done = change_root(std::move(naming), call); !done.ok()) return done;
    enter(named);
  }
  return old.has_value() ? remove_nameless(old->id(), old->object_count(), call) : Status();
}

Status RadosRoot::remove(std::string_view name, const FailedCall& call) {
  if (Status owned = check(call); !owned.ok()) return owned;
  std::optional<FileEntry> old;
  {
    const MutexGuard guard(mutex_);
    old = known(name);
    if (!old.has_value()) return os_error(ENOENT, call);
    ObjectChange removing;
    removing.entries_removed.push_back(file_key(name));
    removing.entries[nameless_key(old->id())] = std::to_string(old->object_count());
    if (Status removed = change_root(std::move(removing), call); !removed.ok()) return removed;
    const MutexGuard naming(naming_);
    files_->erase(files_->find(name));
  }
  return remove_nameless(old->id(), old->object_count(), call);
}

Result<std::uint64_t> RadosRoot::size_of(const FileEntry& entry, const FailedCall& call) {
  if (entry.phase != FilePhase::kGrowing || entry.epoch == epoch()) return entry.size_bytes;
  for (std::uint64_t stripe = entry.size_bytes / kStripeBytes;; ++stripe) {
    ObjectLook found;
    const ObjectAnswer answer = process_->door().look(stripe_object(store_, entry.id(), stripe), found);
    if (answer != 0 && answer != ENOENT) return os_error(answer, call);
    const std::uint64_t bytes = answer == 0 ? found.size_bytes : 0;
    // A reader must learn of a lost object that the root knows of.
    if (bytes < kStripeBytes) return std::max(entry.size_bytes, stripe * kStripeBytes + bytes);
  }
}

}  // namespace varve::io
