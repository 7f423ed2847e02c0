// Owns: the way of a write from the caller's entity to the commit, for one operation and for a transaction alike.
// Must never: take a lock before everything is checked that can be checked without one, or tell a refusal before the
// commit it rests on is published.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "api/store_core.h"
#include "api/transaction.h"
#include "api/types.h"

namespace varve {

/// One operation, checked and encoded as far as that needs neither the table nor what is stored.
struct PreparedWrite {
  TransactionOperation::Kind kind = TransactionOperation::Kind::kInsert;
  ETag if_match;
  /// With room for the table id at its front.
  std::string sort_key;
  /// The properties to be stored, or to be merged; in the end those to be stored.
  std::string value;
  std::size_t accounted_key_bytes = 0;
  /// Deletes by a key that is too long to be there (D-12).
  bool key_too_long = false;
};

/// Errors: kInvalidArgument, kTooLarge, as the verbs of Table have them.
Result<PreparedWrite> prepare_write(const TransactionOperation& operation);
Result<PreparedWrite> prepare_put(TransactionOperation::Kind kind, const Entity& entity, ETag if_match);
Result<PreparedWrite> prepare_remove(std::string_view partition_key, std::string_view row_key, ETag if_match);

/// Writes all of `writes`, which are of one partition and of different entities, or nothing; returns the ETag of what
/// was written. With `in_transaction` errors name the operation. Errors: as the verbs of Table.
Result<ETag> commit_writes(StoreCore& core, const TableName& name, NameEntry& entry, std::span<PreparedWrite> writes,
                           const WriteOptions& options, bool in_transaction);

}  // namespace varve
