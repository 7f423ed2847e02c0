// Owns: finding the queue that a handle names (queue_state.h).
// Must never: return a queue that its name did not mean in the returned view.
#include "api/core/queue_state.h"

namespace varve {

Result<ResolvedQueue> Queue::State::resolve() const {
  Result<ResolvedTable> resolved = core->catalog().resolve_queue(name, *entry);
  if (!resolved.ok()) return resolved.status();
  if (std::shared_ptr<LiveQueue> live = core->queues().find(resolved->id)) {
    return ResolvedQueue{std::move(resolved->view), std::move(live)};
  }
  const Result<std::optional<QueueRow>> row = Catalog::find_queue(resolved->view, name);
  if (!row.ok()) return row.status();
  if (!*row) return core->catalog().missing_queue(resolved->view, name);
  const Result<std::uint64_t> secret = Catalog::queue_secret(resolved->view);
  if (!secret.ok()) return secret.status();
  core->keep_queues();
  std::shared_ptr<LiveQueue> live =
      core->queues().add((*row)->id, {(*row)->message_bytes_max, (*row)->release_on_open}, *secret);
  return ResolvedQueue{std::move(resolved->view), std::move(live)};
}

Result<std::shared_ptr<LiveQueue>> Queue::State::live() const {
  Result<ResolvedQueue> resolved = resolve();
  if (!resolved.ok()) return resolved.status();
  return std::move(resolved->live);
}

}  // namespace varve
