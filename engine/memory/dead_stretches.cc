// Owns: how stretches are entered, joined and cut (dead_stretches.h).
// Must never: fail a commit: without memory, the list forgets.
#include "engine/memory/dead_stretches.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "format/keys/batch.h"
#include "format/keys/sort_key.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

Moment later_of(const Moment& one, const Moment& other) noexcept {
  return {std::max(one.version, other.version), std::max(one.time, other.time)};
}

/// Iterates over the keys that a batch puts. The batch was validated before, so a read error is treated as its end.
class PutKeys {
 public:
  explicit PutKeys(std::string_view batch) : reader_(format::BatchReader::open(batch)) {}

  std::optional<std::string_view> next() {
    format::Operation operation;
    while (reader_.ok()) {
      const Result<bool> more = reader_->next(&operation);
      if (!more.ok() || !*more) break;
      if (operation.kind == Kind::kAdopt) adopts_ = true;
      if (operation.kind != Kind::kDelete && !is_about_tables(operation.kind)) return operation.key;
    }
    return std::nullopt;
  }
  /// Returns, after the last key, whether the batch also adopts a loaded table.
  bool adopts() const noexcept { return adopts_; }

 private:
  static bool is_about_tables(Kind kind) noexcept { return kind == Kind::kRetire || kind == Kind::kAdopt; }

  Result<format::BatchReader> reader_;
  bool adopts_ = false;
};

}  // namespace

void DeadStretches::begin(const std::function<CommitVersion()>& newest_unnoted) {
  const io::MutexGuard guard(mutex_);
  if (is_on()) return;
  recent_.reserve(kRecentPuts);
  on_.store(true, std::memory_order_release);
  forgotten_ = std::max(
      forgotten_, newest_unnoted());  // A committer that sees on_ set notes its puts, and note() waits for the mutex.
  unasked_ = 0;
}

void DeadStretches::end() noexcept {
  stretches_.clear();
  recent_.clear();
  next_recent_ = 0;
  on_.store(false, std::memory_order_release);
}

void DeadStretches::forget_all(CommitVersion since) noexcept {
  const io::MutexGuard guard(mutex_);
  forgotten_ = std::max(forgotten_, since);
  end();
}

void DeadStretches::note(std::string_view batch, CommitVersion version) noexcept {
  std::string_view smallest;
  std::string_view largest;
  PutKeys keys(batch);
  while (const std::optional<std::string_view> key = keys.next()) {
    if (smallest.empty() || *key < smallest) smallest = *key;
    if (*key > largest) largest = *key;
  }
  if (smallest.empty() && !keys.adopts()) return;

  const io::MutexGuard guard(mutex_);
  if (!is_on()) return;
  // A loaded table's puts are not noted key by key, so nothing is known any more.
  if (keys.adopts() || ++unasked_ > kUnaskedMax) return end();
  try {
    remember({version, std::string(smallest), std::string(largest)});
    if (meets_a_stretch(smallest, largest)) cut_at_puts(batch);
  } catch (const std::bad_alloc&) {
    end();
  }
}

bool DeadStretches::meets_a_stretch(std::string_view smallest, std::string_view largest) {
  const auto last = stretches_.at_or_before(largest);
  return last != stretches_.end() && last->second.to > smallest;
}

void DeadStretches::cut_at_puts(std::string_view batch) {
  PutKeys keys(batch);
  while (const std::optional<std::string_view> key = keys.next()) cut(*key);
}

void DeadStretches::remember(const Put& put) {
  if (recent_.size() < kRecentPuts) {
    recent_.push_back(put);
    return;
  }
  Put& oldest = recent_[next_recent_];
  forgotten_ = std::max(forgotten_, oldest.version);
  oldest = put;
  next_recent_ = (next_recent_ + 1) % kRecentPuts;
}

/// Splits the stretch that contains the key into the part before the key and the part after it.
void DeadStretches::cut(std::string_view key) {
  const auto found = stretches_.at_or_before(key);
  if (found == stretches_.end() || found->second.to <= key) return;
  io::probe("a stretch of deletes was cut by a put");
  std::string from = found->first;
  Stretch behind(found->second.to, found->second.since, found->second.was_used);
  stretches_.erase(found);
  if (from < key) stretches_.enter(std::move(from), {std::string(key), behind.since, behind.was_used});
  std::string next_key(key);
  next_key.push_back('\0');
  if (next_key < behind.to) stretches_.enter(std::move(next_key), std::move(behind));
}

bool DeadStretches::was_put_since(std::string_view from, std::string_view to, CommitVersion version) const {
  if (version < forgotten_) return true;
  return std::any_of(recent_.begin(), recent_.end(),
                     [&](const Put& put) { return put.version > version && put.smallest < to && put.largest >= from; });
}

bool DeadStretches::count_deletes(std::uint64_t count) noexcept {
  if (count == 0) return false;
  const std::uint64_t before = deletes_.fetch_add(count, std::memory_order_relaxed);
  return before / kDeletesBetweenLooks != (before + count) / kDeletesBetweenLooks;
}

void DeadStretches::add(std::string_view from, std::string_view to, const Moment& moment) {
  if (!is_on() || from.size() < format::kTableIdBytes) return;
  const std::string table_end = format::end_of_prefix(from.substr(0, format::kTableIdBytes));
  if (to <= from || (!table_end.empty() && to > table_end)) return;

  const io::MutexGuard guard(mutex_);
  if (!is_on() || was_put_since(from, to, moment.version)) return;
  unasked_ = 0;
  if (grow(from, to, moment)) return;
  std::string joined_from(from);
  Stretch joined{std::string(to), moment, false};
  auto other = stretches_.at_or_before(from);
  if (other == stretches_.end()) other = stretches_.begin();
  while (other != stretches_.end() && other->first <= to) {
    if (other->second.to < from) {
      ++other;
      continue;
    }
    joined_from = std::min(joined_from, other->first);
    joined.to = std::max(joined.to, other->second.to);
    joined.since = later_of(joined.since, other->second.since);
    joined.was_used = joined.was_used || other->second.was_used;
    joined.is_asked_late = joined.is_asked_late || other->second.is_asked_late;
    other = stretches_.erase(other);
  }
  stretches_.enter(std::move(joined_from), std::move(joined));
}

void DeadStretches::join_around(std::string_view key, CommitVersion version) {
  const io::MutexGuard guard(mutex_);
  if (!is_on()) return;
  const auto before = stretches_.at_or_before(key);
  if (before == stretches_.end() || before->second.to != key) return;
  const auto after = std::next(before);
  const auto is_next_key = [key](std::string_view other) {
    return other.size() == key.size() + 1 && other.back() == '\0' && other.starts_with(key);
  };
  if (after == stretches_.end() || !is_next_key(after->first)) return;
  if (was_put_since(key, after->first, version)) return;
  use(before->second);
  const Moment since = later_of(later_of(before->second.since, after->second.since), Moment{version});
  const bool is_asked_late = before->second.is_asked_late || after->second.is_asked_late;
  if (after->second.to.size() <= before->second.to.capacity()) {
    stretches_.lengthen(before, after->second.to, since);
    before->second.is_asked_late = is_asked_late;
    stretches_.erase(after);
    return;
  }
  std::string from(before->first);
  Stretch joined(after->second.to, since, true);
  joined.is_asked_late = is_asked_late;
  stretches_.erase(after);
  stretches_.erase(before);
  stretches_.enter(std::move(from), std::move(joined));
}

/// Makes the stretch longer in place that contains or touches the start of [from, to), as a queue's stretch grows.
/// Returns false if there is none, if the next stretch is met too, or if the new end needs more memory. What a later walk
/// found dead again changes nothing: readers from before that walk may still pass it.
bool DeadStretches::grow(std::string_view from, std::string_view to, const Moment& moment) {
  const auto found = stretches_.at_or_before(from);
  if (found == stretches_.end() || found->second.to < from || to.size() > found->second.to.capacity()) return false;
  const auto next = std::next(found);
  if (next != stretches_.end() && next->first <= to) return false;
  if (found->second.to < to) stretches_.lengthen(found, to, later_of(found->second.since, moment));
  return true;
}

void DeadStretches::use(Stretch& stretch) noexcept {
  stretch.was_used = true;
  unasked_ = 0;
}

std::size_t DeadStretches::size() const {
  const io::MutexGuard guard(mutex_);
  return stretches_.size();
}

std::uint64_t DeadStretches::bytes() const {
  const io::MutexGuard guard(mutex_);
  return stretches_.bytes();
}

std::optional<std::string> DeadStretches::end_of(std::string_view key, const Moment& moment) {
  const io::MutexGuard guard(mutex_);
  const auto found = stretches_.at_or_before(key);
  if (found == stretches_.end() || found->second.to <= key) return std::nullopt;
  const StretchMap::End* const end = end_at(found->second, moment);
  if (end == nullptr || end->to <= key) return std::nullopt;
  use(found->second);
  return end->to;
}

/// Returns the latest end that is known to be dead at the moment, or null.
const StretchMap::End* DeadStretches::end_at(Stretch& stretch, const Moment& moment) noexcept {
  if (moment.is_at_or_after(stretch.since)) return &stretch;
  stretch.is_asked_late = true;
  const auto found = std::find_if(stretch.earlier.rbegin(), stretch.earlier.rend(),
                                  [&](const StretchMap::End& end) { return moment.is_at_or_after(end.since); });
  return found == stretch.earlier.rend() ? nullptr : &*found;
}

std::optional<std::string> DeadStretches::begin_below(std::string_view key, const Moment& moment) {
  const io::MutexGuard guard(mutex_);
  const auto not_below = stretches_.lower_bound(key);
  if (not_below == stretches_.begin()) return std::nullopt;
  const auto found = std::prev(not_below);
  if (found->second.to < key) return std::nullopt;
  const StretchMap::End* const end = end_at(found->second, moment);
  if (end == nullptr || end->to < key) return std::nullopt;
  use(found->second);
  return found->first;
}

}  // namespace varve::engine
