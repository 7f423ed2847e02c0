// Owns: the ids and receipts of messages: how they lead to a message, and how foreign ones are recognized.
// Must never: be taken for protection. Who may use a queue is judged elsewhere.
//
// An id is a Guid of the message's sequence and a hash of it. A receipt has the sequence, the version of the commit that
// gave it, and a hash of both and of the store's secret (queue_rows.h). If a repair finds no secret, receipts that were
// given before are no longer valid, but ids are.
#pragma once

#include <cstdint>
#include <optional>

#include "api/queue/message_rows.h"
#include "format/keys/internal_key.h"
#include "varve/queue.h"
#include "varve/types.h"

namespace varve {

class MessageIdentity {
 public:
  explicit MessageIdentity(std::uint64_t secret) noexcept : secret_(secret) {}

  static Guid id_of(Sequence sequence) noexcept;
  /// Returns nothing for an id that no store gives.
  static std::optional<Sequence> sequence_of(const Guid& id) noexcept;
  PopReceipt receipt_of(Sequence sequence, format::CommitVersion version) const noexcept;
  /// Returns whether this store gave the receipt.
  bool is_own(const PopReceipt& receipt) const noexcept;

 private:
  std::uint64_t secret_;
};

}  // namespace varve
