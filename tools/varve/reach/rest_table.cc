#include "tools/varve/reach/rest_table.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "api/rest/protocol/target.h"
#include "api/security/query_fields.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/rest_query.h"
#include "tools/varve/text/entity_json.h"
#include "varve/condition.h"

namespace varve::tool {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;
using WriteKind = WriteOperation::Kind;

constexpr std::string_view kBatchBoundary = "batch_7f4c2a90";
constexpr std::string_view kChangesBoundary = "changeset_7f4c2a90";

Result<std::string> body_of(const Entity& entity) {
  if (Status movable = check_has_no_contents(entity); !movable.ok()) return movable;
  try {
    return entity_to_row(entity);
  } catch (const nlohmann::json::exception&) {
    return Status::invalid_argument("a key, a name or a value is not UTF-8");
  }
}

std::string_view verb_of(WriteKind kind) {
  switch (kind) {
    case WriteKind::kInsert: return "POST";
    case WriteKind::kReplace:
    case WriteKind::kInsertOrReplace: return "PUT";
    case WriteKind::kMerge:
    case WriteKind::kInsertOrMerge: return "MERGE";
    case WriteKind::kPatch:
    case WriteKind::kInsertOrPatch:
    case WriteKind::kRemove: break;
  }
  return "DELETE";
}

/// Returns the refusal of what the table service has no request for.
Status no_request_for(std::string_view write) {
  return Status::invalid_argument("a service takes no " + std::string(write) +
                                  "; give the directory of the store instead of an address");
}

/// Returns whether a server's build lacks a verb of the operator's door, or the door. A program sends no other wrong words.
bool is_unknown_verb(const Status& refused) noexcept {
  return refused.code() == Code::kUnsupported || refused.service_error() == "InvalidQueryParameterValue";
}

/// Returns the requests of a change set as the body of a batch.
std::string batch_body(const std::string& address, const std::vector<HttpRequest>& requests) {
  std::string body = "--" + std::string(kBatchBoundary) +
                     "\r\nContent-Type: multipart/mixed; boundary=" + std::string(kChangesBoundary) + "\r\n\r\n";
  for (const HttpRequest& request : requests) {
    body.append("--").append(kChangesBoundary);
    body.append("\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
    body.append(request.head.verb).append(" ").append(address).append(request.head.path).append(" HTTP/1.1\r\n");
    for (const auto& [name, value] : request.head.headers) body.append(name).append(": ").append(value).append("\r\n");
    body.append("\r\n").append(request.body).append("\r\n");
  }
  return body + "--" + std::string(kChangesBoundary) + "--\r\n--" + std::string(kBatchBoundary) + "--\r\n";
}

/// Adds a hint if the server refused a filter that this build accepts, or an order.
Status explained(const Status& refused, const std::string& filter) {
  if (refused.message().find("the query option $orderby") != std::string_view::npos) {
    return refused.with_hint("the table service has no order; `varve serve --extensions allow` has it");
  }
  const bool names_filter = refused.message().find("the filter, character") != std::string_view::npos;
  if (!names_filter || !Condition::parse(filter).ok()) return refused;
  return refused.with_hint(
      "the filter has conditions that the table service lacks; `varve serve --extensions allow` accepts them");
}

class RestTable final : public TableAccess {
 public:
  RestTable(std::shared_ptr<Wire> wire, std::string root, std::string table, std::optional<TableDoor> door)
      : wire_(std::move(wire)), root_(std::move(root)), table_(std::move(table)), door_(std::move(door)) {}

  Result<std::optional<Entity>> get(const std::string& partition_key, const std::string& row_key,
                                    const ReadOptions& options) const override {
    if (door_) {
      Result<std::optional<Entity>> found = door_->get(partition_key, row_key, options);
      if (!is_unknown_verb(found.status())) return found;
      // The table service of an older server shows the same, except for large values.
    }
    Scan scan;
    scan.read = options;
    std::string target = target_of(partition_key, row_key);
    if (!options.select.empty()) {
      const Result<std::string> query = query_of(scan);
      if (!query.ok()) return query.status();
      target += "?" + *query;
    }
    const Result<HttpResponse> response = wire_->send(service_request("GET", target));
    if (!response.ok()) return response.status();
    const Status status = status_of(*response);
    // The table is missing too, if the error says so.
    if (status.code() == Code::kNotFound && status.service_error() == "ResourceNotFound")
      return std::optional<Entity>();
    if (!status.ok()) return status;
    Result<Entity> entity = entity_of_answer((*response).body);
    if (!entity.ok()) return entity.status();
    return std::optional<Entity>(*std::move(entity));
  }

  Result<Page> scan(const Scan& scan) const override {
    const Result<std::string> query = query_of(scan);
    if (!query.ok()) return query.status();
    const Result<HttpResponse> response = wire_->send(service_request("GET", root_ + "/" + table_ + "()?" + *query));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return explained(status, scan.filter);
    return page_of_answer(*response);
  }

  Result<Count> count(const Scan& scan) const override {
    Scan asked = scan;
    asked.read.select = {"PartitionKey"};
    if (scan.take && *scan.take < asked.page_entities_max)
      asked.page_entities_max = static_cast<std::uint32_t>(*scan.take);
    Count count;
    while (!scan.take || count.entities < *scan.take) {
      const Result<Page> page = this->scan(asked);
      if (!page.ok()) return page.status();
      count.entities += (*page).entities.size();
      if (!(*page).continuation) break;
      asked.continuation = *(*page).continuation;
    }
    if (scan.take && count.entities > *scan.take) count.entities = *scan.take;
    return count;
  }

  /// Reads the properties that the figures need, page by page.
  Result<Count> aggregate(const Scan& scan, Aggregation& into) const override {
    Scan asked = scan;
    asked.read.select = into.properties();
    // A server that is asked for no property returns all of them.
    if (asked.read.select.empty()) asked.read.select = {"PartitionKey"};
    Count count;
    std::vector<PropertyView> properties;
    for (;;) {
      const Result<Page> page = this->scan(asked);
      if (!page.ok()) return page.status();
      for (const Entity& entity : (*page).entities) {
        properties.clear();
        for (const Property& property : entity.properties()) {
          properties.push_back({property.name, view_of(property.value)});
        }
        const EntityView view{entity.partition_key(), entity.row_key(), properties, entity.etag()};
        if (Status added = into.add(view); !added.ok()) return added;
      }
      count.entities += (*page).entities.size();
      if (!(*page).continuation) return count;
      asked.continuation = *(*page).continuation;
    }
  }

  Result<ScanPlan> explain(const Scan& /*scan*/) const override {
    return Status::invalid_argument("a server does not explain queries; give the directory of the store instead");
  }

  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) override {
    if (door_ && !operation.condition.empty()) return door_->write(operation, options);
    Result<HttpRequest> request = request_of(operation);
    if (!request.ok()) return request.status();
    const Result<HttpResponse> response = wire_->send(*std::move(request));
    if (!response.ok()) return response.status();
    return etag_of(*response);
  }

  Result<Entity> patch(const Patch& patch, ETag if_match, const WriteOptions& options) override {
    return door_ ? door_->patch(patch, if_match, options) : no_request_for("patch");
  }
  Result<Entity> insert_or_patch(const Patch& patch, const WriteOptions& options) override {
    return door_ ? door_->patch(patch, std::nullopt, options) : no_request_for("patch");
  }
  Result<WhereProgress> change_where(const Where& where, const PropertyChanges* changes,
                                     const WhereOptions& options) override {
    return door_ ? door_->change_where(where, changes, options) : no_request_for("change by filter");
  }

  Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options) override {
    if (transaction.size() == 1) {  // a batch would only be longer
      const Result<ETag> etag = write(transaction.operations().front(), options);
      if (!etag.ok()) return etag.status().at_operation(0);
      return std::vector<ETag>{*etag};
    }
    std::vector<HttpRequest> requests;
    for (const WriteOperation& operation : transaction.operations()) {
      Result<HttpRequest> request = request_of(operation);
      if (!request.ok()) return request.status().at_operation(static_cast<std::uint32_t>(requests.size()));
      requests.push_back(*std::move(request));
    }
    HttpRequest batch = service_request("POST", root_ + "/$batch", batch_body(wire_->address(), requests));
    batch.head.headers.emplace_back("Content-Type", "multipart/mixed; boundary=" + std::string(kBatchBoundary));
    const Result<HttpResponse> response = wire_->send(std::move(batch));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    return etags_of(*response, requests.size());
  }

 private:
  std::string target_of(const std::string& partition_key, const std::string& row_key) const {
    return root_ + "/" + serve::entity_reference(table_, partition_key, row_key);
  }

  Result<HttpRequest> request_of(const WriteOperation& operation) const {
    const bool is_patch = operation.kind == WriteKind::kPatch || operation.kind == WriteKind::kInsertOrPatch;
    if (is_patch) return no_request_for("patch");
    if (!operation.condition.empty()) return no_request_for("condition besides an ETag");
    const Entity& entity = operation.entity;
    const bool is_insert = operation.kind == WriteKind::kInsert;
    const bool is_remove = operation.kind == WriteKind::kRemove;
    const Result<std::string> body = is_remove ? std::string() : body_of(entity);
    if (!body.ok()) return body.status();
    HttpRequest request =
        service_request(verb_of(operation.kind),
                        is_insert ? root_ + "/" + table_ : target_of(entity.partition_key(), entity.row_key()), *body);
    serve::Headers& headers = request.head.headers;
    if (!is_remove) headers.emplace_back("Content-Type", "application/json");
    if (is_insert) headers.emplace_back("Prefer", "return-no-content");
    const bool has_condition =
        operation.kind == WriteKind::kReplace || operation.kind == WriteKind::kMerge || is_remove;
    if (has_condition) headers.emplace_back("If-Match", operation.if_match.to_string());
    return request;
  }

  static Result<std::vector<ETag>> etags_of(const HttpResponse& response, std::size_t count) {
    const Result<std::vector<HttpResponse>> parts = parts_of_answer(response);
    if (!parts.ok()) return parts.status();
    std::vector<ETag> etags;
    for (const HttpResponse& part : *parts) {
      const Result<ETag> etag = etag_of(part);
      if (!etag.ok()) return etag.status();
      etags.push_back(*etag);
    }
    if (etags.size() == count) return etags;
    return Status(Code::kUnknown, "the server answered " + std::to_string(etags.size()) + " of " +
                                      std::to_string(count) + " operations of a transaction");
  }

  const std::shared_ptr<Wire> wire_;
  const std::string root_;
  const std::string table_;
  const std::optional<TableDoor> door_;
};

}  // namespace

HttpRequest service_request(std::string_view verb, std::string_view target, std::string body) {
  HttpRequest request = request_to(verb, target, std::move(body));
  serve::Headers& headers = request.head.headers;
  headers.emplace_back("x-ms-version", "2019-02-02");
  headers.emplace_back("DataServiceVersion", "3.0;NetFx");
  headers.emplace_back("MaxDataServiceVersion", "3.0;NetFx");
  headers.emplace_back("Accept", "application/json;odata=minimalmetadata");
  return request;
}

std::unique_ptr<TableAccess> table_through(std::shared_ptr<Wire> wire, std::string root, std::string table,
                                           std::optional<TableDoor> door) {
  return std::make_unique<RestTable>(std::move(wire), std::move(root), std::move(table), std::move(door));
}

}  // namespace varve::tool
