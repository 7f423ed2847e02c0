// Owns: the catalog rows of containers, and the rows of work that is left to do for blobs: their keys and their content.
// Must never: lose a property of a row that it does not know.
//
//   (0,8) containers  PartitionKey: account name, RowKey: container name. Properties: Id, optionally Created, optionally
//                     Changed (Int64), optionally PublicAccess (Int32: 1 blobs, 2 container), access policies
//                     (policy_rows.h), metadata (metadata_rows.h), lease (lease.h)
//   (0,9) work        see work_rows.h
//   (0,10) drops      PartitionKey: account name, RowKey: container name. No properties (name_release.h)
//
// A container has two numbers of its account. Id has its rows (api/blob/blob_rows.h). The next one is its fence: it has
// no rows, but each commit to the container names it. The drop of the container retires the fence, and Id when nothing
// refers to contents any more. Changed is the version of the last commit that changed the ETag. It is absent while it
// equals the version of the row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/lease.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

inline constexpr format::TableId kContainersTable = format::make_table_id(0, 8);
inline constexpr format::TableId kContainerDropsTable = format::make_table_id(0, 10);

// Names must be legal.
std::string container_row_key(std::string_view account, std::string_view container);
std::string container_drop_note_key(std::string_view account, std::string_view container);
/// Returns the common prefix of the keys of all container rows of an account.
std::string container_rows_prefix(std::string_view account);

constexpr format::TableId fence_of(format::TableId container) noexcept {
  return container + 1;
}

/// The number, in each account, of the id of contents.
inline constexpr std::uint32_t kContentsNumber = UINT32_MAX;
constexpr format::TableId contents_of(format::TableId container) noexcept {
  return format::make_table_id(format::account_of(container), kContentsNumber);
}
constexpr format::TableId contents_of_account(std::uint32_t account) noexcept {
  return format::make_table_id(account, kContentsNumber);
}

struct ContainerRow {
  format::TableId id = 0;
  format::CommitVersion created = 0;
  /// The version of the ETag.
  format::CommitVersion changed = 0;
  PublicAccess public_access = PublicAccess::kNone;
  std::vector<MetadataPair> metadata;
  Lease lease;
};

// `version` is the commit that wrote `value`. Errors: kCorruption, kUnsupported; the message names the row.
Result<ContainerRow> decode_container_row(std::string_view account, std::string_view container,
                                          format::CommitVersion version, std::string_view value);

std::string encode_new_container_row(format::TableId id, const ContainerOptions& options);
/// Returns the row with everything of `row` but the policies, which stay those of `before`. If `row.changed` is zero, the
/// version of the new row will be the ETag.
Result<std::string> with_container(std::string_view before, const ContainerRow& row);

}  // namespace varve
