// Owns: what a commit has besides its entities: messages, blobs, and owners of large values.
// Must never: let one part be committed without the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/core/store_core.h"
#include "api/write/blob_part.h"
#include "api/write/entity_change.h"
#include "api/write/large_value_part.h"
#include "api/write/message_part.h"
#include "varve/result.h"
#include "varve/version.h"

namespace varve {

/// One attempt to commit the parts.
class VARVE_LOCAL TransactionParts final : public Extension {
 public:
  /// Messages and blobs outlive the object. Returns null if there is nothing besides entities. Errors name an operation:
  /// messages come after the entities, and blobs after the messages.
  static Result<std::unique_ptr<TransactionParts>> make(StoreCore& core, const OwningWrites& entities,
                                                        std::vector<const MessageWrite*> messages,
                                                        std::vector<BlobWrite*> blobs);

  std::vector<std::uint64_t> locks() const;
  std::vector<format::TableId> tables() const;
  std::uint64_t bytes() const noexcept;

  Refusal extend(const engine::Newest* before, const PreparedWrite& after, format::BatchBuilder& /*batch*/) override {
    return values_ ? values_->extend(before, after) : Refusal();
  }
  Refusal finish(const engine::ReadView& view, format::BatchBuilder& batch) override;
  bool needs_values() const noexcept override { return values_ != nullptr; }
  bool needs_state_of(const PreparedWrite& write) const noexcept override {
    return values_ && LargeValuePart::counts(write);
  }

  /// Returns whether another attempt may succeed after this failure. Errors: those of the parts.
  Result<bool> may_go_on(const Status& failure) const;
  /// Takes the results of the parts. Allocates nothing. Called once.
  void committed(engine::CommitVersion version, std::vector<SentMessage>& sent,
                 std::vector<BlobState>& written) noexcept;

 private:
  TransactionParts() = default;

  // Each may be null.
  std::unique_ptr<LargeValuePart> values_;
  std::unique_ptr<MessagePart> messages_;
  std::unique_ptr<BlobPart> blobs_;
};

}  // namespace varve
