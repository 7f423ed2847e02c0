// Owns: the resources that several stores share (options.h).
// Must never: know a store.
#include "api/core/resources_state.h"
#include "api/model/guarded.h"
#include "io/env.h"
#include "io/parents_object.h"

namespace varve {

Resources::Resources(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Resources::~Resources() {
  if (!state_->owner.is_this_process()) io::leave_to_parent(state_);
}

Result<std::shared_ptr<Resources>> Resources::create(const ResourceOptions& options) {
  return guarded([&]() -> Result<std::shared_ptr<Resources>> {
    if (options.write_buffer_bytes == 0) return Status::invalid_argument("write_buffer_bytes must be above zero");
    auto state = std::make_unique<State>();
    state->options = options;
    state->write_budget = std::make_shared<engine::WriteBudget>(io::system_env().scheduler, options.write_buffer_bytes);
    state->block_cache = std::make_shared<engine::BlockCache>(io::system_env().scheduler, options.block_cache_bytes);
    state->open_files = engine::OpenFiles::make_for_process(io::system_env().scheduler);
    state->pool = std::make_shared<engine::SharedPool>(io::system_env().scheduler);
    return std::shared_ptr<Resources>(new Resources(std::move(state)));
  });
}

const ResourceOptions& Resources::options() const noexcept {
  return state_->options;
}

}  // namespace varve
