// Owns: the path of an entity into a load, and the end of a load in the catalog (loader.h).
// Must never: accept an entity that an insert would refuse.
#include "varve/loader.h"

#include <optional>
#include <string>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/write/entity_write.h"
#include "engine/load/load.h"
#include "io/parents_object.h"
#include "varve/names.h"
#include "varve/store.h"
#include "varve/version.h"

namespace varve {

/// The members are declared so that the load ends before its store.
struct VARVE_LOCAL Loader::State {
  /// In a forked process, the threads of the load do not exist.
  ~State() {
    if (!core->is_usable()) io::leave_to_parent(load);
  }

  std::shared_ptr<StoreCore> core;
  TableName name;
  LoadTarget target;
  std::unique_ptr<engine::Load> load;
  std::optional<InsertEncoder> encoder;
};

Loader::Loader(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Loader::Loader(Loader&& other) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept = default;
Loader::~Loader() = default;

Result<Loader> Store::load_table(std::string_view account, std::string_view table) {
  return guarded([&]() -> Result<Loader> {
    if (Status writable = core_->check_writable(); !writable.ok()) return writable;
    if (Status named = check_table_name(table); !named.ok()) return named;
    if (!check_account_name(account).ok()) return no_such_account(account);
    auto state = std::make_unique<Loader::State>();
    state->core = core_;
    state->name = TableName{std::string(account), std::string(table), lower_case(table)};
    Result<std::unique_ptr<engine::Load>> load = core_->backend().begin_load();
    if (!load.ok()) return load.status();
    state->load = std::move(*load);
    const Result<LoadTarget> target = core_->catalog().begin_load(state->name, *state->load);
    if (!target.ok()) return target.status();
    state->target = *target;
    state->encoder.emplace(target->id, core_->limits());
    return Loader(std::move(state));
  });
}

namespace {

Status as_service_error(const Status& status) {
  return status.code() == Code::kExists ? Status(status).with_service_error("EntityAlreadyExists") : status;
}

}  // namespace

Status Loader::add(const Entity& entity) {
  return guarded([&]() -> Status {
    State& state = *state_;
    if (Status open = state.core->check_open(); !open.ok()) return open;
    if (Status encoded = state.encoder->encode(entity); !encoded.ok()) return encoded;
    return as_service_error(state.load->add(state.encoder->sort_key(), state.encoder->value()));
  });
}

Result<ETag> Loader::finish() {
  return guarded([&]() -> Result<ETag> {
    State& state = *state_;
    if (Status writable = state.core->check_writable(); !writable.ok()) return writable;
    if (Status installed = state.load->install(); !installed.ok()) return as_service_error(installed);
    const Status finished = state.core->catalog().finish_load(state.name, state.target, *state.load);
    if (!finished.ok()) {
      abort();
      return finished;
    }
    return ETag::of_timestamp(DateTime{state.target.version});
  });
}

void Loader::abort() noexcept {
  if (state_ && state_->core->is_usable()) state_->load->abandon();
}

LoadProgress Loader::progress() const noexcept {
  return state_->load->progress();
}

}  // namespace varve
