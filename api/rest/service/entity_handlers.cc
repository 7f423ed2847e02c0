// Owns: the routes of entities: queries, point reads, single writes.
// Must never: use a table handle that is not restricted to the caller's permissions.
#include <algorithm>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/entity_writer.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/service/entity_operation.h"
#include "api/rest/service/handlers.h"
#include "varve/query_options.h"

namespace varve::serve {
namespace {

/// The most bytes of a page, which bound the memory of one answer. A page may end anywhere.
constexpr std::uint64_t kPageBytesMax = std::uint64_t{4} << 20;

Result<Scan> read_scan(const Call& call) {
  const std::string_view query = call.request.head.query;
  Result<Scan> scan = call.has_extensions ? parse_ordered_query_options(query) : parse_query_options(query);
  if (!scan.ok()) return scan;
  if (call.target.resource == Resource::kPartition) scan->range = ScanRange::partition(call.target.partition_key);
  scan->filter_extensions = call.has_extensions;
  scan->page_bytes_max = kPageBytesMax;
  scan->page_time_max = std::min(scan->page_time_max, std::chrono::milliseconds(call.time_max));
  scan->order_time_max = scan->page_time_max;
  return scan;
}

/// Adds the token of a scan. Each of its words has its own header: the token of an order has one, others two. Source: Q-42.
void add_continuation(HttpResponse& response, const std::string& token) {
  const std::size_t space = std::min(token.find(' '), token.size());
  response.with("x-ms-continuation-NextPartitionKey", std::string_view(token).substr(0, space));
  if (space == token.size()) return;
  response.with("x-ms-continuation-NextRowKey", std::string_view(token).substr(space + 1));
}

Result<ReadOptions> read_selection(const Call& call) {
  const Result<std::optional<std::string>> text = query_value(call.request.head.query, "$select");
  if (!text.ok()) return text.status();
  Result<std::vector<std::string>> select = parse_select(text->value_or(std::string()));
  if (!select.ok()) return select.status();
  ReadOptions options;
  options.select = *std::move(select);
  return options;
}

/// A page that is written as long as there is room for it.
class RoomyPage {
 public:
  RoomyPage(const Call& call, std::vector<std::string> select)
      : call_(call), writer_(call.place(), std::move(select)) {}

  void add(const EntityView& entity) {
    if (!has_room_) return;
    writer_.add(entity);
    if (writer_.size() <= asked_at_) return;
    asked_at_ = writer_.size() + kStep;
    has_room_ = call_.has_room(asked_at_ + asked_at_ / 2);
    if (!has_room_) (void)writer_.take();
  }
  bool has_room() const noexcept { return has_room_; }
  std::string take() { return writer_.take(); }

 private:
  /// The bytes requested in one step. A growing text can use up to half more memory than its size.
  static constexpr std::size_t kStep = std::size_t{64} << 10;

  const Call& call_;
  PageWriter writer_;
  std::size_t asked_at_ = kSmallAnswerBytes;
  bool has_room_ = true;
};

}  // namespace

Answer query_entities(const Call& call, Result<AsyncTable> table) {
  Result<Scan> scan = read_scan(call);
  if (!scan.ok()) co_return scan.status();
  if (!table.ok()) co_return table.status();
  RoomyPage text(call, scan->read.select);
  Task<Result<Page>> scanning = table->scan_in_place(
      *std::move(scan), [&text](const EntityView& entity) { text.add(entity); }, call.stop);
  const Result<Page> page = co_await scanning;
  if (!page.ok()) co_return page.status();
  if (!text.has_room()) co_return no_room_for_answer();
  HttpResponse response = json_response(200, call.level, text.take());
  if (page->continuation) add_continuation(response, *page->continuation);
  co_return response;
}

Answer get_entity(const Call& call, Result<AsyncTable> table) {
  const Result<ReadOptions> options = read_selection(call);
  if (!options.ok()) co_return options.status();
  if (!table.ok()) co_return table.status();
  Task<Result<std::optional<Entity>>> getting =
      table->get(call.target.partition_key, call.target.row_key, *options, call.stop);
  const Result<std::optional<Entity>> entity = co_await getting;
  if (!entity.ok()) co_return entity.status();
  if (!entity->has_value()) co_return service_error::resource_not_found("The entity does not exist.");
  std::string text = write_entity(call.place(), **entity, options->select);
  if (!call.has_room(text.size())) co_return no_room_for_answer();
  HttpResponse response = json_response(200, call.level, std::move(text));
  response.with("ETag", (*entity)->etag().to_string());
  co_return response;
}

Answer write_one(const Call& call, Result<AsyncTable> table) {
  Result<WriteOperation> operation =
      read_operation({call.verb, call.target, call.request.head.headers, call.request.body, call.version,
                      call.limits.custom_properties_max});
  if (!operation.ok()) co_return operation.status();
  if (!table.ok()) co_return table.status();
  Task<Result<ETag>> writing = table->write(*operation, call.write_options(), call.stop);
  const Result<ETag> etag = co_await writing;
  if (!etag.ok()) co_return etag.status();
  const WriteAnswer answer{call.place(), call.preference};
  co_return carried_out_answer([&] { return written_response(answer, *operation, *etag); });
}

}  // namespace varve::serve
