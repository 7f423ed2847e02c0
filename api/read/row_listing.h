// Owns: pages of the entities of a partition whose RowKeys are folded at a delimiter.
// Must never: read more than the first entity of those that have a common prefix.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/model/property_room.h"
#include "api/read/page_scan.h"
#include "api/read/scan_read.h"
#include "api/read/short_pages.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"
#include "varve/query.h"

namespace varve {

/// One page of a listing, read in shares. One thread at a time may use it.
class RowListingRead {
 public:
  /// The time of the page begins now. The arguments outlive this object.
  RowListingRead(const TableCall& call, const RowListing& listing, std::stop_token stop);
  RowListingRead(const RowListingRead&) = delete;
  RowListingRead& operator=(const RowListingRead&) = delete;

  /// As ScanRead::go_on().
  Result<bool> go_on(const PageShare& share = {});
  /// Returns the complete page, once.
  RowListingPage take_page() noexcept;

 private:
  /// Checks the listing, and makes the cursor unless the page is empty in any case. Returns false if that may not wait
  /// and would.
  Result<bool> begin(const PageShare& share);
  Result<bool> list(const PageShare& share);
  std::size_t size() const noexcept { return page_.entities.size() + page_.common_prefixes.size(); }
  bool is_over();
  /// Returns the length of the common prefix that this RowKey has, or zero if it is not folded.
  std::size_t folded_bytes(std::string_view row_key) const noexcept;
  /// Lists the present row of the cursor, and moves the cursor to the next row to list.
  Status take();

  const TableCall call_;
  const RowListing& listing_;
  const std::stop_token stop_;
  io::Clock& clock_;
  const std::chrono::nanoseconds begun_;
  std::optional<ResolvedTable> table_;  // once it has begun
  std::string partition_;
  std::optional<ShortPages> short_pages_;
  std::optional<engine::Cursor> cursor_;
  std::uint64_t bytes_ = 0;
  format::SortKeyDecoder key_;
  PropertyRoom room_;
  engine::ReadCost read_cost_;
  RowListingPage page_;
};

/// Lists only what the grant permits to see. Errors: as Table::list_rows(); kCancelled (`stop` was requested).
Result<RowListingPage> list_rows(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                 const RowListing& listing, const std::stop_token& stop = {});

}  // namespace varve
