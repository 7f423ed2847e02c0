// Owns: making and finding roots, and what it means that a root or an object is not as expected (rados_root.h).
// Must never: change a root that exists.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/rados/rados_root.h"

namespace varve::io {

namespace {

constexpr const char* kRootFormat = "1";

Status object_lost(std::string_view object, const FailedCall& call) {
  return call_error(Code::kCorruption, call, {"the cluster has lost the object ", object});
}

/// Returns the status of a call of Store::open().
Status failed_opening(ObjectAnswer answer, const FailedCall& call) {
  if (answer != ESHUTDOWN) return os_error(answer, call);
  return call_error(Code::kFenced, call,
                    {"the cluster refuses this connection, because another process has taken a store over from it; "
                     "open another connection"});
}

}  // namespace

Status RadosRoot::check_root(std::string_view name, std::string_view path, const ObjectLook& root) {
  const auto format = root.attributes.find("format");
  if (format == root.attributes.end()) {
    return Status::unsupported("the object " + root_object(name) + " is no root of a store")
        .in_file(path)
        .with_hint("give the store another name");
  }
  if (format->second == kRootFormat) return Status();
  return Status::unsupported("the root has format " + format->second + ", and this build knows format " + kRootFormat +
                             "; open it with a later build")
      .in_file(path);
}

Status RadosRoot::make(RadosProcess& process, std::string_view path, std::string_view name) {
  ObjectChange making;
  making.object = root_object(name);
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.attributes = {{"format", kRootFormat}, {"id", process.draw_id()}, {"epoch", "0"}, {"owner", ""}};
  const ObjectAnswer made = process.door().change(making);
  // An owner of the root has raised its epoch above that of its making.
  const bool is_there = made == 0 || made == EEXIST || made == kStaleEpoch;
  return is_there ? Status() : failed_opening(made, {"make the root", path});
}

Result<std::shared_ptr<RadosRoot>> RadosRoot::find(std::shared_ptr<RadosProcess> process, std::string_view path,
                                                   std::string_view name) {
  ObjectLook root;
  const FailedCall call{"open", path};
  const ObjectAnswer answer = process->door().look(root_object(name), root);
  if (answer != 0) return failed_opening(answer, call);
  if (Status known = check_root(name, path, root); !known.ok()) return known;
  return std::make_shared<RadosRoot>(std::move(process), path, name, root.attributes["id"]);
}

/// No later owner removes a root. No open would find later changes. The content can be read out.
Status RadosRoot::root_lost(const FailedCall& call) const {
  is_root_lost_.store(true, std::memory_order_release);
  return call_error(Code::kCorruption, call,
                    {"the cluster has lost the object ", root_object(name_),
                     ", or the store was removed; while a process has it open, its data can be read out"});
}

bool RadosRoot::is_named(std::string_view object) {
  const MutexGuard guard(naming_);
  const auto has_object = [&](const auto& named) { return object.starts_with(store_ + "/" + named.second.id() + "."); };
  return files_.has_value() && std::any_of(files_->begin(), files_->end(), has_object);
}

Status RadosRoot::missing(std::string_view object, std::chrono::milliseconds patience, const FailedCall& call) {
  if (epoch() == 0) return os_error(ENOENT, call);
  if (Status owned = check(call); !owned.ok()) return owned;
  // A read with a patience lets another thread ask, which may wait for longer.
  Status owned = patience.count() == 0 ? confirm() : question_->ask(patience);
  if (!owned.ok()) return owned;
  return is_named(object) ? object_lost(object, call) : os_error(ENOENT, call);
}

Status RadosRoot::shut_out(const FailedCall& call) const noexcept {
  if (epoch() != 0) note_fenced();
  return fenced(call);
}

/// Returns the status of a change whose object is missing. Errors: kFenced (a later owner has the root, or this owner removed
/// the file), kCorruption (the cluster has lost the object).
Status RadosRoot::lost(const std::string& object, const FailedCall& call) {
  if (Status owned = confirm(); !owned.ok()) return owned;
  if (is_named(object)) return object_lost(object, call);
  return call_error(Code::kFenced, call, {"the object was removed"});
}

}  // namespace varve::io
