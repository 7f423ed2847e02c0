// Owns: messages and listings of queues as the XML that clients send and receive.
// Must never: change a character of a message's text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/queue.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

/// Reads the text of a QueueMessage document. Returns nothing if the body is empty or the document has no MessageText.
/// The queue checks the text. Errors: kInvalidArgument (InvalidXmlDocument), as XmlDocument::read(). Source: QM-04,
/// QM-06.
Result<std::optional<std::string>> read_message_text(std::string_view body);

/// The lists of messages that a put, a get and a peek return. Source: QM-01, QM-13, QM-20.
std::string write_sent_message(const SentMessage& message);
std::string write_received_messages(std::span<const ReceivedMessage> messages);
std::string write_peeked_messages(std::span<const Message> messages);

/// One page of a listing of queues. Absent parameters of the request are absent from the answer. Source: QB-08.
struct QueueListing {
  std::string endpoint;
  std::optional<std::string> prefix{};
  std::optional<std::string> marker{};
  std::optional<std::string> names_max{};
  bool has_metadata = false;
  std::vector<QueueInfo> queues{};
  /// Empty on the last page.
  std::string next_marker{};
};
std::string write_queue_listing(const QueueListing& listing);

}  // namespace varve::serve
