// Owns: the store and the queue of a line, and the nearest names if there is no such queue.
// Must never: create a queue.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/reach/opened_store.h"
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

/// Opens the store for verbs that read: a checkpoint if a server has the store open.
Result<OpenedStore> open_queues_for_reading(const QueuePlace& place);
/// Opens an existing store for verbs that write. Errors: those of opening, with the remedy for queues.
Result<OpenedStore> open_queues_for_writing(const QueuePlace& place);
/// As open_queues_for_writing(), and creates the store if it does not exist.
Result<OpenedStore> open_or_make_queues(const QueuePlace& place);

/// Opens the queue. Errors: those of Store::open_queue(); kNotFound has the nearest name as its hint.
Result<Queue> open_named_queue(Store& store, const QueuePlace& place);
/// Opens another queue of the same account.
Result<Queue> open_named_queue(Store& store, const QueuePlace& place, const std::string& queue);
/// Returns the failure with the nearest names as its hint, if it says that the queue does not exist.
Status with_nearest_queues(Store& store, const QueuePlace& place, const Status& failure);

}  // namespace varve::tool
