// Owns: the judgement of conditions on blobs and containers (BC-01 to BC-05).
// Must never: look at a lease. A lease is judged first, by lease.h.
#pragma once

#include <optional>

#include "format/keys/internal_key.h"
#include "varve/blob.h"
#include "varve/status.h"

namespace varve {

/// Whether a write makes the blob if it is not there.
enum class Creates : std::uint8_t { kNo, kYes };

/// Judges a write. `changed` is the version of the ETag, or nothing if the blob does not exist. Errors:
/// kPreconditionFailed (ConditionNotMet), kExists (BlobAlreadyExists: the write creates, and no blob may exist).
Status judge_write(const BlobConditions& conditions, const std::optional<format::CommitVersion>& changed,
                   Creates creates);
/// Judges a read of a blob that exists. Errors: kPreconditionFailed (ConditionNotMet; NotModified: only the caller's state
/// is not older), kInvalidArgument (UnsatisfiableCondition).
Status judge_read(const BlobConditions& conditions, format::CommitVersion changed);
/// Judges the conditions on the source of a copy. Errors: kPreconditionFailed (SourceConditionNotMet).
Status judge_source(const BlobConditions& conditions, format::CommitVersion changed);

}  // namespace varve
