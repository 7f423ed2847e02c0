// Owns: the account that a store must give of what its killed writer had been promised.
// Must never: believe the store about itself: promises come over a pipe that the killed process cannot take back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tour/promise.h"
#include "varve/result.h"

namespace varve::tour {

struct Account {
  /// Transactions acknowledged, and those found, acknowledged or not.
  std::uint64_t acknowledged = 0;
  std::uint64_t recovered = 0;
  /// Acknowledged transactions, and rows of filled tables, that are not there.
  std::uint64_t lost = 0;
  /// Transactions of which some rows are there and others are not.
  std::uint64_t torn = 0;
  /// Tables whose drop was acknowledged, and of these the ones that are there.
  std::uint64_t dropped = 0;
  std::uint64_t resurrected = 0;
  /// Files that flushes, compactions and drops had left unfinished, and the next open removed.
  std::uint64_t files_cleared = 0;
  /// Table files that no level knows, once the store is closed again, and what verification found wrong.
  std::uint64_t strays = 0;
  std::uint64_t findings = 0;

  void add(const Account& other) noexcept;
  bool kept() const noexcept { return lost == 0 && torn == 0 && resurrected == 0 && strays == 0 && findings == 0; }
};

/// Opens the store, holds every promise of one round against it, and drops the tables that round left. Errors: those of
/// opening and reading it.
Result<Account> give_account(const std::string& store, const std::vector<Promise>& heard, std::uint32_t round,
                             Memory memory);

/// Drops the ledger, for a fresh one. Errors: those of opening the store and of Store::drop_table().
Status drop_ledger(const std::string& store);

}  // namespace varve::tour
