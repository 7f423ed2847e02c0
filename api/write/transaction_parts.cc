// Owns: the order in which a transaction's parts are made, judged and ended (transaction_parts.h).
// Must never: know what a part writes.
#include "api/write/transaction_parts.h"

#include <utility>

#include "api/model/service_error.h"

namespace varve {
namespace {

template <typename T>
void add_all(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Result<std::unique_ptr<TransactionParts>> TransactionParts::make(StoreCore& core, const OwningWrites& entities,
                                                                 std::vector<const MessageWrite*> messages,
                                                                 std::vector<BlobWrite*> blobs) {
  const std::size_t first_index = entities.writes.size();
  const std::size_t first_blob = first_index + messages.size();
  Result<std::unique_ptr<LargeValuePart>> values = LargeValuePart::make(core, entities);
  if (!values.ok()) return values.status();
  if (!*values && messages.empty() && blobs.empty()) return std::unique_ptr<TransactionParts>();
  std::unique_ptr<TransactionParts> parts(new TransactionParts());
  parts->values_ = *std::move(values);
  if (!messages.empty()) {
    Result<std::unique_ptr<MessagePart>> made = MessagePart::make(core, std::move(messages), first_index);
    if (!made.ok()) return made.status();
    parts->messages_ = *std::move(made);
  }
  if (!blobs.empty()) {
    Result<std::unique_ptr<BlobPart>> made = BlobPart::make(core, std::move(blobs), first_blob);
    if (!made.ok()) return made.status();
    parts->blobs_ = *std::move(made);
  }
  return parts;
}

std::vector<std::uint64_t> TransactionParts::locks() const {
  std::vector<std::uint64_t> hashes;
  if (values_) add_all(hashes, values_->locks());
  if (messages_) add_all(hashes, messages_->locks());
  if (blobs_) add_all(hashes, blobs_->locks());
  return hashes;
}

std::vector<format::TableId> TransactionParts::tables() const {
  std::vector<format::TableId> ids;
  if (values_) add_all(ids, values_->tables());
  if (messages_) add_all(ids, messages_->queues());
  if (blobs_) add_all(ids, blobs_->tables());
  return ids;
}

std::uint64_t TransactionParts::bytes() const noexcept {
  return (values_ ? values_->bytes() : 0) + (messages_ ? messages_->bytes() : 0) + (blobs_ ? blobs_->bytes() : 0);
}

/// The messages come last: they ask whether the others wrote anything.
Refusal TransactionParts::finish(const engine::ReadView& view, format::BatchBuilder& batch) {
  if (values_) {
    if (Refusal refusal = values_->finish(view, batch); refusal.is_refused()) return refusal;
  }
  if (blobs_) {
    if (Refusal refusal = blobs_->finish(view, batch); refusal.is_refused()) return refusal;
  }
  return messages_ ? messages_->finish(view, batch) : Refusal();
}

Result<bool> TransactionParts::may_go_on(const Status& failure) const {
  if (values_ && values_->may_go_on(failure)) return true;
  if (blobs_) {
    const Result<bool> again = blobs_->may_go_on(failure);
    if (!again.ok() || *again) return again;
  }
  if (!messages_) return false;
  const bool may_have_moved = is_nothing_to_write(failure) || service_error::is_table_gone(failure);
  return may_have_moved ? messages_->has_moved() : Result<bool>(false);
}

void TransactionParts::committed(engine::CommitVersion version, std::vector<SentMessage>& sent,
                                 std::vector<BlobState>& written) noexcept {
  if (values_) values_->committed();
  if (messages_) sent = messages_->committed(version);
  if (blobs_) written = blobs_->committed(version);
}

}  // namespace varve
