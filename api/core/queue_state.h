// Owns: the implementation of a Queue.
// Must never: be visible to users.
#pragma once

#include <memory>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/queue/live_queue.h"
#include "varve/queue.h"
#include "varve/version.h"

namespace varve {

/// A view of the newest state, and the queue that the name has in this view.
struct ResolvedQueue {
  engine::ReadView view;
  std::shared_ptr<LiveQueue> live;
};

struct VARVE_LOCAL Queue::State {
  std::shared_ptr<StoreCore> core;
  TableName name;
  std::shared_ptr<NameEntry> entry;

  static std::shared_ptr<State> named(std::shared_ptr<StoreCore> core, TableName name) {
    auto state = std::make_shared<State>();
    state->entry = core->catalog().queue_names().find_or_add(name.account, name.lower);
    state->core = std::move(core);
    state->name = std::move(name);
    return state;
  }

  /// Errors: kNotFound (QueueNotFound), kCorruption, kIoError.
  Result<ResolvedQueue> resolve() const;
  /// Returns the queue alone: what commits holds no view. Errors: as resolve().
  Result<std::shared_ptr<LiveQueue>> live() const;
};

}  // namespace varve
