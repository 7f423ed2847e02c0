// Owns: a parsed request to the queue service, as the handler of a route receives it, and the list of the handlers.
// Must never: reach a handler before the permission was checked. The dispatcher checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/query_parameters.h"
#include "api/rest/protocol/target.h"
#include "api/rest/queues/queue_target.h"
#include "api/rest/service/asked_parameters.h"
#include "api/rest/service/handlers.h"
#include "varve/async.h"
#include "varve/home_thread.h"
#include "varve/queue.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

/// What happens to messages of a queue that were delivered too often. Source: QX-12.
struct DeadLetterRule {
  std::string account;
  std::string queue;
  /// The number of deliveries after which a get moves the message.
  std::uint32_t deliveries_max = 0;
  /// A queue of the same account. The first get of `queue` creates it, if it does not exist.
  std::string target;
};

/// Holds views. The dispatcher keeps the viewed values until the answer is complete.
struct QueueCall {
  const HttpRequest& request;
  const Address& address;
  const QueueTarget& target;
  const QueryParameters& parameters;
  /// The protocol version, `YYYY-MM-DD`.
  std::string_view version;
  ErrorTrailer trailer;
  HomeThread* home = nullptr;
  /// Ends a waiting operation that has not begun to write, when the server ends.
  std::stop_token stop{};
  Store& store;
  /// The elements that an error's body gets besides its code and message (QE-02).
  ErrorDetails& details;
  /// The rule of the queue, or null.
  const DeadLetterRule* dead_letters = nullptr;

  operator AskedParameters() const noexcept { return {parameters, details}; }
};

/// Runs `work` with the queue of the request on a thread that may wait.
template <typename Work>
Task<Status> with_queue(const QueueCall& call, Work work) {
  Task<Status> running = AsyncStore(call.store)
                             .run(
                                 [&call, &work](Store& store) -> Status {
                                   Result<Queue> queue = store.open_queue(call.address.account, call.target.queue);
                                   return queue.ok() ? work(*queue) : queue.status();
                                 },
                                 call.stop);
  const Status done = co_await at_home(call.home, std::move(running));
  co_return done;
}

// Queues.
Answer list_queues(const QueueCall& call);
Answer create_queue(const QueueCall& call);
Answer delete_queue(const QueueCall& call);
Answer get_queue_metadata(const QueueCall& call);
Answer set_queue_metadata(const QueueCall& call);
Answer get_queue_policies(const QueueCall& call);
Answer set_queue_policies(const QueueCall& call);

// Messages.
Answer put_message(const QueueCall& call);
Answer get_messages(const QueueCall& call);
Answer peek_messages(const QueueCall& call);
Answer clear_messages(const QueueCall& call);
Answer update_message(const QueueCall& call);
Answer delete_message(const QueueCall& call);

// The account.
Answer get_queue_properties(const QueueCall& call);
Answer set_queue_properties(const QueueCall& call);
Answer get_queue_statistics(const QueueCall& call);

}  // namespace varve::serve
