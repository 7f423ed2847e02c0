// Owns: the copy of a blob by reference (BY-01, BY-06, BX-08).
// Must never: copy a byte of content that does not lie in a row.
#pragma once

#include <string_view>

#include "api/core/container_state.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// The names and options were checked. Errors: as Container::copy().
Result<BlobState> copy_blob(const Container::State& container, std::string_view blob, const Container::State& source,
                            std::string_view source_blob, const BlobCopyOptions& options, Durability durability);

}  // namespace varve
