// Owns: the check of a pool before a store uses it: does it refuse what it must refuse?
// Must never: touch an object of a store.
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "io/os_error.h"
#include "io/rados/librados_connection.h"
#include "io/rados/librados_door.h"
#include "io/rados/rados_names.h"

namespace varve::io {

namespace {

/// Made in a pool after its snapshots have become the clients' own, and after it took a large object. Both are done once for
/// a pool.
constexpr const char* kSnapshotsObject = "check/snapshots";

/// A log segment is one object of at most this size.
constexpr std::uint64_t kObjectBytesNeeded = std::uint64_t{64} << 20;

Status unfit(std::string_view pool, std::string_view what) {
  std::string text("the pool ");
  text.append(pool).append(" cannot hold a store: ").append(what);
  return Status::unsupported(text).with_hint(
      "a pool that can: ceph osd pool create NAME replicated, and ceph osd pool set NAME min_size 2");
}

/// Returns the number after "NAME": in a JSON text.
std::optional<std::uint64_t> number_in(std::string_view text, std::string_view name) {
  const std::string mark = "\"" + std::string(name) + "\":";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + mark.size());
  const Result<std::uint64_t> number = parse_number(text.substr(0, text.find_first_not_of("0123456789")));
  return number.ok() ? std::optional<std::uint64_t>(*number) : std::nullopt;
}

}  // namespace

/// A change that was acknowledged by one copy alone is lost with it.
Status check_copies(const LibradosConnection& connection) {
  std::uint64_t copies[2] = {};
  constexpr const char* kNames[2] = {"size", "min_size"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Result<std::string> answer =
        connection.ask_monitors(R"({"prefix":"osd pool get","format":"json","pool":")" + connection.pool() +
                                R"(","var":")" + kNames[i] + R"("})");
    if (!answer.ok()) return answer.status();
    const std::optional<std::uint64_t> number = number_in(*answer, kNames[i]);
    if (!number.has_value()) return unfit(connection.pool(), "the monitors do not say how many copies it keeps");
    copies[i] = *number;
  }
  if (copies[0] < 2 || copies[1] >= 2) return Status();
  return unfit(connection.pool(), "it acknowledges changes that one copy alone has (min_size 1)")
      .with_hint("ceph osd pool set " + connection.pool() + " min_size 2");
}

namespace {

Status erasure_coded(std::string_view pool) {
  return unfit(pool, "it is erasure-coded; use a replicated pool");
}

}  // namespace

Status check_object_size(ObjectDoor& door, std::string_view pool) {
  const std::byte last{1};
  ObjectChange making;
  making.object = "check/" + door.client() + "/large";
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.offset = kObjectBytesNeeded - 1;  // No bytes are kept for the gap.
  making.bytes = {&last, 1};
  const ObjectAnswer made = door.change(making);
  if (made == EFBIG) {
    return unfit(pool, "its objects must be smaller than the 64 MiB of a log segment")
        .with_hint("ceph config set osd osd_max_object_size 134217728");
  }
  if (made == EOPNOTSUPP) return erasure_coded(pool);  // Such a pool takes no write at an offset.
  if (made != 0 && made != EEXIST) return os_error(made, {"check the pool", pool});
  ObjectChange removal;
  removal.object = making.object;
  removal.removes = true;
  const ObjectAnswer removed = door.change(removal);
  return removed == 0 || removed == ENOENT ? Status() : os_error(removed, {"check the pool", pool});
}

namespace {

/// A snapshot of the whole pool would put its own number in the place of the epochs.
Status end_pool_snapshots(const LibradosConnection& connection, ObjectDoor& door, const Status& lacks) {
  ObjectLook found;
  const ObjectAnswer look = door.look(kSnapshotsObject, found);
  if (look == 0) return Status();
  if (look == EACCES || look == EPERM) return lacks;
  if (look != ENOENT) return os_error(look, {"check the pool", connection.pool()});
  const int begun = -connection.begin_own_snapshots();
  if (begun == EINVAL) return unfit(connection.pool(), "it has snapshots of the whole pool; use a pool without them");
  if (begun == EACCES || begun == EPERM) return lacks;
  if (begun != 0) return os_error(begun, {"check the pool", connection.pool()});
  if (Status large = check_object_size(door, connection.pool()); !large.ok()) return large;
  ObjectChange note;
  note.object = kSnapshotsObject;
  note.presence = ObjectChange::Presence::kMustBeAbsent;
  note.attributes["begun"] = "1";
  const ObjectAnswer noted = door.change(note);
  if (noted == EACCES || noted == EPERM) return lacks;
  return noted == 0 || noted == EEXIST ? Status() : os_error(noted, {"check the pool", connection.pool()});
}

}  // namespace

Status check_fence(ObjectDoor& door, std::string_view pool, const Status& lacks) {
  ObjectChange making;
  making.object = "check/" + door.client();
  making.epoch = 2;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.attributes["checked"] = "1";
  making.entries["checked"] = "1";
  const ObjectAnswer made = make_in_reserve(door, making);  // A full pool must not keep a new owner out.
  if (made == EACCES || made == EPERM) return lacks;
  if (made == EOPNOTSUPP) return erasure_coded(pool);
  if (made != 0 && made != EEXIST) return os_error(made, {"check the pool", pool});

  ObjectChange old;
  old.object = making.object;
  old.epoch = 1;
  old.attributes["checked"] = "2";
  const ObjectAnswer refused = door.change(old);
  ObjectChange removal;
  removal.object = making.object;
  removal.epoch = 2;
  removal.removes = true;
  const ObjectAnswer removed = door.change(removal);
  if (removed != 0 && removed != ENOENT) return os_error(removed, {"check the pool", pool});
  const ObjectAnswer absent = door.change(old);
  if (refused == kStaleEpoch && absent == ENOENT) return Status();
  return unfit(pool, "it accepts changes of a former owner");
}

Result<std::unique_ptr<ObjectDoor>> connect_to_pool(std::string_view pool) {
  Result<std::unique_ptr<LibradosConnection>> connection = LibradosConnection::open(pool);
  if (!connection.ok()) return connection.status();
  const LibradosConnection& connected = **connection;
  const Status lacks = lacks_right(connected.user(), connected.pool(), "read and write objects");
  if (Status checked = check_copies(connected); !checked.ok()) return checked;
  std::unique_ptr<ObjectDoor> door = make_librados_door(*std::move(connection));
  if (Status checked = end_pool_snapshots(connected, *door, lacks); !checked.ok()) return checked;
  if (Status checked = check_fence(*door, connected.pool(), lacks); !checked.ok()) return checked;
  return door;
}

}  // namespace varve::io
