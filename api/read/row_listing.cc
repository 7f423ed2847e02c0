// Owns: the steps of a listing that is folded at a delimiter (row_listing.h).
// Must never: end a page without a token while more rows may follow.
#include "api/read/row_listing.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "api/filter/key_plan.h"
#include "api/model/continuation_token.h"
#include "api/model/entity_codec.h"
#include "api/model/property_room.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/entity_read.h"
#include "api/read/scan_read.h"
#include "api/read/short_pages.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/limits.h"

namespace varve {
namespace {

Status check_listing(const RowListing& listing, const StoreLimits& limits) {
  if (Status checked = check_utf8("partition_key", listing.partition_key); !checked.ok()) return checked;
  if (Status checked = check_utf8("prefix", listing.prefix); !checked.ok()) return checked;
  if (Status checked = check_utf8("delimiter", listing.delimiter); !checked.ok()) return checked;
  if (Status checked = check_page_bounds(listing.page_entities_max, listing.page_time_max, limits); !checked.ok())
    return checked;
  return check_selection(listing.read);
}

/// Returns the RowKey that the continuation names, or nothing if the listing begins.
Result<std::optional<std::string>> row_to_continue_at(const RowListing& listing) {
  if (listing.continuation.empty()) return std::optional<std::string>();
  Result<ScanPosition> position = decode_scan_token(listing.continuation);
  if (!position.ok()) return position.status();
  if (position->backward || position->remaining || position->partition_key != listing.partition_key) {
    return service_error::invalid_input("the continuation token is not from a listing of this partition");
  }
  return std::optional<std::string>(std::move(position->row_key));
}

/// The rows of one listing. The arguments of the constructor must outlive it.
class RowListingScan {
 public:
  RowListingScan(const RowListing& listing, std::string partition, io::Clock& clock, std::chrono::nanoseconds deadline,
                 const std::stop_token& stop)
      : listing_(listing), partition_(std::move(partition)), clock_(clock), deadline_(deadline), stop_(stop) {}

  /// Fills the page from the cursor, which has no position yet. Errors: those of reading; kCorruption.
  Result<RowListingPage> run(engine::Cursor& cursor, std::optional<ShortPages> short_pages);
  engine::ReadCost& read_cost() noexcept { return read_cost_; }

 private:
  std::size_t size() const noexcept { return page_.entities.size() + page_.common_prefixes.size(); }
  bool is_over();
  /// Returns the length of the common prefix that this RowKey has, or zero if it is not folded.
  std::size_t folded_bytes(std::string_view row_key) const noexcept;
  /// Lists the present row of the cursor, and moves the cursor to the next row to list.
  Status take(engine::Cursor& cursor);

  const RowListing& listing_;
  const std::string partition_;
  io::Clock& clock_;
  const std::chrono::nanoseconds deadline_;
  const std::stop_token& stop_;
  format::SortKeyDecoder key_;
  PropertyRoom room_;
  engine::ReadCost read_cost_;
  RowListingPage page_;
};

Result<RowListingPage> RowListingScan::run(engine::Cursor& cursor, std::optional<ShortPages> short_pages) {
  cursor.seek_to_first();
  while (cursor.valid()) {
    if (Status decoded = key_.decode(cursor.key()); !decoded.ok()) return decoded;
    if (is_over() || (short_pages && short_pages->judge(cursor.key()) != ShortPages::Verdict::kTake)) {
      page_.continuation = encode_scan_token(listing_.partition_key, key_.row_key(), false, std::nullopt);
      break;
    }
    if (Status taken = take(cursor); !taken.ok()) return taken;
  }
  if (!cursor.valid() && !cursor.status().ok()) return cursor.status();
  page_.cost.key_ranges = 1;
  page_.cost.blocks_read = read_cost_.blocks_read;
  page_.cost.blocks_from_cache = read_cost_.blocks_from_cache;
  page_.cost.blocks_skipped = read_cost_.blocks_skipped;
  return std::move(page_);
}

Status RowListingScan::take(engine::Cursor& cursor) {
  ++page_.cost.entities_examined;
  const std::size_t folded = folded_bytes(key_.row_key());
  if (folded == 0) {
    Entity& entity = page_.entities.emplace_back(listing_.partition_key, std::string(key_.row_key()));
    Status kept = decode_properties(cursor.version(), cursor.value(), listing_.read.select, room_, entity);
    if (kept.ok()) cursor.next();
    return kept;
  }
  page_.common_prefixes.emplace_back(key_.row_key().substr(0, folded));
  std::string next = partition_;
  if (Status appended = format::append_text_prefix(next, page_.common_prefixes.back()); !appended.ok()) return appended;
  cursor.seek(format::end_of_prefix(next));
  return Status();
}

std::size_t RowListingScan::folded_bytes(std::string_view row_key) const noexcept {
  if (listing_.delimiter.empty()) return 0;
  const std::size_t found = row_key.find(listing_.delimiter, listing_.prefix.size());
  return found == std::string_view::npos ? 0 : found + listing_.delimiter.size();
}

/// A page lists at least one row. Each row costs at most one seek, so the clock is read for each one.
bool RowListingScan::is_over() {
  if (size() == listing_.page_entities_max) return true;
  return size() > 0 && (clock_.monotonic() >= deadline_ || stop_.stop_requested());
}

}  // namespace

Result<RowListingPage> list_rows(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                 const RowListing& listing, const std::stop_token& stop) {
  io::Clock& clock = core.engine().env().clock;
  const std::chrono::nanoseconds begun = clock.monotonic();
  if (Status granted = grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_listing(listing, core.limits()); !checked.ok()) return checked;
  Result<std::optional<std::string>> at = row_to_continue_at(listing);
  if (!at.ok()) return at.status();
  const Result<ResolvedTable> table = resolve_for_read(core, name, entry, listing.read);
  if (!table.ok()) return table.status();
  if (listing.page_entities_max == 0) return RowListingPage();

  Result<std::string> partition = format::encode_partition(table->id, listing.partition_key);
  if (!partition.ok()) return partition.status();
  std::string lower = *partition;
  if (Status appended = format::append_text_prefix(lower, listing.prefix); !appended.ok()) return appended;
  std::string upper = format::end_of_prefix(lower);
  KeyRange range = grant.within({std::move(lower), std::move(upper), false}, table->id);
  std::string named;
  if (*at) {
    Result<std::string> key = format::encode_sort_key(table->id, listing.partition_key, **at);
    if (!key.ok()) return key.status();
    named = *std::move(key);
    range.lower = std::max(range.lower, named);
  }
  if (range.lower >= range.upper) return RowListingPage();

  RowListingScan scan(listing, *std::move(partition), clock, begun + listing.page_time_max, stop);
  std::optional<ShortPages> short_pages;
  if (core.makes_short_pages()) short_pages.emplace(std::move(named), false);
  engine::Cursor cursor = table->view.cursor(range.lower, range.upper, &scan.read_cost());
  Result<RowListingPage> page = scan.run(cursor, std::move(short_pages));
  if (stop.stop_requested()) return Status(Code::kCancelled, "the caller's stop token cancelled the listing");
  return page;
}

}  // namespace varve
