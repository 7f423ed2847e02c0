// Owns: checking that a store kept every promise that its killed writer had received.
// Must never: believe the store about itself: promises arrive over a pipe, and the killed process cannot take them
// back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tour/promise.h"
#include "varve/result.h"

namespace varve::tour {

struct Account {
  /// Transactions acknowledged, and transactions found, whether acknowledged or not.
  std::uint64_t acknowledged = 0;
  std::uint64_t recovered = 0;
  /// Acknowledged transactions, and rows of filled tables, that are missing.
  std::uint64_t lost = 0;
  /// Transactions of which only some rows exist.
  std::uint64_t torn = 0;
  /// Tables whose drop was acknowledged, and the number of them that still exist.
  std::uint64_t dropped = 0;
  std::uint64_t resurrected = 0;
  /// Unfinished files of flushes, compactions and drops that the next open removed.
  std::uint64_t files_cleared = 0;
  /// Table files that no level contains after the store is closed again, and faults that verification found.
  std::uint64_t strays = 0;
  std::uint64_t findings = 0;

  void add(const Account& other) noexcept;
  bool kept() const noexcept { return lost == 0 && torn == 0 && resurrected == 0 && strays == 0 && findings == 0; }
};

/// Opens the store, checks every promise of one round, and drops the tables of that round. Errors: those of opening and
/// reading the store.
Result<Account> give_account(const std::string& store, const std::vector<Promise>& heard, std::uint32_t round,
                             Memory memory);

/// Drops the ledger table, so that the next round creates a new one. Errors: those of opening the store and of
/// Store::drop_table().
Status drop_ledger(const std::string& store);

}  // namespace varve::tour
