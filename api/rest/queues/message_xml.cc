#include "api/rest/queues/message_xml.h"

#include <utility>

#include "api/rest/encoding/xml_reader.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// Appends a text so that an XML reader returns the same characters. A reader turns a plain carriage return into a line
/// feed, so it is written as a reference.
void append_text(std::string& xml, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': xml.append("&amp;"); break;
      case '<': xml.append("&lt;"); break;
      case '>': xml.append("&gt;"); break;
      case '\r': xml.append("&#xD;"); break;
      default: xml.push_back(c);
    }
  }
}

void append_tag(std::string& xml, std::string_view name, std::string_view text) {
  xml.append(1, '<').append(name);
  if (text.empty()) {
    xml.append(" />");
    return;
  }
  xml.append(1, '>');
  append_text(xml, text);
  xml.append("</").append(name).append(1, '>');
}

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
  std::string xml(kDeclaration);
  if (messages.empty()) return xml.append("<QueueMessagesList />");
  xml.append("<QueueMessagesList>");
  for (const auto& message : messages) append(xml, message);
  return xml.append("</QueueMessagesList>");
}

void append_metadata(std::string& xml, const std::vector<MetadataPair>& metadata) {
  if (metadata.empty()) {
    xml.append("<Metadata />");
    return;
  }
  xml.append("<Metadata>");
  for (const MetadataPair& pair : metadata) append_tag(xml, pair.name, pair.value);
  xml.append("</Metadata>");
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
  std::string xml(kDeclaration);
  xml.append("<EnumerationResults ServiceEndpoint=\"");
  for (const char c : listing.endpoint) {
    if (c == '"') {
      xml.append("&quot;");
    } else {
      append_text(xml, std::string_view(&c, 1));
    }
  }
  xml.append("\">");
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
