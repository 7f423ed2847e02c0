#include "tools/serve/local/value_door.h"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/encoding/entity_reader.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "tools/serve/local/client_hold.h"
#include "tools/serve/local/door_query.h"
#include "tools/serve/local/value_fields.h"
#include "varve/large_value.h"
#include "varve/limits.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

/// The bytes of a content's part. The last part is written with the entity.
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20;

/// The contents of one entity, which arrive in several requests of one connection.
class ArrivingValues final : public ClientHold {
 public:
  std::vector<LargeValueWriter>& writers() noexcept { return writers_; }
  /// Returns the bytes that a commit of all contents would write. Until then they are in memory.
  std::uint64_t unwritten_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (const LargeValueWriter& writer : writers_) {
      if (writer.length() != 0) bytes += (writer.length() - 1) % kPartBytes + 1;
    }
    return bytes;
  }

 private:
  std::vector<LargeValueWriter> writers_;
};

/// A request with its parameters. The first parameter that is malformed is its failure.
class ValueRequest : public DoorQuery {
 public:
  explicit ValueRequest(const HttpRequest& request) : DoorQuery(request.head.query), request_(request) {
    account_ = text("account");
    table_ = text("table");
  }

  const HttpRequest& request() const noexcept { return request_; }
  const std::string& account() const noexcept { return account_; }
  const std::string& table() const noexcept { return table_; }

 private:
  const HttpRequest& request_;
  std::string account_;
  std::string table_;
};

struct NamedKind {
  std::string_view name;
  WriteOperation::Kind kind;
};

constexpr std::array<NamedKind, 5> kKinds = {{{"insert", WriteOperation::Kind::kInsert},
                                              {"replace", WriteOperation::Kind::kReplace},
                                              {"merge", WriteOperation::Kind::kMerge},
                                              {"insert-or-replace", WriteOperation::Kind::kInsertOrReplace},
                                              {"insert-or-merge", WriteOperation::Kind::kInsertOrMerge}}};

void discard_contents(const ValueRequest& request) {
  if (kept_for_client<ArrivingValues>(request.request()) != nullptr) request.request().kept->reset();
}

Status begin_value(Store& store, const ValueRequest& request) {
  if (request.request().kept == nullptr) {
    return Status::unsupported("a content that arrives in pieces needs a connection that keeps it");
  }
  Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  Result<LargeValueWriter> writer = table->write_large_value();
  if (!writer.ok()) return writer.status();
  std::shared_ptr<ArrivingValues> arriving = kept_for_client<ArrivingValues>(request.request());
  if (arriving == nullptr) {
    arriving = std::make_shared<ArrivingValues>();
    keep_for_client(request.request(), arriving);
  }
  if (arriving->writers().size() >= limits::kCustomPropertiesMax) {
    return service_error::invalid_input("an entity has not so many large values");
  }
  if (arriving->unwritten_bytes() > limits::kStoreTransactionBytesMax) {
    return service_error::request_body_too_large(
        "the last parts of the contents of an entity, of up to 1 MiB each, have more than " +
        std::to_string(limits::kStoreTransactionBytesMax) + " bytes");
  }
  arriving->writers().push_back(*std::move(writer));
  return Status();
}

/// Carries out `append` and `finish`.
Status go_on_with_value(const ValueRequest& request, bool is_end, Fields& answer) {
  const std::shared_ptr<ArrivingValues> arriving = kept_for_client<ArrivingValues>(request.request());
  if (arriving == nullptr || arriving->writers().empty()) {
    return service_error::invalid_input("this connection has begun no content");
  }
  LargeValueWriter& writer = arriving->writers().back();
  if (!is_end) return writer.append(request.request().body);
  const Result<LargeValue> value = writer.finish();
  if (!value.ok()) return value.status();
  add_fields(answer, *value);
  return Status();
}

Result<WriteOperation> operation_of(const Store& store, ValueRequest& request) {
  const Result<Fields> fields = parse_fields(request.request().body, entity_fields_max(store.limits()));
  if (!fields.ok()) return fields.status();
  const Result<EntityFields> given = entity_fields_of(*fields);
  if (!given.ok()) return given.status();
  Result<Entity> entity = read_entity(given->json);
  if (!entity.ok()) return entity.status();
  for (const auto& [name, value] : given->large_values) entity->add(name, value);
  const std::string if_match = request.text("if_match");
  const Result<ETag> etag = ETag::parse(if_match.empty() ? "*" : if_match);
  if (!etag.ok()) return etag.status();
  const std::string kind = request.text("kind");
  for (const NamedKind& known : kKinds) {
    if (known.name == kind) return WriteOperation{known.kind, *std::move(entity), *etag};
  }
  return refused("InvalidQueryParameterValue", "entities are not written by the kind " + kind);
}

Status write_entity_with_values(Store& store, ValueRequest& request, Fields& answer) {
  const Result<WriteOperation> operation = operation_of(store, request);
  WriteOptions options;
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  if (!operation.ok()) return operation.status();
  Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  const Result<ETag> etag = table->write(*operation, options);
  if (!etag.ok()) return etag.status();
  try {
    answer.emplace_back("etag", etag->to_string());
    return Status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);  // The entity is written.
  }
}

Status carry_out_value_verb(Store& store, ValueRequest& request, Fields& answer) {
  const std::string verb = request.text("verb");
  if (!request.failure().ok()) return request.failure();
  if (verb == "begin") return begin_value(store, request);
  if (verb == "append" || verb == "finish") return go_on_with_value(request, verb == "finish", answer);
  if (verb != "write" && verb != "discard") {
    return refused("InvalidQueryParameterValue", "large values have no verb " + verb);
  }
  const Status written = verb == "write" ? write_entity_with_values(store, request, answer) : Status();
  discard_contents(request);
  return written;
}

}  // namespace

Task<Result<HttpResponse>> answer_value_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop) {
  ValueRequest asked(request);
  Fields answer;
  Task<Status> working = AsyncStore(store).run(
      [&](Store& opened) { return carry_out_value_verb(opened, asked, answer); }, std::move(stop));
  const Status done = co_await at_home(home, std::move(working));
  if (!done.ok()) co_return done;
  co_return carried_out_answer([&] {
    HttpResponse response;
    response.with("Content-Type", "application/octet-stream").with("Cache-Control", "no-store");
    response.body = fields_text(answer);
    return response;
  });
}

}  // namespace varve::serve
