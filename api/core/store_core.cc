// Owns: the connection of a store's handles to its engine (store_core.h).
// Must never: call a listener that is not set.
#include "api/core/store_core.h"

#include <utility>

#include "api/core/resources_state.h"
#include "api/core/stored_limits.h"
#include "api/model/service_error.h"
#include "io/env.h"
#include "io/parents_object.h"
#include "varve/table_expiry.h"

namespace varve {
namespace {

/// Errors: kInvalidArgument.
Status check_age(std::chrono::milliseconds age, std::string_view option) {
  if (age >= std::chrono::milliseconds(1) && age <= TableExpiry::kAgeMax) return Status();
  return Status::invalid_argument(std::string(option) + " is " + std::to_string(age.count()) +
                                  " ms; 1 ms to 36,525 days are allowed");
}

}  // namespace

/// Adds the path of the store to each event, and passes it to the listener and the logger.
class StoreCore::EventForwarder final : public engine::EventSink {
 public:
  EventForwarder(std::string_view path, const Resources& resources) : path_(path), resources_(resources) {}

  void on_health(Health health, const Status& cause) noexcept override {
    EventListener* const listener = resources_.options().listener.get();
    if (listener != nullptr) listener->on_health(path_, health, cause);
  }
  void on_log(std::string_view line) noexcept override {
    Logger* const logger = resources_.options().logger.get();
    if (logger != nullptr) logger->log(path_, line);
  }

 private:
  const std::string path_;
  const Resources& resources_;
};

StoreCore::StoreCore(std::string_view path, std::shared_ptr<Resources> resources)
    : resources_(std::move(resources)), events_(std::make_unique<EventForwarder>(path, *resources_)) {}

StoreCore::~StoreCore() {
  if (is_usable()) return;
  // A thread of the parent may have been inside any of these when the process forked.
  io::leave_to_parent(own_async_);
  io::leave_to_parent(async_mutex_);
  io::leave_to_parent(blob_keeper_);
  io::leave_to_parent(append_lines_);
  io::leave_to_parent(followers_);
  io::leave_to_parent(reader_pins_);
  io::leave_to_parent(blobs_);
  io::leave_to_parent(keeper_);
  io::leave_to_parent(queues_);
  io::leave_to_parent(catalog_);
  io::leave_to_parent(engine_);
}

Result<std::shared_ptr<StoreCore>> StoreCore::open(std::string_view path, const StoreOptions& options) {
  std::shared_ptr<Resources> resources = options.resources;
  if (!resources) {
    Result<std::shared_ptr<Resources>> own = Resources::create(ResourceOptions());
    if (!own.ok()) return own.status();
    resources = *std::move(own);
  }
  if (!resources->state_->owner.is_this_process()) {
    return Status(Code::kLocked, "the resources belong to the parent of this forked process; create new resources");
  }
  if (options.recreation_delay < std::chrono::milliseconds(0) || options.recreation_delay > std::chrono::hours(24)) {
    return Status::invalid_argument("recreation_delay is " + std::to_string(options.recreation_delay.count()) +
                                    " ms; 0 to 24 hours are allowed");
  }
  if (Status possible = check_age(options.reader_idle_max, "reader_idle_max"); !possible.ok()) return possible;
  if (Status possible = check_age(options.staged_blocks_age_max, "staged_blocks_age_max"); !possible.ok()) {
    return possible;
  }
  const std::shared_ptr<StoreCore> core(new StoreCore(path, std::move(resources)));

  engine::EngineOptions chosen;
  chosen.create_if_absent = options.create_if_absent;
  chosen.read_only = options.read_only;
  chosen.default_durability = options.default_durability;
  if (options.limits) {
    if (Status possible = check_limits(*options.limits); !possible.ok()) return possible;
    chosen.model_options = encode_limits(*options.limits);
  }
  chosen.write_budget = core->resources_->state_->write_budget;
  chosen.block_cache = core->resources_->state_->block_cache;
  chosen.open_files = core->resources_->state_->open_files;
  chosen.pool = core->resources_->state_->pool;
  chosen.events = core->events_.get();
  const io::Env& env = options.env != nullptr ? *options.env : io::system_env();
  Result<std::unique_ptr<engine::Engine>> engine = engine::Engine::open(env, path, chosen);
  if (!engine.ok()) return engine.status();
  const Result<StoreLimits> limits = decode_limits((*engine)->model_options());
  if (!limits.ok()) return limits.status().in_file(path);
  core->limits_ = *limits;
  core->makes_short_pages_ = options.short_pages;
  core->engine_ = *std::move(engine);
  core->backend_ = std::make_unique<EngineBackend>(*core->engine_);
  core->catalog_ = std::make_unique<Catalog>(*core->backend_, options.recreation_delay);
  OpenMoment opened;
  if (!options.read_only) opened = {core->backend_->view().version(), core->backend_->time() - 1};
  core->queues_ = std::make_unique<QueueBoard>((*core->backend_).env(), opened);
  core->blobs_ = std::make_unique<BlobBoard>(env.scheduler);
  core->reader_pins_ = std::make_unique<ReaderPins>(env, options.reader_idle_max);
  core->followers_ = std::make_unique<BlobFollowers>(env.scheduler);
  core->append_lines_ = std::make_unique<AppendLines>(env.scheduler);
  if (!options.read_only) {
    Result<std::shared_ptr<engine::PoolThreads>> threads = chosen.pool->threads_for(env);
    if (!threads.ok()) return threads.status();
    core->keeper_ = std::make_unique<QueueKeeper>(*threads, *core->backend_, *core->queues_);
    core->blob_keeper_ = std::make_unique<BlobKeeper>(
        *std::move(threads), *core->backend_, *core->blobs_, *core->reader_pins_, *core->events_,
        static_cast<Ticks>(options.staged_blocks_age_max.count()) * io::kTicksPerMillisecond);
    core->blob_keeper_->begin_if_work_was_left();
  }
  core->async_mutex_ = std::make_unique<io::Mutex>(env.scheduler);
  return core;
}

Status StoreCore::close() {
  if (!is_usable()) {
    closed_.store(true, std::memory_order_release);
    return engine_->close();
  }
  if (Status allowed = check_thread(); !allowed.ok()) return allowed;
  engine::AsyncEngine* async = nullptr;
  {
    const io::MutexGuard guard(*async_mutex_);
    makes_no_async_ = true;
    async = own_async_.get();
  }
  queues_->end_waits();  // An asynchronous get may wait for a message without end.

  followers_->end_waits();  // So may a tail for an append.

  // Stops this before other verbs are refused, because operations that are running may call them.
  if (async != nullptr) async->stop();
  closed_.store(true, std::memory_order_release);
  keeper_.reset();
  blob_keeper_.reset();
  return engine_->close();
}

Result<engine::AsyncEngine*> StoreCore::async() {
  if (is_closed()) return Status(Code::kClosed, "the store was closed; open it again");
  if (Status mine = check_process(); !mine.ok()) return mine;
  if (engine::AsyncEngine* const made = async_.load(std::memory_order_acquire)) return made;
  const io::MutexGuard guard(*async_mutex_);
  if (makes_no_async_) return Status(Code::kClosed, "the store was closed; open it again");
  if (!own_async_) {
    Result<std::unique_ptr<engine::AsyncEngine>> started = engine::AsyncEngine::start(*engine_);
    if (!started.ok()) return started.status();
    own_async_ = *std::move(started);
    async_.store(own_async_.get(), std::memory_order_release);
  }
  return own_async_.get();
}

Status StoreCore::check_process() const {
  if (is_usable()) [[likely]]
    return Status();
  return Status(Code::kLocked,
                "the store was opened by the parent of this forked process; open it again in this process");
}

Status StoreCore::check_thread() const {
  const engine::AsyncEngine* const async = async_.load(std::memory_order_acquire);
  if (async == nullptr || !async->is_on_its_thread()) return Status();
  return Status::invalid_argument(
      "a blocking verb was called on the store's asynchronous thread; call the asynchronous verb there");
}

Status StoreCore::check_open() const {
  if (is_closed()) return Status(Code::kClosed, "the store was closed; open it again");
  if (Status mine = check_process(); !mine.ok()) return mine;
  return check_thread();
}

Status StoreCore::check_writable() const {
  if (Status open = check_open(); !open.ok()) return open;
  if (backend_->read_only()) return Status(Code::kReadOnly, "the store was opened read-only; open it for writing");
  return Status();
}

void StoreCore::log_failure(std::string_view what, const Status& failure) noexcept {
  engine::log_failure(events_.get(), what, failure);
}

Snapshot StoreCore::snapshot() {
  auto state = std::make_shared<Snapshot::State>();
  state->core = shared_from_this();
  state->held = backend_->snapshot();
  return Snapshot(std::move(state));
}

Result<engine::ReadView> StoreCore::view(const std::optional<Snapshot>& snapshot) const {
  if (!snapshot) return backend_->view();
  if (!snapshot->state_ || snapshot->state_->core.get() != this) {
    return service_error::invalid_input("the snapshot belongs to another store or to none; take one from this store");
  }
  return backend_->view_at(snapshot->state_->held);
}

Result<engine::ReadView> StoreCore::view(const ReaderPin::Use& use) const {
  const Result<Snapshot> snapshot = use.snapshot();
  if (!snapshot.ok()) return snapshot.status();
  return view(*snapshot);
}

Result<engine::ReadView> StoreCore::view_of(const Snapshot& snapshot) {
  return snapshot.state_->core->view(snapshot);
}

engine::CommitVersion StoreCore::time_of(const Snapshot& snapshot) noexcept {
  return snapshot.state_->held.time();
}

Durability StoreCore::durability(const WriteOptions& options) const noexcept {
  return options.durability ? *options.durability : backend_->default_durability();
}

DateTime Snapshot::version() const noexcept {
  return DateTime{state_ ? state_->held.version() : 0};
}

}  // namespace varve
