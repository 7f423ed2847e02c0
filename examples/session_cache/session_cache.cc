// SPDX-License-Identifier: Apache-2.0
// Owns: a cache of sessions by id, which expire, with an index by the time of expiry.
// Must never: leave a session without its index row, or an index row without its session.
//
// The table Sessions has one partition for each session, so that sessions do not wait for each other. The table Expiry
// is the index: one partition for each minute in which sessions expire, and one row for each session. One transaction
// writes both tables.
//
// The store is buffered. If this process dies, nothing is lost. A power cut can lose the commits of about the last 10
// ms: a few users must log in again. It loses the newest commits only, and never half a commit.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <varve/if_exists.h>
#include <varve/keys.h>
#include <varve/query_builder.h>
#include <varve/store.h>

namespace {

using namespace varve;

constexpr std::string_view kUsage =
    "usage: session_cache DIRECTORY create ID USER SECONDS\n"
    "       session_cache DIRECTORY touch ID SECONDS\n"
    "       session_cache DIRECTORY get ID\n"
    "       session_cache DIRECTORY sweep\n";
constexpr std::string_view kAccount = "example";
constexpr std::uint64_t kTicksPerSecond = 10'000'000;

struct Cache {
  Store& store;
  Table sessions;
  Table expiry;
};

/// Returns the time on the wall clock. A DateTime counts ticks of 100 ns from year 1, the clock from 1970.
DateTime now() {
  constexpr std::uint64_t kTicksTo1970 = 621'355'968'000'000'000;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  return {kTicksTo1970 + static_cast<std::uint64_t>(nanoseconds) / 100};
}

DateTime after(DateTime time, std::uint64_t seconds) {
  return {time.ticks + seconds * kTicksPerSecond};
}

/// Returns the partition of the index for sessions that expire at this time.
std::string minute_of(DateTime expires) {
  return ascending_ticks({expires.ticks - expires.ticks % (60 * kTicksPerSecond)});
}

Entity index_row(DateTime expires, const std::string& id) {
  return Entity(minute_of(expires), id).set("Expires", expires);
}

Status create(const Cache& cache, const std::string& id, const std::string& user, DateTime expires) {
  const auto body = [&](StoreTransaction& transaction) -> Status {
    transaction.insert(cache.sessions, Entity(id, "").set("User", user).set("Expires", expires));
    transaction.insert(cache.expiry, index_row(expires, id));
    return {};
  };
  return cache.store.transact(body).status();
}

/// Moves the expiry of a session. The merge keeps all other properties. Its condition is the ETag that was read: if
/// another writer changed the session meanwhile, transact() runs the body again with the new state.
Status touch(const Cache& cache, const std::string& id, DateTime at, DateTime expires) {
  const auto body = [&](StoreTransaction& transaction) -> Status {
    const Result<std::optional<Entity>> session = transaction.get(cache.sessions, id, "");
    if (!session.ok()) return session.status();
    if (!session->has_value()) return Status::not_found("no such session");
    const Result<DateTime> old = (*session)->get<DateTime>("Expires");
    if (!old.ok()) return old.status();
    if (*old <= at) return Status::not_found("the session has expired");
    transaction.merge(cache.sessions, Entity(id, "").set("Expires", expires), (*session)->etag());
    // One transaction writes each entity at most once, so a row that keeps its key is replaced.
    if (minute_of(*old) != minute_of(expires)) transaction.remove(cache.expiry, minute_of(*old), id, ETag::any());
    transaction.insert_or_replace(cache.expiry, index_row(expires, id));
    return {};
  };
  return cache.store.transact(body).status();
}

/// Prints the session, unless it has expired: a session ends at its time, not at the next sweep.
Status print(const Cache& cache, const std::string& id, DateTime at) {
  const Result<std::optional<Entity>> session = cache.sessions.get(id, "");
  if (!session.ok()) return session.status();
  if (!session->has_value()) return Status::not_found("no such session");
  const Result<std::string> user = (*session)->get<std::string>("User");
  const Result<DateTime> expires = (*session)->get<DateTime>("Expires");
  if (!user.ok()) return user.status();
  if (!expires.ok()) return expires.status();
  if (*expires <= at) return Status::not_found("the session has expired");
  std::cout << *user << ", expires in " << (expires->ticks - at.ticks) / kTicksPerSecond << " s\n";
  return {};
}

/// Deletes a session with its index row, unless the row changed since the scan: then the session was touched or
/// deleted. get() guards the row, so a touch between get() and the commit makes transact() begin again.
Result<bool> delete_expired(const Cache& cache, const Entity& row) {
  bool is_same = false;
  const auto body = [&](StoreTransaction& transaction) -> Status {
    const Result<std::optional<Entity>> current = transaction.get(cache.expiry, row.partition_key(), row.row_key());
    if (!current.ok()) return current.status();
    is_same = current->has_value() && (*current)->etag() == row.etag();
    if (!is_same) return {};
    transaction.remove(cache.expiry, row.partition_key(), row.row_key(), row.etag());
    transaction.remove(cache.sessions, row.row_key(), "", ETag::any());
    return {};
  };
  const Status done = cache.store.transact(body).status();
  if (!done.ok()) return done;
  return is_same;
}

/// Reads the partitions of all minutes up to now. The filter leaves out the sessions of this minute that still live.
Status sweep(const Cache& cache, DateTime at) {
  Query<> query;
  query.in(ScanRange::partitions("", minute_of(after(at, 60)))).where(field("Expires") <= at);
  std::uint64_t swept = 0;
  auto rows = query.run(cache.expiry);
  for (auto& row : rows) {
    if (!row.ok()) return row.status();
    const Result<bool> deleted = delete_expired(cache, *row);
    if (!deleted.ok()) return deleted.status();
    swept += *deleted ? 1 : 0;
  }
  std::cout << "swept " << swept << " expired sessions\n";
  return {};
}

Result<DateTime> expiry_from(std::string_view text, DateTime at) {
  constexpr std::uint64_t kYear = 366 * 86'400;
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool valid = error == std::errc() && end == text.data() + text.size() && seconds <= kYear;
  if (!valid) return Status::invalid_argument("SECONDS must be 0 to 31622400");
  return after(at, seconds);
}

/// Returns Ok, or the reason why the command failed. `arguments` are those after DIRECTORY.
Status run(Store& store, const std::vector<std::string>& arguments) {
  if (Status made = create_account_if_absent(store, kAccount); !made.ok()) return made;
  const Result<Table> sessions = create_table_if_absent(store, kAccount, "Sessions");
  if (!sessions.ok()) return sessions.status();
  const Result<Table> expiry = create_table_if_absent(store, kAccount, "Expiry");
  if (!expiry.ok()) return expiry.status();
  const Cache cache{store, *sessions, *expiry};
  const DateTime at = now();
  if (arguments[0] == "sweep" && arguments.size() == 1) return sweep(cache, at);
  if (arguments.size() < 2)
    return Status::invalid_argument("unknown command; run the program without arguments for help");
  const Result<std::string> id = escape_key(arguments[1]);
  if (!id.ok()) return id.status();
  if (arguments[0] == "get" && arguments.size() == 2) return print(cache, *id, at);
  const bool creates = arguments[0] == "create" && arguments.size() == 4;
  const bool touches = arguments[0] == "touch" && arguments.size() == 3;
  if (!creates && !touches)
    return Status::invalid_argument("unknown command; run the program without arguments for help");
  const Result<DateTime> expires = expiry_from(arguments.back(), at);
  if (!expires.ok()) return expires.status();
  const Status done = creates ? create(cache, *id, arguments[2], *expires) : touch(cache, *id, at, *expires);
  if (done.ok()) std::cout << (creates ? "created " : "touched ") << arguments[1] << "\n";
  return done;
}

/// Returns the exit code: 0 done, 1 failed, 2 invalid arguments, 3 no such session or it exists, 4 unknown outcome.
int report(const Status& status) {
  if (status.ok()) return 0;
  std::cerr << "session_cache: " << status.to_string() << "\n";
  if (status.code() == Code::kInvalidArgument) return 2;
  if (status.code() == Code::kNotFound || status.code() == Code::kExists) return 3;
  return status.code() == Code::kUnknown ? 4 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::cerr << kUsage;
    return 2;
  }
  // The store keeps its durability: a later open must ask for the same one, or for none.
  Result<std::unique_ptr<Store>> store =
      Store::open(arguments[0], {.create_if_absent = true, .default_durability = Durability::kBuffered});
  if (!store.ok()) return report(store.status());
  const int code = report(run(**store, {arguments.begin() + 1, arguments.end()}));
  const int closed = report((*store)->close());
  return code != 0 ? code : closed;
}
