// Owns: the steps of a takeover, in their order (rados_root.h).
// Must never: touch anything of an owner whose lease is fresh, or answer before that lease has lapsed.
#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/posix/posix_handle.h"
#include "io/rados/rados_root.h"

namespace varve::io {

/// The owner of a root, as the root names it: "PROCESS CLIENT DRAW", or nothing after a clean end.
struct RadosRoot::Claim {
  std::uint64_t epoch = 0;
  std::string owner;
  FormerOwners formers;  // before this one
  /// The last renewal that was seen of the owner's lease.
  std::string renewal;

  std::string process() const { return owner.substr(0, owner.find(' ')); }
  std::string client() const {
    const std::size_t begin = owner.find(' ');
    const std::size_t end = owner.rfind(' ');
    return begin == std::string::npos || begin == end ? "" : owner.substr(begin + 1, end - begin - 1);
  }
};

namespace {

/// How often a lease is looked at while it is waited out.
constexpr std::chrono::milliseconds kLookEvery{100};

/// Returns the last renewal of a lease. It is empty if the lease is gone.
Result<std::string> renewal_of(RadosProcess& process, const std::string& owner) {
  ObjectLook lease;
  const std::string object = lease_object(owner);
  const ObjectAnswer answer = process.door().look(object, lease);
  if (answer == ENOENT) return std::string();
  if (answer != 0) return os_error(answer, {"look at the lease", object});
  return lease.attributes["renewal"];
}

/// The attribute of the root that has former_owners_text().
constexpr const char* kFormersAttribute = "formers";

/// Returns the ids among the entries of a root of which these owners may still make an object.
std::set<std::string, std::less<>> ids_that_may_come(const TextMap& entries, const FormerOwners& owners) {
  std::set<std::string, std::less<>> ids;
  for (const auto& [key, text] : entries) {
    std::string id;
    if (key.starts_with(kNamelessPrefix)) {
      id = key.substr(kNamelessPrefix.size());
    } else if (const Result<FileEntry> entry = parse_entry(text); entry.ok() && entry->is_open()) {
      id = entry->id();
    }
    if (owners.contains(epoch_of(id))) ids.insert(std::move(id));
  }
  return ids;
}

}  // namespace

Status RadosRoot::take(std::chrono::milliseconds wait_max) {
  if (!process_->owner().is_this_process()) return HandleGuard::refuse_fork("lock", path_);
  const std::chrono::nanoseconds begin = process_->clock().since_boot();
  const std::chrono::milliseconds whole = std::max(wait_max, process_->options().owner_wait);
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(process_->clock().since_boot() - begin);
    Status taken = take_once(std::max(whole - passed, std::chrono::milliseconds(0)));
    // One of two standbys comes first. The other one waits for the end of that.
    if (taken.code() != Code::kLocked || process_->clock().since_boot() - begin >= process_->options().owner_wait) {
      return taken;
    }
    process_->rest(kLookEvery);
  }
}

Status RadosRoot::take_once(std::chrono::milliseconds wait_max) {
  if (!process_->begin_owning(name_, wait_max)) return lock_failure();
  Status taken;
  try {
    taken = take_owned(wait_max);
  } catch (const std::bad_alloc&) {
    taken = Status::out_of_memory();
  }
  may_answer_.store(taken.ok(), std::memory_order_release);
  if (!taken.ok()) {
    {
      const MutexGuard guard(mutex_);
      const MutexGuard naming(naming_);
      files_.reset();
      epoch_.store(0, std::memory_order_release);
    }
    process_->end_owning(name_);
  }
  return taken;
}

/// The client of the owner has the address of its machine. It is empty if it is not known.
Status RadosRoot::lock_failure(std::string_view client) const {
  const FailedCall call{"lock", path_};
  if (client.empty()) {
    return call_error(Code::kLocked, call, {"another process, or another handle in this process, has it open"});
  }
  return call_error(Code::kLocked, call, {"another process has it open, the client ", client, " of the cluster"});
}

Result<RadosRoot::Claim> RadosRoot::look_at_root() {
  ObjectLook root;
  const ObjectAnswer answer = process_->door().look(root_object(name_), root);
  if (answer == ENOENT) return root_lost({"lock", path_});
  if (answer != 0) return os_error(answer, {"lock", path_});
  if (Status known = check_root(name_, path_, root); !known.ok()) return known;
  if (root.attributes["id"] != store_) {
    return call_error(Code::kFenced, {"lock", path_}, {"the store was removed and made again"});
  }
  const Result<std::uint64_t> epoch = parse_number(root.attributes["epoch"]);
  if (!epoch.ok()) return epoch.status();
  Result<FormerOwners> formers = parse_former_owners(root.attributes[kFormersAttribute]);
  if (!formers.ok()) return Status(formers.status()).in_file(path_);
  return Claim{*epoch, root.attributes["owner"], *std::move(formers), ""};
}

Status RadosRoot::take_owned(std::chrono::milliseconds wait_max) {
  Result<Claim> former = look_at_root();
  if (!former.ok()) return former.status();
  const auto is_foreign = [&] { return !former->owner.empty() && former->process() != process_->id(); };
  if (is_foreign() && process_->options().takeover_wait) {
    const Claim first = *former;
    if (Status lapsed = await_lapse(first, wait_max, *former); !lapsed.ok()) return lapsed;
  }
  if (Status leased = process_->start_lease(); !leased.ok()) return leased;
  if (process_->is_fenced()) return fenced({"lock", path_});
  if (question_ == nullptr) {
    auto question =
        std::make_unique<OwnerQuestion>(process_->scheduler(), process_->clock(), [this] { return confirm(); });
    if (Status started = question->start(); !started.ok()) return started;
    question_ = std::move(question);
  }

  const std::string owner = process_->id() + " " + process_->door().client() + " " + process_->draw_id();
  const bool was_foreign = is_foreign();
  if (was_foreign) {
    // While the root still names the former owner. If this process died first, no later owner would know of that one.
    if (Status ended = end_lease(*former, owner); !ended.ok()) return ended;
  }
  const std::uint64_t epoch = former->epoch + 1;
  ObjectChange surrender;  // made before the root changes, since it may be needed for lack of memory
  surrender.object = root_object(name_);
  surrender.epoch = epoch;
  surrender.expected_attributes = {{"id", store_}, {"epoch", std::to_string(epoch)}, {"owner", owner}};
  surrender.attributes["owner"] = "";
  if (Status taken = take_raised(*former, owner, was_foreign); !taken.ok()) {
    // The root may name this process, which answered nothing. No later owner must wait for its lease.
    if (taken.code() != Code::kLocked && taken.code() != Code::kFenced) (void)process_->door().change(surrender);
    return taken;
  }
  process_->note_taken(name_, epoch, was_foreign);
  return Status();
}

/// Takes what the root leads to. After an error, the root may name this process.
Status RadosRoot::take_raised(const Claim& former, const std::string& owner, bool was_foreign) try {
  Result<FormerOwners> formers = formers_after(former, was_foreign);
  if (!formers.ok()) return formers.status();
  if (Status raised = raise_epoch(former, owner, *formers); !raised.ok()) return raised;
  epoch_.store(former.epoch + 1, std::memory_order_release);
  is_fenced_.store(false, std::memory_order_release);
  is_root_lost_.store(false, std::memory_order_release);
  {
    const MutexGuard guard(mutex_);
    formers_ = *std::move(formers);
    waiting_.clear();  // They have keys in the root.
    may_come_.clear();
  }
  // This hurries the end of the former owner. The epochs alone suffice.
  if (was_foreign) (void)process_->door().blocklist(former.client());
  return take_directory();
} catch (const std::bad_alloc&) {
  return Status::out_of_memory();
}

/// Returns Ok when the former owner's lease has not been renewed for T and a tenth, or when it let go. `now` is then
/// the root's present claim.
Status RadosRoot::await_lapse(const Claim& former, std::chrono::milliseconds wait_max, Claim& now) {
  const std::chrono::nanoseconds begin = process_->clock().since_boot();
  Result<std::string> seen = renewal_of(*process_, former.process());
  if (!seen.ok()) return seen.status();
  std::chrono::nanoseconds since = process_->clock().since_boot();  // The renewal was sent before.
  for (;;) {
    Result<Claim> claim = look_at_root();
    if (!claim.ok()) return claim.status();
    if (claim->owner.empty()) {
      now = *std::move(claim);
      return Status();
    }
    if (claim->owner != former.owner) return lock_failure(claim->client());  // Another owner came first.
    now = *std::move(claim);
    now.renewal = *seen;
    const std::chrono::nanoseconds time = process_->clock().since_boot();
    // Only its own process, at its end, or a process that saw it lapse removes a lease.
    if (seen->empty() || time - since >= process_->options().lapse_time()) return Status();
    process_->rest(kLookEvery);
    Result<std::string> renewal = renewal_of(*process_, former.process());
    if (!renewal.ok()) return renewal.status();
    if (*renewal == *seen) continue;
    seen = *std::move(renewal);
    since = process_->clock().since_boot();
    if (!seen->empty() && since - begin >= wait_max) return lock_failure(former.client());
  }
}

/// Returns the former owners of the epoch that follows. Those that can make nothing that the root names are left out.
Result<FormerOwners> RadosRoot::formers_after(const Claim& former, bool was_foreign) {
  FormerOwners formers = former.formers;
  if (!formers.empty()) {
    // No later entry has an id of theirs, so that an early look suffices.
    const Result<TextMap> entries = read_entries();
    if (!entries.ok()) return entries.status();
    std::set<std::uint64_t> epochs;
    for (const std::string& id : ids_that_may_come(*entries, formers)) epochs.insert(epoch_of(id));
    std::erase_if(formers, [&](const auto& owner) { return !epochs.contains(owner.first); });
  }
  if (std::string client = former.client(); was_foreign && !client.empty()) formers[former.epoch] = std::move(client);
  return formers;
}

Status RadosRoot::raise_epoch(const Claim& former, const std::string& owner, const FormerOwners& formers) {
  ObjectChange raising;
  raising.object = root_object(name_);
  raising.epoch = former.epoch + 1;
  raising.expected_attributes = {{"id", store_}, {"epoch", std::to_string(former.epoch)}};
  raising.attributes = {{"epoch", std::to_string(former.epoch + 1)}, {"owner", owner}};
  if (formers != former.formers) raising.attributes[kFormersAttribute] = former_owners_text(formers);
  const ObjectAnswer raised = process_->door().change(raising);
  if (raised == 0) return Status();
  if (raised != ECANCELED && raised != kStaleEpoch) return os_error(raised, {"lock", path_});
  // A change that was sent again finds its own effect.
  const Result<Claim> now = look_at_root();
  if (!now.ok()) return now.status();
  return now->owner == owner ? Status() : lock_failure(now->client());
}

/// Ends the whole process of an owner that did not let go, so that it answers nothing from memory again (S8). A lease that has
/// lapsed is removed. Others that watch for its lapse take one that is gone for lapsed. So a process that did not wait only
/// ends the lease, and removes it when it has lapsed. Errors: kLocked (the lease was renewed since it lapsed: the owner lives).
Status RadosRoot::end_lease(const Claim& former, const std::string& owner) {
  const bool has_lapsed = process_->options().takeover_wait;
  ObjectChange ending;
  ending.object = lease_object(former.process());
  ending.epoch = kLeaseEndEpoch;
  ending.removes = has_lapsed;
  if (has_lapsed) {
    ending.expected_attributes["renewal"] = former.renewal;
  } else {
    ending.attributes["ended"] = owner;
  }
  const ObjectAnswer ended = process_->door().change(ending);
  if (ended == ECANCELED) return lock_failure();
  if (ended == 0 && !has_lapsed) process_->remove_lapsed(ending.object);
  return ended == 0 || ended == ENOENT ? Status() : os_error(ended, {"end the lease", ending.object});
}

Status RadosRoot::take_directory() {
  const Result<TextMap> entries = read_entries();
  if (!entries.ok()) return entries.status();
  FileMap files;
  std::vector<std::pair<std::string, std::uint64_t>> nameless;
  for (const auto& [key, text] : *entries) {
    if (key.starts_with(kFilePrefix)) {
      const Result<FileEntry> entry = parse_entry(text);
      if (!entry.ok()) return Status(entry.status()).in_file(path_);
      files.emplace(key.substr(kFilePrefix.size()), *entry);
    } else if (key.starts_with(kNamelessPrefix)) {
      const Result<std::uint64_t> stripes = parse_number(text);
      if (!stripes.ok()) return Status(stripes.status()).in_file(path_);
      nameless.emplace_back(key.substr(kNamelessPrefix.size()), *stripes);
    } else {
      return Status::unsupported("the root has the key " + key +
                                 ", which this build does not know; open it with a later build")
          .in_file(path_);
    }
  }
  for (const auto& [name, entry] : files) {
    if (!entry.is_open()) continue;
    if (Status sealed = seal(entry); !sealed.ok()) return sealed;
  }
  {
    const MutexGuard guard(mutex_);
    may_come_ = ids_that_may_come(*entries, formers_);
    failure_ = Status();
    const MutexGuard naming(naming_);
    files_ = std::move(files);
  }
  for (const auto& [id, stripes] : nameless) {
    if (Status removed = remove_nameless(id, stripes, {"lock", path_}); !removed.ok()) return removed;
  }
  return Status();
}

/// Refuses each later write of the file's former owner. A growing file also gets one sealed, empty object after its
/// last one, so that its owner cannot make that object. An object after that one has no reader, and is removed with the
/// file. The objects that the root knows of were answered before it did. If one of them is missing, the cluster has lost it:
/// it is not made again, so that its reader learns of the loss. Its former owner makes it no more either.
Status RadosRoot::seal(const FileEntry& entry) {
  const std::uint64_t known_objects = entry.object_count();
  for (std::uint64_t stripe = 0;; ++stripe) {
    const bool was_made = stripe < known_objects;
    const Result<bool> has_bytes = seal_stripe(stripe_object(store_, entry.id(), stripe), was_made);
    if (!has_bytes.ok()) return has_bytes.status();
    if (entry.is_segment() || (!was_made && !*has_bytes)) return Status();
  }
}

/// Returns whether the object has bytes, if it is not one that was made for sure. An object that was never made is made. A full
/// pool refuses that alone, and only if the object's disk is past its last reserve.
Result<bool> RadosRoot::seal_stripe(const std::string& object, bool was_made) {
  const FailedCall call{"seal", object};
  ObjectChange sealing;
  sealing.object = object;
  sealing.epoch = epoch();
  sealing.attributes["sealed"] = std::to_string(epoch());
  ObjectAnswer sealed = process_->door().change(sealing);
  if (sealed == ENOENT && was_made) return false;
  bool is_new = false;
  if (sealed == ENOENT) {
    sealing.presence = ObjectChange::Presence::kMustBeAbsent;
    sealed = make_in_reserve(process_->door(), sealing);  // A full pool must not keep a new owner out.
    is_new = sealed == 0;
    if (sealed == EEXIST) {
      // The former owner's change came first, or this one was sent twice.
      sealing.presence = ObjectChange::Presence::kMustExist;
      sealed = process_->door().change(sealing);
    }
  }
  if (sealed == kStaleEpoch || sealed == ESHUTDOWN) {
    note_fenced();
    return fenced(call);
  }
  if (sealed != 0) return os_error(sealed, call);
  if (is_new || was_made) return !is_new;
  ObjectLook found;
  if (const ObjectAnswer look = process_->door().look(object, found); look != 0) return os_error(look, call);
  return found.size_bytes > 0;
}

void RadosRoot::let_go() noexcept {
  if (!process_->owner().is_this_process() || epoch() == 0) return;
  may_answer_.store(false, std::memory_order_release);  // before the next owner can answer
  {
    const MutexGuard guard(mutex_);
    try {
      ObjectChange ending;
      ending.attributes["owner"] = "";
      (void)change_root(std::move(ending), {"unlock", path_});
    } catch (const std::bad_alloc&) {
      // As after any other failure, the next owner waits the lease out.
    }
    const MutexGuard naming(naming_);
    files_.reset();
    epoch_.store(0, std::memory_order_release);
  }
  process_->end_owning(name_);
}

}  // namespace varve::io
