// Owns: the access to a queue through the server that has its store open (queue_access.h).
// Must never: be compiled in a build without the server. no_server.cc is.
#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/rest/encoding/policy_xml.h"
#include "api/security/query_fields.h"
#include "tools/serve/local/queue_door.h"
#include "tools/varve/reach/queue_access.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/server_socket.h"

namespace varve::tool {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

Status not_as_expected() {
  return Status::io_error("the answer of the server is not as expected: it has no message of a queue");
}

/// Throws Json::exception for a text that is no receipt or no time.
template <typename Kind>
Kind parsed_in(const Json& json, const char* name) {
  const Result<Kind> parsed = Kind::parse(json.at(name).get<std::string>());
  if (!parsed.ok()) (void)json.at("no such member");
  return *parsed;
}

void read_message(const Json& json, Message& message) {
  message.id = parsed_in<Guid>(json, "id");
  message.inserted = parsed_in<DateTime>(json, "inserted");
  message.expires = parsed_in<DateTime>(json, "expires");
  message.deliveries = json.at("deliveries").get<std::uint32_t>();
  message.text = json.at("text").get<std::string>();
  message.origin = json.at("origin").get<std::string>();
}

HeldMessage received_in(const Json& json) {
  HeldMessage message;
  read_message(json, message);
  message.receipt = json.at("receipt").get<std::string>();
  message.visible = parsed_in<DateTime>(json, "visible");
  return message;
}

std::vector<MetadataPair> metadata_in(const Json& json) {
  std::vector<MetadataPair> metadata;
  for (const Json& pair : json) {
    metadata.push_back({pair.at("name").get<std::string>(), pair.at("value").get<std::string>()});
  }
  return metadata;
}

ListedQueues queues_in(const Json& json) {
  ListedQueues listed;
  for (const Json& queue : json.at("queues")) {
    ListedQueue& one = listed.queues.emplace_back();
    one.info.name = queue.at("name").get<std::string>();
    one.info.created = parsed_in<DateTime>(queue, "created");
    one.info.metadata = metadata_in(queue.at("metadata"));
    one.figures = {queue.at("messages").get<std::uint64_t>(), queue.at("text_bytes").get<std::uint64_t>()};
  }
  if (json.contains("continuation")) listed.continuation = json.at("continuation").get<std::string>();
  return listed;
}

std::string body_of(const std::vector<MetadataPair>& metadata) {
  std::string body;
  for (const MetadataPair& pair : metadata) {
    body.append(pair.name).push_back('\0');
    body.append(pair.value).push_back('\0');
  }
  return body;
}

class ServedQueue final : public QueueAccess {
 public:
  ServedQueue(std::shared_ptr<Wire> wire, std::string account, std::string queue)
      : wire_(std::move(wire)), account_(std::move(account)), name_(std::move(queue)) {}

  Status create(const QueueOptions& options) override {
    Request request = of("create");
    request.add("message_bytes_max", std::to_string(options.message_bytes_max));
    request.add("release_on_open", std::string(options.release_on_open ? "1" : "0"));
    request.body = body_of(options.metadata);
    return send(std::move(request)).status();
  }
  Status drop() override { return send(of("drop")).status(); }
  Status clear() override { return send(of("clear")).status(); }
  Status set_metadata(const std::vector<MetadataPair>& metadata) override {
    Request request = of("metadata");
    request.body = body_of(metadata);
    return send(std::move(request)).status();
  }

  Result<PutAnswer> put(std::string_view text, const PutOptions& options) override {
    Request request = of("put");
    request.add("delay", options.delay);
    if (options.ttl == kNever) {
      request.add("ttl", std::string("never"));
    } else {
      request.add("ttl", options.ttl);
    }
    request.add("key", std::string(options.deduplication_key));
    request.add("window", options.deduplication_window);
    request.add(options.durability);
    request.body = text;
    return read<PutAnswer>(send(std::move(request)), [](const Json& json) {
      PutAnswer sent;
      sent.id = parsed_in<Guid>(json, "id");
      sent.receipt = json.at("receipt").get<std::string>();
      sent.inserted = parsed_in<DateTime>(json, "inserted");
      sent.visible = parsed_in<DateTime>(json, "visible");
      sent.is_duplicate = json.at("is_duplicate").get<bool>();
      return sent;
    });
  }

  /// Asks again until the wait is over, because one request waits for kQueueWaitMax at most.
  Result<std::vector<HeldMessage>> get(const GetOptions& options, const std::string& dead_letter) override {
    const auto end =
        std::chrono::steady_clock::now() + std::min(options.wait, milliseconds(std::chrono::hours(24 * 365)));
    for (;;) {
      const milliseconds rest =
          std::max(std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now()), milliseconds(0));
      Result<std::vector<HeldMessage>> messages = get_once(options, dead_letter, rest);
      if (!messages.ok() || !messages->empty() || rest <= serve::kQueueWaitMax) return messages;
    }
  }

  Status remove(const Guid& id, const std::string& receipt, const WriteOptions& options) override {
    Request request = of("remove");
    request.add("id", id.to_string());
    request.add("receipt", receipt);
    request.add(options.durability);
    return send(std::move(request)).status();
  }
  Result<UpdateAnswer> update(const Guid& id, const std::string& receipt, milliseconds hold,
                              std::optional<std::string_view> text, const WriteOptions& options) override {
    Request request = of("update");
    request.add("id", id.to_string());
    request.add("receipt", receipt);
    request.add("hold", hold);
    request.add(options.durability);
    if (text) {
      request.add("text", std::string("1"));
      request.body = *text;
    }
    return read<UpdateAnswer>(send(std::move(request)), [](const Json& json) {
      return UpdateAnswer{json.at("receipt").get<std::string>(), parsed_in<DateTime>(json, "visible")};
    });
  }
  Result<std::vector<Message>> peek(std::uint32_t count) override {
    Request request = of("peek");
    request.add("count", std::to_string(count));
    return read<std::vector<Message>>(send(std::move(request)), [](const Json& json) {
      std::vector<Message> messages;
      for (const Json& message : json) read_message(message, messages.emplace_back());
      return messages;
    });
  }
  Result<std::vector<MetadataPair>> metadata() override {
    return read<std::vector<MetadataPair>>(send(of("show")), &metadata_in);
  }
  Result<std::vector<AccessPolicy>> policies() override {
    const Result<std::string> document = read<std::string>(
        send(of("policies")), [](const Json& json) { return json.at("document").get<std::string>(); });
    if (!document.ok()) return document.status();
    return serve::read_policies(*document, &Permissions::parse_for_queue, serve::EmptyPermission::kPermitsNothing);
  }
  Status set_policies(const std::vector<AccessPolicy>& policies) override {
    Request request = of("set_policies");
    request.body = serve::write_policies(policies);
    return send(std::move(request)).status();
  }
  Status sync() override { return send(of("sync")).status(); }
  Result<ListedQueues> list(const ListOptions& options, bool with_figures) override {
    Request request = of("list");
    request.add("prefix", options.prefix);
    request.add("continuation", options.continuation);
    request.add("names", std::to_string(options.page_names_max));
    if (with_figures) request.add("figures", std::string("1"));
    return read<ListedQueues>(send(std::move(request)), &queues_in);
  }
  Store* local() noexcept override { return nullptr; }
  Status close() override { return Status(); }

 private:
  struct Request {
    std::string query;
    std::string body;

    void add(std::string_view name, const std::string& value) { security::append_field(query, name, value); }
    void add(std::string_view name, milliseconds time) { add(name, std::to_string(time.count())); }
    void add(const std::optional<Durability>& durability) {
      if (durability) add("durability", std::string(*durability == Durability::kSync ? "sync" : "buffered"));
    }
  };

  Request of(const std::string& verb) const {
    Request request;
    request.add("verb", verb);
    request.add("account", account_);
    request.add("queue", name_);
    return request;
  }

  Result<Json> send(Request request) const {
    const Result<serve::HttpResponse> response =
        wire_->send(request_to("POST", "/_varve/queues?" + request.query, std::move(request.body)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    Json json = Json::parse((*response).body, nullptr, false);
    if (json.is_discarded()) return not_as_expected();
    return json;
  }

  template <typename Value, typename Read>
  static Result<Value> read(const Result<Json>& answer, const Read& read_json) {
    if (!answer.ok()) return answer.status();
    try {
      return read_json(*answer);
    } catch (const Json::exception&) {
      return not_as_expected();
    }
  }

  Result<std::vector<HeldMessage>> get_once(const GetOptions& options, const std::string& dead_letter,
                                            milliseconds wait) const {
    Request request = of("get");
    request.add("count", std::to_string(options.count));
    request.add("hold", options.hold);
    request.add("wait", wait);
    request.add(std::optional<Durability>(options.durability));
    request.add("deliveries_max", std::to_string(options.deliveries_max));
    request.add("dead_letter", dead_letter);
    return read<std::vector<HeldMessage>>(send(std::move(request)), [](const Json& json) {
      std::vector<HeldMessage> messages;
      for (const Json& message : json) messages.push_back(received_in(message));
      return messages;
    });
  }

  const std::shared_ptr<Wire> wire_;
  const std::string account_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<QueueAccess> queue_through_server_of(const std::string& store, std::string account, std::string queue) {
  std::shared_ptr<Wire> wire = find_server(store);
  if (wire == nullptr) return nullptr;
  return std::make_unique<ServedQueue>(std::move(wire), std::move(account), std::move(queue));
}

}  // namespace varve::tool
