// Owns: queues and messages as they are printed: for people, as JSON, or the texts alone.
// Must never: read or change a queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/varve/reach/queue_access.h"
#include "varve/queue.h"
#include "varve/store.h"

namespace varve::tool {

/// The form in which messages are printed.
enum class MessageForm : std::uint8_t { kPeople, kJson, kText };

/// A set of metadata as NAME=VALUE words. Errors: kInvalidArgument (a word without a name or "=").
Result<std::vector<MetadataPair>> parse_metadata(const std::vector<std::string>& words);

/// Prints messages that a get returned.
void print_messages(const std::vector<HeldMessage>& messages, MessageForm form);
/// Prints messages that a peek returned.
void print_messages(const std::vector<Message>& messages, MessageForm form);
/// Prints "ID RECEIPT", or JSON.
void print_sent(const PutAnswer& message, bool json);

/// Prints the figures and the metadata of a queue.
void print_queue(const std::string& account, const ListedQueue& queue, bool json);
/// Prints metadata as NAME=VALUE lines, or as one JSON object.
void print_metadata(const std::vector<MetadataPair>& metadata, bool json);

}  // namespace varve::tool
