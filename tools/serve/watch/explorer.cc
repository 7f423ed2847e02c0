#include "tools/serve/watch/explorer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/entity_writer.h"
#include "api/rest/encoding/json_text.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/blob.h"
#include "varve/limits.h"
#include "varve/queue.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kShownMax = 100;
constexpr std::uint64_t kShownBytesMax = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kReadTimeMax{5'000};
constexpr std::chrono::milliseconds kMeasureTime{250};

std::string milliseconds_since(Clock::time_point begun) {
  return double_text(std::chrono::duration<double, std::milli>(Clock::now() - begun).count());
}

Result<std::uint32_t> read_top(std::string_view query) {
  const Result<std::string> text = query_text(query, "top");
  if (!text.ok()) return text.status();
  if (text->empty()) return kShownMax;
  std::uint32_t top = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, top);
  if (error == std::errc() && stopped == end && top >= 1 && top <= kShownMax) return top;
  return refused("InvalidQueryParameterValue", "top must be a number from 1 to " + std::to_string(kShownMax));
}

/// Reads which page of names is asked for.
Result<ListOptions> read_listing(std::string_view query) {
  Result<std::string> continuation = query_text(query, "continuation");
  if (!continuation.ok()) return continuation.status();
  ListOptions options;
  options.page_names_max = kShownMax;
  options.continuation = *std::move(continuation);
  return options;
}

Result<Scan> read_shown(std::string_view query) {
  Result<std::string> filter = query_text(query, "filter");
  if (!filter.ok()) return filter.status();
  Result<std::string> continuation = query_text(query, "continuation");
  if (!continuation.ok()) return continuation.status();
  const Result<std::string> backward = query_text(query, "backward");
  if (!backward.ok()) return backward.status();
  Result<std::string> order_by = query_text(query, "order_by");
  if (!order_by.ok()) return order_by.status();
  const Result<std::uint32_t> top = read_top(query);
  if (!top.ok()) return top.status();
  Scan scan;
  scan.filter = *std::move(filter);
  scan.continuation = *std::move(continuation);
  scan.backward = *backward == "1";
  scan.order_by = *std::move(order_by);
  scan.order_time_max = kReadTimeMax;
  scan.page_entities_max = *top;
  scan.page_bytes_max = kShownBytesMax;
  scan.page_time_max = kReadTimeMax;
  return scan;
}

void write_continuation(JsonText& json, const std::optional<std::string>& continuation) {
  json.member("continuation");
  if (continuation) {
    json.text(*continuation);
  } else {
    json.null();
  }
}

void write_plan(JsonText& json, const ScanPlan& plan) {
  static constexpr std::size_t kRangesShown = 20;
  json.member("plan").begin_object().member("path").text(access_path_name(plan.path));
  json.member("range_count").number(std::to_string(plan.ranges.size())).member("ranges").begin_array();
  for (std::size_t i = 0; i < std::min(plan.ranges.size(), kRangesShown); ++i) json.text(plan.ranges[i].to_string());
  json.end_array().member("residual").text(plan.residual).member("indexes").begin_array();
  for (const IndexCandidate& index : plan.indexes) {
    json.begin_object().member("name").text(index.name).member("entities");
    if (index.entities) {
      json.number(std::to_string(*index.entities));
    } else {
      json.null();
    }
    json.member("is_taken").boolean(index.is_taken).member("answers_counts").boolean(index.answers_counts);
    json.member("answers_pages").boolean(index.answers_pages).end_object();
  }
  json.end_array().member("order_index");
  if (plan.order_index.empty()) {
    json.null();
  } else {
    json.text(plan.order_index);
  }
  json.member("order_components").number(std::to_string(plan.order_components)).end_object();
}

std::string_view index_state_name(IndexState state) noexcept {
  if (state == IndexState::kReady) return "ready";
  return state == IndexState::kFailed ? "failed" : "building";
}

void write_table_index(JsonText& json, const IndexInfo& index) {
  json.begin_object().member("name").text(index.definition.name).member("components").begin_array();
  for (const IndexComponent& component : index.definition.components) {
    json.text(component.property + (component.is_descending ? " desc" : ""));
  }
  json.end_array().member("carried").begin_array();
  for (const std::string& name : index.definition.carried) json.text(name);
  json.end_array().member("unique").boolean(index.definition.is_unique);
  json.member("state").text(index_state_name(index.state)).member("failure").text(index.failure).end_object();
}

void write_expiry(JsonText& json, const std::optional<TableExpiry>& expiry) {
  json.member("expiry");
  if (!expiry) {
    json.null();
    return;
  }
  json.begin_object().member("property").text(expiry->property);
  json.member("age_ms").number(std::to_string(expiry->age.count())).end_object();
}

void write_cost(JsonText& json, const PageCost& cost) {
  json.member("cost").begin_object();
  json.member("examined").number(std::to_string(cost.entities_examined));
  json.member("blocks_read").number(std::to_string(cost.blocks_read));
  json.member("blocks_from_cache").number(std::to_string(cost.blocks_from_cache));
  json.member("blocks_skipped").number(std::to_string(cost.blocks_skipped)).end_object();
}

/// Returns `{"value":[...]}` with a comma in place of the last brace: the answer begins with the page as clients
/// receive it.
std::string page_members(const std::vector<Entity>& entities) {
  std::string text = write_entities({PayloadLevel::kMinimal, "", "", ""}, entities);
  text.back() = ',';
  return text;
}

constexpr std::size_t kMessageBytesShown = 4096;

/// Returns the text without an incomplete last character. Stored texts are UTF-8.
std::string_view cut_text(std::string_view text) noexcept {
  if (text.size() <= kMessageBytesShown) return text;
  std::size_t size = kMessageBytesShown;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

void write_message(JsonText& json, const Message& message) {
  json.begin_object().member("id").text(message.id.to_string());
  json.member("inserted").text(message.inserted.to_string()).member("expires");
  if (message.expires.ticks >= limits::kDateTimeTicksMax) {
    json.null();
  } else {
    json.text(message.expires.to_string());
  }
  json.member("deliveries").number(std::to_string(message.deliveries)).member("origin").text(message.origin);
  const std::string_view shown = cut_text(message.text);
  json.member("text").text(shown).member("is_cut").boolean(shown.size() < message.text.size()).end_object();
}

struct ListedQueue {
  std::string name;
  QueueFigures figures;
};

/// Lists one page of queues. A queue that is dropped meanwhile is left out.
Status read_queues(Store& store, const std::string& account, const ListOptions& options,
                   std::vector<ListedQueue>* queues, std::optional<std::string>* continuation) {
  Result<QueuePage> page = store.list_queues(account, options);
  if (!page.ok()) return page.status();
  for (QueueInfo& info : page->queues) {
    const Result<Queue> queue = store.open_queue(account, info.name);
    if (queue.code() == Code::kNotFound) continue;
    if (!queue.ok()) return queue.status();
    const Result<QueueFigures> figures = queue->figures();
    if (figures.code() == Code::kNotFound) continue;
    if (!figures.ok()) return figures.status();
    queues->push_back({std::move(info.name), *figures});
  }
  *continuation = std::move(page->continuation);
  return Status();
}

/// Peeks messages, and measures their queue.
Status read_messages(Store& store, const std::string& account, const std::string& name, std::vector<Message>* messages,
                     QueueFigures* figures) {
  const Result<Queue> queue = store.open_queue(account, name);
  if (queue.code() == Code::kNotFound) return service_error::resource_not_found("The queue does not exist.");
  if (!queue.ok()) return queue.status();
  const Result<QueueFigures> measured = queue->figures();
  if (!measured.ok()) return measured.status();
  Result<std::vector<Message>> peeked = queue->peek(limits::kMessagesMax);
  if (!peeked.ok()) return peeked.status();
  *figures = *measured;
  *messages = *std::move(peeked);
  return Status();
}

std::string_view public_access_name(PublicAccess access) noexcept {
  if (access == PublicAccess::kNone) return "none";
  return access == PublicAccess::kBlobs ? "blobs" : "container";
}

Status read_blobs(Store& store, const std::string& account, const std::string& name, const BlobListing& listing,
                  BlobPage* blobs) {
  const Result<Container> container = store.open_container(account, name);
  if (container.code() == Code::kNotFound) return service_error::resource_not_found("The container does not exist.");
  if (!container.ok()) return container.status();
  Result<BlobPage> page = container->list(listing);
  if (!page.ok()) return page.status();
  *blobs = *std::move(page);
  return Status();
}

void write_blob(JsonText& json, const BlobState& blob) {
  json.begin_object().member("name").text(blob.name);
  json.member("kind").text(blob.kind == BlobKind::kAppend ? "append" : "block");
  json.member("bytes").number(std::to_string(blob.length)).member("modified").text(blob.modified.to_string());
  json.member("content_type").text(blob.properties.content_type).end_object();
}

}  // namespace

struct Explorer::Named {
  std::string account;
  std::string name;
};

void Explorer::replace_accounts(std::vector<std::string> accounts) noexcept {
  const std::lock_guard lock(mutex_);
  accounts_.swap(accounts);
}

std::vector<std::string> Explorer::accounts() const {
  const std::lock_guard lock(mutex_);
  return accounts_;
}

Result<Explorer::Named> Explorer::named(std::string_view query, std::string_view kind) const {
  Result<std::string> account = query_text(query, "account");
  if (!account.ok()) return account.status();
  Result<std::string> name = query_text(query, kind);
  if (!name.ok()) return name.status();
  const std::vector<std::string> known = accounts();
  if ((*account).empty() && !known.empty()) account = known.front();
  if (std::find(known.begin(), known.end(), *account) == known.end()) {
    return service_error::resource_not_found("The account does not exist.");
  }
  return Named{*std::move(account), *std::move(name)};
}

Task<Result<Table>> Explorer::open_table(ExplorerCall call) const {
  Result<Named> place = named(call.query, "table");
  if (!place.ok()) co_return place.status();
  Task<Result<Table>> opening =
      AsyncStore(*store_).open_table(std::move(place->account), std::move(place->name), call.stop);
  Result<Table> table = co_await at_home(call.home, std::move(opening));
  co_return table;
}

Task<Result<std::string>> Explorer::list_tables(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "table");
  if (!place.ok()) co_return place.status();
  const Result<ListOptions> options = read_listing(call.query);
  if (!options.ok()) co_return options.status();
  Task<Result<TablePage>> listing = AsyncStore(*store_).list_tables(place->account, *options, call.stop);
  const Result<TablePage> page = co_await at_home(call.home, std::move(listing));
  if (!page.ok()) co_return page.status();
  JsonText json;
  json.begin_object().member("accounts").begin_array();
  for (const std::string& account : accounts()) json.text(account);
  json.end_array().member("account").text(place->account).member("tables").begin_array();
  for (const TableInfo& table : page->tables) json.text(table.name);
  json.end_array();
  write_continuation(json, page->continuation);
  json.end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::measure_table(ExplorerCall call) const {
  Task<Result<Table>> opening = open_table(call);
  const Result<Table> table = co_await opening;
  if (!table.ok()) co_return table.status();
  const Clock::time_point deadline = Clock::now() + kMeasureTime;
  Scan scan;
  std::uint64_t entities = 0;
  std::uint64_t bytes = 0;
  bool is_complete = false;
  do {
    scan.page_time_max = kMeasureTime;
    Task<Result<Page>> scanning = AsyncTable(*table, call.home).scan(scan, call.stop);
    const Result<Page> page = co_await scanning;
    if (!page.ok()) co_return page.status();
    entities += page->entities.size();
    for (const Entity& entity : page->entities) bytes += accounted_size_bytes(entity);
    scan.continuation = page->continuation.value_or(std::string());
    is_complete = !page->continuation.has_value();
  } while (!is_complete && Clock::now() < deadline);
  JsonText json;
  json.begin_object().member("entities").number(std::to_string(entities));
  json.member("bytes").number(std::to_string(bytes)).member("complete").boolean(is_complete).end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::describe_table(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "table");
  if (!place.ok()) co_return place.status();
  const AsyncStore store(*store_);
  Task<Result<std::vector<IndexInfo>>> listing = store.indexes(place->account, place->name, call.stop);
  const Result<std::vector<IndexInfo>> indexes = co_await at_home(call.home, std::move(listing));
  if (!indexes.ok()) co_return indexes.status();
  Task<Result<std::optional<TableExpiry>>> asking = store.table_expiry(place->account, place->name, call.stop);
  const Result<std::optional<TableExpiry>> expiry = co_await at_home(call.home, std::move(asking));
  if (!expiry.ok()) co_return expiry.status();
  JsonText json;
  json.begin_object().member("indexes").begin_array();
  for (const IndexInfo& index : *indexes) write_table_index(json, index);
  json.end_array();
  write_expiry(json, *expiry);
  json.end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::read_entities(ExplorerCall call) const {
  const Result<Scan> scan = read_shown(call.query);
  if (!scan.ok()) co_return scan.status();
  Task<Result<Table>> opening = open_table(call);
  const Result<Table> table = co_await opening;
  if (!table.ok()) co_return table.status();
  ScanPlan plan;
  Task<Status> explaining = AsyncStore(*store_).run(
      [&](Store&) {
        Result<ScanPlan> found = table->explain(*scan);
        if (!found.ok()) return found.status();
        plan = *std::move(found);
        return Status();
      },
      call.stop);
  const Status explained = co_await at_home(call.home, std::move(explaining));
  if (!explained.ok()) co_return explained;
  const Clock::time_point begun = Clock::now();
  Task<Result<Page>> scanning = AsyncTable(*table, call.home).scan(*scan, call.stop);
  const Result<Page> page = co_await scanning;
  if (!page.ok()) co_return page.status();
  JsonText json;
  json.begin_object();
  write_continuation(json, page->continuation);
  write_plan(json, plan);
  write_cost(json, page->cost);
  json.member("milliseconds").number(milliseconds_since(begun)).end_object();
  co_return page_members(page->entities) + json.take().substr(1);
}

Task<Result<std::string>> Explorer::list_queues(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "queue");
  if (!place.ok()) co_return place.status();
  const Result<ListOptions> options = read_listing(call.query);
  if (!options.ok()) co_return options.status();
  std::vector<ListedQueue> queues;
  std::optional<std::string> next;
  Task<Status> listing = AsyncStore(*store_).run(
      [&](Store& store) { return read_queues(store, place->account, *options, &queues, &next); }, call.stop);
  const Status listed = co_await at_home(call.home, std::move(listing));
  if (!listed.ok()) co_return listed;
  JsonText json;
  json.begin_object().member("account").text(place->account).member("queues").begin_array();
  for (const ListedQueue& queue : queues) {
    json.begin_object().member("name").text(queue.name);
    json.member("messages").number(std::to_string(queue.figures.messages));
    json.member("text_bytes").number(std::to_string(queue.figures.text_bytes)).end_object();
  }
  json.end_array();
  write_continuation(json, next);
  json.end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::peek_messages(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "queue");
  if (!place.ok()) co_return place.status();
  std::vector<Message> messages;
  QueueFigures figures;
  Task<Status> peeking = AsyncStore(*store_).run(
      [&](Store& store) { return read_messages(store, place->account, place->name, &messages, &figures); }, call.stop);
  const Status peeked = co_await at_home(call.home, std::move(peeking));
  if (!peeked.ok()) co_return peeked;
  JsonText json;
  json.begin_object().member("messages").begin_array();
  for (const Message& message : messages) write_message(json, message);
  json.end_array().member("count").number(std::to_string(figures.messages));
  json.member("text_bytes").number(std::to_string(figures.text_bytes)).end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::list_containers(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "container");
  if (!place.ok()) co_return place.status();
  const Result<ListOptions> options = read_listing(call.query);
  if (!options.ok()) co_return options.status();
  ContainerPage page;
  Task<Status> listing = AsyncStore(*store_).run(
      [&](Store& store) {
        Result<ContainerPage> listed = store.list_containers(place->account, *options);
        if (!listed.ok()) return listed.status();
        page = *std::move(listed);
        return Status();
      },
      call.stop);
  const Status listed = co_await at_home(call.home, std::move(listing));
  if (!listed.ok()) co_return listed;
  JsonText json;
  json.begin_object().member("account").text(place->account).member("containers").begin_array();
  for (const ContainerState& container : page.containers) {
    json.begin_object().member("name").text(container.name).member("modified").text(container.modified.to_string());
    json.member("public_access").text(public_access_name(container.public_access)).end_object();
  }
  json.end_array();
  write_continuation(json, page.continuation);
  json.end_object();
  co_return json.take();
}

Task<Result<std::string>> Explorer::list_blobs(ExplorerCall call) const {
  const Result<Named> place = named(call.query, "container");
  if (!place.ok()) co_return place.status();
  Result<std::string> prefix = query_text(call.query, "prefix");
  if (!prefix.ok()) co_return prefix.status();
  Result<std::string> continuation = query_text(call.query, "continuation");
  if (!continuation.ok()) co_return continuation.status();
  BlobListing wanted;
  wanted.prefix = *std::move(prefix);
  wanted.delimiter = "/";
  wanted.continuation = *std::move(continuation);
  wanted.page_max = kShownMax;
  BlobPage page;
  Task<Status> listing = AsyncStore(*store_).run(
      [&](Store& store) { return read_blobs(store, place->account, place->name, wanted, &page); }, call.stop);
  const Status listed = co_await at_home(call.home, std::move(listing));
  if (!listed.ok()) co_return listed;
  JsonText json;
  json.begin_object().member("directories").begin_array();
  for (const BlobListed& entry : page.entries) {
    if (!entry.prefix.empty()) json.text(entry.prefix);
  }
  json.end_array().member("blobs").begin_array();
  for (const BlobListed& entry : page.entries) {
    if (entry.prefix.empty()) write_blob(json, entry.blob);
  }
  json.end_array();
  write_continuation(json, page.continuation);
  json.end_object();
  co_return json.take();
}

}  // namespace varve::serve
