// Owns: the removal of objects that no name leads to, now or when no former owner can make them anew (rados_root.h).
// Must never: hold the mutex of the root while another object than the root is asked.
#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/rados/rados_root.h"

namespace varve::io {

/// Returns whether a change that a former owner sent may still arrive, and make an object of this id. If this process may
/// not blocklist that owner, its objects wait for the next owner, and no longer.
bool RadosRoot::may_be_made_anew(std::string_view id) {
  if (may_come_.find(id) == may_come_.end()) return false;
  const auto former = formers_.find(epoch_of(id));
  if (former == formers_.end()) return false;
  const ObjectAnswer blocked = process_->door().blocklist(former->second);
  const bool is_last = former->first + 1 == epoch();
  if (blocked == EINPROGRESS || (blocked != 0 && is_last)) return true;
  std::erase_if(may_come_, [&](const std::string& other) { return epoch_of(other) == former->first; });
  formers_.erase(former);
  return false;
}

Status RadosRoot::remove_nameless(const std::string& id, std::uint64_t stripes, const FailedCall& call) {
  std::vector<Nameless> removable;
  {
    const MutexGuard guard(mutex_);
    if (may_be_made_anew(id)) {
      waiting_.emplace_back(id, stripes);
      return Status();
    }
    removable = take_removable();
  }
  removable.emplace_back(id, stripes);
  for (const auto& [its_id, its_stripes] : removable) {
    if (Status removed = forget(its_id, its_stripes, call); !removed.ok()) return removed;
  }
  return Status();
}

/// Returns those that waited and need not any more, because their former owners are blocklisted by now.
std::vector<RadosRoot::Nameless> RadosRoot::take_removable() {
  std::vector<Nameless> removable;
  std::set<std::uint64_t> awaited;  // the owners that are not
  for (Nameless& waited : std::exchange(waiting_, {})) {
    const std::uint64_t owner = epoch_of(waited.first);
    const bool waits = awaited.contains(owner) || may_be_made_anew(waited.first);
    if (waits) awaited.insert(owner);
    (waits ? waiting_ : removable).push_back(std::move(waited));
  }
  return removable;
}

/// Objects that stay have a key in the root, by which the next owner removes them.
Status RadosRoot::forget(const std::string& id, std::uint64_t stripes, const FailedCall& call) {
  if (Status removed = remove_objects(id, stripes); !removed.ok()) {
    return removed.code() == Code::kFenced ? removed : Status();
  }
  ObjectChange forgetting;
  forgetting.entries_removed.push_back(nameless_key(id));
  const MutexGuard guard(mutex_);
  return change_root(std::move(forgetting), call);
}

/// Returns the number after that of the last object. A former owner may have made more objects than the entry says. A file
/// that was synced, so that its entry has a size, grows by one object at a time.
Result<std::uint64_t> RadosRoot::end_of_objects(const std::string& id, std::uint64_t stripes) {
  const std::uint64_t missing_max = stripes == 0 ? kStripesInFlight : 1;
  std::uint64_t end = stripes;
  for (std::uint64_t stripe = stripes; stripe < end + missing_max; ++stripe) {
    const std::string object = stripe_object(store_, id, stripe);
    ObjectLook found;
    const ObjectAnswer look = process_->door().look(object, found);
    if (look != 0 && look != ENOENT) return os_error(look, {"look for the object", object});
    if (look == 0) end = stripe + 1;
  }
  return end;
}

/// Removes the last object first, so that the rule of end_of_objects() finds the others if this owner dies.
Status RadosRoot::remove_objects(const std::string& id, std::uint64_t stripes) {
  const Result<std::uint64_t> end = end_of_objects(id, stripes);
  if (!end.ok()) return end.status();
  for (std::uint64_t left = *end; left > 0; --left) {
    ObjectChange removing;
    removing.object = stripe_object(store_, id, left - 1);
    removing.removes = true;
    const FailedCall call{"remove the object", removing.object};
    if (Status begun = begin(removing, call); !begun.ok()) return begun;
    const ObjectAnswer removed = process_->door().change(removing);
    if (removed == kStaleEpoch || removed == ESHUTDOWN) {
      note_fenced();
      return fenced(call);
    }
    if (removed != 0 && removed != ENOENT) return os_error(removed, call);
  }
  return Status();
}

}  // namespace varve::io
