// Owns: the encoding of messages' rows (message_rows.h).
// Must never: return a row with a property missing.
#include "api/queue/message_rows.h"

#include <optional>
#include <utility>

#include "api/model/base64.h"
#include "api/model/stored_row.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// More than the names of any row and its values of fixed size have together.
constexpr std::size_t kFixedBytesMax = 128;

constexpr std::string_view kMessageIdName = "Id";
constexpr std::string_view kInserted = "Inserted";
constexpr std::string_view kExpires = "Expires";
constexpr std::string_view kDeliveries = "Deliveries";
constexpr std::string_view kText = "Text";
constexpr std::string_view kOrigin = "Origin";
constexpr std::string_view kVisible = "Visible";
constexpr std::string_view kBytes = "Bytes";
constexpr std::string_view kApart = "Apart";
constexpr std::string_view kMessages = "Messages";
constexpr std::string_view kSequence = "Sequence";
constexpr std::string_view kUntil = "Until";

/// Any bytes as a text that a key may contain.
std::string bytes_text(std::string_view bytes) {
  return encode_base64(bytes);
}

}  // namespace

std::string waiting_key(format::TableId queue, Ticks visible, Sequence sequence) {
  return stored_row_key(queue, KindAndNumber('W', visible), NumberText(sequence));
}
std::string place_key(format::TableId queue, Sequence sequence) {
  return stored_row_key(queue, KindAndNumber('P', sequence), {});
}
std::string text_key(format::TableId queue, Sequence sequence) {
  return stored_row_key(queue, KindAndNumber('T', sequence), {});
}
std::string expiry_key(format::TableId queue, Ticks expires, Sequence sequence) {
  return stored_row_key(queue, KindAndNumber('E', expires), NumberText(sequence));
}
std::string counter_key(format::TableId queue, std::uint32_t stripe) {
  return stored_row_key(queue, KindAndNumber('C', stripe), {});
}
std::string deduplication_row_key(format::TableId queue, std::string_view key) {
  return stored_row_key(queue, "D" + bytes_text(key), {});
}
std::string forgetting_key(format::TableId queue, Ticks until, std::string_view key) {
  return stored_row_key(queue, KindAndNumber('F', until), bytes_text(key));
}

std::string message_rows_prefix(format::TableId queue, char kind) {
  return format::encode_table(queue) + kind;
}

Result<TimedPlace> decode_timed_key(std::string_view key) {
  const std::optional<KeyParts> parts = key_parts_of(key);
  const bool has_kind = parts && !parts->first.empty();
  const std::optional<std::uint64_t> time = has_kind ? parse_number_text(parts->first.substr(1)) : std::nullopt;
  const std::optional<std::uint64_t> sequence = has_kind ? parse_number_text(parts->second) : std::nullopt;
  if (!time || !sequence) return Status::corruption("the key of a message has no two numbers");
  return TimedPlace{*time, *sequence};
}

Result<ForgettingPlace> decode_forgetting_key(std::string_view key) {
  const Result<format::SortKey> parts = format::decode_sort_key(key);
  if (!parts.ok()) return parts.status();
  const std::string_view first = parts->partition_key;
  const std::optional<std::uint64_t> until = first.empty() ? std::nullopt : parse_number_text(first.substr(1));
  std::optional<std::string> bytes = decode_base64(parts->row_key);
  if (!until || !bytes) return Status::corruption("the key of a deduplication has no time or no text");
  return ForgettingPlace{*until, *std::move(bytes)};
}

std::string encode_waiting(const WaitingMessage& message) {
  const std::size_t properties = 4 + std::size_t{!message.origin.empty()} + std::size_t{!message.is_apart};
  RowBuilder builder(properties, kFixedBytesMax + message.origin.size() + message.text.size());
  builder.add_guid(kMessageIdName, message.id.bytes);
  builder.add_date_time(kInserted, message.inserted);
  builder.add_date_time(kExpires, message.expires);
  builder.add_int32(kDeliveries, static_cast<std::int32_t>(message.deliveries));
  if (!message.origin.empty()) builder.add_string(kOrigin, message.origin);
  if (!message.is_apart) builder.add_string(kText, message.text);
  return builder.finish_in_place();
}

std::string encode_place(const MessagePlace& place) {
  RowBuilder builder(place.is_apart ? 4 : 3, kFixedBytesMax);
  builder.add_date_time(kVisible, place.visible);
  builder.add_date_time(kExpires, place.expires);
  builder.add_int32(kBytes, static_cast<std::int32_t>(place.text_bytes));
  if (place.is_apart) builder.add_boolean(kApart, true);
  return builder.finish_in_place();
}

std::string encode_text(std::string_view text) {
  RowBuilder builder(1, kText.size() + text.size());
  builder.add_string(kText, text);
  return builder.finish_in_place();
}

std::string encode_count(const MessageCount& count) {
  RowBuilder builder(2, kFixedBytesMax);
  builder.add_int64(kMessages, count.messages);
  builder.add_int64(kBytes, count.text_bytes);
  return builder.finish_in_place();
}

std::string encode_deduplication(const Deduplication& row) {
  RowBuilder builder(6, kFixedBytesMax);
  builder.add_guid(kMessageIdName, row.id.bytes);
  builder.add_int64(kSequence, static_cast<std::int64_t>(row.sequence));
  builder.add_date_time(kInserted, row.inserted);
  builder.add_date_time(kExpires, row.expires);
  builder.add_date_time(kVisible, row.visible);
  builder.add_date_time(kUntil, row.until);
  return builder.finish_in_place();
}

std::string encode_nothing() {
  return format::EntityBuilder().finish();
}

Result<WaitingMessage> decode_waiting(std::string_view value) {
  return decode_stored_row(value, "waiting message", [](RowReader& reader) {
    WaitingMessage message;
    message.id = reader.guid(kMessageIdName);
    message.inserted = reader.time(kInserted);
    message.expires = reader.time(kExpires);
    message.deliveries = reader.count(kDeliveries);
    message.is_apart = !reader.has(kText);
    if (!message.is_apart) message.text = reader.text(kText);
    if (reader.has(kOrigin)) message.origin = reader.text(kOrigin);
    return message;
  });
}

Result<MessagePlace> decode_place(std::string_view value) {
  return decode_stored_row(value, "message's place", [](RowReader& reader) {
    MessagePlace place;
    place.visible = reader.time(kVisible);
    place.expires = reader.time(kExpires);
    place.text_bytes = reader.count(kBytes);
    place.is_apart = reader.has(kApart);
    return place;
  });
}

Result<std::string_view> decode_text(std::string_view value) {
  return decode_stored_row(value, "message's text", [](RowReader& reader) { return reader.text(kText); });
}

Result<MessageCount> decode_message_count(std::string_view value) {
  return decode_stored_row(value, "queue's counter", [](RowReader& reader) {
    return MessageCount{reader.number(kMessages), reader.number(kBytes)};
  });
}

Result<Deduplication> decode_deduplication(std::string_view value) {
  return decode_stored_row(value, "deduplication key", [](RowReader& reader) {
    Deduplication row;
    row.id = reader.guid(kMessageIdName);
    row.sequence = static_cast<Sequence>(reader.number(kSequence));
    row.inserted = reader.time(kInserted);
    row.expires = reader.time(kExpires);
    row.visible = reader.time(kVisible);
    row.until = reader.time(kUntil);
    return row;
  });
}

}  // namespace varve
