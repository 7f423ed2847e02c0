// Owns: a parsed request to the queue service, as the handler of a route receives it, and the list of the handlers.
// Must never: reach a handler before the permission was checked. The dispatcher checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/protocol/message.h"
#include "api/rest/queues/queue_target.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/storage_call.h"
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

struct QueueCall : StorageCall {
  const QueueTarget& target;
  /// The rule of the queue, or null.
  const DeadLetterRule* dead_letters = nullptr;
};

/// Runs `work` with the queue of the request on a thread that may wait.
template <typename Work>
Task<Status> with_queue(const QueueCall& call, Work work) {
  Task<Status> running = run_in_store(call, [&call, &work](Store& store) -> Status {
    Result<Queue> queue = store.open_queue(call.address.account, call.target.queue);
    return queue.ok() ? work(*queue) : queue.status();
  });
  const Status done = co_await running;
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
