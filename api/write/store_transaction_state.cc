// Owns: the checks of a transaction's collected writes that need neither a lock nor a table (store_transaction_state.h).
// Must never: read anything.
#include "api/write/store_transaction_state.h"

#include <optional>
#include <string>

#include "api/model/entity_codec.h"
#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {

/// Notes the bytes of the writes. Errors name the write by its place among all writes.
Status StoreTransaction::State::check_writes() {
  if (next_place() > limits::kStoreTransactionOperationsMax) {
    return Status::too_large("the transaction has more than " + std::to_string(limits::kStoreTransactionOperationsMax) +
                             " writes")
        .with_service_error("InvalidInput")
        .at_operation(limits::kStoreTransactionOperationsMax);
  }
  bytes = 0;
  const auto add = [this](std::size_t more, std::uint32_t place) {
    bytes += more;
    if (bytes <= limits::kStoreTransactionBytesMax) return Status();
    return service_error::request_body_too_large("the encoded transaction has more than " +
                                                 std::to_string(limits::kStoreTransactionBytesMax) + " bytes")
        .at_operation(place);
  };
  for (const Write& write : writes) {
    if (write.table->core != core) {
      return service_error::invalid_input("the table belongs to another store than the transaction")
          .at_operation(write.place);
    }
    if (Status added = add(encoded_size_bytes(write.operation.entity), write.place); !added.ok()) return added;
  }
  for (const PlacedMessage& message : messages) {
    const std::size_t text_bytes = message.write.text() ? message.write.text()->size() : 0;
    if (Status added = add(text_bytes, message.place); !added.ok()) return added;
  }
  for (const PlacedBlob& blob : blobs) {
    if (Status added = add(BlobPart::content_bytes(blob.write), blob.place); !added.ok()) return added;
  }
  return Status();
}

Status StoreTransaction::State::prepare_blobs() {
  for (PlacedBlob& blob : blobs) {
    if (Status prepared = BlobPart::prepare(*core, blob.write); !prepared.ok())
      return prepared.at_operation(blob.place);
  }
  return Status();
}

/// Returns the status with the place of its write among all writes. Until here, entities have the first indexes, messages
/// the next ones, and blobs the last ones.
Status StoreTransaction::State::placed(const Status& status) const {
  const std::optional<std::uint32_t> index = status.operation_index();
  if (!index) return status;
  if (*index < writes.size()) return status.at_operation(writes[*index].place);
  const std::size_t after_entities = *index - writes.size();
  return status.at_operation(after_entities < messages.size() ? messages[after_entities].place
                                                              : blobs.at(after_entities - messages.size()).place);
}

}  // namespace varve
