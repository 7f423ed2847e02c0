// Owns: the steps of a page (page_walk.h).
// Must never: decode an entity that is not returned.
#include "api/page_walk.h"

#include <utility>

#include "api/continuation_token.h"
#include "api/entity_codec.h"
#include "engine/cursor.h"
#include "format/entity.h"
#include "format/sort_key.h"

namespace varve {

PageWalk::PageWalk(const engine::ReadView& view, const Filter& filter, const Scan& scan, io::Clock& clock)
    : view_(view), filter_(filter), scan_(scan), clock_(clock), deadline_(clock.monotonic() + scan.time_max) {}

Result<Page> PageWalk::run(const std::vector<KeyRange>& ranges) {
  page_.cost.key_ranges = ranges.size();
  for (const KeyRange& range : ranges) {
    const Result<bool> ended = range.is_point ? look_up(range) : walk(range);
    if (!ended.ok()) return ended.status();
    if (*ended) break;
  }
  return std::move(page_);
}

Result<bool> PageWalk::walk(const KeyRange& range) {
  engine::Cursor cursor = view_.cursor(range.lower, range.upper);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    Result<bool> ended = take(cursor.key(), cursor.version(), cursor.value());
    if (!ended.ok() || *ended) return ended;
  }
  if (!cursor.status().ok()) return cursor.status();
  return false;
}

Result<bool> PageWalk::look_up(const KeyRange& point) {
  const auto found = view_.get(point.lower);
  if (!found.ok()) return found.status();
  if (!*found) return false;
  return take(point.lower, (*found)->version, (*found)->value);
}

Result<bool> PageWalk::take(std::string_view sort_key, format::CommitVersion version, std::string_view value) {
  if (is_over()) {
    const Result<format::SortKey> key = format::decode_sort_key(sort_key);
    if (!key.ok()) return key.status();
    page_.continuation = encode_scan_token(key->partition_key, key->row_key);
    return true;
  }
  ++page_.cost.entities_examined;
  // The key is decoded once, and only for what needs it: a filter that names keys, an entity that is returned.
  std::optional<format::SortKey> key;
  const auto decode_key = [&]() -> Status {
    Result<format::SortKey> decoded = format::decode_sort_key(sort_key);
    if (!decoded.ok()) return decoded.status();
    key = *std::move(decoded);
    return Status();
  };
  if (filter_.names_keys()) {
    if (Status decoded = decode_key(); !decoded.ok()) return decoded;
  }
  const Result<bool> matching = matches(key, version, value);
  if (!matching.ok()) return matching.status();
  if (!*matching) return false;
  if (!key) {
    if (Status decoded = decode_key(); !decoded.ok()) return decoded;
  }
  Result<Entity> entity =
      decode_entity(std::move(key->partition_key), std::move(key->row_key), version, value, scan_.read.select);
  if (!entity.ok()) return entity.status();
  page_.entities.push_back(*std::move(entity));
  return false;
}

Result<bool> PageWalk::matches(const std::optional<format::SortKey>& key, format::CommitVersion version,
                               std::string_view value) const {
  if (filter_.matches_everything()) return true;
  const Result<format::EntityView> properties = format::EntityView::open(value);
  if (!properties.ok()) return properties.status();
  FilterSubject subject{{}, {}, version, *properties};
  if (key) {
    subject.partition_key = key->partition_key;
    subject.row_key = key->row_key;
  }
  return filter_.matches(subject);
}

/// The clock is asked only now and then, and never before one entity was looked at.
bool PageWalk::is_over() {
  if (page_.entities.size() == scan_.page_size_max) return true;
  constexpr std::uint64_t kEntitiesBetween = 16;
  return page_.cost.entities_examined % kEntitiesBetween == 1 && clock_.monotonic() >= deadline_;
}

}  // namespace varve
