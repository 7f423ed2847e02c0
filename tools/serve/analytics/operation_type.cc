// Owns: the table from operations to their types and names (operation_type.h).
// Must never: leave an operation of a service that is counted without a type.
#include "tools/serve/analytics/operation_type.h"

#include <array>

namespace varve::serve {
namespace {

struct TypeRule {
  std::string_view name;
  RequestClass request_class;
};

using enum RequestClass;

/// In the order of OperationType.
constexpr std::array<TypeRule, kOperationTypes> kTypeRules = {{{"Unknown", kRead},
                                                               {"QueryTables", kRead},
                                                               {"QueryTable", kRead},
                                                               {"CreateTable", kWrite},
                                                               {"DeleteTable", kDelete},
                                                               {"QueryEntities", kRead},
                                                               {"QueryEntity", kRead},
                                                               {"InsertEntity", kWrite},
                                                               {"UpdateEntity", kWrite},
                                                               {"MergeEntity", kWrite},
                                                               {"DeleteEntity", kDelete},
                                                               {"InsertOrReplaceEntity", kWrite},
                                                               {"InsertOrMergeEntity", kWrite},
                                                               {"EntityGroupTransaction", kWrite},
                                                               {"GetTableAcl", kRead},
                                                               {"SetTableAcl", kWrite},
                                                               {"GetTableServiceProperties", kRead},
                                                               {"SetTableServiceProperties", kWrite},
                                                               {"GetTableServiceStats", kRead},
                                                               {"TablePreflightRequest", kRead},
                                                               {"ListQueues", kRead},
                                                               {"CreateQueue", kWrite},
                                                               {"DeleteQueue", kDelete},
                                                               {"GetQueueMetadata", kRead},
                                                               {"SetQueueMetadata", kWrite},
                                                               {"GetQueueAcl", kRead},
                                                               {"SetQueueAcl", kWrite},
                                                               {"GetQueueServiceProperties", kRead},
                                                               {"SetQueueServiceProperties", kWrite},
                                                               {"GetQueueServiceStats", kRead},
                                                               {"PutMessage", kWrite},
                                                               {"GetMessages", kRead},
                                                               {"PeekMessages", kRead},
                                                               {"UpdateMessage", kWrite},
                                                               {"DeleteMessage", kDelete},
                                                               {"ClearMessages", kDelete},
                                                               {"QueuePreflightRequest", kRead},
                                                               {"ListContainers", kRead},
                                                               {"CreateContainer", kWrite},
                                                               {"DeleteContainer", kDelete},
                                                               {"GetContainerProperties", kRead},
                                                               {"GetContainerMetadata", kRead},
                                                               {"SetContainerMetadata", kWrite},
                                                               {"GetContainerAcl", kRead},
                                                               {"SetContainerAcl", kWrite},
                                                               {"AcquireContainerLease", kWrite},
                                                               {"RenewContainerLease", kWrite},
                                                               {"ChangeContainerLease", kWrite},
                                                               {"ReleaseContainerLease", kWrite},
                                                               {"BreakContainerLease", kWrite},
                                                               {"ListBlobs", kRead},
                                                               {"PutBlob", kWrite},
                                                               {"GetBlob", kRead},
                                                               {"GetBlobProperties", kRead},
                                                               {"DeleteBlob", kDelete},
                                                               {"PutBlock", kWrite},
                                                               {"PutBlockList", kWrite},
                                                               {"GetBlockList", kRead},
                                                               {"AppendBlock", kWrite},
                                                               {"GetBlobMetadata", kRead},
                                                               {"SetBlobMetadata", kWrite},
                                                               {"SetBlobProperties", kWrite},
                                                               {"GetBlobTags", kRead},
                                                               {"SetBlobTags", kWrite},
                                                               {"SetBlobTier", kWrite},
                                                               {"AcquireBlobLease", kWrite},
                                                               {"RenewBlobLease", kWrite},
                                                               {"ChangeBlobLease", kWrite},
                                                               {"ReleaseBlobLease", kWrite},
                                                               {"BreakBlobLease", kWrite},
                                                               {"CopyBlob", kWrite},
                                                               {"AbortCopyBlob", kWrite},
                                                               {"BlobBatch", kWrite},
                                                               {"GetBlobServiceProperties", kRead},
                                                               {"SetBlobServiceProperties", kWrite},
                                                               {"GetBlobServiceStats", kRead},
                                                               {"GetAccountInformation", kRead},
                                                               {"BlobPreflightRequest", kRead}}};

const TypeRule& type_rule(OperationType type) noexcept {
  return kTypeRules[static_cast<std::size_t>(type)];
}

/// Returns the types that depend on nothing but the operation, in the order of Operation. Leases have that of acquiring
/// one.
constexpr std::array<OperationType, kOperations> kTypesOfOperations = [] {
  using enum OperationType;
  return std::array<OperationType, kOperations>{kUnknown,
                                                kQueryTables,
                                                kCreateTable,
                                                kQueryTable,
                                                kDeleteTable,
                                                kQueryEntities,
                                                kQueryEntity,
                                                kInsertEntity,
                                                kUpdateEntity,
                                                kMergeEntity,
                                                kDeleteEntity,
                                                kEntityGroupTransaction,
                                                kGetTableAcl,
                                                kSetTableAcl,
                                                kGetTableServiceProperties,
                                                kSetTableServiceProperties,
                                                kGetTableServiceStats,
                                                kQueryTable,  // and two more of indexes, which the service lacks
                                                kCreateTable,
                                                kDeleteTable,
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
                                                kListContainers,
                                                kCreateContainer,
                                                kDeleteContainer,
                                                kGetContainerProperties,
                                                kGetContainerMetadata,
                                                kSetContainerMetadata,
                                                kGetContainerAcl,
                                                kSetContainerAcl,
                                                kAcquireContainerLease,
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
                                                kCopyBlob,
                                                kAbortCopyBlob,
                                                kBlobBatch,
                                                kGetBlobServiceProperties,
                                                kSetBlobServiceProperties,
                                                kGetBlobServiceStats,
                                                kGetAccountInformation,
                                                kTablePreflightRequest,
                                                kUnknown};
}();

/// In the order of StorageService.
constexpr std::array<OperationType, 3> kPreflightTypes = {
    OperationType::kTablePreflightRequest, OperationType::kQueuePreflightRequest, OperationType::kBlobPreflightRequest};
/// The actions on leases, in the order of the types.
constexpr std::array<std::string_view, 5> kLeaseActions = {"acquire", "renew", "change", "release", "break"};

/// Returns the type of a change of a lease. `acquired` is the first of the types.
OperationType lease_type(OperationType acquired, const Headers& headers) noexcept {
  const std::string* const action = find_header(headers, "x-ms-lease-action");
  for (std::size_t i = 0; action != nullptr && i < kLeaseActions.size(); ++i) {
    if (!equal_ignoring_case(trimmed(*action), kLeaseActions[i])) continue;
    return static_cast<OperationType>(static_cast<std::size_t>(acquired) + i);
  }
  return acquired;
}

}  // namespace

OperationType operation_type(Operation operation, StorageService service, const Headers& headers) noexcept {
  switch (operation) {
    case Operation::kReplaceEntity:
      if (find_header(headers, "if-match") == nullptr) return OperationType::kInsertOrReplaceEntity;
      break;
    case Operation::kMergeEntity:
      if (find_header(headers, "if-match") == nullptr) return OperationType::kInsertOrMergeEntity;
      break;
    case Operation::kLeaseContainer: return lease_type(OperationType::kAcquireContainerLease, headers);
    case Operation::kLeaseBlob: return lease_type(OperationType::kAcquireBlobLease, headers);
    case Operation::kPreflight: return kPreflightTypes[static_cast<std::size_t>(service)];
    default: break;
  }
  return kTypesOfOperations[static_cast<std::size_t>(operation)];
}

std::string_view operation_type_name(OperationType type) noexcept {
  return type_rule(type).name;
}

RequestClass request_class(OperationType type) noexcept {
  return type_rule(type).request_class;
}

}  // namespace varve::serve
