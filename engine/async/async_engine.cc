// Owns: the start and the end of the asynchronous threads (async_engine.h).
// Must never: end a worker before every operation has ended.
#include "engine/async/async_engine.h"

#include "engine/log/wal.h"

namespace varve::engine {

AsyncEngine::AsyncEngine(Engine& engine)
    : engine_(engine),
      leaders_(engine.env().scheduler, "varve-lead", kLogWritesInFlightMax + 1),
      workers_(engine.env().scheduler, "varve-call", kWaitingCallsMax) {}

void AsyncEngine::stop() noexcept {
  if (executor_) executor_->stop();
  workers_.stop();
  leaders_.stop();
}

Result<std::unique_ptr<AsyncEngine>> AsyncEngine::start(Engine& engine) {
  auto started = std::make_unique<AsyncEngine>(engine);
  if (Status leads = started->leaders_.start(); !leads.ok()) return leads;
  if (Status works = started->workers_.start(); !works.ok()) return works;
  Result<std::unique_ptr<Executor>> executor = Executor::start(engine.env(), *engine.state_->blocks);
  if (!executor.ok()) return executor.status();
  started->executor_ = *std::move(executor);
  return started;
}

}  // namespace varve::engine
