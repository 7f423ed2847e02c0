// Owns: the path of an entity into a load, and the end of a load in the catalog (loader.h).
// Must never: accept an entity that an insert would refuse.
#include "varve/loader.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/doors/copied_ends.h"
#include "api/model/guarded.h"
#include "api/model/metrics_tables.h"
#include "api/model/service_error.h"
#include "api/write/entity_write.h"
#include "api/write/index_build.h"
#include "engine/load/load.h"
#include "io/parents_object.h"
#include "varve/names.h"
#include "varve/store.h"
#include "varve/version.h"

namespace varve {

/// A load, which ends before its store.
struct VARVE_LOCAL SharedLoad {
  SharedLoad(std::shared_ptr<StoreCore> its_core, std::unique_ptr<engine::Load> its_load) noexcept
      : core(std::move(its_core)), load(std::move(its_load)) {}
  /// In a forked process, the threads of the load do not exist.
  ~SharedLoad() {
    if (!core->is_usable()) io::leave_to_parent(load);
  }
  SharedLoad(const SharedLoad&) = delete;
  SharedLoad& operator=(const SharedLoad&) = delete;

  const std::shared_ptr<StoreCore> core;
  std::unique_ptr<engine::Load> load;
};

namespace {

Status as_service_error(const Status& status) {
  return status.code() == Code::kExists ? Status(status).with_service_error("EntityAlreadyExists") : status;
}

/// `encode` encodes an entity. `add` adds a sort key, a value and its kind to the load.
template <typename Encode, typename Add>
Status add_entity(const StoreCore& core, const InsertEncoder& encoder, Encode encode, Add add) {
  return guarded([&]() -> Status {
    if (Status open = core.check_open(); !open.ok()) return open;
    if (Status encoded = encode(); !encoded.ok()) return encoded;
    return as_service_error(add(encoder.sort_key(), encoder.value(), encoder.kind()));
  });
}

/// Builds the indexes of a loaded table. The load has succeeded whether or not that does: an index that is not built is
/// shown as such, and no read needs it. Sets `unbuilt` to the indexes that were not built. Errors: why the indexes of the
/// table are not known.
Status build_indexes(StoreCore& core, const TableName& name,
                     const std::function<bool(const IndexBuildProgress&)>& progress,
                     std::vector<UnbuiltIndex>& unbuilt) {
  const Result<TableIndexes> indexes = Catalog::find_indexes(core.backend().view(), name);
  if (!indexes.ok()) return service_error::is_table_gone(indexes.status()) ? Status() : indexes.status();
  std::vector<UnbuiltIndex> all;  // The names are copied before a build can fail, so that no reason is lost.
  for (const TableIndex& index : indexes->all) all.push_back({index.name, Status()});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TableIndex& index = indexes->all[i];
    if (index.state != IndexState::kBuilding) continue;
    all[i].reason = guarded([&] { return build_index(core, name, index.id, progress); });
    if (all[i].reason.code() == Code::kNotFound) all[i].reason = Status();  // The index was dropped meanwhile.
    const bool was_stopped = all[i].reason.code() == Code::kCancelled;      // by the caller, which knows that
    if (!all[i].reason.ok() && !was_stopped)
      core.log_failure("an index of a loaded table is not built: " + index.name, all[i].reason);
  }
  std::erase_if(all, [](const UnbuiltIndex& each) { return each.reason.ok(); });
  unbuilt = std::move(all);
  return Status();
}

}  // namespace

struct VARVE_LOCAL Loader::State {
  /// A lane may outlive the loader, but the load does not.
  ~State() {
    if (shared && core().is_usable()) load().abandon();
  }

  std::shared_ptr<SharedLoad> shared;
  TableName name;
  LoadTarget target;
  std::optional<InsertEncoder> encoder;
  std::vector<UnbuiltIndex> unbuilt;

  StoreCore& core() const noexcept { return *shared->core; }
  engine::Load& load() const noexcept { return *shared->load; }
};

struct VARVE_LOCAL LoaderLane::State {
  State(std::shared_ptr<SharedLoad> its_load, engine::LoadLane& its_lane, const LoadTarget& target)
      : shared(std::move(its_load)),
        lane(its_lane),
        encoder(target.id, shared->core->limits(), target.version, target.expiry) {}

  const std::shared_ptr<SharedLoad> shared;
  engine::LoadLane& lane;
  InsertEncoder encoder;
};

LoaderLane::LoaderLane(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LoaderLane::LoaderLane(LoaderLane&& other) noexcept = default;
LoaderLane& LoaderLane::operator=(LoaderLane&& other) noexcept = default;
LoaderLane::~LoaderLane() = default;

Status LoaderLane::add(const Entity& entity) {
  State& state = *state_;
  return add_entity(
      *state.shared->core, state.encoder, [&] { return state.encoder.encode(entity); },
      [&](std::string_view key, std::string_view value, format::Kind kind) {
        return state.shared->load->add(state.lane, key, value, kind);
      });
}

Loader::Loader(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Loader::Loader(Loader&& other) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept = default;
Loader::~Loader() = default;

Result<Loader> Store::load_table(std::string_view account, std::string_view table) {
  return guarded([&]() -> Result<Loader> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (metrics_table(table)) return metrics_are_read_only(table);
    if (Status named = check_table_name(table); !named.ok()) return named;
    if (!check_account_name(account).ok()) return no_such_account(account);
    auto state = std::make_unique<Loader::State>();
    state->name = TableName{std::string(account), std::string(table), lower_case(table)};
    Result<std::unique_ptr<engine::Load>> load = core_->backend().begin_load();
    if (!load.ok()) return load.status();
    state->shared = std::make_shared<SharedLoad>(core_, std::move(*load));
    const Result<LoadTarget> target = core_->catalog().begin_load(state->name, state->load());
    if (!target.ok()) return target.status();
    state->target = *target;
    state->encoder.emplace(target->id, core_->limits(), target->version, target->expiry);
    return Loader(std::move(state));
  });
}

Status Loader::add(const Entity& entity) {
  State& state = *state_;
  return add_entity(
      state.core(), *state.encoder, [&] { return state.encoder->encode(entity); },
      [&](std::string_view key, std::string_view value, format::Kind kind) {
        return state.load().add(key, value, kind);
      });
}

Status CopiedEnds::add(Loader& loader, const Entity& entity, std::uint64_t end) {
  Loader::State& state = *loader.state_;
  const auto encode = [&]() -> Status {
    if (end != 0) {
      if (Status allowed = state.core().backend().allow_ends(); !allowed.ok()) return allowed;
    }
    return state.encoder->encode_with_end(entity, end);
  };
  return add_entity(state.core(), *state.encoder, encode,
                    [&](std::string_view key, std::string_view value, format::Kind kind) {
                      return state.load().add(key, value, kind);
                    });
}

Result<LoaderLane> Loader::lane() {
  return guarded([&]() -> Result<LoaderLane> {
    State& state = *state_;
    if (Status open = state.core().check_open(); !open.ok()) return open;
    const Result<engine::LoadLane*> lane = state.load().add_lane();
    if (!lane.ok()) return as_service_error(lane.status());
    return LoaderLane(std::make_unique<LoaderLane::State>(state.shared, **lane, state.target));
  });
}

Result<ETag> Loader::finish() {
  return finish({});
}

Result<ETag> Loader::finish(const std::function<bool(const IndexBuildProgress&)>& progress) {
  return guarded([&]() -> Result<ETag> {
    State& state = *state_;
    std::vector<UnbuiltIndex> unknown(1);  // made before the commit, so that a later lack of memory can be shown
    if (Status writable = state.core().check_writable(); !writable.ok()) return writable;
    if (Status installed = state.load().install(); !installed.ok()) return as_service_error(installed);
    const Status finished = state.core().catalog().finish_load(state.name, state.target, state.load());
    if (!finished.ok()) {
      abort();
      return finished;
    }
    if (state.target.replaced) {
      Status known = guarded([&] { return build_indexes(state.core(), state.name, progress, state.unbuilt); });
      if (!known.ok()) {
        state.core().log_failure("the indexes of a loaded table are not built", known);
        unknown.front().reason = std::move(known);
        state.unbuilt = std::move(unknown);
      }
    }
    return ETag::of_timestamp(DateTime{state.target.version});
  });
}

const std::vector<UnbuiltIndex>& Loader::unbuilt_indexes() const noexcept {
  return state_->unbuilt;
}

void Loader::abort() noexcept {
  if (state_ && state_->core().is_usable()) state_->load().abandon();
}

LoadProgress Loader::progress() const noexcept {
  return state_->load().progress();
}

}  // namespace varve
