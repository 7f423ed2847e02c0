// Owns: turning settings into the options of the server and of its store.
// Must never: open the store, or listen.
#pragma once

#include <chrono>

#include "tools/serve/server.h"
#include "tools/serve/settings/settings.h"
#include "varve/options.h"
#include "varve/result.h"

namespace varve::serve {

/// The options that a running server can take over.
LiveOptions live_options(const Settings& settings);

/// Returns the longest time from the request to end until the end of the server.
std::chrono::seconds drain_time(const Settings& settings);

struct ServePlan {
  ListenOptions listening;
  StoreOptions store;
};

/// Makes the options of a server and its store. Errors: kInvalidArgument: a setting is not valid, or the memory that
/// the process may have is too little. kOutOfMemory.
Result<ServePlan> plan_server(const Settings& settings);

}  // namespace varve::serve
