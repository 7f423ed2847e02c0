#include "tools/serve/local/queue_door.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/encoding/json_text.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "tools/serve/local/door_query.h"
#include "varve/queue.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

using std::chrono::milliseconds;

/// A request with its parameters. The first parameter that is malformed is its failure.
class QueueRequest : public DoorQuery {
 public:
  QueueRequest(std::string query, std::string body, std::stop_token stop)
      : DoorQuery(std::move(query)), body_(std::move(body)), stop_(std::move(stop)) {
    account_ = text("account");
    queue_ = text("queue");
  }

  const std::string& account() const noexcept { return account_; }
  const std::string& queue() const noexcept { return queue_; }
  const std::string& body() const noexcept { return body_; }
  const std::stop_token& stop() const noexcept { return stop_; }

  /// Returns the message that `id` and `receipt` name.
  std::pair<Guid, PopReceipt> message() {
    const Result<Guid> id = Guid::parse(text("id"));
    if (!id.ok()) fail(id.status());
    const Result<PopReceipt> receipt = PopReceipt::parse(text("receipt"));
    if (!receipt.ok()) fail(receipt.status());
    return {id.ok() ? *id : Guid(), receipt.ok() ? *receipt : PopReceipt()};
  }

  /// Reads the body as metadata.
  std::vector<MetadataPair> metadata() {
    std::vector<std::string> texts;
    std::string_view rest = body_;
    for (std::size_t end = rest.find('\0'); end != std::string_view::npos; end = rest.find('\0')) {
      texts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    if (!rest.empty() || texts.size() % 2 != 0) {
      fail(refused("InvalidInput", "metadata must be names and values with a zero byte after each"));
      return {};
    }
    std::vector<MetadataPair> pairs;
    for (std::size_t i = 0; i < texts.size(); i += 2) pairs.push_back({std::move(texts[i]), std::move(texts[i + 1])});
    return pairs;
  }

 private:
  const std::string body_;
  const std::stop_token stop_;
  std::string account_;
  std::string queue_;
};

/// Writes the answer of a change, which has happened.
template <typename Write>
Status told_change(Write write) {
  try {
    write();
    return Status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);
  }
}

// -- Verbs, which block -----------------------------------------------------------------------------------------------

Status create(Store& store, QueueRequest& request, JsonText& json) {
  QueueOptions options;
  options.metadata = request.metadata();
  options.message_bytes_max = request.small_number("message_bytes_max", options.message_bytes_max);
  options.release_on_open = request.flag("release_on_open");
  if (!request.failure().ok()) return request.failure();
  if (Status named = check_queue_name(request.queue()); !named.ok()) return named;
  if (Status made = store.create_account(request.account()); !made.ok() && made.code() != Code::kExists) return made;
  json.begin_object().end_object();
  return store.create_queue(request.account(), request.queue(), options).status();
}

Status drop(Store& store, QueueRequest& request, JsonText& json) {
  json.begin_object().end_object();
  return store.drop_queue(request.account(), request.queue());
}

Status clear(Queue& queue, QueueRequest& /*request*/, JsonText& json) {
  json.begin_object().end_object();
  return queue.clear();
}

Status set_metadata(Queue& queue, QueueRequest& request, JsonText& json) {
  const std::vector<MetadataPair> metadata = request.metadata();
  if (!request.failure().ok()) return request.failure();
  json.begin_object().end_object();
  return queue.set_metadata(metadata);
}

Status put(Queue& queue, QueueRequest& request, JsonText& json) {
  PutOptions options;
  options.delay = request.time("delay", options.delay);
  options.ttl = request.text("ttl") == "never" ? kNever : request.time("ttl", options.ttl);
  const std::string key = request.text("key");
  options.deduplication_key = key;
  options.deduplication_window = request.time("window", options.deduplication_window);
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  const Result<SentMessage> sent = queue.put(request.body(), options);
  if (!sent.ok()) return sent.status();
  return told_change([&] {
    json.begin_object().member("id").text(sent->id.to_string()).member("receipt").text(sent->receipt.to_string());
    json.member("inserted").text(sent->inserted.to_string()).member("expires").text(sent->expires.to_string());
    json.member("visible").text(sent->visible.to_string());
    json.member("is_duplicate").boolean(sent->is_duplicate).end_object();
  });
}

void write_message(const Message& message, JsonText& json) {
  json.member("id").text(message.id.to_string());
  json.member("inserted").text(message.inserted.to_string()).member("expires").text(message.expires.to_string());
  json.member("deliveries").number(std::to_string(message.deliveries)).member("text").text(message.text);
  json.member("origin").text(message.origin);
}

void write_received(const ReceivedMessage& message, JsonText& json) {
  json.begin_object();
  write_message(message, json);
  json.member("receipt").text(message.receipt.to_string()).member("visible").text(message.visible.to_string());
  json.end_object();
}

Status peek(Queue& queue, QueueRequest& request, JsonText& json) {
  const std::uint32_t count = request.small_number("count", 1);
  if (!request.failure().ok()) return request.failure();
  const Result<std::vector<Message>> messages = queue.peek(count);
  if (!messages.ok()) return messages.status();
  json.begin_array();
  for (const Message& message : *messages) {
    json.begin_object();
    write_message(message, json);
    json.end_object();
  }
  json.end_array();
  return Status();
}

void write_metadata(const std::vector<MetadataPair>& metadata, JsonText& json) {
  json.begin_array();
  for (const MetadataPair& pair : metadata) {
    json.begin_object().member("name").text(pair.name).member("value").text(pair.value).end_object();
  }
  json.end_array();
}

Status show(Queue& queue, QueueRequest& /*request*/, JsonText& json) {
  const Result<std::vector<MetadataPair>> metadata = queue.metadata();
  if (!metadata.ok()) return metadata.status();
  write_metadata(*metadata, json);
  return Status();
}

Status show_policies(Queue& queue, QueueRequest& /*request*/, JsonText& json) {
  const Result<std::vector<AccessPolicy>> policies = queue.access_policies();
  if (!policies.ok()) return policies.status();
  json.begin_object().member("document").text(write_policies(*policies)).end_object();
  return Status();
}

Status set_policies(Queue& queue, QueueRequest& request, JsonText& json) {
  const Result<std::vector<AccessPolicy>> policies =
      read_policies(request.body(), &Permissions::parse_for_queue, EmptyPermission::kPermitsNothing);
  if (!policies.ok()) return policies.status();
  json.begin_object().end_object();
  return queue.set_access_policies(*policies);
}

/// Writes a queue of a listing. Leaves it out if it was dropped meanwhile.
Status write_queue(const Store& store, const std::string& account, const QueueInfo& info, bool with_figures,
                   JsonText& json) {
  QueueFigures figures;
  if (with_figures) {
    const Result<Queue> queue = store.open_queue(account, info.name);
    const Result<QueueFigures> found = queue.ok() ? queue->figures() : queue.status();
    if (found.code() == Code::kNotFound) return Status();
    if (!found.ok()) return found.status();
    figures = *found;
  }
  json.begin_object().member("name").text(info.name).member("created").text(info.created.to_string());
  json.member("metadata");
  write_metadata(info.metadata, json);
  json.member("messages").number(std::to_string(figures.messages));
  json.member("text_bytes").number(std::to_string(figures.text_bytes)).end_object();
  return Status();
}

Status list(Store& store, QueueRequest& request, JsonText& json) {
  ListOptions options;
  options.prefix = request.text("prefix");
  options.continuation = request.text("continuation");
  options.page_names_max = request.small_number("names", options.page_names_max);
  const bool with_figures = request.flag("figures");
  if (!request.failure().ok()) return request.failure();
  const Result<QueuePage> page = store.list_queues(request.account(), options);
  if (!page.ok()) return page.status();
  json.begin_object().member("queues").begin_array();
  for (const QueueInfo& info : page->queues) {
    if (Status written = write_queue(store, request.account(), info, with_figures, json); !written.ok()) return written;
  }
  json.end_array();
  if (page->continuation) json.member("continuation").text(*page->continuation);
  json.end_object();
  return Status();
}

Status get(Store& store, Queue& queue, QueueRequest& request, JsonText& json) {
  GetOptions options;
  options.count = request.small_number("count", 1);
  options.hold = request.time("hold", options.hold);
  options.wait = std::min(request.time("wait", options.wait), kQueueWaitMax);
  options.stop = request.stop();
  options.durability = request.durability().value_or(options.durability);
  options.deliveries_max = request.small_number("deliveries_max", 0);
  const std::string dead_letter = request.text("dead_letter");
  if (!request.failure().ok()) return request.failure();
  std::optional<Queue> dead;
  if (!dead_letter.empty()) {
    Result<Queue> opened = store.open_queue(request.account(), dead_letter);
    if (!opened.ok()) return opened.status();
    options.dead_letter = &dead.emplace(*std::move(opened));
  }
  const Result<std::vector<ReceivedMessage>> messages = queue.get(options);
  if (!messages.ok()) return messages.status();
  return told_change([&] {
    json.begin_array();
    for (const ReceivedMessage& message : *messages) write_received(message, json);
    json.end_array();
  });
}

Status remove(Queue& queue, QueueRequest& request, JsonText& json) {
  const auto [id, receipt] = request.message();
  WriteOptions options;
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  json.begin_object().end_object();
  return queue.remove(id, receipt, options);
}

Status update(Queue& queue, QueueRequest& request, JsonText& json) {
  const auto [id, receipt] = request.message();
  const milliseconds hold = request.time("hold", milliseconds(0));
  std::optional<std::string_view> text;
  if (request.flag("text")) text = request.body();
  WriteOptions options;
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  const Result<UpdatedMessage> updated = queue.update(id, receipt, hold, text, options);
  if (!updated.ok()) return updated.status();
  return told_change([&] {
    json.begin_object().member("receipt").text(updated->receipt.to_string());
    json.member("visible").text(updated->visible.to_string()).end_object();
  });
}

struct QueueVerb {
  std::string_view name;
  Status (*carry_out)(Queue& queue, QueueRequest& request, JsonText& json);
};

constexpr std::array<QueueVerb, 9> kQueueVerbs = {{{"clear", &clear},
                                                   {"metadata", &set_metadata},
                                                   {"peek", &peek},
                                                   {"policies", &show_policies},
                                                   {"put", &put},
                                                   {"remove", &remove},
                                                   {"set_policies", &set_policies},
                                                   {"show", &show},
                                                   {"update", &update}}};

Status carry_out(Store& store, QueueRequest& request, JsonText& json) {
  const std::string verb = request.text("verb");
  if (!request.failure().ok()) return request.failure();
  if (verb == "create") return create(store, request, json);
  if (verb == "drop") return drop(store, request, json);
  if (verb == "list") return list(store, request, json);
  if (verb == "sync") {
    json.begin_object().end_object();
    return store.sync();
  }
  const auto* const found =
      std::find_if(kQueueVerbs.begin(), kQueueVerbs.end(), [&](const QueueVerb& one) { return one.name == verb; });
  if (verb != "get" && found == kQueueVerbs.end()) {
    return refused("InvalidQueryParameterValue", "queues have no verb " + verb);
  }
  Result<Queue> queue = store.open_queue(request.account(), request.queue());
  if (!queue.ok()) return queue.status();
  return verb == "get" ? get(store, *queue, request, json) : found->carry_out(*queue, request, json);
}

}  // namespace

Task<Result<HttpResponse>> answer_queue_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop) {
  QueueRequest asked(request.head.query, request.body, stop);
  const std::string verb = asked.text("verb");
  const bool is_read = verb == "list" || verb == "peek" || verb == "policies" || verb == "show";
  JsonText json;
  Task<Status> working =
      AsyncStore(store).run([&](Store& opened) { return carry_out(opened, asked, json); }, std::move(stop));
  const Status done = co_await at_home(home, std::move(working));
  if (!done.ok()) co_return done;
  const auto make = [&] {
    HttpResponse response;
    response.with("Content-Type", "application/json; charset=utf-8").with("Cache-Control", "no-store");
    response.body = json.take();
    return response;
  };
  if (is_read) co_return make();
  co_return carried_out_answer(make);
}

}  // namespace varve::serve
