// Owns: the processes of an outbox: producers that commit an entity with its message, workers that do the message's work
// and delete it, and the ledger of their begun and acknowledged operations.
// Must never: run in the process that started it, except the ledger.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tests/lab/kill/ledger.h"
#include "tests/lab/kill/processes.h"

namespace varve::lab {

/// Children write it, and their parent reads it. After a kill it stays as the child left it.
struct OutboxLedger {
  static constexpr std::uint64_t kItemsMax = 1 << 17;

  /// An item is an entity and the message about it. Its number is its place here.
  struct Item {
    std::atomic<bool> put_begun{false};
    std::atomic<bool> put_acknowledged{false};
    std::atomic<bool> delivered{false};
    std::atomic<bool> delete_begun{false};
    /// The moment of the acknowledgement; zero: none.
    std::atomic<std::uint64_t> deleted_at{0};
  };
  std::array<Item, kItemsMax> items;
  std::atomic<std::uint64_t> next_item{0};
  /// Moments: a number that grows with each acknowledged delete.
  std::atomic<std::uint64_t> moment{0};
  std::atomic<std::uint64_t> deliveries{0};
  /// Holds the first complaint.
  KillLedger common;
};

/// A ledger that children share with their parent.
class SharedOutboxLedger {
 public:
  SharedOutboxLedger();
  ~SharedOutboxLedger();
  SharedOutboxLedger(const SharedOutboxLedger&) = delete;
  SharedOutboxLedger& operator=(const SharedOutboxLedger&) = delete;
  OutboxLedger& operator*() noexcept { return *ledger_; }
  OutboxLedger* operator->() noexcept { return ledger_; }

 private:
  OutboxLedger* ledger_;
};

/// One life of the process that holds the store.
struct OutboxLife {
  std::uint64_t seed = 1;  // of the store
  std::string directory;   // contains "store"
  BackEnd back_end = BackEnd::kPosix;
  std::uint64_t kill_at = KillCount::kNever;
  int producers = 2;
  int workers = 2;
  /// Items that each producer makes at most.
  std::uint64_t items_max = 100;

  std::string store() const { return directory + "/store"; }
};

/// Runs producers and workers until the producers are done and no message is visible.
int run_outbox(const OutboxLife& life, OutboxLedger& ledger);

/// Works until the queue is empty, also of messages that a killed worker held. Then compares store and ledger:
/// - A message whose put was acknowledged was delivered, and a worker began to delete it.
/// - An entity is there exactly if its message was delivered.
int run_outbox_checker(const OutboxLife& life, OutboxLedger& ledger);

}  // namespace varve::lab
