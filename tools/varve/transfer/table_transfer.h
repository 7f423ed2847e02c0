// Owns: making one table like another, wherever both are.
// Must never: write an entity that is there with the same values, or report a table as equal without reading it again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tools/varve/reach/table_access.h"

namespace varve::tool {

/// An account of a store or of a service.
struct TransferSide {
  /// Null: there is no store, which only the target of a dry run may be.
  StoreAccess* store;
  std::string account;
  /// Returns another access to the same side, for a thread of its own. Null: `store` serves all threads.
  std::function<Result<std::unique_ptr<StoreAccess>>()> connect;
};

struct TransferFigures {
  std::uint64_t read = 0;     // entities of the source
  std::uint64_t written = 0;  // those that the target lacked, or had with other values
  /// Entities of the target that the source lacks. They stay.
  std::uint64_t only_in_target = 0;
  /// Entities that differed when both tables were read again at the end.
  std::uint64_t different = 0;
};

struct TransferOptions {
  std::size_t threads = 4;
  /// Counts what would be written.
  bool dry_run = false;
};

/// Writes each entity of the source that the target lacks or has with other values, and compares both tables at the
/// end. Calls `progress` for each entity that was read. A second run after any end continues, because it writes only missing entities. Errors: those of both sides;
/// kCancelled (a signal asked for the end).
Status transfer_table(const TransferSide& from, const TransferSide& to, const std::string& table,
                      const TransferOptions& options, const std::function<void()>& progress, TransferFigures& figures);

}  // namespace varve::tool
