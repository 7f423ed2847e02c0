// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of one queue: messages that wait, are held by a consumer, and are deleted when their work is done.
// Must never: give one message to two consumers at once.
//
//   Result<Queue> orders = store->create_queue("myaccount", "orders");
//   Result<SentMessage> sent = orders->put("456", {.delay = std::chrono::seconds(5)});
//   Result<std::vector<ReceivedMessage>> got = orders->get({.count = 32, .wait = std::chrono::seconds(10)});
//   for (const ReceivedMessage& message : *got) {
//     do_the_work(message.text);
//     Status removed = orders->remove(message);
//   }
//
// A message is visible from a time on, and expires at another. get() hides the messages that it returns for a time (the
// hold) and gives each a receipt. The holder of the last receipt may delete or update the message. Otherwise the
// message is visible again after the hold. So each message is delivered at least once. Messages are delivered in the
// order in which they became visible.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "access_policy.h"
#include "options.h"
#include "result.h"
#include "snapshot.h"
#include "status.h"
#include "types.h"
#include "version.h"

namespace varve {

/// The time to live of a message that never expires.
inline constexpr std::chrono::milliseconds kNever = std::chrono::milliseconds::max();

/// One name and value that a user keeps with a queue. Names are C# identifiers, and are compared without regard to case.
struct MetadataPair {
  /// As it was given, in its own case.
  std::string name;
  /// Without blanks at its ends.
  std::string value;
  /// Compares both texts, case included.
  bool operator==(const MetadataPair&) const = default;
};

/// Properties of a new queue.
struct QueueOptions {
  /// Kept with the queue; see Queue::set_metadata().
  std::vector<MetadataPair> metadata{};
  /// Limit of a message's text in bytes of UTF-8, 1 to limits::kMessageBytesMaxLimit. The service's limit is the
  /// default. It is stored.
  std::uint32_t message_bytes_max = 65'536;
  /// If true, each open of the store makes the messages visible at once that consumers held before. Their deliveries
  /// stay. Use it if the consumers end together with the store, for example in one program. Messages that were put with
  /// a delay stay hidden. It is stored. Source: QX-10.
  bool release_on_open = false;
};

/// Proof that its holder may delete or update a message. It names one change of the message's visibility: a put, a get
/// or an update. The next change makes it invalid. Time does not.
struct VARVE_EXPORT PopReceipt {
  /// Place of the message in its queue.
  std::uint64_t sequence = 0;
  /// Version of the commit that gave the receipt.
  std::uint64_t version = 0;
  /// A hash that only this store can make.
  std::uint64_t check = 0;

  /// Returns the receipt as base64: 32 characters.
  std::string to_string() const;
  /// Parses what to_string() returns. Errors: kInvalidArgument (InvalidQueryParameterValue: no receipt has this form).
  static Result<PopReceipt> parse(std::string_view text);
  /// Compares all fields.
  bool operator==(const PopReceipt&) const = default;
};

/// Options of Queue::put().
struct PutOptions {
  /// Time for which the message stays hidden: 0 to 7 days.
  std::chrono::milliseconds delay{0};
  /// Time after which the message expires: more than `delay`, or kNever.
  std::chrono::milliseconds ttl = std::chrono::hours(24 * 7);
  /// If not empty, a put with the key of an earlier put within `deduplication_window` stores nothing, and returns the
  /// earlier message's id. At most limits::kDeduplicationKeyBytesMax bytes.
  std::string_view deduplication_key{};
  /// Time for which the key is remembered: 1 ms to 7 days.
  std::chrono::milliseconds deduplication_window = std::chrono::minutes(10);
  /// As WriteOptions::durability.
  std::optional<Durability> durability{};
};

/// What a put returns.
struct SentMessage {
  /// Unique in the store.
  Guid id;
  /// Permits to delete or update the message before anyone got it. Empty (all zero) for a duplicate.
  PopReceipt receipt;
  /// When the message was put.
  DateTime inserted;
  /// From when it is no longer delivered.
  DateTime expires;
  /// From when it is visible.
  DateTime visible;
  /// An earlier put had the same deduplication key: nothing was stored. The other fields are that put's.
  bool is_duplicate = false;
};

/// A message as peek() shows it.
struct Message {
  /// Unique in the store.
  Guid id;
  /// When the message was put.
  DateTime inserted;
  /// From when it is no longer delivered.
  DateTime expires;
  /// Number of times that get() returned it, this time included.
  std::uint32_t deliveries = 0;
  /// The text, exactly as it was put.
  std::string text;
  /// For a dead letter: the name of the queue that it comes from. Else empty.
  std::string origin;
};

/// A message that get() returned.
struct ReceivedMessage : Message {
  /// Permits to delete or update the message.
  PopReceipt receipt;
  /// From when the message is visible to others again.
  DateTime visible;
};

/// What an update returns.
struct UpdatedMessage {
  /// Replaces all earlier receipts of the message.
  PopReceipt receipt;
  /// From when the message is visible to others.
  DateTime visible;
};

class Queue;

/// Options of Queue::get().
struct GetOptions {
  /// Largest number of messages to return: 1 to limits::kMessagesMax.
  std::uint32_t count = 1;
  /// Time for which the messages are hidden from others: more than 0, at most 7 days.
  std::chrono::milliseconds hold = std::chrono::seconds(30);
  /// If no message is visible, the time to wait for one. Zero does not wait.
  std::chrono::milliseconds wait{0};
  /// Ends the wait early; get() then returns no message.
  std::stop_token stop{};
  /// If not zero, a message that was delivered this often is moved to `dead_letter` instead of being returned.
  std::uint32_t deliveries_max = 0;
  /// A queue of the same store. Needed if `deliveries_max` is not zero. The message keeps its id, text, insertion time
  /// and deliveries; it never expires there.
  const Queue* dead_letter = nullptr;
  /// With kBuffered, a power cut may take the hold back: the message is then delivered again (QX-08).
  Durability durability = Durability::kBuffered;
};

/// Figures of a queue.
struct QueueFigures {
  /// Messages that have not expired, visible or not. Exact at the moment of the read.
  std::uint64_t messages = 0;
  /// Bytes of their texts.
  std::uint64_t text_bytes = 0;
};

/// A handle of one queue. Copies are cheap and equal. The queue is named, not held: if it is deleted and created again,
/// the handle means the new queue.
///
/// Any thread may use it. It may outlive the Store object; its verbs then return kClosed.
///
/// Errors that every verb may return: kNotFound (QueueNotFound), kBusy (QueueBeingDeleted: the queue was deleted, and
/// StoreOptions::recreation_delay has not passed), kClosed, kLocked, kCorruption, kIoError, kTooManyFiles, kOutOfMemory.
/// A verb that writes may also return those that table.h lists for any write. Nothing changed, except perhaps after
/// kUnknown.
class VARVE_EXPORT Queue {
 public:
  /// The account's name.
  std::string_view account() const& noexcept;
  std::string account() && { return std::string(account()); }
  /// The queue's name.
  std::string_view name() const& noexcept;
  std::string name() && { return std::string(name()); }

  /// Appends a message. Its text is what XML 1.0 can carry, in UTF-8; it may be empty.
  /// Errors: kInvalidArgument (OutOfRangeQueryParameterValue, InvalidQueryParameterValue: a time in the options;
  /// InvalidXmlDocument: a character; InvalidInput: the deduplication key), kTooLarge (RequestBodyTooLarge: the text).
  /// Source: QM-01 to QM-05, QX-13.
  Result<SentMessage> put(std::string_view text, const PutOptions& options = {});

  /// Returns visible messages, hides them for `hold`, and counts the delivery. Returns none if none is visible; after
  /// `wait`, if that is given. Errors: kInvalidArgument (OutOfRangeQueryParameterValue, InvalidInput: an option).
  /// Source: QM-10 to QM-16, QX-08, QX-12, QX-17.
  Result<std::vector<ReceivedMessage>> get(const GetOptions& options = {});

  /// Returns up to `count` visible messages, and changes nothing. Errors: kInvalidArgument
  /// (OutOfRangeQueryParameterValue). Source: QM-20.
  Result<std::vector<Message>> peek(std::uint32_t count = 1) const;

  /// Deletes a message for good. Errors: kNotFound (MessageNotFound: it is deleted or expired, or the receipt is no
  /// longer the last one), kInvalidArgument (InvalidQueryParameterValue: this store gave no such receipt). Source:
  /// QM-30 to QM-34.
  /// @{
  Status remove(const Guid& id, const PopReceipt& receipt, const WriteOptions& options = {});
  Status remove(const ReceivedMessage& message, const WriteOptions& options = {}) {
    return remove(message.id, message.receipt, options);
  }
  /// @}

  /// Hides a message for `hold` from now on (0 to 7 days), and replaces its text if one is given. Returns a new
  /// receipt. Errors: those of remove() and, for the text, of put(). Source: QM-35 to QM-37.
  Result<UpdatedMessage> update(const Guid& id, const PopReceipt& receipt, std::chrono::milliseconds hold,
                                std::optional<std::string_view> text = std::nullopt, const WriteOptions& options = {});

  /// Deletes all messages, held ones too, in one small commit. Source: QM-38.
  Status clear();

  /// Returns the number of messages and their bytes. Source: QB-06.
  Result<QueueFigures> figures() const;

  /// Replaces all metadata. Errors: kInvalidArgument (InvalidMetadata, EmptyMetadataKey), kTooLarge (MetadataTooLarge).
  /// Source: QB-04, QB-05.
  Status set_metadata(const std::vector<MetadataPair>& metadata);
  /// Returns the metadata in the order in which it was given.
  Result<std::vector<MetadataPair>> metadata() const;

  /// Replaces all access policies of the queue; an empty list removes them. They are part of the queue's catalog row: a
  /// clear keeps them, and a delete of the queue deletes them. They are on stable storage when this returns.
  /// Errors: kInvalidArgument (InvalidXmlDocument, InvalidXmlNodeValue), as check_queue_access_policies(). Source:
  /// QB-09.
  Status set_access_policies(std::span<const AccessPolicy> policies);
  /// Returns the policies in the order in which they were set. Source: QB-09.
  Result<std::vector<AccessPolicy>> access_policies() const;

  /// The implementation. Not for users.
  struct State;

 private:
  friend class Store;
  friend class AsyncQueue;
  friend class MessagePart;
  explicit Queue(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

/// A change of a message as a value, for a transaction that commits it together with entities (QX-02, QX-03).
class VARVE_EXPORT MessageWrite {
 public:
  /// The verb.
  enum class Kind : std::uint8_t {
    kPut,
    kRemove,
    kUpdate,
  };

  /// Makes a write with the Queue verb of the same name. Of the options of a put, the durability does not count: a
  /// transaction has one durability.
  /// @{
  static MessageWrite put(const Queue& queue, std::string text, const PutOptions& options = {});
  static MessageWrite remove(const Queue& queue, const Guid& id, const PopReceipt& receipt);
  static MessageWrite update(const Queue& queue, const Guid& id, const PopReceipt& receipt,
                             std::chrono::milliseconds hold, std::optional<std::string> text = std::nullopt);
  /// @}

  /// Returns what the functions above received. Fields of other kinds have their defaults.
  /// @{
  Kind kind() const noexcept { return kind_; }
  const Queue& queue() const& noexcept { return queue_; }
  const std::optional<std::string>& text() const& noexcept { return text_; }
  PutOptions put_options() const& noexcept;
  const Guid& id() const& noexcept { return id_; }
  const PopReceipt& receipt() const& noexcept { return receipt_; }
  std::chrono::milliseconds hold() const noexcept { return hold_; }
  /// @}

 private:
  MessageWrite(Kind kind, const Queue& queue) : kind_(kind), queue_(queue) {}

  Kind kind_;
  Queue queue_;
  std::optional<std::string> text_;
  PutOptions put_options_;
  std::string deduplication_key_;
  Guid id_;
  PopReceipt receipt_;
  std::chrono::milliseconds hold_{0};
};

/// Checks the name of a queue. Errors: kInvalidArgument (OutOfRangeInput: length; InvalidResourceName: a character).
/// Source: QN-01, QN-02.
VARVE_EXPORT Status check_queue_name(std::string_view name);

/// Checks metadata as Queue::set_metadata() does.
VARVE_EXPORT Status check_metadata(const std::vector<MetadataPair>& metadata);

/// Returns whether two sets of metadata are the same: names without regard to case, values exactly, in any order.
VARVE_EXPORT bool is_same_metadata(const std::vector<MetadataPair>& left, const std::vector<MetadataPair>& right);

}  // namespace varve
