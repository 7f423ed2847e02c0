// Owns: the conversions of queues.h, and the calls that show messages and receipts.
#include <algorithm>
#include <cstring>
#include <string>

#include "api/c/call.h"
#include "api/c/queues.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

varve_guid from_guid(const Guid& guid) noexcept {
  varve_guid made{};
  std::memcpy(made.bytes, guid.bytes.data(), guid.bytes.size());
  return made;
}

varve_message shown_of(const Message& message) noexcept {
  varve_message shown{};
  shown.id = from_guid(message.id);
  shown.inserted = message.inserted.ticks;
  shown.expires = message.expires.ticks;
  shown.deliveries = message.deliveries;
  shown.text = text_of(message.text);
  shown.origin = text_of(message.origin);
  return shown;
}

}  // namespace

void MessagesObject::hold(std::vector<ReceivedMessage> messages) noexcept {
  received_ = std::move(messages);
  for (const ReceivedMessage& message : received_) {
    varve_message shown = shown_of(message);
    shown.receipt = from_receipt(message.receipt);
    shown.visible = message.visible.ticks;
    shown_.push_back(shown);
  }
}

void MessagesObject::hold(std::vector<Message> messages) noexcept {
  peeked_ = std::move(messages);
  for (const Message& message : peeked_) shown_.push_back(shown_of(message));
}

Guid to_guid(const varve_guid& guid) noexcept {
  Guid read;
  std::memcpy(read.bytes.data(), guid.bytes, read.bytes.size());
  return read;
}

Result<PutOptions> read_put_options(const varve_put_options* options) {
  const Result<varve_put_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  const Result<std::optional<Durability>> durability = read_durability(given->durability);
  if (!durability.ok()) return durability.status();
  const Result<std::string_view> key = read_text(given->deduplication_key, "deduplication_key");
  if (!key.ok()) return key.status();
  PutOptions read;
  read.durability = *durability;
  read.delay = to_milliseconds(given->delay_ms);
  if (given->ttl_ms == VARVE_NEVER) {
    read.ttl = kNever;
  } else if (given->ttl_ms != 0) {
    read.ttl = to_milliseconds(given->ttl_ms);
  }
  read.deduplication_key = *key;
  if (given->deduplication_window_ms != 0) read.deduplication_window = to_milliseconds(given->deduplication_window_ms);
  return read;
}

Result<std::optional<std::string_view>> read_optional_text(const varve_text& text, std::string_view name) noexcept {
  const Result<std::string_view> read = read_text(text, name);
  if (!read.ok()) return read.status();
  return text.data == nullptr ? std::nullopt : std::optional<std::string_view>(*read);
}

Status give_sent(const SentMessage& message, varve_sent_message* sent) noexcept {
  return write_sized(varve_sent_message{0, from_guid(message.id), from_receipt(message.receipt), message.inserted.ticks,
                                        message.expires.ticks, message.visible.ticks, message.is_duplicate},
                     sent);
}

}  // namespace varve::c

varve_status* varve_receipt_parse(varve_text text, varve_receipt* receipt) {
  return vc::guarded_call([&]() -> varve::Status {
    if (receipt == nullptr) return vc::null_pointer("receipt");
    *receipt = {};
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::PopReceipt> parsed = varve::PopReceipt::parse(*read);
    if (!parsed.ok()) return parsed.status();
    *receipt = vc::from_receipt(*parsed);
    return varve::Status();
  });
}

varve_status* varve_receipt_format(varve_receipt receipt, char text[VARVE_FORMAT_BYTES]) {
  return vc::guarded_call([&]() -> varve::Status {
    if (text == nullptr) return vc::null_pointer("text");
    const std::string written = vc::to_receipt(receipt).to_string();
    std::memcpy(text, written.c_str(), std::min<std::size_t>(written.size() + 1, VARVE_FORMAT_BYTES));
    return varve::Status();
  });
}

varve_status* varve_messages_read(const varve_messages* messages, varve_messages_view* view) {
  return vc::call_on<vc::MessagesObject>(
      messages, [&](const vc::MessagesObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_messages_free(varve_messages* messages) {
  vc::free_handle(messages, vc::Kind::kMessages);
}

varve_status* varve_metadata_read(const varve_metadata* metadata, varve_metadata_view* view) {
  return vc::call_on<vc::MetadataObject>(
      metadata, [&](const vc::MetadataObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_metadata_free(varve_metadata* metadata) {
  vc::free_handle(metadata, vc::Kind::kMetadata);
}

varve_status* varve_stop_create(varve_stop** stop) {
  return vc::guarded_call([&]() -> varve::Status {
    if (stop == nullptr) return vc::null_pointer("stop");
    *stop = nullptr;
    return vc::give_handle(std::make_unique<vc::StopObject>(), stop);
  });
}

varve_status* varve_stop_request(const varve_stop* stop) {
  return vc::call_on<vc::StopObject>(stop, [](vc::StopObject& held) -> varve::Status {
    if (!held.owner.is_this_process()) return varve::Status(varve::Code::kLocked, "the parent process made the stop");
    held.source.request_stop();
    return varve::Status();
  });
}

void varve_stop_free(varve_stop* stop) {
  vc::free_handle(stop, vc::Kind::kStop);
}
