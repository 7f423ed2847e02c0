// Owns: the condition of a write besides its ETag, and the changes that a patch makes of the stored properties.
// Must never: take a lock, or read anything but the values that it is given.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve {

/// What a write needs besides its ETag and its properties. Copies of a PreparedWrite share it.
struct WriteTerms {
  /// Matches everything if the write has no condition.
  Filter condition;
  std::vector<std::string> removed;
  std::vector<Property> increments;
  /// The keys of the entity. After a patch was judged, also the properties that it stores.
  Entity entity;

  /// Returns the entity after the patch, which was committed with this ETag. Allocates nothing.
  Entity take_patched(ETag etag) noexcept {
    entity.set_etag(etag);
    return std::move(entity);
  }
};

/// Returns whether the operation is a patch.
inline bool patches(WriteOperation::Kind kind) noexcept {
  return kind == WriteOperation::Kind::kPatch || kind == WriteOperation::Kind::kInsertOrPatch;
}

/// Returns whether a patch was refused because of the type of a stored property.
inline bool is_type_mismatch(const Status& failure) noexcept {
  return failure.service_error() == "PropertyTypeMismatch";
}

/// Returns the terms of the operation, or null if it has none. The keys and the properties of its entity were checked.
/// Errors: kInvalidArgument, kTooLarge, kUnsupported, as Table returns them for a condition and a patch.
Result<std::shared_ptr<WriteTerms>> prepare_terms(const WriteView& operation, const StoreLimits& limits);

/// Judges the condition by the stored entity. Errors: kPreconditionFailed (ConditionNotMet); kCorruption, kUnsupported
/// (the stored bytes cannot be read).
Status check_terms(const WriteTerms& terms, format::CommitVersion version, std::string_view stored);

/// Returns the properties that the patch stores, and gives them to the entity of its terms. `stored` has the stored
/// properties; it is not set if there is no entity. `set` has those that the patch sets. `key_bytes` is the accounted size
/// of the keys. Errors: as Table::patch; kCorruption, kUnsupported (the stored bytes cannot be read).
Result<std::string> patch_properties(std::optional<std::string_view> stored, std::string_view set,
                                     std::size_t key_bytes, const StoreLimits& limits, WriteTerms& terms);

}  // namespace varve
