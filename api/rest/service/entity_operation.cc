#include "api/rest/service/entity_operation.h"

#include <optional>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/entity_reader.h"
#include "api/rest/encoding/entity_writer.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

using Kind = WriteOperation::Kind;

/// Returns the condition of a write, or nothing if there is none.
Result<std::optional<ETag>> read_condition(const Headers& headers) {
  if (find_header(headers, "if-none-match") != nullptr) {
    return service_error::invalid_input("If-None-Match is not supported for writes; use If-Match");
  }
  const std::string* const text = find_header(headers, "if-match");
  if (text == nullptr) return std::optional<ETag>();
  if (count_headers(headers, "if-match") > 1) return service_error::invalid_input("If-Match must be given once");
  const Result<ETag> etag = ETag::parse(*text);
  if (!etag.ok()) return etag.status();
  if (etag->is_none()) return service_error::invalid_input("If-Match must not be empty; give an ETag or *");
  return std::optional<ETag>(*etag);
}

Result<WriteOperation> read_insert(const OperationSource& source) {
  if (Status json = check_json_type(find_header(source.headers, "content-type")); !json.ok()) return json;
  Result<Entity> entity = read_entity(source.body, source.properties_max);
  if (!entity.ok()) return entity.status();
  return WriteOperation{Kind::kInsert, *std::move(entity), ETag()};
}

Result<WriteOperation> read_remove(const OperationSource& source) {
  const Result<std::optional<ETag>> condition = read_condition(source.headers);
  if (!condition.ok()) return condition.status();
  if (!*condition) return refused("MissingRequiredHeader", "a delete needs If-Match; give an ETag or *");
  return WriteOperation{Kind::kRemove, Entity(source.target.partition_key, source.target.row_key), **condition};
}

/// Reads a write to an entity's address: an update with If-Match, an upsert without (O-01).
Result<WriteOperation> read_put(const OperationSource& source, Kind update, Kind upsert) {
  const Result<std::optional<ETag>> condition = read_condition(source.headers);
  if (!condition.ok()) return condition.status();
  if (!*condition && source.version < since::kUpsert) {
    return service_error::invalid_input("this x-ms-version needs If-Match; a newer x-ms-version writes without it");
  }
  if (Status json = check_json_type(find_header(source.headers, "content-type")); !json.ok()) return json;
  Result<Entity> entity =
      read_entity(source.body, source.target.partition_key, source.target.row_key, source.properties_max);
  if (!entity.ok()) return entity.status();
  return WriteOperation{*condition ? update : upsert, *std::move(entity), condition->value_or(ETag())};
}

HttpResponse inserted_response(const WriteAnswer& answer, Entity& entity, ETag etag) {
  std::string location(answer.place.root);
  location.append("/").append(entity_reference(answer.place.table, entity.partition_key(), entity.row_key()));
  HttpResponse response;
  response.headers.reserve(kAnswerHeaders);
  if (answer.preference == Preference::kNoContent) {
    response.status = 204;
    response.with("DataServiceId", location);
  } else {
    entity.set_etag(etag);
    response = json_response(201, answer.place.level, write_entity(answer.place, entity));
  }
  add_preference(response, answer.preference);
  response.with("Location", location);
  return response;
}

}  // namespace

Result<WriteOperation> read_operation(const OperationSource& source) {
  if (source.target.resource == Resource::kEntities && source.verb == "POST") return read_insert(source);
  if (source.target.resource == Resource::kEntity) {
    if (source.verb == "DELETE") return read_remove(source);
    if (source.verb == "PUT") return read_put(source, Kind::kReplace, Kind::kInsertOrReplace);
    if (source.verb == "MERGE" || source.verb == "PATCH") {
      return read_put(source, Kind::kMerge, Kind::kInsertOrMerge);
    }
  }
  return refused("MethodNotAllowed", "this verb cannot write this resource");
}

HttpResponse written_response(const WriteAnswer& answer, WriteOperation& operation, ETag etag) {
  HttpResponse response;
  response.status = 204;
  if (operation.kind == Kind::kInsert) response = inserted_response(answer, operation.entity, etag);
  if (operation.kind != Kind::kRemove) response.with("ETag", etag.to_string());
  return response;
}

}  // namespace varve::serve
