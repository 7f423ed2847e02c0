// Owns: the order in which a store is opened: look, lock, recover, establish, start.
// Must never: change anything in a directory before it is known to contain a store, or nothing.
#pragma once

#include <memory>
#include <string_view>

#include "engine/engine_state.h"
#include "varve/result.h"

namespace varve::engine {

/// Opens the store and returns its state. Errors: those of Engine::open.
Result<std::unique_ptr<EngineState>> open_state(const io::Env& env, std::string_view path,
                                                const EngineOptions& options);

}  // namespace varve::engine
