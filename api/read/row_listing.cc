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

}  // namespace

RowListingRead::RowListingRead(const TableCall& call, const RowListing& listing, std::stop_token stop)
    : call_(call),
      listing_(listing),
      stop_(std::move(stop)),
      clock_(call.core.engine().env().clock),
      begun_(clock_.monotonic()) {}

Result<bool> RowListingRead::go_on(const PageShare& share) {
  read_cost_.may_wait = share.may_wait;
  read_cost_.wants_disk = false;
  if (!table_) {
    const Result<bool> has_begun = begin(share);
    if (!has_begun.ok() || !*has_begun) return has_begun;
  } else if (cursor_ && !cursor_->valid()) {
    cursor_->stop_after(share.entries_max);
    cursor_->go_on();
  }
  if (!cursor_) return true;
  const Result<bool> is_complete = list(share);
  if (stop_.stop_requested()) return Status(Code::kCancelled, "the caller's stop token cancelled the listing");
  return is_complete;
}

Result<bool> RowListingRead::begin(const PageShare& share) {
  if (Status granted = call_.grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_listing(listing_, call_.core.limits()); !checked.ok()) return checked;
  const Result<std::optional<std::string>> at = row_to_continue_at(listing_);
  if (!at.ok()) return at.status();
  Result<std::optional<ResolvedTable>> table = resolve(call_, listing_.read, share.may_wait);
  if (!table.ok()) return table.status();
  if (!*table) return false;
  table_ = *std::move(table);
  if (listing_.page_entities_max == 0) return true;

  Result<std::string> partition = format::encode_partition(table_->id, listing_.partition_key);
  if (!partition.ok()) return partition.status();
  partition_ = *std::move(partition);
  std::string lower = partition_;
  if (Status appended = format::append_text_prefix(lower, listing_.prefix); !appended.ok()) return appended;
  std::string upper = format::end_of_prefix(lower);
  KeyRange range = call_.grant.within({std::move(lower), std::move(upper), false}, table_->id);
  std::string named;
  if (*at) {
    Result<std::string> key = format::encode_sort_key(table_->id, listing_.partition_key, **at);
    if (!key.ok()) return key.status();
    named = *std::move(key);
    range.lower = std::max(range.lower, named);
  }
  if (range.lower >= range.upper) return true;
  if (call_.core.makes_short_pages()) short_pages_.emplace(std::move(named), false);
  page_.cost.key_ranges = 1;
  cursor_.emplace(table_->view.cursor(range.lower, range.upper, &read_cost_));
  cursor_->stop_after(share.entries_max);
  cursor_->seek_to_first();
  return true;
}

Result<bool> RowListingRead::list(const PageShare& share) {
  engine::Cursor& cursor = *cursor_;
  const std::uint64_t entries = cursor.entries_examined();
  const std::uint64_t bytes = bytes_;
  while (cursor.valid()) {
    if (cursor.entries_examined() - entries >= share.entries_max || bytes_ - bytes >= share.bytes_max) return false;
    if (Status decoded = key_.decode(cursor.key()); !decoded.ok()) return decoded;
    if (is_over() || (short_pages_ && short_pages_->judge(cursor.key()) != ShortPages::Verdict::kTake)) {
      page_.continuation = encode_scan_token(listing_.partition_key, key_.row_key(), false, std::nullopt);
      return true;
    }
    if (Status taken = take(); !taken.ok()) return taken;
  }
  if (read_cost_.wants_disk || cursor.has_stopped()) return false;
  if (!cursor.status().ok()) return cursor.status();
  return true;
}

RowListingPage RowListingRead::take_page() noexcept {
  page_.cost.blocks_read = read_cost_.blocks_read;
  page_.cost.blocks_from_cache = read_cost_.blocks_from_cache;
  page_.cost.blocks_skipped = read_cost_.blocks_skipped;
  return std::move(page_);
}

Status RowListingRead::take() {
  engine::Cursor& cursor = *cursor_;
  ++page_.cost.entities_examined;
  const std::size_t folded = folded_bytes(key_.row_key());
  if (folded == 0) {
    bytes_ += cursor.key().size() + cursor.value().size();
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

std::size_t RowListingRead::folded_bytes(std::string_view row_key) const noexcept {
  if (listing_.delimiter.empty()) return 0;
  const std::size_t found = row_key.find(listing_.delimiter, listing_.prefix.size());
  return found == std::string_view::npos ? 0 : found + listing_.delimiter.size();
}

/// A page lists at least one row. Each row costs at most one seek, so the clock is read for each one.
bool RowListingRead::is_over() {
  if (size() == listing_.page_entities_max) return true;
  return size() > 0 && (clock_.monotonic() >= begun_ + listing_.page_time_max || stop_.stop_requested());
}

Result<RowListingPage> list_rows(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                 const RowListing& listing, const std::stop_token& stop) {
  RowListingRead read({core, name, entry, grant}, listing, stop);
  const Result<bool> is_complete = read.go_on();
  if (!is_complete.ok()) return is_complete.status();
  return read.take_page();
}

}  // namespace varve
