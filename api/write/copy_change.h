// Owns: the copy of a blob by reference (BY-01, BY-06, BX-08).
// Must never: copy a byte of content that does not lie in a row.
#pragma once

#include <string_view>

#include "api/core/container_state.h"
#include "api/write/blob_change.h"
#include "varve/blob.h"
#include "varve/result.h"
#include "varve/types.h"
#include "varve/version.h"

namespace varve {

/// A copy that a caller asked for. Options and names outlive the verb.
struct VARVE_LOCAL BlobCopying {
  std::string_view blob;
  const Container::State& source;
  std::string_view source_blob;
  const BlobCopyOptions& options;
  /// The id that the copy gets, if it gets one.
  Guid copy_id;
};

/// Checks the names and what the caller gives to the copy. Errors: as Container::copy().
Status check_copy(std::string_view blob, std::string_view source_blob, const BlobCopyOptions& options);

/// Returns the verb that makes the copy. The object outlives it.
BlobVerb copy_of(const BlobCopying& copying);

/// The names and options were checked. Errors: as Container::copy().
Result<BlobState> copy_blob(const Container::State& container, std::string_view blob, const Container::State& source,
                            std::string_view source_blob, const BlobCopyOptions& options, Durability durability);

}  // namespace varve
