// Owns: the table service's error strings, and the code of each.
// Must never: hold a string that no rule of the service names.
#pragma once

#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::service_error {

inline Status invalid_input(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidInput");
}
inline Status out_of_range_input(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("OutOfRangeInput");
}
inline Status invalid_resource_name(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidResourceName");
}
inline Status property_name_invalid(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("PropertyNameInvalid");
}
inline Status duplicate_properties(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("DuplicatePropertiesSpecified");
}
inline Status duplicate_key_property(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("DuplicateKeyPropertySpecified");
}
inline Status different_partitions(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("CommandsInBatchActOnDifferentPartitions");
}
inline Status invalid_xml_document(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidXmlDocument");
}
inline Status invalid_xml_node_value(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidXmlNodeValue");
}
inline Status duplicate_row(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidDuplicateRow");
}

inline Status property_name_too_long(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("PropertyNameTooLong");
}
inline Status property_value_too_large(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("PropertyValueTooLarge");
}
inline Status too_many_properties(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("TooManyProperties");
}
inline Status entity_too_large(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("EntityTooLarge");
}
inline Status request_body_too_large(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("RequestBodyTooLarge");
}

inline Status entity_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("EntityAlreadyExists");
}
inline Status table_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("TableAlreadyExists");
}
inline Status table_being_deleted(std::string_view message) noexcept {
  return Status(Code::kBusy, message).with_service_error("TableBeingDeleted");
}
inline Status queue_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("QueueAlreadyExists");
}
inline Status queue_being_deleted(std::string_view message) noexcept {
  return Status(Code::kBusy, message).with_service_error("QueueBeingDeleted");
}
inline Status queue_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("QueueNotFound");
}
inline Status container_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("ContainerAlreadyExists");
}
inline Status container_being_deleted(std::string_view message) noexcept {
  return Status(Code::kBusy, message).with_service_error("ContainerBeingDeleted");
}
inline Status container_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("ContainerNotFound");
}
inline Status blob_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("BlobNotFound");
}
inline Status blob_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("BlobAlreadyExists");
}
inline Status condition_not_met(std::string_view message) noexcept {
  return Status(Code::kPreconditionFailed, message).with_service_error("ConditionNotMet");
}
inline Status source_condition_not_met(std::string_view message) noexcept {
  return Status(Code::kPreconditionFailed, message).with_service_error("SourceConditionNotMet");
}
inline Status invalid_blob_type(std::string_view message) noexcept {
  return Status(Code::kConflict, message).with_service_error("InvalidBlobType");
}
inline Status invalid_header_value(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidHeaderValue");
}
inline Status message_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("MessageNotFound");
}
inline Status invalid_parameter(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidQueryParameterValue");
}
inline Status out_of_range_parameter(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("OutOfRangeQueryParameterValue");
}
inline Status invalid_metadata(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("InvalidMetadata");
}
inline Status empty_metadata_key(std::string_view message) noexcept {
  return Status::invalid_argument(message).with_service_error("EmptyMetadataKey");
}
inline Status metadata_too_large(std::string_view message) noexcept {
  return Status::too_large(message).with_service_error("MetadataTooLarge");
}
inline Status resource_already_exists(std::string_view message) noexcept {
  return Status::exists(message).with_service_error("ResourceAlreadyExists");
}
inline Status large_value_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("LargeValueNotFound");
}
inline Status resource_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("ResourceNotFound");
}
inline Status table_not_found(std::string_view message) noexcept {
  return Status::not_found(message).with_service_error("TableNotFound");
}
inline Status not_implemented(std::string_view message) noexcept {
  return Status::unsupported(message).with_service_error("NotImplemented");
}
inline Status authorization_failure(std::string_view message) noexcept {
  return Status(Code::kForbidden, message).with_service_error("AuthorizationFailure");
}
inline Status permission_mismatch(std::string_view message) noexcept {
  return Status(Code::kForbidden, message).with_service_error("AuthorizationPermissionMismatch");
}
inline Status update_condition_not_satisfied(std::string_view message) noexcept {
  return Status(Code::kPreconditionFailed, message).with_service_error("UpdateConditionNotSatisfied");
}

/// Returns true if the table model reports a dropped table. Checks the string, too: kNotFound may also be a missing
/// file.
inline bool is_table_gone(const Status& status) noexcept {
  return status.code() == Code::kNotFound && status.service_error() == "TableNotFound";
}

}  // namespace varve::service_error
