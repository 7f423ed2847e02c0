// Owns: the names by which logs and metrics of an account call the operations of its clients.
// Must never: take a name from a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "api/rest/service/operation.h"
#include "varve/service_properties.h"

namespace varve::serve {

/// The operations as the service names them. Source: AL-06.
enum class OperationType : std::uint8_t {
  /// The request named no operation.
  kUnknown,

  kQueryTables,
  kQueryTable,
  kCreateTable,
  kDeleteTable,
  kQueryEntities,
  kQueryEntity,
  kInsertEntity,
  kUpdateEntity,
  kMergeEntity,
  kDeleteEntity,
  kInsertOrReplaceEntity,
  kInsertOrMergeEntity,
  kEntityGroupTransaction,
  kGetTableAcl,
  kSetTableAcl,
  kGetTableServiceProperties,
  kSetTableServiceProperties,
  kGetTableServiceStats,
  kTablePreflightRequest,

  kListQueues,
  kCreateQueue,
  kDeleteQueue,
  kGetQueueMetadata,
  kSetQueueMetadata,
  kGetQueueAcl,
  kSetQueueAcl,
  kGetQueueServiceProperties,
  kSetQueueServiceProperties,
  kGetQueueServiceStats,
  kPutMessage,
  kGetMessages,
  kPeekMessages,
  kUpdateMessage,
  kDeleteMessage,
  kClearMessages,
  kQueuePreflightRequest,

  kListContainers,
  kCreateContainer,
  kDeleteContainer,
  kGetContainerProperties,
  kGetContainerMetadata,
  kSetContainerMetadata,
  kGetContainerAcl,
  kSetContainerAcl,
  kAcquireContainerLease,
  kRenewContainerLease,
  kChangeContainerLease,
  kReleaseContainerLease,
  kBreakContainerLease,
  kListBlobs,
  kPutBlob,
  kGetBlob,
  kGetBlobProperties,
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
  kAcquireBlobLease,
  kRenewBlobLease,
  kChangeBlobLease,
  kReleaseBlobLease,
  kBreakBlobLease,
  kCopyBlob,
  kAbortCopyBlob,
  kBlobBatch,
  kGetBlobServiceProperties,
  kSetBlobServiceProperties,
  kGetBlobServiceStats,
  kGetAccountInformation,
  kBlobPreflightRequest,
};
inline constexpr std::size_t kOperationTypes = static_cast<std::size_t>(OperationType::kBlobPreflightRequest) + 1;

/// The classes of requests that an account can log. Source: AL-01.
enum class RequestClass : std::uint8_t { kRead, kWrite, kDelete };
inline constexpr std::size_t kRequestClasses = 3;

/// Returns the type of an operation. A write of an entity without If-Match also inserts (O-01), and a lease is changed
/// in several ways (BE-01), so the headers decide the type too.
OperationType operation_type(Operation operation, StorageService service, const Headers& headers) noexcept;
/// Returns a name such as "QueryEntities".
std::string_view operation_type_name(OperationType type) noexcept;
RequestClass request_class(OperationType type) noexcept;

}  // namespace varve::serve
