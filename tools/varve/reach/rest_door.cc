#include "tools/varve/reach/rest_door.h"

#include "api/model/service_error.h"
#include "api/security/query_fields.h"
#include "tools/serve/local/table_fields.h"
#include "tools/varve/reach/rest_answer.h"

namespace varve::tool {

using serve::Fields;

namespace {

/// Returns the value of an answer. After a malformed answer, the outcome is unknown.
template <typename Value>
Result<Value> read_table_answer(Result<Value> read) {
  if (read.ok()) return read;
  return Status(Code::kUnknown, "the answer of the server is not as expected");
}

}  // namespace

Status TableDoor::create(const TableOptions& options) const {
  Fields body;
  serve::add_fields(body, options);
  return send(of("create", {}), body).status();
}

Result<std::optional<TableExpiry>> TableDoor::expiry() const {
  const Result<Fields> fields = send(of("expiry", {}), {});
  if (!fields.ok()) return fields.status();
  Result<TableOptions> options = read_table_answer(serve::table_options_of(*fields));
  if (!options.ok()) return options.status();
  return std::move(options->expiry);
}

Status TableDoor::set_expiry(const std::optional<TableExpiry>& expiry) const {
  Fields body;
  serve::add_fields(body, TableOptions{false, expiry});
  return send(of("expire", {}), body).status();
}

Result<std::optional<Entity>> TableDoor::get(const std::string& partition_key, const std::string& row_key,
                                             const ReadOptions& options) const {
  Fields body{{"partition", partition_key}, {"row", row_key}};
  for (const std::string& name : options.select) body.emplace_back("select", name);
  const Result<Fields> fields = send(of("get", {}), body);
  // A wire cannot know that this POST changes nothing.
  if (fields.code() == Code::kUnknown) return Status::io_error("the server gave no whole answer");
  if (!fields.ok()) return fields.status();
  if (fields->empty()) return std::optional<Entity>();
  Result<Entity> entity = serve::entity_of(*fields);
  if (!entity.ok()) return Status::io_error("the answer of the server is no entity");
  return std::optional<Entity>(*std::move(entity));
}

Result<ETag> TableDoor::write(const WriteOperation& operation, const WriteOptions& options) const {
  Fields body;
  serve::add_fields(body, operation);
  const Result<Fields> fields = send(of("write", options), body);
  if (!fields.ok()) return fields.status();
  for (const auto& [name, value] : *fields) {
    if (name == "etag") return read_table_answer(ETag::parse(value));
  }
  return ETag();
}

Result<Entity> TableDoor::patch(const Patch& patch, std::optional<ETag> if_match, const WriteOptions& options) const {
  Fields body;
  serve::add_fields(body, if_match ? WriteOperation::patch(patch, *if_match) : WriteOperation::insert_or_patch(patch));
  const Result<Fields> fields = send(of("patch", options), body);
  if (!fields.ok()) return fields.status();
  return read_table_answer(serve::entity_of(*fields));
}

Result<WhereProgress> TableDoor::change_where(const Where& where, const PropertyChanges* changes,
                                              const WhereOptions& options) const {
  if (options.stop.stop_requested()) {
    return Status(Code::kCancelled, "the caller's stop token cancelled the change before it began");
  }
  std::string query = of(changes == nullptr ? "delete" : "update", options.write);
  security::append_field(query, "batch", std::to_string(options.batch_entities_max));
  if (options.dry_run) security::append_field(query, "dry_run", "1");
  Fields body;
  serve::add_fields(body, where);
  if (changes != nullptr) serve::add_fields(body, *changes);
  body.emplace_back("continuation", options.continuation);
  WhereProgress done;
  for (bool is_first = true;; is_first = false) {
    const Result<Fields> fields = send(query, body);
    if (!is_first && fields.status().service_error() == "InvalidInput") {
      // The server took the same words before. Only the table of the continuation can be another one now.
      return service_error::table_not_found("table " + table_ + " was dropped, and created again, during the change");
    }
    if (!fields.ok()) return fields.status();
    Result<WhereProgress> batch = read_table_answer(serve::where_progress_of(*fields));
    if (!batch.ok()) return batch.status();
    done.matched += batch->matched;
    done.changed += batch->changed;
    done.left += batch->left;
    done.continuation = std::move(batch->continuation);
    if (options.progress) options.progress(done);
    if (!done.continuation || options.stop.stop_requested()) return done;
    body.back().second = *done.continuation;
  }
}

std::string TableDoor::of(const std::string& verb, const WriteOptions& options) const {
  std::string query;
  security::append_field(query, "verb", verb);
  security::append_field(query, "account", account_);
  security::append_field(query, "table", table_);
  if (options.durability) {
    security::append_field(query, "durability", *options.durability == Durability::kSync ? "sync" : "buffered");
  }
  return query;
}

Result<Fields> TableDoor::send(const std::string& query, const Fields& body) const {
  const Result<serve::HttpResponse> response =
      wire_->send(request_to("POST", "/_varve/tables?" + query, serve::fields_text(body)));
  if (!response.ok()) return response.status();
  if (Status status = status_of(*response); !status.ok()) return status;
  return read_table_answer(serve::parse_fields(response->body));
}

}  // namespace varve::tool
