// Owns: the store and the queue of a line, and the nearest names if there is no such queue.
// Must never: create a queue.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/reach/opened_store.h"
#include "tools/varve/reach/queue_access.h"
#include "tools/varve/session/session.h"
#include "varve/queue.h"

namespace varve::tool {

/// The store, account and queue of the command line.
struct QueuePlace {
  Place place;
  std::string queue;
};

/// Adds STORE and --account. With `with_queue`, adds QUEUE between them.
void add_queue_words(CLI::App& verb, QueuePlace& place, bool with_queue = true);

/// @{
/// Reach the queue in this process, through the server that has the store open, or at an address. reach_queue_briefly() is for verbs
/// that read. reach_or_make_queue() creates the store if it does not exist; the verb creates the queue.
Result<std::unique_ptr<QueueAccess>> reach_queue_briefly(const QueuePlace& place);
Result<std::unique_ptr<QueueAccess>> reach_queue(const QueuePlace& place);
Result<std::unique_ptr<QueueAccess>> reach_or_make_queue(const QueuePlace& place);
/// @}

/// Returns the failure with the nearest names as its hint, if it says that a queue or an account does not exist. Reads
/// the names where the verb reads.
Status with_nearest_queues(QueueAccess& queue, const QueuePlace& place, const Status& failure);

}  // namespace varve::tool
