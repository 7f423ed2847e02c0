// Owns: how one page follows another (cursor.h).
// Must never: request more entities than are still to be returned.
#include "varve/cursor.h"

#include <algorithm>

namespace varve {

PageCursor::PageCursor(Table table, Scan scan, std::uint64_t take)
    : table_(std::move(table)), scan_(std::move(scan)), left_(take) {
  if (!scan_.continuation.empty()) continuation_ = scan_.continuation;
}

PageCursor::PageCursor(Status error) : error_(std::move(error)) {}

Result<std::optional<Page>> PageCursor::next() {
  if (ended_) return std::optional<Page>();
  if (!table_) {
    ended_ = true;
    if (error_.ok()) return std::optional<Page>();
    return error_;
  }
  if (left_ == 0 || scan_.page_entities_max == 0) {  // with a page size of zero, a scan never advances
    ended_ = true;
    return std::optional<Page>();
  }
  Scan asked = scan_;
  asked.page_entities_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(scan_.page_entities_max, left_));
  Result<Page> page = table_->scan(asked);
  if (!page.ok()) {
    ended_ = true;
    return page.status();
  }
  if (left_ != kNoLimit) left_ -= page->entities.size();
  PageCost more = page->cost;
  if (cost_.key_ranges > 0) more.key_ranges = 0;  // The first page has counted them up to the end of the scan.
  cost_ += more;
  continuation_ = page->continuation;
  ended_ = !page->continuation.has_value() || left_ == 0;
  if (page->continuation) scan_.continuation = *page->continuation;
  return std::optional<Page>(*std::move(page));
}

Cursor<Entity> open_cursor(Table table, Scan scan, std::uint64_t take) {
  return {PageCursor(std::move(table), std::move(scan), take),
          [](Entity&& entity) { return Result<Entity>(std::move(entity)); }};
}

}  // namespace varve
