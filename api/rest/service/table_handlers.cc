// Owns: the routes of whole tables: list, create, get, delete.
// Must never: be reachable with a signature that is for entities alone.
#include <algorithm>
#include <chrono>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/metrics_tables.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/entity_reader.h"
#include "api/rest/encoding/entity_writer.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/table_filter.h"
#include "api/rest/service/handlers.h"
#include "varve/names.h"
#include "varve/query_options.h"

namespace varve::serve {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

/// The parameters of a listing.
struct Listing {
  TableFilter filter;
  ListOptions options;
  std::uint32_t left = 0;  // remaining tables of $top
};

Result<Listing> read_listing(const Call& call) {
  const std::string_view query = call.request.head.query;
  const Result<Scan> asked = parse_query_options(query);  // $top has one meaning, and the same errors, everywhere
  if (!asked.ok()) return asked.status();
  Result<TableFilter> filter =
      TableFilter::parse(asked->filter, call.has_extensions ? FilterGrammar::kExtended : FilterGrammar::kService);
  if (!filter.ok()) return filter.status();
  Result<std::optional<std::string>> next = query_value(query, "NextTableName");
  if (!next.ok()) return next.status();
  Listing listing{*std::move(filter), {}, asked->page_entities_max};
  listing.options.include_metrics_tables = listing.filter.names_metrics_tables();
  if (*next && !(*next)->empty()) listing.options.continuation = key_token_of(**next);
  return listing;
}

/// Adds the matching tables of one page. Afterwards `listing` continues after that page, or has no continuation at the
/// end.
Task<Result<bool>> add_page(const Call& call, AsyncStore store, Listing& listing, std::vector<std::string>& names) {
  // The page has at most the number of tables that may be returned. So no page is cut, and the tokens are the store's.
  listing.options.page_names_max = listing.left;
  Task<Result<TablePage>> reading = store.list_tables(call.address.account, listing.options, call.stop);
  const Result<TablePage> page = co_await at_home(call.home, std::move(reading));
  if (!page.ok()) co_return page.status();
  for (const TableInfo& table : page->tables) {
    if (!listing.filter.matches(table.name)) continue;
    names.push_back(table.name);
    --listing.left;
  }
  listing.options.continuation = page->continuation.value_or(std::string());
  co_return page->continuation.has_value();
}

HttpResponse created_response(const Call& call, std::string_view name) {
  const std::string location = call.address.root + "/" + table_reference(name);
  HttpResponse response;
  if (call.preference == Preference::kNoContent) {
    response.status = 204;
    response.with("DataServiceId", location);
  } else {
    response = json_response(201, call.level, write_table(call.place(), name));
  }
  add_preference(response, call.preference);
  response.with("Location", location);
  return response;
}

}  // namespace

Answer list_tables(const Call& call, Store& store) {
  Result<Listing> listing = read_listing(call);
  if (!listing.ok()) co_return listing.status();
  const TimePoint deadline = std::chrono::steady_clock::now() + limits::kPageTimeMax;
  std::vector<std::string> names;
  bool has_more = listing->left > 0;
  while (has_more && listing->left > 0 && std::chrono::steady_clock::now() < deadline) {
    Task<Result<bool>> adding = add_page(call, AsyncStore(store), *listing, names);
    const Result<bool> more = co_await adding;
    if (!more.ok()) co_return more.status();
    has_more = *more;
  }
  std::string text = write_tables(call.place(), names);
  if (!call.has_room(text.size())) co_return no_room_for_answer();
  HttpResponse response = json_response(200, call.level, std::move(text));
  if (has_more) response.with("x-ms-continuation-NextTableName", listing->options.continuation);
  co_return response;
}

Answer create_table(const Call& call, Store& store) {
  if (Status json = check_json_type(find_header(call.request.head.headers, "content-type")); !json.ok()) {
    co_return json;
  }
  const Result<std::string> name = read_table_name(call.request.body);
  if (!name.ok()) co_return name.status();
  Task<Result<Table>> creating = AsyncStore(store).create_table(call.address.account, *name, call.stop);
  const Result<Table> table = co_await at_home(call.home, std::move(creating));
  if (!table.ok()) co_return table.status();
  co_return carried_out_answer([&] { return created_response(call, table->name()); });
}

/// Gets a table by listing it, because a listing has the spelling of the table's creation (D-04). The name itself sorts
/// before all other names that begin with it.
Answer get_table(const Call& call, Store& store) {
  const std::string name(metrics_table(call.target.table).value_or(call.target.table));
  ListOptions options;
  options.prefix = name;
  options.page_names_max = 1;
  Task<Result<TablePage>> reading = AsyncStore(store).list_tables(call.address.account, options, call.stop);
  const Result<TablePage> page = co_await at_home(call.home, std::move(reading));
  if (!page.ok()) co_return page.status();
  if (page->tables.empty() || lower_case(page->tables.front().name) != lower_case(name)) {
    co_return service_error::resource_not_found("The table does not exist.");
  }
  co_return json_response(200, call.level, write_table(call.place(), page->tables.front().name));
}

Answer delete_table(const Call& call, Store& store) {
  Task<Status> dropping = AsyncStore(store).drop_table(call.address.account, call.target.table, call.stop);
  const Status dropped = co_await at_home(call.home, std::move(dropping));
  if (!dropped.ok()) co_return dropped;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

}  // namespace varve::serve
