// Owns: the access to large values through the server that has their store open (value_access.h).
// Must never: be compiled in a build without the server. no_server.cc is.
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/security/query_fields.h"
#include "tools/serve/local/blob_door.h"
#include "tools/serve/local/value_fields.h"
#include "tools/varve/reach/rest_alive.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/server_socket.h"
#include "tools/varve/reach/value_access.h"
#include "tools/varve/text/entity_json.h"

namespace varve::tool {
namespace {

using serve::Fields;

std::string_view kind_word(WriteOperation::Kind kind) {
  switch (kind) {
    case WriteOperation::Kind::kInsert: return "insert";
    case WriteOperation::Kind::kReplace: return "replace";
    case WriteOperation::Kind::kMerge: return "merge";
    case WriteOperation::Kind::kInsertOrMerge: return "insert-or-merge";
    default: return "insert-or-replace";
  }
}

/// Returns the entity as fields: its JSON, and its large values.
Result<std::string> entity_body(const Entity& entity) {
  Entity rest(entity.partition_key(), entity.row_key());
  serve::EntityFields parts;
  for (const Property& property : entity.properties()) {
    if (const LargeValue* const value = property.value.get_if<LargeValue>()) {
      parts.large_values.emplace_back(property.name, *value);
    } else {
      rest.add(property.name, property.value);
    }
  }
  try {
    parts.json = entity_to_row(rest);
  } catch (const nlohmann::json::exception&) {
    return Status::invalid_argument("a key, a name or a value is not UTF-8");
  }
  Fields fields;
  serve::add_fields(fields, parts);
  return serve::fields_text(fields);
}

class ServedValues final : public ValueAccess {
 public:
  ServedValues(std::shared_ptr<Wire> wire, std::string account, std::string table)
      : wire_(std::move(wire)), account_(std::move(account)), table_(std::move(table)) {}

  Status begin() override {
    piece_.clear();
    return send(of("begin"), "").status();
  }
  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t taken = std::min(bytes.size(), serve::kBlobPieceBytes - piece_.size());
      piece_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (piece_.size() < serve::kBlobPieceBytes) continue;
      if (Status sent = flush(); !sent.ok()) return sent;
    }
    return Status();
  }
  Result<LargeValue> finish() override {
    if (Status sent = flush(); !sent.ok()) return sent;
    const Result<Fields> fields = send(of("finish"), "");
    if (!fields.ok()) return fields.status();
    const Result<LargeValue> value = serve::large_value_of(*fields);
    return value.ok() ? value : Result<LargeValue>(Status::io_error("the answer of the server names no large value"));
  }
  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) override {
    const Result<std::string> body = entity_body(operation.entity);
    if (!body.ok()) return body.status();
    std::string query = of("write");
    security::append_field(query, "kind", std::string(kind_word(operation.kind)));
    if (!operation.if_match.is_none()) security::append_field(query, "if_match", operation.if_match.to_string());
    if (options.durability) {
      security::append_field(query, "durability", *options.durability == Durability::kSync ? "sync" : "buffered");
    }
    const Result<Fields> fields = send(query, *body);
    if (!fields.ok()) return fields.status();
    for (const auto& [name, value] : *fields) {
      if (name == "etag") return ETag::parse(value);
    }
    return Status(Code::kUnknown, "the answer of the server has no ETag");
  }
  void discard() override { (void)send(of("discard"), ""); }

 private:
  std::string of(const std::string& verb) const {
    std::string query;
    security::append_field(query, "verb", verb);
    security::append_field(query, "account", account_);
    security::append_field(query, "table", table_);
    return query;
  }
  Result<Fields> send(const std::string& query, std::string body) {
    const Result<serve::HttpResponse> response =
        wire_.send(request_to("POST", "/_varve/values?" + query, std::move(body)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    return serve::parse_fields((*response).body);
  }
  Status flush() {
    if (piece_.empty()) return Status();
    return send(of("append"), std::exchange(piece_, std::string())).status();
  }

  AliveWire wire_;
  const std::string account_;
  const std::string table_;
  std::string piece_;
};

}  // namespace

std::unique_ptr<ValueAccess> values_through_server_of(const std::string& store, std::string account,
                                                      std::string table) {
  std::shared_ptr<Wire> wire = find_server(store);
  if (wire == nullptr) return nullptr;
  return std::make_unique<ServedValues>(std::move(wire), std::move(account), std::move(table));
}

}  // namespace varve::tool
