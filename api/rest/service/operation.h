// Owns: the names by which requests are counted and logged.
// Must never: take a name from a request. A client could otherwise create any number of names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/rest/protocol/target.h"
#include "api/rest/service/routes.h"

namespace varve::serve {

/// The operations. kUnresolved is a request that was refused before its operation was known, usually because a
/// signature was missing.
enum class Operation : std::uint8_t {
  kUnresolved,
  kListTables,
  kCreateTable,
  kGetTable,
  kDeleteTable,
  kQueryEntities,
  kGetEntity,
  kInsertEntity,
  kReplaceEntity,
  kMergeEntity,
  kDeleteEntity,
  kBatch,
  kGetPolicies,
  kSetPolicies,
  kGetProperties,
  kSetProperties,
  kGetStatistics,
  kListIndexes,
  kCreateIndex,
  kDropIndex,
  kListQueues,
  kCreateQueue,
  kDeleteQueue,
  kGetQueueMetadata,
  kSetQueueMetadata,
  kGetQueuePolicies,
  kSetQueuePolicies,
  kGetQueueProperties,
  kSetQueueProperties,
  kGetQueueStatistics,
  kPutMessage,
  kGetMessages,
  kPeekMessages,
  kUpdateMessage,
  kDeleteMessage,
  kClearMessages,
  kListContainers,
  kCreateContainer,
  kDeleteContainer,
  kGetContainer,
  kGetContainerMetadata,
  kSetContainerMetadata,
  kGetContainerPolicies,
  kSetContainerPolicies,
  kLeaseContainer,
  kListBlobs,
  kPutBlob,
  kGetBlob,
  kGetBlobState,
  kDeleteBlob,
  kPutBlock,
  kPutBlockList,
  kGetBlockList,
  kAppendBlock,
  kGetBlobMetadata,
  kSetBlobMetadata,
  kSetBlobProperties,
  kGetBlobTags,
  kSetBlobTags,
  kSetBlobTier,
  kLeaseBlob,
  kCopyBlob,
  kAbortCopyBlob,
  kBlobBatch,
  kGetBlobServiceProperties,
  kSetBlobServiceProperties,
  kGetBlobServiceStatistics,
  kGetAccountInformation,
  kPreflight,
  kStatusPage,
};
inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::kStatusPage) + 1;

/// Returns a name such as "QueryEntities".
std::string_view operation_name(Operation operation) noexcept;
/// Returns the operation of a request to the table service that has a route.
Operation operation_of(Resource resource, Part part, std::string_view verb) noexcept;

}  // namespace varve::serve
