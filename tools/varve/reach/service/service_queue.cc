// Owns: the access to a queue of the queue service at an address (queue_access.h).
// Must never: round a time, or leave out an option that the protocol has no word for.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "api/rest/encoding/policy_xml.h"
#include "api/rest/encoding/xml_text.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/security/query_fields.h"
#include "tools/varve/reach/queue_access.h"
#include "tools/varve/reach/service/service_wire.h"
#include "varve/limits.h"

namespace varve::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The longest wait of one get (QX-19). Servers that do not know the parameter answer at once.
constexpr seconds kServiceWaitMax{30};
/// The pause between two gets of a server that does not wait.
constexpr milliseconds kPollPause{1000};

/// Returns whole seconds. Errors: kInvalidArgument (the time has a fraction).
Result<std::string> seconds_of(milliseconds time, const char* option) {
  const auto whole = std::chrono::duration_cast<seconds>(time);
  if (whole == time) return std::to_string(whole.count());
  return not_in_protocol(std::string(option) + " with a fraction of a second");
}

/// Returns the document of a message. Errors: kInvalidArgument (InvalidXmlDocument: XML cannot carry the text).
Result<std::string> message_body(std::string_view text) {
  if (!serve::is_xml_text(text)) {
    return Status::invalid_argument("the text of a message must be UTF-8 without control characters")
        .with_service_error("InvalidXmlDocument");
  }
  std::string xml(serve::kXmlDeclaration);
  xml += "<QueueMessage>";
  serve::append_tag(xml, "MessageText", text);
  return xml + "</QueueMessage>";
}

/// Returns whether a time in whole seconds is that of a message which never expires.
bool is_never(DateTime time) noexcept {
  constexpr std::uint64_t kTicksOfSecond = 10'000'000;
  return time.ticks > limits::kDateTimeTicksMax - kTicksOfSecond;
}

/// Reads what every message has.
Status read_service_message(const pugi::xml_node& xml, Message& message) {
  const Result<Guid> id = Guid::parse(text_of_child(xml, "MessageId"));
  if (!id.ok()) return unexpected_answer("a message has no id");
  const Result<DateTime> inserted = time_of_answer(text_of_child(xml, "InsertionTime"));
  if (!inserted.ok()) return inserted.status();
  const Result<DateTime> expires = time_of_answer(text_of_child(xml, "ExpirationTime"));
  if (!expires.ok()) return expires.status();
  message.id = *id;
  message.inserted = *inserted;
  message.expires = is_never(*expires) ? DateTime{limits::kDateTimeTicksMax} : *expires;
  message.text = text_of_child(xml, "MessageText");
  const pugi::xml_node deliveries = xml.child("DequeueCount");
  if (!deliveries) return Status();  // the answer to a put
  const Result<std::uint64_t> count = number_of_answer(deliveries.child_value());
  if (!count.ok()) return count.status();
  message.deliveries = static_cast<std::uint32_t>(*count);
  return Status();
}

Result<HeldMessage> held_message_of(const pugi::xml_node& xml) {
  HeldMessage message;
  if (Status read = read_service_message(xml, message); !read.ok()) return read;
  message.receipt = text_of_child(xml, "PopReceipt");
  if (message.receipt.empty()) return unexpected_answer("a message has no receipt");
  const Result<DateTime> visible = time_of_answer(text_of_child(xml, "TimeNextVisible"));
  if (!visible.ok()) return visible.status();
  message.visible = *visible;
  return message;
}

Result<Message> peeked_message_of(const pugi::xml_node& xml) {
  Message message;
  if (Status read = read_service_message(xml, message); !read.ok()) return read;
  return message;
}

/// Reads a list of messages, each by `read`.
template <typename Value>
Result<std::vector<Value>> messages_of(const Result<serve::HttpResponse>& response,
                                       Result<Value> (*read)(const pugi::xml_node& xml)) {
  if (!response.ok()) return response.status();
  pugi::xml_document document;
  if (Status parsed = read_xml(*response, "QueueMessagesList", document); !parsed.ok()) return parsed;
  std::vector<Value> messages;
  for (const pugi::xml_node xml : document.child("QueueMessagesList").children("QueueMessage")) {
    Result<Value> message = read(xml);
    if (!message.ok()) return message.status();
    messages.push_back(*std::move(message));
  }
  return messages;
}

class ServiceQueue final : public QueueAccess {
 public:
  ServiceQueue(ServiceWire wire, std::string queue)
      : wire_(std::move(wire)), name_(std::move(queue)), path_(service_path(name_)) {}

  Status create(const QueueOptions& options) override {
    if (options.message_bytes_max != QueueOptions().message_bytes_max) return not_in_protocol("--message-bytes");
    if (options.release_on_open) return not_in_protocol("--release-on-open");
    serve::Headers headers;
    add_metadata_headers(headers, options.metadata);
    const Result<serve::HttpResponse> response = wire_.send("PUT", path_, std::move(headers));
    if (!response.ok()) return response.status();
    // A queue with this name and the same metadata is no failure to the service.
    if (response->status != 204) return Status();
    return Status::exists("the queue exists already").with_service_error("QueueAlreadyExists");
  }
  Status drop() override { return wire_.send("DELETE", path_).status(); }
  Status clear() override { return wire_.send("DELETE", path_ + "/messages").status(); }
  Status set_metadata(const std::vector<MetadataPair>& metadata) override {
    serve::Headers headers;
    add_metadata_headers(headers, metadata);
    return wire_.send("PUT", path_ + "?comp=metadata", std::move(headers)).status();
  }

  Result<PutAnswer> put(std::string_view text, const PutOptions& options) override {
    const Result<std::string> delay = seconds_of(options.delay, "--delay");
    if (!delay.ok()) return delay.status();
    const Result<std::string> ttl = options.ttl == kNever ? std::string("-1") : seconds_of(options.ttl, "--ttl");
    if (!ttl.ok()) return ttl.status();
    const Result<std::string> body = message_body(text);
    if (!body.ok()) return body.status();
    serve::Headers headers{{"Content-Type", "application/xml"}};
    if (!options.deduplication_key.empty()) {
      if (Status known = check_deduplication(options); !known.ok()) return known;
      headers.emplace_back("x-varve-deduplication-key", options.deduplication_key);
    }
    const Result<serve::HttpResponse> response = wire_.send(
        "POST", path_ + "/messages?visibilitytimeout=" + *delay + "&messagettl=" + *ttl, std::move(headers), *body);
    Result<std::vector<HeldMessage>> sent = messages_of(response, &held_message_of);
    if (!sent.ok()) return after_change(sent.status());
    if (sent->size() != 1) return after_change(unexpected_answer("it has no message"));
    HeldMessage& one = sent->front();
    const bool is_duplicate = one.receipt == PopReceipt().to_string();
    return PutAnswer{one.id, std::move(one.receipt), one.inserted, one.visible, is_duplicate};
  }

  Result<std::vector<HeldMessage>> get(const GetOptions& options, const std::string& dead_letter) override {
    if (!dead_letter.empty()) {
      return not_in_protocol("--dead-letter").with_hint("`varve serve --dead-letter` gives a queue such a rule");
    }
    const Result<std::string> hold = seconds_of(options.hold, "--hold");
    if (!hold.ok()) return hold.status();
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::min(options.wait, milliseconds(std::chrono::hours(24 * 365)));
    const auto left = [end] {
      return std::max(std::chrono::duration_cast<milliseconds>(end - Clock::now()), milliseconds(0));
    };
    for (;;) {
      const milliseconds rest = left();
      const seconds asked = std::min(std::chrono::duration_cast<seconds>(rest), kServiceWaitMax);
      const Clock::time_point begin = Clock::now();
      Result<std::vector<HeldMessage>> messages = get_once(options.count, *hold, asked);
      if (!messages.ok() || !messages->empty() || rest == milliseconds(0)) return messages;
      const bool has_waited = asked > seconds(0) && Clock::now() - begin >= asked;
      if (!has_waited) std::this_thread::sleep_for(std::min(left(), kPollPause));
    }
  }

  Status remove(const Guid& id, const std::string& receipt, const WriteOptions& /*options*/) override {
    std::string query;
    security::append_field(query, "popreceipt", receipt);
    return wire_.send("DELETE", message_path(id) + "?" + query).status();
  }
  Result<UpdateAnswer> update(const Guid& id, const std::string& receipt, milliseconds hold,
                              std::optional<std::string_view> text, const WriteOptions& /*options*/) override {
    const Result<std::string> visible = seconds_of(hold, "--hold");
    if (!visible.ok()) return visible.status();
    std::string query = "visibilitytimeout=" + *visible;
    security::append_field(query, "popreceipt", receipt);
    Result<std::string> body = text ? message_body(*text) : std::string();
    if (!body.ok()) return body.status();
    serve::Headers headers;
    if (text) headers.emplace_back("Content-Type", "application/xml");
    const Result<serve::HttpResponse> response =
        wire_.send("PUT", message_path(id) + "?" + query, std::move(headers), *std::move(body));
    if (!response.ok()) return response.status();
    const std::string* const next = serve::find_header(response->headers, "x-ms-popreceipt");
    const std::string* const time = serve::find_header(response->headers, "x-ms-time-next-visible");
    if (next == nullptr || time == nullptr) return after_change(unexpected_answer("it has no receipt"));
    const Result<DateTime> shown = time_of_answer(*time);
    if (!shown.ok()) return after_change(shown.status());
    return UpdateAnswer{*next, *shown};
  }
  Result<std::vector<Message>> peek(std::uint32_t count) override {
    return messages_of(wire_.send("GET", path_ + "/messages?peekonly=true&numofmessages=" + std::to_string(count)),
                       &peeked_message_of);
  }
  Result<std::vector<MetadataPair>> metadata() override {
    const Result<serve::HttpResponse> response = wire_.send("GET", path_ + "?comp=metadata");
    if (!response.ok()) return response.status();
    return serve::metadata_of(response->headers);
  }
  Result<std::vector<AccessPolicy>> policies() override {
    const Result<serve::HttpResponse> response = wire_.send("GET", path_ + "?comp=acl");
    return response.ok() ? serve::read_policies(response->body, &Permissions::parse_for_queue) : response.status();
  }
  Status set_policies(const std::vector<AccessPolicy>& policies) override {
    return wire_
        .send("PUT", path_ + "?comp=acl", {{"Content-Type", "application/xml"}}, serve::write_policies(policies))
        .status();
  }
  /// The service has made each change durable before it answered.
  Status sync() override { return Status(); }
  Result<ListedQueues> list(const ListOptions& options, bool with_figures) override {
    std::string query = "comp=list&include=metadata&maxresults=" + std::to_string(options.page_names_max);
    security::append_field(query, "prefix", options.prefix);
    security::append_field(query, "marker", options.continuation);
    const Result<serve::HttpResponse> response = wire_.send("GET", "/?" + query);
    if (!response.ok()) return response.status();
    pugi::xml_document document;
    if (Status parsed = read_xml(*response, "EnumerationResults", document); !parsed.ok()) return parsed;
    const pugi::xml_node listing = document.child("EnumerationResults");
    if (!listing.child("Queues")) return unexpected_answer("it is no list of queues");
    ListedQueues listed;
    for (const pugi::xml_node xml : listing.child("Queues").children("Queue")) {
      ListedQueue queue;
      queue.info.name = text_of_child(xml, "Name");
      queue.info.metadata = metadata_of_xml(xml.child("Metadata"));
      queue.is_at_address = true;
      const Result<bool> is_there = with_figures ? read_figures(queue) : true;
      if (!is_there.ok()) return is_there.status();
      if (*is_there) listed.queues.push_back(std::move(queue));
    }
    listed.continuation = next_marker_of(listing);
    return listed;
  }
  Store* local() noexcept override { return nullptr; }
  Status close() override { return Status(); }

 private:
  std::string message_path(const Guid& id) const { return path_ + "/messages/" + id.to_string(); }

  /// Returns the failure of reading the answer to a change that the server has perhaps carried out.
  static Status after_change(const Status& failure) {
    return failure.code() == Code::kIoError ? failure.with_code(Code::kUnknown) : failure;
  }

  /// The parameter of a key is Varve's own: another server would store the message twice.
  Status check_deduplication(const PutOptions& options) {
    if (options.deduplication_window != PutOptions().deduplication_window) return not_in_protocol("--key-window");
    if (knows_keys_) return Status();
    Status known = wire_.check_is_varve("--key");
    knows_keys_ = known.ok();
    return known;
  }

  Result<std::vector<HeldMessage>> get_once(std::uint32_t count, const std::string& hold, seconds wait) const {
    std::string target = path_ + "/messages?numofmessages=" + std::to_string(count) + "&visibilitytimeout=" + hold;
    if (wait > seconds(0)) target += "&x-varve-wait=" + std::to_string(wait.count());
    // If its answer is lost, the messages are visible again after their hold.
    return messages_of(wire_.send("GET", target), &held_message_of);
  }

  /// Returns false if the queue was dropped meanwhile.
  Result<bool> read_figures(ListedQueue& queue) const {
    const Result<serve::HttpResponse> response = wire_.send("GET", service_path(queue.info.name) + "?comp=metadata");
    if (response.status().service_error() == "QueueNotFound") return false;
    if (!response.ok()) return response.status();
    const std::string* const count = serve::find_header(response->headers, "x-ms-approximate-messages-count");
    const Result<std::uint64_t> messages = number_of_answer(count == nullptr ? std::string() : *count);
    if (!messages.ok()) return messages.status();
    queue.figures.messages = *messages;
    return true;
  }

  const ServiceWire wire_;
  const std::string name_;
  const std::string path_;
  bool knows_keys_ = false;
};

}  // namespace

Result<std::unique_ptr<QueueAccess>> queue_at_address(const std::string& address, const std::string& account,
                                                      std::string queue) {
  Result<ServiceWire> wire = ServiceWire::reach(address, account, StorageService::kQueues);
  if (!wire.ok()) return wire.status();
  return std::unique_ptr<QueueAccess>(std::make_unique<ServiceQueue>(*std::move(wire), std::move(queue)));
}

}  // namespace varve::tool
