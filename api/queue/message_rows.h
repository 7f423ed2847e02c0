// Owns: the rows of a queue's messages: their keys and their content.
// Must never: place two messages under one key.
//
// A queue's id is the table id of its rows. Their keys have the frame of every key: the first part takes the place of the
// PartitionKey, the second that of the RowKey. A number in a key is written as 11 characters that sort like the number.
//
//   row             first part             second part   properties
//   waiting message W, visible from        sequence      Id (Guid), Inserted, Expires (DateTime), Deliveries (Int32),
//                                                        Text (String, unless it has a row), optionally Origin (String)
//   place           P, sequence                          Visible, Expires (DateTime), Bytes (Int32: of the text),
//                                                        optionally Apart (Boolean: the text has a row)
//   text            T, sequence                          Text (String)
//   expiry          E, expires             sequence      none; only for messages that expire
//   counter         C, stripe                            Messages, Bytes (Int64)
//   deduplication   D, key                               Id (Guid), Sequence (Int64), Inserted, Expires, Visible, Until
//                                                        (DateTime)
//   forgetting      F, until               key           none; when the row D of the key leaves
//
// The sequence is a number that the store's clock gave when the message was put: unique, and ascending for puts that
// follow each other. The version of the place row is that of the last change of visibility; the waiting message has the
// same version. Stripes of the counter are added. One stripe alone may be below zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/model/stored_row.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/types.h"

namespace varve {

using Sequence = std::uint64_t;

/// A text of this many bytes or more has a row of its own, so that a get need not write it again (QX-25).
inline constexpr std::size_t kTextApartBytes = 16 * 1024;
inline constexpr std::uint32_t kCounterStripes = 16;

std::string waiting_key(format::TableId queue, Ticks visible, Sequence sequence);
std::string place_key(format::TableId queue, Sequence sequence);
std::string text_key(format::TableId queue, Sequence sequence);
std::string expiry_key(format::TableId queue, Ticks expires, Sequence sequence);
std::string counter_key(format::TableId queue, std::uint32_t stripe);
/// The deduplication key may be any bytes.
std::string deduplication_row_key(format::TableId queue, std::string_view key);
std::string forgetting_key(format::TableId queue, Ticks until, std::string_view key);

/// Returns the common prefix of the keys of all rows of one kind: the letter of the list above.
std::string message_rows_prefix(format::TableId queue, char kind);

/// The two numbers of a key of a waiting message or of an expiry.
struct TimedPlace {
  Ticks time = 0;
  Sequence sequence = 0;
};
// Errors: kCorruption.
Result<TimedPlace> decode_timed_key(std::string_view key);

/// The parts of a key of a row F.
struct ForgettingPlace {
  Ticks until = 0;
  std::string key;
};
Result<ForgettingPlace> decode_forgetting_key(std::string_view key);

struct WaitingMessage {
  Guid id;
  Ticks inserted = 0;
  Ticks expires = 0;
  std::uint32_t deliveries = 0;
  bool is_apart = false;
  /// Empty if the text has a row of its own. Valid as long as the bytes that were decoded.
  std::string_view text;
  std::string_view origin;
};
struct MessagePlace {
  Ticks visible = 0;
  Ticks expires = 0;
  std::uint32_t text_bytes = 0;
  bool is_apart = false;
};
struct MessageCount {
  std::int64_t messages = 0;
  std::int64_t text_bytes = 0;
};
struct Deduplication {
  Guid id;
  Sequence sequence = 0;
  Ticks inserted = 0;
  Ticks expires = 0;
  Ticks visible = 0;
  Ticks until = 0;
};

std::string encode_waiting(const WaitingMessage& message);
std::string encode_place(const MessagePlace& place);
std::string encode_text(std::string_view text);
std::string encode_count(const MessageCount& count);
std::string encode_deduplication(const Deduplication& row);
/// The content of rows that have none.
std::string encode_nothing();

// Errors: kCorruption, kUnsupported.
Result<WaitingMessage> decode_waiting(std::string_view value);
Result<MessagePlace> decode_place(std::string_view value);
/// The text is valid as long as `value`.
Result<std::string_view> decode_text(std::string_view value);
Result<MessageCount> decode_message_count(std::string_view value);
Result<Deduplication> decode_deduplication(std::string_view value);

}  // namespace varve
