// Owns: the implementation of a StoreTransaction: the state it reads, the keys it read, and the writes it collected.
// Must never: be visible to users.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/core/store_core.h"
#include "api/core/table_state.h"
#include "api/filter/key_plan.h"
#include "api/write/blob_part.h"
#include "api/write/entity_write.h"
#include "api/write/transaction_parts.h"
#include "varve/store_transaction.h"
#include "varve/version.h"

namespace varve {

/// What a transaction read by key.
struct TransactionRead {
  /// With the id that the table or container has in the snapshot.
  std::string sort_key;
  bool is_blob = false;
};

/// A part of one partition that a checked scan read: the sort keys in [lower, upper). The lower one has the id that the
/// table has in the snapshot, and the whole PartitionKey.
struct TransactionRange {
  std::string lower;
  std::string upper;
};

/// The tables whose rules and indexes the writes of one attempt point to.
using WriteTargets = std::vector<WriteTarget>;

struct VARVE_LOCAL StoreTransaction::State {
  explicit State(std::shared_ptr<StoreCore> store)
      : core(std::move(store)),
        snapshot(core->snapshot()),
        began_at(snapshot.version()),
        began_time(StoreCore::time_of(snapshot)) {}

  /// A write of a message, and its place among all writes.
  struct PlacedMessage {
    MessageWrite write;
    std::uint32_t place = 0;
  };
  struct PlacedBlob {
    BlobWrite write;
    std::uint32_t place = 0;
  };
  struct Write {
    std::shared_ptr<const Table::State> table;
    WriteOperation operation;
    std::uint32_t place = 0;  // among all writes
  };

  /// Releases the snapshot and unpublished contents, however a commit ends.
  class Ending {
   public:
    explicit Ending(State& state) noexcept : state_(state) {}
    ~Ending() {
      state_.snapshot = Snapshot();
      state_.blobs.clear();
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    State& state_;
  };

  Status check_not_ended() const;
  Status admit_read(const StoreCore* owner) const;
  Status admit_read(const Table::State& table, const ReadOptions& options) const;
  Status admit_reads(std::size_t more) const;
  Status keep_reads(const Table::State& table, std::span<const EntityKey> keys);
  Status keep_read(const Container::State& container, std::string_view blob);
  Status keep_ranges(std::vector<KeyRange> covered);
  Status check_writes();
  Result<std::vector<PreparedWrite>> prepare() const;
  Result<std::vector<format::TableId>> place(std::span<PreparedWrite> prepared, WriteTargets& targets) const;
  std::uint32_t next_place() const noexcept {
    return static_cast<std::uint32_t>(writes.size() + messages.size() + blobs.size());
  }
  Status placed(const Status& status) const;
  Status prepare_blobs();
  Result<std::unique_ptr<TransactionParts>> make_parts(std::span<const PreparedWrite> prepared);
  /// Sets `again` if another attempt may succeed.
  Result<std::vector<ETag>> attempt(std::span<PreparedWrite> prepared, const WriteOptions& options, bool& again);
  Status reported(const Status& failure, std::span<PreparedWrite> prepared,
                  const std::vector<format::TableId>& tables) const;

  std::shared_ptr<StoreCore> core;
  Snapshot snapshot;  // until the transaction ends
  DateTime began_at;
  engine::CommitVersion began_time;  // at which the snapshot judges the ends of entities
  std::vector<TransactionRead> reads;
  std::vector<TransactionRange> ranges;
  std::vector<Write> writes;
  std::vector<PlacedMessage> messages;
  std::vector<PlacedBlob> blobs;  // without contents after a commit
  std::size_t bytes = 0;          // of the writes; check_writes() counts them
  std::vector<SentMessage> sent;
  std::vector<BlobState> written;
  std::vector<Entity> patched;
  bool ended = false;
};

}  // namespace varve
