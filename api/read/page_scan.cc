// Owns: the steps of making a page (page_scan.h).
// Must never: decode an entity that is not returned.
#include "api/read/page_scan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/entity_codec.h"
#include "api/model/spare_pieces.h"
#include "engine/read/value_room.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"

namespace varve {

namespace {

/// Maximum number of points that one call of get_many() looks up.
constexpr std::size_t kPointsAtOnce = 64;
/// So many points at least are worth the try of a walk.
constexpr std::size_t kWalkedPointsMin = 32;
/// A walk to points passes so many other entities for each point, and for this many points more. A look-up costs about as much.
constexpr std::size_t kPassedForPoint = 8;
constexpr std::size_t kPointsAhead = 8;

struct PlainKeys {
  std::string_view partition_key;
  std::string_view row_key;
};

/// Returns the keys of an entity where they are in its sort key. Returns nothing if a key has another encoding than its text.
std::optional<PlainKeys> plain_keys(std::string_view sort_key) noexcept {
  if (!format::is_framed(sort_key)) return std::nullopt;
  const std::size_t row = format::partition_of(sort_key).size();
  const PlainKeys keys{sort_key.substr(format::kTableIdBytes, row - format::kTableIdBytes - 1),
                       sort_key.substr(row, sort_key.size() - row - 1)};
  if (!format::is_plain(keys.partition_key) || !format::is_plain(keys.row_key)) return std::nullopt;
  return keys;
}

}  // namespace

PageCost& PageCost::operator+=(const PageCost& more) noexcept {
  key_ranges += more.key_ranges;
  entities_examined += more.entities_examined;
  blocks_read += more.blocks_read;
  blocks_from_cache += more.blocks_from_cache;
  blocks_skipped += more.blocks_skipped;
  if (index_parts == 0) first_part_entities = more.first_part_entities;
  if (more.index_parts > 0) last_part_entities = more.last_part_entities;
  index_parts += more.index_parts;
  return *this;
}

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
      reader_(reader),
      backward_(scan.backward) {}

void PageScan::set_ranges(std::span<const KeyRange> ranges, const KeyRange& within, bool others_follow) noexcept {
  ranges_ = ranges;
  others_follow_ = others_follow;
  within_ = &within;
  next_range_ = 0;
  points_.clear();
  next_point_ = 0;
  page_.cost.key_ranges += ranges.size();
}

void PageScan::note_part(std::size_t entities) noexcept {
  PageCost part;
  part.index_parts = 1;
  part.first_part_entities = part.last_part_entities = entities;
  page_.cost += part;
}

void PageScan::fold_into(EntityFold* fold) noexcept {
  fold_ = fold;
  // With Scan::take, each entity counts.
  block_filter_.ask_also(fold == nullptr || bounds_.remaining ? nullptr : fold->block_use());
}

Result<bool> PageScan::go_on(const PageShare& share) {
  share_ = share;
  bytes_end_ = share.bytes_max > UINT64_MAX - bytes_ ? UINT64_MAX : bytes_ + share.bytes_max;
  read_cost_.may_wait = share.may_wait;
  read_cost_.wants_disk = false;
  if (cursor_) {
    cursor_->stop_after(share.entries_max);
    if (!cursor_->valid()) cursor_->go_on();
  }
  while (cursor_ || next_point_ < points_.size() || begin_range()) {
    const Ended ended = cursor_ ? walk() : known_entity(next_point_) != nullptr ? take_known() : look_up();
    if (!failure_.ok()) return failure_;
    has_ended_ = ended == Ended::kPage;
    if (has_first_) return keep_first();
    if (ended != Ended::kRange) return has_ended_;
  }
  return first_ == nullptr || others_follow_ ? Result<bool>(true) : keep_first();
}

Result<bool> PageScan::keep_first() {
  first_->sort();
  for (const std::unique_ptr<const OrderedEntity>& entity : first_->entities()) {
    Candidate candidate{entity->sort_key, entity->version, entity->value};
    if (!keep(candidate)) return failure_;
    ++matched_;
  }
  Result<std::optional<std::string>> continuation = first_->continuation();
  if (!continuation.ok()) return continuation.status();
  page_.continuation = *std::move(continuation);
  return true;
}

Page PageScan::take_page() noexcept {
  page_.cost.entities_examined -= taken_known_;
  taken_known_ = 0;
  page_.cost.blocks_read = read_cost_.blocks_read;
  page_.cost.blocks_from_cache = read_cost_.blocks_from_cache;
  page_.cost.blocks_skipped = read_cost_.blocks_skipped;
  return std::move(page_);
}

const KeyRange& PageScan::next_range() const noexcept {
  return ranges_[backward_ ? ranges_.size() - 1 - next_range_ : next_range_];
}

bool PageScan::begin_range() {
  if (next_range_ == ranges_.size()) return false;
  points_.clear();
  next_point_ = 0;
  // One more than the page can hold, since the token names one more.
  const std::uint64_t points_max = 1 + std::min<std::uint64_t>(kPointsAtOnce - 1, bounds_.entities_max - matched_);
  points_begin_ = next_range_;
  for (; next_range_ < ranges_.size() && next_range().is_point && points_.size() < points_max; ++next_range_) {
    points_.push_back(next_range().lower);
    const std::size_t last = points_.size() - 1;
    if ((known_entity(last) == nullptr) == (known_entity(0) == nullptr)) continue;
    points_.pop_back();  // They are read together, or not at all.
    break;
  }
  if (!points_.empty()) return true;
  begin_walk(next_range());
  ++next_range_;
  return true;
}

void PageScan::begin_walk(const KeyRange& range) {
  cursor_.emplace(view_.cursor(std::max(range.lower, within_->lower), std::min(range.upper, within_->upper),
                               &read_cost_, block_filter_.is_of_use() ? &block_filter_ : nullptr, entities_expected()));
  cursor_->stop_after(share_.entries_max);
  backward_ ? cursor_->seek_to_last() : cursor_->seek_to_first();
}

PageScan::Ended PageScan::walk() {
  engine::Cursor& cursor = *cursor_;
  const std::uint64_t before = cursor.entries_examined();
  while (cursor.valid()) {
    if (cursor.entries_examined() - before >= share_.entries_max || bytes_ >= bytes_end_) return Ended::kShare;
    shared_with_key_ = std::min(shared_with_key_, cursor.shared());
    if (take({cursor.key(), cursor.version(), cursor.value(), shared_with_key_})) return Ended::kPage;
    backward_ ? cursor.previous() : cursor.next();
  }
  if (read_cost_.wants_disk || cursor.has_stopped()) return Ended::kShare;
  if (Status walked = cursor.status(); !walked.ok()) return end_by(std::move(walked));
  if (!share_.may_wait) share_.entries_max -= std::min(share_.entries_max, cursor.entries_examined() - before);
  cursor_.reset();
  return Ended::kRange;
}

bool PageScan::fail(Status failure) {
  failure_ = std::move(failure);
  return true;
}

/// Nearly every step succeeds, so only a failure is stored.
bool PageScan::did(Status step) {
  if (step.ok()) [[likely]]
    return true;
  return !fail(std::move(step));
}

PageScan::Ended PageScan::end_by(Status failure) {
  (void)fail(std::move(failure));
  return Ended::kPage;
}

/// A scan that continues is likely to fill its page, or to read even more if it has a filter.
std::uint64_t PageScan::entities_expected() const noexcept {
  if (scan_.continuation.empty()) return 0;
  if (walks_in_order_) return first_->count() - std::min(first_->count(), first_->size());
  return std::min(bounds_.entities_max, bounds_.remaining.value_or(UINT64_MAX)) - matched_;
}

PageScan::Ended PageScan::look_up() {
  const std::span<const std::string_view> points = std::span(points_).subspan(next_point_);
  if (points.size() > 1 && share_.may_wait) return look_up_together(points);
  // A single lookup needs no queue of reads, and neither do lookups in memory.
  for (const std::string_view point : points) {
    if (share_.entries_max == 0 || bytes_ >= bytes_end_) return Ended::kShare;
    engine::ValueRoom room;
    const auto found = view_.get(point, room, &read_cost_, expects_);
    if (read_cost_.wants_disk) return Ended::kShare;
    if (!found.ok()) return end_by(found.status());
    if (!share_.may_wait) --share_.entries_max;
    ++next_point_;
    if (*found && take(point, (*found)->version, (*found)->value)) return Ended::kPage;
  }
  return Ended::kRange;
}

const KnownEntity* PageScan::known_entity(std::size_t point) const noexcept {
  if (known_.empty()) return nullptr;
  const std::size_t place = points_begin_ + point;
  const std::optional<KnownEntity>& entity = known_[backward_ ? ranges_.size() - 1 - place : place];
  return entity ? &*entity : nullptr;
}

PageScan::Ended PageScan::take_known() {
  while (next_point_ < points_.size()) {
    if (share_.entries_max == 0 || bytes_ >= bytes_end_) return Ended::kShare;
    if (!share_.may_wait) --share_.entries_max;
    const std::uint64_t before = page_.cost.entities_examined;
    const std::size_t point = next_point_++;
    const KnownEntity& known = *known_entity(point);
    const bool is_over = take(points_[point], known.version, known.properties);
    taken_known_ += page_.cost.entities_examined - before;
    if (is_over) return Ended::kPage;
  }
  return Ended::kRange;
}

Status PageScan::offer_points(std::span<const std::string_view> points) {
  const auto found = view_.get_many(points, &read_cost_);
  if (!found.ok()) return found.status();
  for (std::size_t i = 0; i < points.size() && failure_.ok(); ++i) {
    const std::optional<engine::FoundEntry>& entry = (*found)[i];
    if (entry) (void)take(points[i], entry->version, entry->value);
  }
  return failure_;
}

bool PageScan::walk_points(std::span<const std::string_view> points, std::size_t& taken) {
  const std::string_view first = backward_ ? points.back() : points.front();
  const std::string_view last = backward_ ? points.front() : points.back();
  engine::Cursor cursor = view_.cursor(first, format::end_of_prefix(last), &read_cost_, nullptr, points.size());
  cursor.leave_values();
  cursor.stop_after(kPassedForPoint * kPointsAhead);
  backward_ ? cursor.seek_to_last() : cursor.seek_to_first();
  std::size_t passed = 0;
  while (cursor.valid() && passed <= kPassedForPoint * (kPointsAhead + taken)) {
    if (cursor.key() != points[taken]) {
      ++passed;
    } else {
      if (!cursor.has_value()) break;
      ++taken;
      if (take(cursor.key(), cursor.version(), cursor.value())) return true;
      if (taken == points.size()) break;
    }
    backward_ ? cursor.previous() : cursor.next();
  }
  may_walk_points_ = taken == points.size();  // Whatever ended the walk early: the rest is looked up.
  return false;
}

PageScan::Ended PageScan::look_up_together(std::span<const std::string_view> points) {
  if (may_walk_points_ && points.size() >= kWalkedPointsMin) {
    std::size_t taken = 0;
    if (walk_points(points, taken)) return Ended::kPage;
    points = points.subspan(taken);
  }
  const auto found = view_.get_many(points, &read_cost_);
  if (!found.ok()) return end_by(found.status());
  next_point_ = points_.size();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::optional<engine::FoundEntry>& entry = (*found)[i];
    if (entry && take(points[i], entry->version, entry->value)) return Ended::kPage;
  }
  return Ended::kRange;
}

bool PageScan::take(std::string_view sort_key, format::CommitVersion version, std::string_view value) {
  return take({sort_key, version, value});
}

[[gnu::always_inline]] inline bool PageScan::take(Candidate candidate) {
  if (is_over()) {
    if (first_ == nullptr) return end_before(candidate);
    if (bounds_.stop.stop_requested()) return true;  // The caller reports a stop itself.
    has_first_ = walks_in_order_ && first_->size() > 0;
    if (!has_first_) return fail(first_->takes_too_long(order_time_max_));
    first_->leave_out_rest();
    return true;
  }
  if (bounds_.short_pages) {
    const ShortPages::Verdict verdict = bounds_.short_pages->judge(candidate.sort_key);
    if (verdict != ShortPages::Verdict::kTake) {
      return end_before(candidate, verdict == ShortPages::Verdict::kEndAtPartition);
    }
  }
  ++page_.cost.entities_examined;
  if (!matches_everything_ && !matches(candidate)) return !failure_.ok();
  if (first_ != nullptr) return offer(candidate);
  if (wanted_ == Wanted::kEntities) {
    const std::uint64_t bytes = bytes_of(candidate);
    const std::uint64_t left = bounds_.bytes_max - std::min(bounds_.bytes_max, bytes_);
    if (matched_ > 0 && bytes > left) return end_before(candidate);
    bytes_ += bytes;
    if (!keep(candidate)) return true;
  }
  if (fold_ != nullptr && !fold(candidate)) return true;
  ++matched_;
  return bounds_.remaining && matched_ == *bounds_.remaining;
}

bool PageScan::offer(const Candidate& candidate) {
  failure_ = first_->offer(candidate.sort_key, candidate.version, candidate.value);
  has_first_ = failure_.ok() && walks_in_order_ && first_->is_complete();
  return has_first_ || !failure_.ok();
}

[[gnu::always_inline]] inline bool PageScan::keep(Candidate& candidate) {
  if (reader_ == nullptr) return make_entity(candidate);
  return decode_key(candidate) && show(candidate);
}

bool PageScan::make_entity(Candidate& candidate) {
  // The decoder pays from the second entity of a partition on.
  const bool is_alone = points_.size() == 1 && !candidate.is_key_decoded;
  std::optional<PlainKeys> keys = is_alone ? plain_keys(candidate.sort_key) : std::nullopt;
  if (!keys) {
    if (!decode_key(candidate)) return false;
    keys = PlainKeys{key_.partition_key(), key_.row_key()};
  }
  make_room();
  Entity& entity =
      page_.entities.emplace_back(spare_texts::copy(keys->partition_key), spare_texts::copy(keys->row_key));
  return did(decode_properties(candidate.version, candidate.value, scan_.read.select, room_, entity));
}

/// Most pages are small or full, so the capacity grows from one to the other in few steps. A page of few points is small.
void PageScan::make_room() {
  constexpr std::size_t kFirst = 16;
  constexpr std::size_t kGrowth = 4;
  if (page_.entities.size() < page_.entities.capacity()) return;
  const std::size_t first = points_.empty() ? kFirst : std::min(kFirst, points_.size());
  const std::size_t more = std::max(first, kGrowth * page_.entities.size());
  page_.entities.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(more, bounds_.entities_max)));
}

/// An entity takes the same bytes wherever its selected properties come from.
std::uint64_t PageScan::bytes_of(const Candidate& candidate) const {
  const bool counts_all = bounds_.bytes_max == UINT64_MAX || scan_.read.select.empty();
  return candidate.sort_key.size() +
         (counts_all ? candidate.value.size() : selected_bytes(candidate.value, scan_.read.select));
}

[[gnu::always_inline]] inline bool PageScan::show(const Candidate& candidate) {
  EntityView entity;
  entity.partition_key = key_.partition_key();
  entity.row_key = key_.row_key();
  if (!view_entity(candidate.version, candidate.value, scan_.read.select, shown_, entity)) {
    return !fail(unreadable(candidate.value, entity.partition_key, entity.row_key));
  }
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

bool PageScan::decode_whole_key(std::string_view sort_key) {
  return did(key_.decode(sort_key));
}

bool PageScan::open(Candidate& candidate, bool with_keys, FilterSubject& subject) {
  if (!candidate.is_open) {
    const Result<format::EncodedEntity> properties = format::EncodedEntity::open(candidate.value);
    if (!properties.ok()) return !fail(properties.status());
    opened_ = *properties;
    candidate.is_open = true;
  }
  subject.version = candidate.version;
  subject.properties = opened_;
  if (!with_keys) return true;
  if (!decode_key(candidate)) return false;
  subject.partition_key = key_.partition_key();
  subject.row_key = key_.row_key();
  return true;
}

bool PageScan::matches(Candidate& candidate) {
  FilterSubject subject;
  return open(candidate, filter_.names_keys(), subject) && filter_.matches(subject);
}

bool PageScan::fold(Candidate& candidate) {
  FilterSubject subject;
  if (!open(candidate, fold_->names_keys(), subject)) return false;
  failure_ = fold_->add(subject);
  return failure_.ok();
}

bool PageScan::is_time_over() {
  return clock_.monotonic() >= bounds_.deadline || bounds_.stop.stop_requested();
}

}  // namespace varve
