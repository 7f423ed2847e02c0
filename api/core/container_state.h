// Owns: the implementation of a Container.
// Must never: be visible to users.
#pragma once

#include <memory>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "varve/blob.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL Container::State {
  std::shared_ptr<StoreCore> core;
  TableName name;
  std::shared_ptr<NameEntry> entry;

  static std::shared_ptr<State> named(std::shared_ptr<StoreCore> core, TableName name) {
    auto state = std::make_shared<State>();
    state->entry = core->catalog().container_names().find_or_add(name.account, name.lower);
    state->core = std::move(core);
    state->name = std::move(name);
    return state;
  }

  /// Returns a view of the newest state, and the id of the container in it. Errors: kNotFound (ContainerNotFound), kBusy
  /// (ContainerBeingDeleted), kCorruption, kIoError.
  Result<ResolvedTable> resolve() const {
    core->keep_blobs();
    return core->catalog().resolve_container(name, *entry);
  }
  /// Returns the id of the container, and leaves no view, which a commit that follows must not meet. Errors: the same.
  Result<format::TableId> present_id() const {
    const Result<ResolvedTable> at = resolve();
    if (!at.ok()) return at.status();
    return at->id;
  }
};

}  // namespace varve
