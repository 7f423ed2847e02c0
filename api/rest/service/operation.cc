#include "api/rest/service/operation.h"

#include <array>

namespace varve::serve {
namespace {

constexpr std::array<std::string_view, kOperations> kOperationNames = {"Unresolved",
                                                                       "ListTables",
                                                                       "CreateTable",
                                                                       "GetTable",
                                                                       "DeleteTable",
                                                                       "QueryEntities",
                                                                       "GetEntity",
                                                                       "InsertEntity",
                                                                       "ReplaceEntity",
                                                                       "MergeEntity",
                                                                       "DeleteEntity",
                                                                       "Batch",
                                                                       "GetPolicies",
                                                                       "SetPolicies",
                                                                       "GetProperties",
                                                                       "SetProperties",
                                                                       "GetStatistics",
                                                                       "ListIndexes",
                                                                       "CreateIndex",
                                                                       "DropIndex",
                                                                       "ListQueues",
                                                                       "CreateQueue",
                                                                       "DeleteQueue",
                                                                       "GetQueueMetadata",
                                                                       "SetQueueMetadata",
                                                                       "GetQueuePolicies",
                                                                       "SetQueuePolicies",
                                                                       "GetQueueProperties",
                                                                       "SetQueueProperties",
                                                                       "GetQueueStatistics",
                                                                       "PutMessage",
                                                                       "GetMessages",
                                                                       "PeekMessages",
                                                                       "UpdateMessage",
                                                                       "DeleteMessage",
                                                                       "ClearMessages",
                                                                       "ListContainers",
                                                                       "CreateContainer",
                                                                       "DeleteContainer",
                                                                       "GetContainer",
                                                                       "GetContainerMetadata",
                                                                       "SetContainerMetadata",
                                                                       "GetContainerPolicies",
                                                                       "SetContainerPolicies",
                                                                       "LeaseContainer",
                                                                       "ListBlobs",
                                                                       "PutBlob",
                                                                       "GetBlob",
                                                                       "GetBlobState",
                                                                       "DeleteBlob",
                                                                       "PutBlock",
                                                                       "PutBlockList",
                                                                       "GetBlockList",
                                                                       "AppendBlock",
                                                                       "GetBlobMetadata",
                                                                       "SetBlobMetadata",
                                                                       "SetBlobProperties",
                                                                       "GetBlobTags",
                                                                       "SetBlobTags",
                                                                       "SetBlobTier",
                                                                       "LeaseBlob",
                                                                       "CopyBlob",
                                                                       "AbortCopyBlob",
                                                                       "BlobBatch",
                                                                       "GetBlobServiceProperties",
                                                                       "SetBlobServiceProperties",
                                                                       "GetBlobServiceStatistics",
                                                                       "GetAccountInformation",
                                                                       "Preflight",
                                                                       "StatusPage"};

Operation operation_on_entity(std::string_view verb) noexcept {
  if (verb == "GET") return Operation::kGetEntity;
  if (verb == "PUT") return Operation::kReplaceEntity;
  return verb == "DELETE" ? Operation::kDeleteEntity : Operation::kMergeEntity;
}

Operation operation_on_content(Resource resource, std::string_view verb) noexcept {
  switch (resource) {
    case Resource::kTables: return verb == "POST" ? Operation::kCreateTable : Operation::kListTables;
    case Resource::kTable: return verb == "DELETE" ? Operation::kDeleteTable : Operation::kGetTable;
    case Resource::kEntities: return verb == "POST" ? Operation::kInsertEntity : Operation::kQueryEntities;
    case Resource::kPartition: return Operation::kQueryEntities;
    case Resource::kEntity: return operation_on_entity(verb);
    case Resource::kBatch: return Operation::kBatch;
    case Resource::kService: break;
  }
  return Operation::kUnresolved;
}

}  // namespace

std::string_view operation_name(Operation operation) noexcept {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

Operation operation_of(Resource resource, Part part, std::string_view verb) noexcept {
  const bool is_write = verb == "PUT";
  switch (part) {
    case Part::kContent: return operation_on_content(resource, verb);
    case Part::kPolicies: return is_write ? Operation::kSetPolicies : Operation::kGetPolicies;
    case Part::kIndexes:
      if (verb == "GET") return Operation::kListIndexes;
      return verb == "POST" ? Operation::kCreateIndex : Operation::kDropIndex;
    case Part::kProperties: return is_write ? Operation::kSetProperties : Operation::kGetProperties;
    case Part::kStatistics: return Operation::kGetStatistics;
  }
  return Operation::kUnresolved;
}

}  // namespace varve::serve
