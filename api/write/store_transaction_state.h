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
#include "api/write/entity_write.h"
#include "api/write/message_part.h"
#include "varve/store_transaction.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL StoreTransaction::State {
  explicit State(std::shared_ptr<StoreCore> store)
      : core(std::move(store)), snapshot(core->snapshot()), began_at(snapshot.version()) {}

  /// A write of a message, and its place among all writes.
  struct PlacedMessage {
    MessageWrite write;
    std::uint32_t place = 0;
  };
  struct Write {
    std::shared_ptr<const Table::State> table;
    WriteOperation operation;
    std::uint32_t place = 0;  // among all writes
  };

  /// Releases the snapshot, however a commit ends.
  class Ending {
   public:
    explicit Ending(State& state) noexcept : state_(state) {}
    ~Ending() { state_.snapshot = Snapshot(); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

   private:
    State& state_;
  };

  Status admit_read(const Table::State& table, const ReadOptions& options) const;
  Status keep_reads(const Table::State& table, std::span<const EntityKey> keys);
  Status check_writes() const;
  Result<std::vector<PreparedWrite>> prepare() const;
  Result<std::vector<format::TableId>> place(std::span<PreparedWrite> prepared) const;
  std::uint32_t next_place() const noexcept { return static_cast<std::uint32_t>(writes.size() + messages.size()); }
  Status placed(const Status& status) const;
  Result<std::vector<ETag>> attempt(std::span<PreparedWrite> prepared, const WriteOptions& options);
  Status reported(const Status& failure, std::span<PreparedWrite> prepared,
                  const std::vector<format::TableId>& tables) const;

  std::shared_ptr<StoreCore> core;
  Snapshot snapshot;  // until the transaction ends
  DateTime began_at;
  /// Sort keys, with the table ids of the snapshot.
  std::vector<std::string> reads;
  std::vector<Write> writes;
  std::vector<PlacedMessage> messages;
  std::vector<SentMessage> sent;
  bool ended = false;
};

}  // namespace varve
