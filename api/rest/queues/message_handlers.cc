// Owns: the routes of messages.
// Must never: refuse the answer of a get. Its messages are held already.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/queues/message_xml.h"
#include "api/rest/queues/queue_call.h"
#include "api/rest/service/call.h"
#include "api/security/http_date.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kWeekSeconds = 7 * 24 * 3600;
/// The longest time to live that can be counted. It is longer than the calendar, with which each message ends (QM-02).
constexpr std::int64_t kCountedSecondsMax = std::chrono::duration_cast<seconds>(kNever).count();
constexpr std::uint32_t kTextBytesMax = 65'536;
/// The longest wait of a get (QX-19).
constexpr std::int64_t kWaitSecondsMax = 30;
/// The version from which a time to live may exceed 7 days or be -1 (QM-03).
constexpr std::string_view kLongLives = "2017-07-29";
/// The version from which a put answers with the message (QM-01).
constexpr std::string_view kPutAnswers = "2016-05-31";

/// Reads the text of the body, and checks its size. Source: QM-05.
Result<std::optional<std::string>> text_of(const QueueCall& call) {
  Result<std::optional<std::string>> text = read_message_text(call.request.body);
  if (!text.ok() || !*text || (*text)->size() <= kTextBytesMax) return text;
  call.details.emplace_back("MaxLimit", std::to_string(kTextBytesMax));
  return service_error::request_body_too_large("the message has " + std::to_string((*text)->size()) +
                                               " bytes of text; at most 65536 are allowed");
}

/// Returns the time to live of a put. Source: QM-02, QM-03.
Result<std::chrono::milliseconds> time_to_live(const QueueCall& call) {
  const bool is_old = call.version < kLongLives;
  const Result<std::optional<std::int64_t>> given =
      number_parameter(call, "messagettl", is_old ? 1 : -1, is_old ? kWeekSeconds : kCountedSecondsMax);
  if (!given.ok()) return given.status();
  if (!*given) return PutOptions().ttl;
  if (**given == 0) {
    return refuse_parameter(call, "InvalidQueryParameterValue", "messagettl", "0",
                            "it is neither -1 nor a number of seconds above zero");
  }
  return **given < 0 ? kNever : seconds(**given);
}

Result<PutOptions> put_options(const QueueCall& call) {
  PutOptions options;
  const Result<std::chrono::milliseconds> ttl = time_to_live(call);
  if (!ttl.ok()) return ttl.status();
  const Result<std::optional<std::int64_t>> delay = number_parameter(call, "visibilitytimeout", 0, kWeekSeconds);
  if (!delay.ok()) return delay.status();
  options.ttl = *ttl;
  options.delay = seconds(delay->value_or(0));
  if (options.delay >= options.ttl) {
    return refuse_parameter(call, "InvalidQueryParameterValue", "visibilitytimeout", std::to_string(**delay),
                            "it is not below the time to live");
  }
  if (const std::string* const key = find_header(call.request.head.headers, "x-varve-deduplication-key")) {
    options.deduplication_key = *key;
  }
  return options;
}

Result<std::uint32_t> message_count(const QueueCall& call) {
  const Result<std::optional<std::int64_t>> given = number_parameter(call, "numofmessages", 1, limits::kMessagesMax);
  if (!given.ok()) return given.status();
  return static_cast<std::uint32_t>(given->value_or(1));
}

/// The message that a delete or an update names.
struct Named {
  Guid id;
  PopReceipt receipt;
};

/// Reads the receipt and the id. A tool may have turned a plus sign of the receipt into a blank. Source: QM-33, QM-34.
Result<Named> named_message(const QueueCall& call) {
  const std::string* const written = call.parameters.find("popreceipt");
  if (written == nullptr || written->empty()) return missing_parameter(call, "popreceipt");
  std::string text = *written;
  std::replace(text.begin(), text.end(), ' ', '+');
  const Result<PopReceipt> receipt = PopReceipt::parse(text);
  if (!receipt.ok()) {
    return refuse_parameter(call, "InvalidQueryParameterValue", "popreceipt", *written,
                            "no put, get or update has returned this receipt");
  }
  const Result<Guid> id = Guid::parse(call.target.message);
  if (!id.ok()) return service_error::message_not_found("the message does not exist");
  return Named{*id, *receipt};
}

/// Returns the queue to which messages move that were delivered too often.
Result<Queue> dead_letter_queue(Store& store, const DeadLetterRule& rule) {
  for (;;) {
    Result<Queue> present = store.open_queue(rule.account, rule.target);
    if (present.code() != Code::kNotFound || present.status().service_error() != "QueueNotFound") return present;
    Result<Queue> made = store.create_queue(rule.account, rule.target);
    if (made.code() != Code::kExists) return made;
  }
}

/// The queues of a get.
struct Source {
  std::optional<Queue> queue;
  std::optional<Queue> dead_letters;
};

/// Opens the queue, and the one of its rule if it has a rule.
Status open_source(Store& store, const QueueCall& call, Source& source) {
  Result<Queue> queue = store.open_queue(call.address.account, call.target.queue);
  if (!queue.ok()) return queue.status();
  source.queue = *std::move(queue);
  if (call.dead_letters == nullptr) return Status();
  Result<Queue> target = dead_letter_queue(store, *call.dead_letters);
  if (!target.ok()) return target.status();
  source.dead_letters = *std::move(target);
  return Status();
}

/// Opens the queues of a get, and takes the messages that are visible now.
Status take_at_once(Store& store, const QueueCall& call, Source& source, GetOptions& options,
                    std::vector<ReceivedMessage>& messages) {
  if (Status opened = open_source(store, call, source); !opened.ok()) return opened;
  if (source.dead_letters) {
    options.deliveries_max = call.dead_letters->deliveries_max;
    options.dead_letter = &*source.dead_letters;
  }
  GetOptions at_once = options;
  at_once.wait = seconds(0);
  Result<std::vector<ReceivedMessage>> got = source.queue->get(at_once);
  if (!got.ok()) return got.status();
  messages = *std::move(got);
  return Status();
}

/// Returns what a get asks for. Source: QM-10, QX-19.
Result<GetOptions> get_options(const QueueCall& call) {
  GetOptions options;
  const Result<std::uint32_t> count = message_count(call);
  if (!count.ok()) return count.status();
  const Result<std::optional<std::int64_t>> hold = number_parameter(call, "visibilitytimeout", 1, kWeekSeconds);
  if (!hold.ok()) return hold.status();
  const Result<std::optional<std::int64_t>> wait = number_parameter(call, "x-varve-wait", 0, kWaitSecondsMax);
  if (!wait.ok()) return wait.status();
  options.count = *count;
  if (*hold) options.hold = seconds(**hold);
  options.wait = seconds(wait->value_or(0));
  options.stop = call.stop;
  return options;
}

}  // namespace

Answer put_message(const QueueCall& call) {
  const Result<PutOptions> options = put_options(call);
  if (!options.ok()) co_return options.status();
  const Result<std::optional<std::string>> text = text_of(call);
  if (!text.ok()) co_return text.status();
  if (!*text) co_return service_error::invalid_xml_document("the body is no QueueMessage with a MessageText");
  SentMessage sent;
  Task<Status> putting = with_queue(call, [&](Queue& queue) -> Status {
    Result<SentMessage> put = queue.put(**text, *options);
    if (!put.ok()) return put.status();
    sent = *std::move(put);
    return Status();
  });
  const Status put = co_await putting;
  if (!put.ok()) co_return put;
  if (call.version < kPutAnswers) co_return HttpResponse{201};
  co_return carried_out_answer([&] {
    HttpResponse response = xml_response(write_sent_message(sent));
    response.status = 201;
    return response;
  });
}

Answer get_messages(const QueueCall& call) {
  Result<GetOptions> options = get_options(call);
  if (!options.ok()) co_return options.status();
  Source source;
  std::vector<ReceivedMessage> messages;
  // Most gets end on the worker that opens the queue. Only a wait goes on without one.
  Task<Status> taking =
      run_in_store(call, [&](Store& store) { return take_at_once(store, call, source, *options, messages); });
  const Status taken = co_await taking;
  if (!taken.ok()) co_return taken;
  if (messages.empty() && options->wait > seconds(0)) {
    Task<Result<std::vector<ReceivedMessage>>> waiting = AsyncQueue(*source.queue, call.home).get(*options);
    Result<std::vector<ReceivedMessage>> got = co_await waiting;
    if (!got.ok()) co_return got.status();
    messages = *std::move(got);
  }
  co_return carried_out_answer([&] { return xml_response(write_received_messages(messages)); });
}

Answer peek_messages(const QueueCall& call) {
  const Result<std::uint32_t> count = message_count(call);
  if (!count.ok()) co_return count.status();
  std::vector<Message> messages;
  Task<Status> peeking = with_queue(call, [&](const Queue& queue) -> Status {
    Result<std::vector<Message>> seen = queue.peek(*count);
    if (!seen.ok()) return seen.status();
    messages = *std::move(seen);
    return Status();
  });
  const Status seen = co_await peeking;
  if (!seen.ok()) co_return seen;
  std::string body = write_peeked_messages(messages);
  if (call.request.room != nullptr && !call.request.room->grow_to(body.size())) co_return no_room_for_answer();
  co_return xml_response(std::move(body));
}

Answer clear_messages(const QueueCall& call) {
  Task<Status> clearing = with_queue(call, [](Queue& queue) { return queue.clear(); });
  const Status cleared = co_await clearing;
  if (!cleared.ok()) co_return cleared;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

Answer delete_message(const QueueCall& call) {
  Task<Status> deleting = with_queue(call, [&](Queue& queue) -> Status {
    const Result<Named> named = named_message(call);
    return named.ok() ? queue.remove(named->id, named->receipt) : named.status();
  });
  const Status deleted = co_await deleting;
  if (!deleted.ok()) co_return deleted;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

Answer update_message(const QueueCall& call) {
  const Result<std::optional<std::int64_t>> hold = number_parameter(call, "visibilitytimeout", 0, kWeekSeconds);
  if (!hold.ok()) co_return hold.status();
  const Result<std::optional<std::string>> text = text_of(call);
  if (!text.ok()) co_return text.status();
  UpdatedMessage updated;
  Task<Status> updating = with_queue(call, [&](Queue& queue) -> Status {
    const Result<Named> named = named_message(call);
    if (!named.ok()) return named.status();
    if (!*hold) return missing_parameter(call, "visibilitytimeout");
    std::optional<std::string_view> changed;
    if (*text) changed = **text;
    const Result<UpdatedMessage> done = queue.update(named->id, named->receipt, seconds(**hold), changed);
    if (!done.ok()) return done.status();
    updated = *done;
    return Status();
  });
  const Status done = co_await updating;
  if (!done.ok()) co_return done;
  co_return carried_out_answer([&] {
    HttpResponse response;
    response.status = 204;
    response.with("x-ms-popreceipt", updated.receipt.to_string());
    response.with("x-ms-time-next-visible", security::http_date(updated.visible));
    return response;
  });
}

}  // namespace varve::serve
