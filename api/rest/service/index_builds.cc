#include "api/rest/service/index_builds.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/async.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// The most failed builds that are remembered.
constexpr std::size_t kFailuresMax = 64;

std::string prefix_of_table(std::string_view account, std::string_view table) {
  return std::string(account).append("/").append(lower_case(table)).append("/");
}

/// The longest wait between two attempts at a build that is left, in times of the first one.
constexpr int kBusyWaitsMax = 64;

/// Returns whether the cause may pass by itself: something is busy, or the owner of the store does not know now whether it
/// still is.
bool may_pass(Code code) noexcept {
  return code == Code::kBusy || code == Code::kUnknown;
}

/// A build that was stopped, or whose index was dropped, has not failed.
bool has_failed(const Status& built) noexcept {
  return !built.ok() && built.code() != Code::kCancelled && built.code() != Code::kNotFound;
}

/// The entities, which a unique index cannot have, make a conflict.
bool is_of_server(const Status& built) {
  constexpr std::uint16_t kServerErrors = 500;
  return has_failed(built) && built.code() != Code::kConflict && wire_error(built).status >= kServerErrors;
}

}  // namespace

/// The mutex of the state guards it.
struct IndexBuilds::Build {
  std::string key{};  // never changes
  IndexDefinition definition{};
  bool has_begun = false;  // The index may be declared.
  bool is_forgotten = false;
  bool goes_on = true;
  IndexBuildProgress progress{};
  Status result{};
};

namespace {

std::shared_ptr<IndexBuilds::Build> make_build(std::string_view account, std::string_view table,
                                               const IndexDefinition& definition) {
  auto build = std::make_shared<IndexBuilds::Build>();
  build->key = prefix_of_table(account, table).append(definition.name);
  build->definition = definition;
  return build;
}

}  // namespace

struct IndexBuilds::State {
  explicit State(Log its_log) : log(std::move(its_log)) {}

  const Log log;
  std::mutex mutex{};
  std::condition_variable ended{};
  std::map<std::string, Handle> builds{};  // those that go on and those that have failed, unless forgotten
  std::size_t going_on = 0;                // forgotten ones too
  std::size_t waiting = 0;                 // threads
  std::size_t resuming = 0;                // calls of resume()
  std::size_t left_waiting = 0;            // those that wait
  std::chrono::milliseconds busy_wait{std::chrono::seconds(1)};

  /// Enters a build that goes on from now on. Returns it, or the one that goes on already. Errors: those of begin().
  Result<Handle> enter(const Handle& build) {
    const std::lock_guard guard(mutex);
    const auto known = builds.find(build->key);
    if (known != builds.end() && known->second->goes_on) {
      if (known->second->definition == build->definition) return known->second;
      return service_error::resource_already_exists("an index " + quoted(build->definition.name) +
                                                    " with another definition is being built");
    }
    if (going_on >= kAtOnceMax) {
      return Status(Code::kBusy, "the server builds " + std::to_string(kAtOnceMax) +
                                     " indexes already; repeat the request after one of them");
    }
    builds[build->key] = build;
    ++going_on;
    return build;
  }
  /// Waits until another build may be entered. Returns false after a stop.
  bool wait_for_place(const std::stop_token& stop) {
    return wait_left(stop, [&](std::unique_lock<std::mutex>& lock) {
      ended.wait(lock, [&] { return going_on < kAtOnceMax || stop.stop_requested(); });
    });
  }
  /// Waits for `times` times the wait of a busy store. Returns false after a stop.
  bool wait_while_busy(int times, const std::stop_token& stop) {
    return wait_left(stop, [&](std::unique_lock<std::mutex>& lock) {
      ended.wait_for(lock, times * busy_wait, [&] { return stop.stop_requested(); });
    });
  }
  template <typename Wait>
  bool wait_left(const std::stop_token& stop, const Wait& wait) {
    const std::stop_callback wake(stop, [this] {
      const std::lock_guard guard(mutex);
      ended.notify_all();
    });
    std::unique_lock lock(mutex);
    ++left_waiting;
    wait(lock);
    --left_waiting;
    return !stop.stop_requested();
  }
  /// Repeats the call while it fails by what may pass. Returns its result, or kCancelled after a stop.
  template <typename Call>
  auto repeated(const std::stop_token& stop, const Call& call) -> decltype(call()) {
    for (int times = 1;; times = std::min(2 * times, kBusyWaitsMax)) {
      auto result = call();
      if (!may_pass(result.code())) return result;
      if (!wait_while_busy(times, stop)) return Status(Code::kCancelled);
    }
  }
  /// Notes how far the build is. Returns whether it goes on.
  bool note(Build& build, const IndexBuildProgress& built, const std::stop_token& stop) {
    const std::lock_guard guard(mutex);
    build.progress = built;
    return !stop.stop_requested();
  }
  /// Returns whether the build may declare its index.
  bool may_begin(Build& build) {
    const std::lock_guard guard(mutex);
    build.has_begun = !build.is_forgotten;
    return build.has_begun;
  }
  void report(std::string_view what, const Status& result) const noexcept {
    try {
      if (is_of_server(result) && log) log(what, result);
    } catch (const std::bad_alloc&) {  // The list shows the failure of a build.
    }
  }
  void end(const Handle& build, const Status& built) noexcept {
    report(build->key, built);
    const std::lock_guard guard(mutex);
    build->goes_on = false;
    build->result = built;
    --going_on;
    const auto found = builds.find(build->key);
    const bool is_remembered = has_failed(built) && builds.size() <= kFailuresMax;
    if (found != builds.end() && found->second == build && !is_remembered) builds.erase(found);
    ended.notify_all();
  }

  void begin_resuming() noexcept {
    const std::lock_guard guard(mutex);
    ++resuming;
  }
  void end_resuming(std::string_view what, const Status& result) noexcept {
    report(what, result);
    const std::lock_guard guard(mutex);
    --resuming;
  }
  /// Does IndexBuilds::resume() on a thread of the store's calls.
  Status resume(Store& store, const std::stop_token& stop) {
    ListOptions page;
    for (;;) {
      const Result<AccountPage> accounts = repeated(stop, [&] { return store.list_accounts(page); });
      if (!accounts.ok()) return accounts.status();
      for (const AccountInfo& account : accounts->accounts) {
        const Status resumed = resume_account(store, account.name, stop);
        if (resumed.code() == Code::kCancelled) return resumed;
        if (!resumed.ok() && resumed.code() != Code::kNotFound) report(account.name, resumed);  // It may be gone.
      }
      if (!accounts->continuation) return Status();
      page.continuation = *accounts->continuation;
    }
  }
  Status resume_account(Store& store, const std::string& account, const std::stop_token& stop) {
    ListOptions page;
    for (;;) {
      const Result<TablePage> tables = repeated(stop, [&] { return store.list_tables(account, page); });
      if (!tables.ok()) return tables.status();
      for (const TableInfo& table : tables->tables) {
        if (stop.stop_requested()) return Status(Code::kCancelled);
        const Result<std::vector<IndexInfo>> indexes =
            repeated(stop, [&] { return store.indexes(account, table.name); });
        if (indexes.code() == Code::kCancelled) return indexes.status();
        if (!indexes.ok() && indexes.code() != Code::kNotFound) report(account + "/" + table.name, indexes.status());
        for (std::size_t i = 0; indexes.ok() && i < indexes->size(); ++i) {
          const IndexInfo& index = (*indexes)[i];
          if (index.state == IndexState::kBuilding) resume_build(store, account, table.name, index.definition, stop);
        }
      }
      if (!tables->continuation) return Status();
      page.continuation = *tables->continuation;
    }
  }
  /// Builds the index, unless a request does so or has dropped it. It begins anew while the store is busy.
  void resume_build(Store& store, const std::string& account, const std::string& table,
                    const IndexDefinition& definition, const std::stop_token& stop) {
    const Handle build = make_build(account, table, definition);
    const std::function<bool(const IndexBuildProgress&)> progress = [&](const IndexBuildProgress& built) {
      return note(*build, built, stop);
    };
    for (;;) {
      const Result<Handle> entered = enter(build);
      if (entered.ok() && *entered == build) break;
      if (entered.code() != Code::kBusy || !wait_for_place(stop)) return;
    }
    end(build, repeated(stop, [&] {
          if (!may_begin(*build)) return Status(Code::kCancelled);
          return store.build_index(account, table, definition.name, progress);
        }));
  }
};

IndexBuilds::IndexBuilds(Store& store, Log log) : store_(store), state_(std::make_shared<State>(std::move(log))) {}

Result<IndexBuilds::Handle> IndexBuilds::begin(std::string_view account, std::string_view table,
                                               const IndexDefinition& definition, const std::stop_token& stop) {
  const Handle build = make_build(account, table, definition);
  Task<Status> building = AsyncStore(store_).run(
      [state = state_, build, owner = std::string(account), name = std::string(table), stop](Store& store) {
        if (!state->may_begin(*build)) return Status(Code::kCancelled);
        return store.create_index(owner, name, build->definition,
                                  [&](const IndexBuildProgress& built) { return state->note(*build, built, stop); });
      },
      stop);
  const Result<Handle> entered = state_->enter(build);
  if (!entered.ok() || *entered != build) return entered;
  start(std::move(building), [state = state_, build](const Status& built) { state->end(build, built); });
  return build;
}

void IndexBuilds::resume(const std::stop_token& stop) noexcept {
  static constexpr std::string_view kWhat = "the builds of indexes that are left";
  state_->begin_resuming();
  try {
    Task<Status> resuming =
        AsyncStore(store_).run([state = state_, stop](Store& store) { return state->resume(store, stop); }, stop);
    start(std::move(resuming), [state = state_](const Status& ended) { state->end_resuming(kWhat, ended); });
  } catch (const std::bad_alloc&) {
    state_->end_resuming(kWhat, Status::out_of_memory());
  }
}

void IndexBuilds::set_busy_wait(std::chrono::milliseconds time) {
  const std::lock_guard guard(state_->mutex);
  state_->busy_wait = time;
}

IndexBuilds::Left IndexBuilds::left() const {
  const std::lock_guard guard(state_->mutex);
  if (state_->left_waiting > 0) return Left::kWait;
  return state_->resuming > 0 ? Left::kGoOn : Left::kEnded;
}

std::optional<Status> IndexBuilds::wait(const Handle& build, std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  if (build->goes_on && state_->waiting < kAtOnceMax) {
    ++state_->waiting;
    state_->ended.wait_for(lock, time, [&build] { return !build->goes_on; });
    --state_->waiting;
  }
  return build->goes_on ? std::nullopt : std::optional(build->result);
}

bool IndexBuilds::forget(std::string_view account, std::string_view table, std::string_view index) {
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->builds.find(prefix_of_table(account, table).append(index));
  if (found == state_->builds.end()) return false;
  found->second->is_forgotten = true;
  const bool had_declared_nothing = found->second->goes_on && !found->second->has_begun;
  state_->builds.erase(found);
  return had_declared_nothing;
}

IndexBuilds::ShownBuilds IndexBuilds::of_table(std::string_view account, std::string_view table) const {
  const std::string prefix = prefix_of_table(account, table);
  ShownBuilds shown;
  const std::lock_guard guard(state_->mutex);
  for (auto each = state_->builds.lower_bound(prefix); each != state_->builds.end() && each->first.starts_with(prefix);
       ++each) {
    const Build& build = *each->second;
    Shown& found = shown[build.definition.name];
    if (build.goes_on) {
      found.progress = build.progress;
    } else {
      found.failure = wire_error(build.result).message;
    }
  }
  return shown;
}

}  // namespace varve::serve
