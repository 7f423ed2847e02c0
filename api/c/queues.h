// Owns: what the handles of queues name, and the conversions of messages.
// Must never: check a rule of queues; the verbs do.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "api/c/values.h"
#include "io/posix/posix_process.h"
#include "varve/c.h"
#include "varve/queue.h"

namespace varve::c {

/// varve_queue.
struct QueueObject : Object {
  static constexpr Kind kKind = Kind::kQueue;
  static constexpr bool kOneThread = false;
  QueueObject(Queue opened, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), queue(std::move(opened)) {}
  Queue queue;
};

/// varve_stop. Its calls do not use a store.
struct StopObject : Object {
  static constexpr Kind kKind = Kind::kStop;
  static constexpr bool kOneThread = false;
  StopObject() : Object(kKind) {}
  const io::OwnerProcess owner = io::OwnerProcess::current();
  std::stop_source source;
};

/// varve_metadata.
class MetadataObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kMetadata;
  static constexpr bool kOneThread = false;

  explicit MetadataObject(std::vector<MetadataPair> metadata) : Object(kKind), metadata_(std::move(metadata)) {
    for (const MetadataPair& pair : metadata_) pairs_.push_back({text_of(pair.name), text_of(pair.value)});
  }

  varve_metadata_view view() const noexcept { return {sizeof(varve_metadata_view), pairs_.data(), pairs_.size()}; }

 private:
  const std::vector<MetadataPair> metadata_;
  std::vector<varve_metadata_pair> pairs_;
};

/// varve_messages: what a get or a peek returned. It has its memory before the messages are taken, so that nothing can
/// fail after that.
class MessagesObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kMessages;
  static constexpr bool kOneThread = false;

  /// `count` is the largest number of messages that hold() receives.
  explicit MessagesObject(std::size_t count) : Object(kKind) { shown_.reserve(count); }

  /// Errors: none. At most as many messages as the constructor has made room for.
  /// @{
  void hold(std::vector<ReceivedMessage> messages) noexcept;
  void hold(std::vector<Message> messages) noexcept;
  /// @}

  varve_messages_view view() const noexcept { return {sizeof(varve_messages_view), shown_.data(), shown_.size()}; }

 private:
  std::vector<ReceivedMessage> received_;
  std::vector<Message> peeked_;
  std::vector<varve_message> shown_;
};

Guid to_guid(const varve_guid& guid) noexcept;
inline PopReceipt to_receipt(const varve_receipt& receipt) noexcept {
  return {receipt.sequence, receipt.version, receipt.check};
}
inline varve_receipt from_receipt(const PopReceipt& receipt) noexcept {
  return {receipt.sequence, receipt.version, receipt.check};
}
/// Errors: kInvalidArgument (a null pointer).
Result<std::vector<MetadataPair>> read_metadata(const varve_metadata_pair* pairs, std::size_t count);
/// The result views the caller's key. Errors: kInvalidArgument (durability, a null pointer).
Result<PutOptions> read_put_options(const varve_put_options* options);
/// Returns no text if it is absent.
Result<std::optional<std::string_view>> read_optional_text(const varve_text& text, std::string_view name) noexcept;
/// Errors: kInvalidArgument (the size in `*sent`).
Status give_sent(const SentMessage& message, varve_sent_message* sent) noexcept;

}  // namespace varve::c
