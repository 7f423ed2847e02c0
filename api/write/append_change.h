// Owns: the append to an append blob (BA-01 to BA-06).
// Must never: let two appends take one place, or write into a content that another blob shares.
#pragma once

#include <string_view>

#include "api/core/container_state.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// The arguments were checked. Errors: as Container::append().
Result<AppendedBlock> append_to_blob(const Container::State& container, std::string_view blob, std::string_view bytes,
                                     const AppendOptions& options, Durability durability);

}  // namespace varve
