// Owns: the steps of making a page (page_scan.h).
// Must never: decode an entity that is not returned.
#include "api/read/page_scan.h"

#include <algorithm>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/entity_codec.h"
#include "engine/read/cursor.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"

namespace varve {

namespace {

/// Maximum number of points that one call of get_many() looks up.
constexpr std::size_t kPointsAtOnce = 64;

}  // namespace

PageScan::PageScan(const engine::ReadView& view, const Filter& filter, const Scan& scan, PageBounds bounds,
                   Wanted wanted, io::Clock& clock, const EntityReader* reader)
    : view_(view),
      filter_(filter),
      matches_everything_(filter.matches_everything()),
      block_filter_(filter),
      scan_(scan),
      bounds_(std::move(bounds)),
      wanted_(wanted),
      clock_(clock),
      reader_(reader) {}

Result<Page> PageScan::run(std::span<const KeyRange> ranges, const KeyRange& within) {
  page_.cost.key_ranges = ranges.size();
  const auto range_at = [&](std::size_t i) -> const KeyRange& {
    return ranges[scan_.backward ? ranges.size() - 1 - i : i];
  };
  for (std::size_t i = 0; i < ranges.size();) {
    std::vector<std::string_view> points;
    // One more than the page can hold, since the token names one more.
    const std::uint64_t points_max = 1 + std::min<std::uint64_t>(kPointsAtOnce - 1, bounds_.entities_max - matched_);
    for (; i < ranges.size() && range_at(i).is_point && points.size() < points_max; ++i) {
      points.push_back(range_at(i).lower);
    }
    const bool ended = points.empty() ? walk(std::max<std::string_view>(range_at(i).lower, within.lower),
                                             std::min<std::string_view>(range_at(i).upper, within.upper))
                                      : look_up(points);
    if (points.empty()) ++i;
    if (!failure_.ok()) return failure_;
    if (ended) break;
  }
  page_.cost.blocks_read = read_cost_.blocks_read;
  page_.cost.blocks_from_cache = read_cost_.blocks_from_cache;
  page_.cost.blocks_skipped = read_cost_.blocks_skipped;
  return std::move(page_);
}

bool PageScan::walk(std::string_view lower, std::string_view upper) {
  engine::Cursor cursor = view_.cursor(lower, upper, &read_cost_, block_filter_.is_of_use() ? &block_filter_ : nullptr,
                                       entities_expected());
  scan_.backward ? cursor.seek_to_last() : cursor.seek_to_first();
  while (cursor.valid()) {
    if (take(cursor.key(), cursor.version(), cursor.value())) return true;
    scan_.backward ? cursor.previous() : cursor.next();
  }
  Status walked = cursor.status();
  return !walked.ok() && fail(std::move(walked));
}

bool PageScan::fail(Status failure) {
  failure_ = std::move(failure);
  return true;
}

/// A scan that continues is likely to fill its page, or to read even more if it has a filter.
std::uint64_t PageScan::entities_expected() const noexcept {
  if (scan_.continuation.empty()) return 0;
  return std::min(bounds_.entities_max, bounds_.remaining.value_or(UINT64_MAX)) - matched_;
}

bool PageScan::look_up(std::span<const std::string_view> points) {
  if (points.size() == 1) {  // A single lookup needs no queue.
    const auto found = view_.get(points.front(), &read_cost_);
    if (!found.ok()) return fail(found.status());
    return *found && take(points.front(), (*found)->version, (*found)->value);
  }
  const auto found = view_.get_many(points, &read_cost_);
  if (!found.ok()) return fail(found.status());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::optional<engine::FoundEntry>& entry = (*found)[i];
    if (entry && take(points[i], entry->version, entry->value)) return true;
  }
  return false;
}

bool PageScan::take(std::string_view sort_key, format::CommitVersion version, std::string_view value) {
  Candidate candidate{sort_key, version, value};
  if (is_over()) return end_before(candidate);
  if (bounds_.short_pages) {
    const ShortPages::Verdict verdict = bounds_.short_pages->judge(sort_key);
    if (verdict != ShortPages::Verdict::kTake) {
      return end_before(candidate, verdict == ShortPages::Verdict::kEndAtPartition);
    }
  }
  ++page_.cost.entities_examined;
  if (!matches_everything_ && !matches(candidate)) return !failure_.ok();
  if (wanted_ == Wanted::kEntities) {
    const std::uint64_t bytes = sort_key.size() + value.size();
    const std::uint64_t left = bounds_.bytes_max - std::min(bounds_.bytes_max, bytes_);
    if (matched_ > 0 && bytes > left) return end_before(candidate);
    bytes_ += bytes;
    if (!keep(candidate)) return true;
  }
  ++matched_;
  return bounds_.remaining && matched_ == *bounds_.remaining;
}

bool PageScan::keep(Candidate& candidate) {
  if (!decode_key(candidate)) return false;
  if (reader_ != nullptr) return show(candidate);
  make_room();
  Entity& entity = page_.entities.emplace_back(key_.partition_key(), std::string(key_.row_key()));
  failure_ = decode_properties(candidate.version, candidate.value, scan_.read.select, room_, entity);
  return failure_.ok();
}

/// Most pages are small or full, so the capacity grows from one to the other in few steps.
void PageScan::make_room() {
  constexpr std::size_t kFirst = 16;
  constexpr std::size_t kGrowth = 4;
  if (page_.entities.size() < page_.entities.capacity()) return;
  const std::size_t more = std::max(kFirst, kGrowth * page_.entities.size());
  page_.entities.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(more, bounds_.entities_max)));
}

bool PageScan::show(const Candidate& candidate) {
  EntityView entity;
  failure_ = view_entity(key_.partition_key(), key_.row_key(), candidate.version, candidate.value, scan_.read.select,
                         shown_, entity);
  if (!failure_.ok()) return false;
  (*reader_)(entity);
  return true;
}

bool PageScan::end_before(Candidate& candidate, bool at_partition) {
  if (!decode_key(candidate)) return true;
  std::optional<std::uint64_t> remaining;
  if (bounds_.remaining) remaining = *bounds_.remaining - matched_;
  page_.continuation = encode_scan_token(key_.partition_key(), at_partition ? std::string_view() : key_.row_key(),
                                         scan_.backward, remaining);
  return true;
}

bool PageScan::decode_key(Candidate& candidate) {
  if (candidate.is_key_decoded) return true;
  candidate.is_key_decoded = true;
  failure_ = key_.decode(candidate.sort_key);
  return failure_.ok();
}

bool PageScan::matches(Candidate& candidate) {
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(candidate.value);
  if (!properties.ok()) return !fail(properties.status());
  FilterSubject subject{{}, {}, candidate.version, *properties};
  if (filter_.names_keys()) {
    if (!decode_key(candidate)) return false;
    subject.partition_key = key_.partition_key();
    subject.row_key = key_.row_key();
  }
  const Result<bool> matching = filter_.matches(subject);
  if (!matching.ok()) return !fail(matching.status());
  return *matching;
}

/// Reads the clock only once every 16 entities, and never before the first entity was examined.
bool PageScan::is_over() {
  if (matched_ == bounds_.entities_max) return true;
  constexpr std::uint64_t kEntitiesBetween = 16;
  if (page_.cost.entities_examined % kEntitiesBetween != 1) return false;
  return clock_.monotonic() >= bounds_.deadline || bounds_.stop.stop_requested();
}

}  // namespace varve
