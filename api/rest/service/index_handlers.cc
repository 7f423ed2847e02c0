// Owns: the routes of the indexes of a table, an extension of the service: list, create, drop.
// Must never: answer where the server does not allow extensions, or keep a request until a long build ends.
#include <memory>
#include <optional>
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

/// Waits for the end of the build on a thread of the store's calls. Returns nothing if it goes on after the time of a
/// request.
Task<std::optional<Status>> await_build(const Call& call, Store& store, IndexBuilds::Handle build) {
  const auto ended = std::make_shared<std::optional<Status>>();
  Task<Status> waiting = AsyncStore(store).run(
      [builds = call.index_builds, build, ended](Store&) {
        *ended = builds->wait(build, builds->request_time());
        return Status();
      },
      call.stop);
  if (const Status waited = co_await at_home(call.home, std::move(waiting)); !waited.ok()) co_return waited;
  std::optional<Status> built = std::move(*ended);
  // The index has failed before.
  const bool needs_name = built && built->code() == Code::kConflict && built->service_error().empty();
  if (needs_name) built = built->with_service_error("ResourceAlreadyExists");
  co_return built;
}

Task<Result<std::vector<ShownIndex>>> shown_indexes(const Call& call, Store& store) {
  // Before the states: a build that ends meanwhile is then shown as one that went on.
  const IndexBuilds::ShownBuilds builds = call.index_builds->of_table(call.address.account, call.target.table);
  Task<Result<std::vector<IndexInfo>>> reading =
      AsyncStore(store).indexes(call.address.account, call.target.table, call.stop);
  Result<std::vector<IndexInfo>> infos = co_await at_home(call.home, std::move(reading));
  if (!infos.ok()) co_return infos.status();
  std::vector<ShownIndex> shown;
  for (IndexInfo& info : *infos) {
    ShownIndex& index = shown.emplace_back();
    index.info = std::move(info);
    const auto build = builds.find(index.info.definition.name);
    if (index.info.state != IndexState::kBuilding || build == builds.end()) continue;
    index.build = build->second.progress;
    index.info.failure = build->second.failure;
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
  const Result<IndexBuilds::Handle> build =
      call.index_builds->begin(call.address.account, call.target.table, *definition, call.stop);
  if (!build.ok()) co_return build.status();
  Task<std::optional<Status>> waiting = await_build(call, store, *build);
  const std::optional<Status> built = co_await waiting;
  if (built && !built->ok()) co_return *built;
  ShownIndex made{{*definition, built ? IndexState::kReady : IndexState::kBuilding, {}}, {}};
  const std::uint16_t status = built ? 201 : 202;
  co_return carried_out_answer([&] { return json_response(status, call.level, write_index(made)); });
}

Answer drop_index(const Call& call, Store& store) {
  if (Status allowed = check_extensions(call); !allowed.ok()) co_return allowed;
  const Result<std::optional<std::string>> index = query_value(call.request.head.query, "index");
  if (!index.ok()) co_return index.status();
  if (!*index) co_return refused("MissingRequiredQueryParameter", "the request needs the query parameter index");
  const bool was_waiting = call.index_builds->forget(call.address.account, call.target.table, **index);
  Task<Status> dropping = AsyncStore(store).drop_index(call.address.account, call.target.table, **index, call.stop);
  const Status dropped = co_await at_home(call.home, std::move(dropping));
  // A build that had declared nothing is gone too.
  if (!dropped.ok() && !(was_waiting && dropped.code() == Code::kNotFound)) co_return dropped;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

}  // namespace varve::serve
