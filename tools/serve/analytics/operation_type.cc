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
                                                               {"QueuePreflightRequest", kRead}}};

const TypeRule& type_rule(OperationType type) noexcept {
  return kTypeRules[static_cast<std::size_t>(type)];
}

/// Returns the types that depend on nothing but the operation, in the order of Operation. The blob service is not counted,
/// so its 32 operations have none.
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
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kUnknown,
                                                kTablePreflightRequest,
                                                kUnknown};
}();

}  // namespace

OperationType operation_type(Operation operation, StorageService service, bool has_condition) noexcept {
  if (operation == Operation::kReplaceEntity && !has_condition) return OperationType::kInsertOrReplaceEntity;
  if (operation == Operation::kMergeEntity && !has_condition) return OperationType::kInsertOrMergeEntity;
  if (operation == Operation::kPreflight && service == StorageService::kQueues) {
    return OperationType::kQueuePreflightRequest;
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
