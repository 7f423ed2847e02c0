// Owns: the requests of operators on queues: one route, whose parameters name the verb, the queue and its options.
// Must never: keep a thread of the store busy for longer than one wait of kQueueWaitMax.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "api/rest/protocol/message.h"
#include "varve/async.h"
#include "varve/home_thread.h"

namespace varve::serve {

/// The longest wait of one request for a message. A client that waits longer sends the next request.
inline constexpr std::chrono::milliseconds kQueueWaitMax{2'000};

/// Carries out `POST /_varve/queues?verb=VERB&account=ACCOUNT&queue=QUEUE&...`. Times are milliseconds. VERB is one of:
///
///   create     message_bytes_max, release_on_open ("1"); the body is metadata. The account is created if it does not
///              exist
///   drop, clear
///   metadata   the body is metadata, which replaces all
///   put        delay, ttl ("never"), key, window, durability; the body is the text
///   get        count, hold, wait, deliveries_max, dead_letter
///   remove     id, receipt, durability
///   update     id, receipt, hold, durability; with `text=1`, the body is the new text
///   peek       count
///   show       returns the metadata
///   policies   returns the access policies as `{"document":XML}`
///   set_policies  the body is the XML of all access policies
///   sync       makes every acknowledged write durable; `queue` has no meaning
///   list       prefix, continuation, names (of a page), figures ("1"); `queue` has no meaning
///
/// The metadata of a body is a list of names and values, each with a zero byte after it. The answer is JSON, which has
/// the fields of SentMessage, UpdatedMessage, QueueInfo and QueueFigures, or a list of messages. Errors: those of the verbs of varve/queue.h and
/// varve/store.h; kInvalidArgument (InvalidQueryParameterValue: a parameter is no number, or there is no such verb).
Task<Result<HttpResponse>> answer_queue_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop);

}  // namespace varve::serve
