// Owns: the steps of a count of blobs (blob_capacity.h).
// Must never: count a container twice.
#include "tools/serve/analytics/blob_capacity.h"

#include <utility>
#include <vector>

#include "api/doors/service_tables.h"
#include "tools/serve/analytics/later_attempt.h"
#include "tools/serve/analytics/log_store.h"
#include "tools/serve/analytics/metrics_store.h"

namespace varve::serve {
namespace {

/// The pages of blobs or containers that one call counts.
constexpr int kPagesOfCount = 20;
constexpr std::string_view kDataRow = "data";
constexpr std::string_view kAnalyticsRow = "analytics";

DateTime day_of(DateTime time) noexcept {
  return DateTime{time.ticks - time.ticks % kTicksOfDay};
}

Entity capacity_row(const std::string& day, std::string_view kind, const BlobCapacity& capacity) {
  Entity row(day, std::string(kind));
  row.add("Capacity", static_cast<std::int64_t>(capacity.bytes));
  row.add("ContainerCount", static_cast<std::int64_t>(capacity.containers));
  row.add("ObjectCount", static_cast<std::int64_t>(capacity.blobs));
  return row;
}

}  // namespace

CapacityCount::CapacityCount(std::string account) : account_(std::move(account)) {}

bool CapacityCount::update(Store& store, const MetricsProperties& wanted, DateTime now) {
  const bool has_deleted = delete_old(store, wanted, now);
  if (!wanted.enabled) {
    is_counting_ = false;
    day_ = {};
    return has_deleted;
  }
  if (!is_counting_ && day_of(now) > day_) {
    if (!begin(store, day_of(now)).ok()) return has_deleted;
  }
  if (!is_counting_) return has_deleted;
  Status done = count_some(store);
  if (done.ok() && has_all_) done = write_rows(store);
  const bool has_written = done.ok() && has_all_;
  if (!done.ok()) day_ = {};  // the next call begins again
  if (!done.ok() || has_all_) is_counting_ = false;
  return has_written || has_deleted;
}

/// Begins the count of a day, unless an earlier server has written its rows.
Status CapacityCount::begin(Store& store, DateTime day) {
  const Result<Table> table = store.open_table(account_, kCapacityTable);
  if (!table.ok() && table.code() != Code::kNotFound) return table.status();
  bool is_done = false;
  if (table.ok()) {
    const Result<std::optional<Entity>> row = table->get(interval_name(day), kDataRow);
    if (!row.ok()) return row.status();
    is_done = row->has_value();
  }
  day_ = day;
  is_counting_ = !is_done;
  container_.clear();
  containers_token_.clear();
  is_last_ = false;
  blobs_token_.clear();
  has_all_ = false;
  data_ = {};
  analytics_ = {};
  return Status();
}

Status CapacityCount::count_some(Store& store) {
  for (int pages = 0; pages < kPagesOfCount && !has_all_; ++pages) {
    const Status counted = container_.empty() ? next_container(store) : count_page(store);
    if (!counted.ok()) return counted;
  }
  return Status();
}

/// Finds the container after the last one.
Status CapacityCount::next_container(Store& store) {
  ListOptions options;
  options.page_names_max = 1;
  options.continuation = containers_token_;
  const Result<ContainerPage> page =
      is_last_ ? Result<ContainerPage>(ContainerPage()) : store.list_containers(account_, options);
  if (!page.ok()) return page.status();
  has_all_ = page->containers.empty();
  if (has_all_) return Status();
  container_ = page->containers.front().name;
  ++(container_ == kLogContainer ? analytics_ : data_).containers;
  is_last_ = !page->continuation;
  containers_token_ = page->continuation.value_or("");
  return Status();
}

Status CapacityCount::count_page(Store& store) {
  BlobCapacity& sum = container_ == kLogContainer ? analytics_ : data_;
  const Result<Container> container = store.open_container(account_, container_);
  const bool is_gone = container.code() == Code::kNotFound;
  if (!container.ok() && !is_gone) return container.status();
  BlobListing listing;
  listing.continuation = blobs_token_;
  const Result<BlobPage> page = is_gone ? Result<BlobPage>(BlobPage()) : container->list(listing);
  if (!page.ok() && page.code() != Code::kNotFound) return page.status();
  blobs_token_.clear();
  if (page.ok()) {
    for (const BlobListed& listed : page->entries) sum.bytes += listed.blob.length;
    sum.blobs += page->entries.size();
    blobs_token_ = page->continuation.value_or("");
  }
  if (blobs_token_.empty()) container_.clear();
  return Status();
}

Status CapacityCount::write_rows(Store& store) {
  Result<Table> table = ServiceTables::open(store, account_, kCapacityTable);
  if (!table.ok()) return table.status();
  const std::string day = interval_name(day_);
  WriteOptions options;
  options.durability = Durability::kBuffered;
  const std::vector<WriteOperation> rows = {
      WriteOperation::insert_or_replace(capacity_row(day, kDataRow, data_)),
      WriteOperation::insert_or_replace(capacity_row(day, kAnalyticsRow, analytics_))};
  return table->execute(rows, options).status();
}

bool CapacityCount::delete_old(Store& store, const MetricsProperties& wanted, DateTime now) {
  const std::uint64_t kept = std::uint64_t{wanted.retention_days.value_or(0)} * kTicksOfDay;
  if (!wanted.retention_days || now < deletion_ || now.ticks < kept) return false;
  const Result<bool> done = delete_old_rows(store, account_, kCapacityTable, day_of(DateTime{now.ticks - kept}));
  if (done.ok() && *done) deletion_ = DateTime{now.ticks + kTicksBetweenDeletions};
  return done.ok();
}

}  // namespace varve::serve
