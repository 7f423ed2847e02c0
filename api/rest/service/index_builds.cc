#include "api/rest/service/index_builds.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "varve/async.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// Of builds that have failed, so many are remembered.
constexpr std::size_t kFailuresMax = 64;

struct Build {
  bool goes_on = true;
  IndexBuildProgress progress{};
  std::string failure{};
};

std::string key_of_build(std::string_view account, std::string_view table, std::string_view index) {
  return std::string(account).append("/").append(lower_case(table)).append("/").append(index);
}

}  // namespace

struct IndexBuilds::State {
  std::mutex mutex{};
  std::map<std::string, Build> builds{};

  const Build* find(const std::string& key) const {
    const auto found = builds.find(key);
    return found == builds.end() ? nullptr : &found->second;
  }
  std::size_t going_on() const {
    const auto goes_on = [](const auto& entry) { return entry.second.goes_on; };
    return static_cast<std::size_t>(std::count_if(builds.begin(), builds.end(), goes_on));
  }
  /// Needs no memory for a build that has succeeded.
  void end(const std::string& key, const Status& built) noexcept {
    const std::lock_guard guard(mutex);
    const auto found = builds.find(key);
    if (found == builds.end()) return;
    const bool is_remembered = !built.ok() && built.code() != Code::kCancelled && built.code() != Code::kNotFound &&
                               builds.size() <= kFailuresMax;
    if (!is_remembered) {
      builds.erase(found);
      return;
    }
    found->second.goes_on = false;
    try {
      found->second.failure = built.message();
    } catch (const std::bad_alloc&) {
      builds.erase(found);
    }
  }
};

IndexBuilds::IndexBuilds(Store& store) : store_(store), state_(std::make_shared<State>()) {}

Status IndexBuilds::begin(std::string_view account, std::string_view table, const IndexDefinition& definition,
                          const std::stop_token& stop) {
  const std::string key = key_of_build(account, table, definition.name);
  // The build and its end share the key, so that the end needs no memory.
  const auto named = std::make_shared<const std::string>(key);
  Task<Status> building = AsyncStore(store_).run(
      [state = state_, named, owner = std::string(account), name = std::string(table), definition, stop](Store& store) {
        return store.create_index(owner, name, definition, [&](const IndexBuildProgress& built) {
          const std::lock_guard guard(state->mutex);
          state->builds[*named].progress = built;
          return !stop.stop_requested();
        });
      },
      stop);
  {
    const std::lock_guard guard(state_->mutex);
    const Build* const known = state_->find(key);
    if (known != nullptr && known->goes_on) return Status();
    if (state_->going_on() >= kAtOnceMax) {
      return Status(Code::kBusy, "the server builds " + std::to_string(kAtOnceMax) +
                                     " indexes already; repeat the request after one of them");
    }
    state_->builds[key] = Build();
  }
  start(std::move(building), [state = state_, named](const Status& built) { state->end(*named, built); });
  return Status();
}

std::optional<IndexBuildProgress> IndexBuilds::progress(std::string_view account, std::string_view table,
                                                        std::string_view index) const {
  const std::lock_guard guard(state_->mutex);
  const Build* const build = state_->find(key_of_build(account, table, index));
  return build != nullptr && build->goes_on ? std::optional(build->progress) : std::nullopt;
}

std::optional<std::string> IndexBuilds::failure(std::string_view account, std::string_view table,
                                                std::string_view index) const {
  const std::lock_guard guard(state_->mutex);
  const Build* const build = state_->find(key_of_build(account, table, index));
  return build != nullptr && !build->goes_on ? std::optional(build->failure) : std::nullopt;
}

}  // namespace varve::serve
