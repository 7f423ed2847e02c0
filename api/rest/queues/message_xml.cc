#include "api/rest/queues/message_xml.h"

#include <utility>

#include "api/rest/encoding/xml_reader.h"
#include "api/rest/encoding/xml_text.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

/// The parts of a message that an answer shows. Null: the answer has no such element.
struct Shown {
  const Guid& id;
  DateTime inserted;
  DateTime expires;
  const PopReceipt* receipt = nullptr;
  const DateTime* visible = nullptr;
  const Message* content = nullptr;
};

void append_message(std::string& xml, const Shown& shown) {
  xml.append("<QueueMessage>");
  append_tag(xml, "MessageId", shown.id.to_string());
  append_tag(xml, "InsertionTime", security::http_date(shown.inserted));
  append_tag(xml, "ExpirationTime", security::http_date(shown.expires));
  if (shown.receipt != nullptr) append_tag(xml, "PopReceipt", shown.receipt->to_string());
  if (shown.visible != nullptr) append_tag(xml, "TimeNextVisible", security::http_date(*shown.visible));
  if (shown.content != nullptr) {
    append_tag(xml, "DequeueCount", std::to_string(shown.content->deliveries));
    append_tag(xml, "MessageText", shown.content->text);
  }
  xml.append("</QueueMessage>");
}

/// Writes a list; `append` appends one element.
template <typename Elements, typename Append>
std::string write_messages(const Elements& messages, Append append) {
  std::string xml(kXmlDeclaration);
  if (messages.empty()) return xml.append("<QueueMessagesList />");
  xml.append("<QueueMessagesList>");
  for (const auto& message : messages) append(xml, message);
  return xml.append("</QueueMessagesList>");
}

}  // namespace

Result<std::optional<std::string>> read_message_text(std::string_view body) {
  if (body.empty()) return std::optional<std::string>();
  const Result<XmlDocument> document = XmlDocument::read(body, "QueueMessage");
  if (!document.ok()) return document.status();
  return document->root().text_of("MessageText");
}

std::string write_sent_message(const SentMessage& message) {
  return write_messages(std::span(&message, 1), [](std::string& xml, const SentMessage& sent) {
    append_message(xml, {sent.id, sent.inserted, sent.expires, &sent.receipt, &sent.visible});
  });
}

std::string write_received_messages(std::span<const ReceivedMessage> messages) {
  return write_messages(messages, [](std::string& xml, const ReceivedMessage& got) {
    append_message(xml, {got.id, got.inserted, got.expires, &got.receipt, &got.visible, &got});
  });
}

std::string write_peeked_messages(std::span<const Message> messages) {
  return write_messages(messages, [](std::string& xml, const Message& seen) {
    append_message(xml, {seen.id, seen.inserted, seen.expires, nullptr, nullptr, &seen});
  });
}

std::string write_queue_listing(const QueueListing& listing) {
  std::string xml = begin_listing(listing.endpoint);
  xml.append(1, '>');
  if (listing.prefix) append_tag(xml, "Prefix", *listing.prefix);
  if (listing.marker) append_tag(xml, "Marker", *listing.marker);
  if (listing.names_max) append_tag(xml, "MaxResults", *listing.names_max);
  if (listing.queues.empty()) {
    xml.append("<Queues />");
  } else {
    xml.append("<Queues>");
    for (const QueueInfo& queue : listing.queues) {
      xml.append("<Queue>");
      append_tag(xml, "Name", queue.name);
      if (listing.has_metadata) append_metadata(xml, queue.metadata);
      xml.append("</Queue>");
    }
    xml.append("</Queues>");
  }
  append_tag(xml, "NextMarker", listing.next_marker);
  return xml.append("</EnumerationResults>");
}

}  // namespace varve::serve
