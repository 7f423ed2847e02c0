// Owns: what a write of an entity changes in the indexes of its table.
// Must never: leave an entry of the entity that was there before, whether it had ended or not (I1, E4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/catalog/index_rows.h"
#include "api/read/unique_values.h"
#include "api/write/entity_write.h"
#include "engine/engine.h"
#include "format/keys/batch.h"
#include "varve/result.h"

namespace varve {

/// A commit with the entries of its indexes has at most this many bytes. A record of the log holds somewhat more.
inline constexpr std::size_t kIndexedCommitBytesMax = std::size_t{31} << 20;

/// Adds the entries that the write gives to its entity, and removes those of the entity before. Notes in `values` what
/// changes in unique indexes. `before` is the newest state of the entity, with its value. `after` was judged; it is the
/// operation `place` of its commit. Errors: kCorruption, kUnsupported (the stored entity cannot be read); kTooLarge
/// (RequestBodyTooLarge: kIndexedCommitBytesMax); those of UniqueValues::give(); then a part may have been added.
Status add_index_entries(const TableIndexes& indexes, const engine::Newest& before, const PreparedWrite& after,
                         std::size_t place, format::BatchBuilder& batch, UniqueValues& values);

/// An entry, as it is stored.
struct IndexEntry {
  std::string key{};
  std::string value{};  // behind its end, if it has one
  format::Kind kind = format::Kind::kPut;
};
/// Returns the entry of an entity that is stored, or nothing if it has none. `end` is zero if the entity does not end.
/// Errors: kCorruption, kUnsupported.
Result<std::optional<IndexEntry>> index_entry_of(const TableIndex& index, std::string_view sort_key,
                                                 format::CommitVersion version, std::string_view properties,
                                                 std::uint64_t end);

/// Adds the entry of an entity that is stored, for an index that is being built. Returns whether it has one. Errors: as
/// add_index_entries().
Result<bool> put_index_entry(const TableIndex& index, std::string_view sort_key, const engine::Newest& entity,
                             format::BatchBuilder& batch, UniqueValues& values);

}  // namespace varve
