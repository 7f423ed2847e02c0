// Owns: the encoding of messages' rows (message_rows.h).
// Must never: return a row with a property missing.
#include "api/queue/message_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "api/model/base64.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

/// Digits in the order of their characters, so that texts of equal length sort like the bytes that they encode.
constexpr Base64Alphabet kSorted{"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"};
constexpr std::size_t kNumberCharacters = 11;
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

/// The characters of a number, six bits each from the highest one on. The last has four bits, and two that are zero.
class NumberText {
 public:
  explicit NumberText(std::uint64_t number) noexcept {
    for (std::size_t i = 0; i + 1 < kNumberCharacters; ++i) text_[i] = kSorted.digits[number >> (58 - 6 * i) & 63];
    text_.back() = kSorted.digits[number << 2 & 63];
  }
  operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, kNumberCharacters> text_;
};

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  static constexpr std::array<std::uint8_t, 256> kValues = kSorted.values();
  if (text.size() != kNumberCharacters) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == Base64Alphabet::kNoDigit) return std::nullopt;
    if (i + 1 < text.size()) {
      number = number << 6 | value;
    } else if ((value & 3) == 0) {
      return number << 4 | value >> 2;
    }
  }
  return std::nullopt;
}

/// Any bytes as a text that a key may contain.
std::string bytes_text(std::string_view bytes) {
  return encode_base64(bytes);
}

/// The first part of a key: the letter of the kind, and a number.
class FirstPart {
 public:
  FirstPart(char kind, std::uint64_t number) noexcept {
    text_[0] = kind;
    const NumberText text(number);
    const std::string_view digits = text;
    std::copy(digits.begin(), digits.end(), text_.begin() + 1);
  }
  operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 1 + kNumberCharacters> text_;
};

std::string row_key(format::TableId queue, std::string_view first, std::string_view second) {
  format::SortKeyBuffer key;
  (void)key.encode(queue, first, second);  // ASCII is UTF-8
  return std::string(key.key());
}

/// Both parts of a key, as they lie in it. A part that holds a number lies there as it is.
struct KeyParts {
  std::string_view first;
  std::string_view second;
};
std::optional<KeyParts> parts_of(std::string_view key) noexcept {
  if (!format::is_framed(key)) return std::nullopt;
  const std::string_view partition = format::partition_of(key);
  return KeyParts{partition.substr(sizeof(format::TableId), partition.size() - sizeof(format::TableId) - 1),
                  key.substr(partition.size(), key.size() - partition.size() - 1)};
}

/// Builds a row at once where it stays. `names_and_values` is the most bytes that all properties have together.
class RowBuilder : public format::EntityBuilder {
 public:
  RowBuilder(std::size_t properties, std::size_t names_and_values) {
    std::string room;
    room.reserve(entity_bytes(properties, names_and_values));
    begin_behind(std::move(room), properties);
  }
};

/// Reads properties of known types. Remembers if one was missing.
class RowReader {
 public:
  explicit RowReader(const format::EncodedEntity& row) : row_(row) {}

  Ticks time(std::string_view name) {
    const auto found = find(name, format::PropertyType::kDateTime);
    return found ? found->as_date_time_ticks() : 0;
  }
  std::uint32_t count(std::string_view name) {
    const auto found = find(name, format::PropertyType::kInt32);
    if (found && found->as_int32() < 0) is_whole_ = false;
    return found ? static_cast<std::uint32_t>(found->as_int32()) : 0;
  }
  std::int64_t number(std::string_view name) {
    const auto found = find(name, format::PropertyType::kInt64);
    return found ? found->as_int64() : 0;
  }
  Guid guid(std::string_view name) {
    const auto found = find(name, format::PropertyType::kGuid);
    return found ? Guid{found->as_guid()} : Guid();
  }
  std::string_view text(std::string_view name) {
    const auto found = find(name, format::PropertyType::kString);
    return found ? found->value : std::string_view();
  }
  bool has(std::string_view name) const { return row_.find(name).has_value(); }

  Status status(std::string_view what) const {
    if (is_whole_) return Status();
    return Status::corruption("a property of a " + std::string(what) + " is missing or invalid");
  }

 private:
  std::optional<format::PropertyView> find(std::string_view name, format::PropertyType type) {
    std::optional<format::PropertyView> found = row_.find(name);
    if (!found || found->type != type) {
      is_whole_ = false;
      return std::nullopt;
    }
    return found;
  }

  const format::EncodedEntity& row_;
  bool is_whole_ = true;
};

/// Decodes one row. `read` takes the reader, and returns the row.
template <typename Read>
auto decode(std::string_view value, std::string_view what, Read read)
    -> Result<decltype(read(std::declval<RowReader&>()))> {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status();
  RowReader reader(*row);
  auto decoded = read(reader);
  if (Status whole = reader.status(what); !whole.ok()) return whole;
  return decoded;
}

}  // namespace

std::string waiting_key(format::TableId queue, Ticks visible, Sequence sequence) {
  return row_key(queue, FirstPart('W', visible), NumberText(sequence));
}
std::string place_key(format::TableId queue, Sequence sequence) {
  return row_key(queue, FirstPart('P', sequence), {});
}
std::string text_key(format::TableId queue, Sequence sequence) {
  return row_key(queue, FirstPart('T', sequence), {});
}
std::string expiry_key(format::TableId queue, Ticks expires, Sequence sequence) {
  return row_key(queue, FirstPart('E', expires), NumberText(sequence));
}
std::string counter_key(format::TableId queue, std::uint32_t stripe) {
  return row_key(queue, FirstPart('C', stripe), {});
}
std::string deduplication_row_key(format::TableId queue, std::string_view key) {
  return row_key(queue, "D" + bytes_text(key), {});
}
std::string forgetting_key(format::TableId queue, Ticks until, std::string_view key) {
  return row_key(queue, FirstPart('F', until), bytes_text(key));
}

std::string message_rows_prefix(format::TableId queue, char kind) {
  return format::encode_table(queue) + kind;
}

Result<TimedPlace> decode_timed_key(std::string_view key) {
  const std::optional<KeyParts> parts = parts_of(key);
  const bool has_kind = parts && !parts->first.empty();
  const std::optional<std::uint64_t> time = has_kind ? parse_number(parts->first.substr(1)) : std::nullopt;
  const std::optional<std::uint64_t> sequence = has_kind ? parse_number(parts->second) : std::nullopt;
  if (!time || !sequence) return Status::corruption("the key of a message has no two numbers");
  return TimedPlace{*time, *sequence};
}

Result<ForgettingPlace> decode_forgetting_key(std::string_view key) {
  const Result<format::SortKey> parts = format::decode_sort_key(key);
  if (!parts.ok()) return parts.status();
  const std::string_view first = parts->partition_key;
  const std::optional<std::uint64_t> until = first.empty() ? std::nullopt : parse_number(first.substr(1));
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
  return decode(value, "waiting message", [](RowReader& reader) {
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
  return decode(value, "message's place", [](RowReader& reader) {
    MessagePlace place;
    place.visible = reader.time(kVisible);
    place.expires = reader.time(kExpires);
    place.text_bytes = reader.count(kBytes);
    place.is_apart = reader.has(kApart);
    return place;
  });
}

Result<std::string_view> decode_text(std::string_view value) {
  return decode(value, "message's text", [](RowReader& reader) { return reader.text(kText); });
}

Result<MessageCount> decode_message_count(std::string_view value) {
  return decode(value, "queue's counter", [](RowReader& reader) {
    return MessageCount{reader.number(kMessages), reader.number(kBytes)};
  });
}

Result<Deduplication> decode_deduplication(std::string_view value) {
  return decode(value, "deduplication key", [](RowReader& reader) {
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
