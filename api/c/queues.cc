// Owns: the calls of the C interface on queues, and on the messages of transactions.
#include "api/c/queues.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"
#include "api/c/wait_end.h"
#include "varve/limits.h"

namespace vc = varve::c;

namespace varve::c {

Result<std::vector<MetadataPair>> read_metadata(const varve_metadata_pair* pairs, std::size_t count) {
  if (pairs == nullptr && count != 0) return null_pointer("metadata");
  std::vector<MetadataPair> read;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<std::string_view> name = read_text(pairs[i].name, "a name of metadata");
    if (!name.ok()) return name.status();
    const Result<std::string_view> value = read_text(pairs[i].value, "a value of metadata");
    if (!value.ok()) return value.status();
    read.push_back({std::string(*name), std::string(*value)});
  }
  return read;
}

namespace {

Result<QueueOptions> read_queue_options(const varve_queue_options* options) {
  const Result<varve_queue_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  Result<std::vector<MetadataPair>> metadata = read_metadata(given->metadata, given->metadata_count);
  if (!metadata.ok()) return metadata.status();
  QueueOptions read;
  read.metadata = *std::move(metadata);
  if (given->message_bytes_max != 0) read.message_bytes_max = given->message_bytes_max;
  read.release_on_open = given->release_on_open;
  return read;
}

Status give_queue(const StoreObject& store, Result<Queue> queue, varve_queue** opened) {
  if (!queue.ok()) return queue.status();
  if (opened == nullptr) return Status();
  return give_handle(std::make_unique<QueueObject>(*std::move(queue), store.gate()), opened);
}

/// `given` was read from the caller's struct.
Status get_messages(QueueObject& held, const varve_get_options& given, const Queue* dead_letter,
                    varve_messages** messages) {
  const Result<std::optional<Durability>> durability = read_durability(given.durability);
  if (!durability.ok()) return durability.status();
  Result<std::stop_token> asked = read_stop(given.stop);
  if (!asked.ok()) return asked.status();
  std::optional<WaitEnd> end;
  if (given.wait_ms != 0 && held.gate()->is_own_process()) end.emplace(held.gate()->closing(), *std::move(asked));
  GetOptions options;
  if (given.count != 0) options.count = given.count;
  if (given.hold_ms != 0) options.hold = to_milliseconds(given.hold_ms);
  options.wait = to_milliseconds(given.wait_ms);
  if (end) options.stop = end->token();
  options.deliveries_max = given.deliveries_max;
  options.dead_letter = dead_letter;
  options.durability = durability->value_or(Durability::kBuffered);

  // All memory is there before the queue hides a message.
  auto made = std::make_unique<MessagesObject>(limits::kMessagesMax);
  MessagesObject* const into = made.get();
  if (Status handled = give_handle(std::move(made), messages); !handled.ok()) return handled;
  EarlyHandle<MessagesObject, varve_messages> early(messages);
  Result<std::vector<ReceivedMessage>> taken = held.queue.get(options);
  if (!taken.ok()) return taken.status();
  if (taken->empty() && held.gate()->closing().stop_requested()) {
    return Status(Code::kClosed, "the store is being closed");
  }
  into->hold(*std::move(taken));
  early.keep();
  return Status();
}

}  // namespace
}  // namespace varve::c

varve_status* varve_queue_create(varve_store* store, varve_text account, varve_text queue,
                                 const varve_queue_options* options, varve_queue** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<varve::QueueOptions> read = vc::read_queue_options(options);
    if (!read.ok()) return read.status();
    return vc::with_names(account, queue, "queue", [&](auto owner, auto name) {
      return vc::give_queue(held, held.store->create_queue(owner, name, *read), opened);
    });
  });
}

varve_status* varve_queue_open(varve_store* store, varve_text account, varve_text queue, varve_queue** opened) {
  if (opened != nullptr) *opened = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (opened == nullptr) return vc::null_pointer("opened");
    return vc::with_names(account, queue, "queue", [&](auto owner, auto name) {
      return vc::give_queue(held, held.store->open_queue(owner, name), opened);
    });
  });
}

varve_status* varve_queue_drop(varve_store* store, varve_text account, varve_text queue) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) {
    return vc::with_names(account, queue, "queue",
                          [&](auto owner, auto name) { return held.store->drop_queue(owner, name); });
  });
}

varve_status* varve_queue_statistics(const varve_queue* queue, varve_queue_figures* figures) {
  return vc::call_on<vc::QueueObject>(queue, [&](const vc::QueueObject& held) -> varve::Status {
    const varve::Result<varve::QueueFigures> found = held.queue.figures();
    if (!found.ok()) return found.status();
    return vc::write_sized(varve_queue_figures{0, found->messages, found->text_bytes}, figures);
  });
}

varve_status* varve_queue_metadata(const varve_queue* queue, varve_metadata** metadata) {
  if (metadata != nullptr) *metadata = nullptr;
  return vc::call_on<vc::QueueObject>(queue, [&](const vc::QueueObject& held) -> varve::Status {
    if (metadata == nullptr) return vc::null_pointer("metadata");
    varve::Result<std::vector<varve::MetadataPair>> found = held.queue.metadata();
    if (!found.ok()) return found.status();
    return vc::give_handle(std::make_unique<vc::MetadataObject>(*std::move(found)), metadata);
  });
}

varve_status* varve_queue_set_metadata(const varve_queue* queue, const varve_metadata_pair* pairs, size_t count) {
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    const varve::Result<std::vector<varve::MetadataPair>> read = vc::read_metadata(pairs, count);
    return read.ok() ? held.queue.set_metadata(*read) : read.status();
  });
}

varve_status* varve_queue_put(const varve_queue* queue, varve_text text, const varve_put_options* options,
                              varve_sent_message* sent) {
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::PutOptions> chosen = vc::read_put_options(options);
    if (!chosen.ok()) return chosen.status();
    // A wrong size must be refused before the message is put.
    if (sent != nullptr) {
      if (varve::Status sized = vc::write_sized(varve_sent_message{}, sent); !sized.ok()) return sized;
    }
    const varve::Result<varve::SentMessage> put = held.queue.put(*read, *chosen);
    if (!put.ok()) return put.status();
    return sent == nullptr ? varve::Status() : vc::give_sent(*put, sent);
  });
}

varve_status* varve_queue_get(const varve_queue* queue, const varve_get_options* options, varve_messages** messages) {
  if (messages != nullptr) *messages = nullptr;
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    if (messages == nullptr) return vc::null_pointer("messages");
    const varve::Result<varve_get_options> given = vc::read_sized(options);
    if (!given.ok()) return given.status();
    if (given->dead_letter == nullptr) return vc::get_messages(held, *given, nullptr, messages);
    const vc::Use<vc::QueueObject> dead_letter(given->dead_letter);
    if (!dead_letter.ok()) return dead_letter.status();
    return vc::get_messages(held, *given, &dead_letter->queue, messages);
  });
}

varve_status* varve_queue_peek(const varve_queue* queue, uint32_t count, varve_messages** messages) {
  if (messages != nullptr) *messages = nullptr;
  return vc::call_on<vc::QueueObject>(queue, [&](const vc::QueueObject& held) -> varve::Status {
    if (messages == nullptr) return vc::null_pointer("messages");
    varve::Result<std::vector<varve::Message>> found = held.queue.peek(count);
    if (!found.ok()) return found.status();
    auto made = std::make_unique<vc::MessagesObject>(found->size());
    made->hold(*std::move(found));
    return vc::give_handle(std::move(made), messages);
  });
}

varve_status* varve_queue_remove(const varve_queue* queue, varve_guid id, varve_receipt receipt,
                                 const varve_write_options* options) {
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    return held.queue.remove(vc::to_guid(id), vc::to_receipt(receipt), *chosen);
  });
}

varve_status* varve_queue_update(const varve_queue* queue, varve_guid id, varve_receipt receipt, uint64_t hold_ms,
                                 varve_text text, const varve_write_options* options, varve_updated_message* updated) {
  return vc::call_on<vc::QueueObject>(queue, [&](vc::QueueObject& held) -> varve::Status {
    const varve::Result<std::optional<std::string_view>> read = vc::read_optional_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::WriteOptions> chosen = vc::read_write_options(options);
    if (!chosen.ok()) return chosen.status();
    if (updated != nullptr) {
      if (varve::Status sized = vc::write_sized(varve_updated_message{}, updated); !sized.ok()) return sized;
    }
    const varve::Result<varve::UpdatedMessage> done =
        held.queue.update(vc::to_guid(id), vc::to_receipt(receipt), vc::to_milliseconds(hold_ms), *read, *chosen);
    if (!done.ok() || updated == nullptr) return done.status();
    return vc::write_sized(varve_updated_message{0, vc::from_receipt(done->receipt), done->visible.ticks}, updated);
  });
}

varve_status* varve_queue_clear(const varve_queue* queue) {
  return vc::call_on<vc::QueueObject>(queue, [](vc::QueueObject& held) { return held.queue.clear(); });
}

void varve_queue_free(varve_queue* queue) {
  vc::free_handle(queue, vc::Kind::kQueue);
}

varve_status* varve_transaction_put_message(varve_transaction* transaction, const varve_queue* queue, varve_text text,
                                            const varve_put_options* options) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::QueueObject> to(queue);
    if (!to.ok()) return to.status();
    const varve::Result<std::string_view> read = vc::read_text(text, "text");
    if (!read.ok()) return read.status();
    const varve::Result<varve::PutOptions> chosen = vc::read_put_options(options);
    if (!chosen.ok()) return chosen.status();
    held.transaction.put(to->queue, std::string(*read), *chosen);
    return varve::Status();
  });
}

varve_status* varve_transaction_remove_message(varve_transaction* transaction, const varve_queue* queue, varve_guid id,
                                               varve_receipt receipt) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::QueueObject> from(queue);
    if (!from.ok()) return from.status();
    held.transaction.add(varve::MessageWrite::remove(from->queue, vc::to_guid(id), vc::to_receipt(receipt)));
    return varve::Status();
  });
}

varve_status* varve_transaction_update_message(varve_transaction* transaction, const varve_queue* queue, varve_guid id,
                                               varve_receipt receipt, uint64_t hold_ms, varve_text text) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::QueueObject> of(queue);
    if (!of.ok()) return of.status();
    const varve::Result<std::optional<std::string_view>> read = vc::read_optional_text(text, "text");
    if (!read.ok()) return read.status();
    std::optional<std::string> replaced;
    if (*read) replaced.emplace(**read);
    held.transaction.add(varve::MessageWrite::update(of->queue, vc::to_guid(id), vc::to_receipt(receipt),
                                                     vc::to_milliseconds(hold_ms), std::move(replaced)));
    return varve::Status();
  });
}

varve_status* varve_transaction_sent_message(const varve_transaction* transaction, size_t index,
                                             varve_sent_message* sent) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](const vc::TransactionObject& held) -> varve::Status {
    const std::vector<varve::SentMessage>& all = held.transaction.sent_messages();
    if (index < all.size()) return vc::give_sent(all[index], sent);
    return varve::Status(varve::Code::kNotFound, "the transaction has committed " + std::to_string(all.size()) +
                                                     " puts of messages, so none has the index " +
                                                     std::to_string(index));
  });
}
