// Owns: the checks of what a caller asks of a blob, and the judgement that most writes share.
// Must never: judge a condition before the lease.
#pragma once

#include <optional>
#include <string_view>

#include "api/blob/blob_conditions.h"
#include "api/write/blob_change.h"
#include "varve/blob.h"
#include "varve/status.h"

namespace varve {

/// Errors: as the verbs of Container.
Status check_blob_write(std::string_view blob, const BlobWriteOptions& options, BlobKind kind);
/// Checks texts that answers have as headers. Errors: kInvalidArgument (InvalidHeaderValue).
Status check_blob_properties(const BlobProperties& properties);
Status check_tier(BlobTier tier, BlobKind kind);
Status check_block_id(std::string_view id);

Status no_such_blob(std::string_view name);
Status wrong_kind(std::string_view name, BlobKind kind);

/// Judges the lease and the conditions of a write that replaces the blob or makes it. Returns the lease that the new
/// blob has. Errors: those of admit_write() and judge_write().
Result<Lease> admit_replacement(const std::optional<BlobRow>& row, const BlobConditions& conditions, Ticks now);
/// What a change needs besides its conditions.
struct ChangeNeeds {
  /// It is a write that a lease guards.
  bool lease = true;
  std::optional<BlobKind> kind{};
};
/// Judges a change of a blob that must exist, in the order of BC-05: absence, lease, conditions, kind. Errors:
/// kNotFound (BlobNotFound), those of admit_write() and judge_write(), kConflict (InvalidBlobType).
Status admit_change(std::optional<BlobRow>& row, std::string_view name, const BlobConditions& conditions, Ticks now,
                    const ChangeNeeds& needs = {});

/// Returns the verb that removes a blob with its staged blocks. The arguments outlive it.
BlobVerb removal_of(std::string_view blob, const BlobConditions& conditions);

/// A new row with what the caller gives besides the content.
BlobRow new_blob_row(BlobKind kind, const BlobWriteOptions& options);

}  // namespace varve
