// Owns: the routes of the indexes of a table, an extension of the service: list, create, drop.
// Must never: answer where the server was not told to allow extensions, or keep a request until a long build ends.
#include <chrono>
#include <utility>

#include "api/rest/encoding/entity_reader.h"
#include "api/rest/encoding/index_json.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/index_builds.h"

namespace varve::serve {
namespace {

Status check_extensions(const Call& call) {
  if (call.has_extensions && call.index_builds != nullptr) return Status();
  return refused("InvalidQueryParameterValue",
                 "unknown comp and restype; indexes of tables need a server with --extensions allow");
}

/// Declares the index, and builds it for the time of a request.
Task<Status> begin_build(const Call& call, Store& store, const IndexDefinition& definition) {
  const bool goes_on =
      call.index_builds->progress(call.address.account, call.target.table, definition.name).has_value();
  Task<Status> building = AsyncStore(store).run(
      [account = call.address.account, table = call.target.table, definition, goes_on,
       time = call.index_builds->request_time()](Store& opened) {
        const auto deadline = std::chrono::steady_clock::now() + time;
        return opened.create_index(account, table, definition, [&](const IndexBuildProgress&) {
          return !goes_on && std::chrono::steady_clock::now() < deadline;
        });
      },
      call.stop);
  const Status built = co_await at_home(call.home, std::move(building));
  // The index has failed before.
  const bool needs_name = built.code() == Code::kConflict && built.service_error().empty();
  co_return needs_name ? built.with_service_error("ResourceAlreadyExists") : built;
}

Task<Result<std::vector<ShownIndex>>> shown_indexes(const Call& call, Store& store) {
  Task<Result<std::vector<IndexInfo>>> reading =
      AsyncStore(store).indexes(call.address.account, call.target.table, call.stop);
  Result<std::vector<IndexInfo>> infos = co_await at_home(call.home, std::move(reading));
  if (!infos.ok()) co_return infos.status();
  std::vector<ShownIndex> shown;
  for (IndexInfo& info : *infos) {
    ShownIndex& index = shown.emplace_back();
    index.info = std::move(info);
    if (index.info.state != IndexState::kBuilding) continue;
    const std::string& name = index.info.definition.name;
    index.build = call.index_builds->progress(call.address.account, call.target.table, name);
    const std::optional<std::string> failure =
        call.index_builds->failure(call.address.account, call.target.table, name);
    if (failure) index.info.failure = *failure;
  }
  co_return shown;
}

}  // namespace

Answer list_indexes(const Call& call, Store& store) {
  if (Status allowed = check_extensions(call); !allowed.ok()) co_return allowed;
  Task<Result<std::vector<ShownIndex>>> reading = shown_indexes(call, store);
  const Result<std::vector<ShownIndex>> indexes = co_await reading;
  if (!indexes.ok()) co_return indexes.status();
  std::string text = write_indexes(*indexes);
  if (!call.has_room(text.size())) co_return no_room_for_answer();
  co_return json_response(200, call.level, std::move(text));
}

Answer create_index(const Call& call, Store& store) {
  if (Status allowed = check_extensions(call); !allowed.ok()) co_return allowed;
  if (Status json = check_json_type(find_header(call.request.head.headers, "content-type")); !json.ok()) {
    co_return json;
  }
  const Result<IndexDefinition> definition = read_index_definition(call.request.body);
  if (!definition.ok()) co_return definition.status();
  Task<Status> building = begin_build(call, store, *definition);
  const Status built = co_await building;
  ShownIndex made{{*definition, IndexState::kReady, {}}, {}};
  std::uint16_t status = 201;
  if (!built.ok()) {
    if (built.code() != Code::kCancelled || call.stop.stop_requested()) co_return built;
    if (Status begun = call.index_builds->begin(call.address.account, call.target.table, *definition, call.stop);
        !begun.ok()) {
      co_return begun;
    }
    status = 202;
    made.info.state = IndexState::kBuilding;
    made.build = call.index_builds->progress(call.address.account, call.target.table, definition->name);
  }
  co_return carried_out_answer([&] { return json_response(status, call.level, write_index(made)); });
}

Answer drop_index(const Call& call, Store& store) {
  if (Status allowed = check_extensions(call); !allowed.ok()) co_return allowed;
  const Result<std::optional<std::string>> index = query_value(call.request.head.query, "index");
  if (!index.ok()) co_return index.status();
  if (!*index) co_return refused("MissingRequiredQueryParameter", "the request needs the query parameter index");
  Task<Status> dropping = AsyncStore(store).drop_index(call.address.account, call.target.table, **index, call.stop);
  const Status dropped = co_await at_home(call.home, std::move(dropping));
  if (!dropped.ok()) co_return dropped;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

}  // namespace varve::serve
