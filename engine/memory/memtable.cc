// Owns: how entries are found, and how they are linked beside readers and other writers.
// Must never: link an incomplete entry, or link an entry at a level before the level below it.

#include "engine/memory/memtable.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include "engine/memory/memtable_node.h"
#include "format/bytes/prefetch.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

using Link = MemtableNode::Link;

/// Newer entries of a key that find() steps over, before it searches the skiplist for the old version.
constexpr int kStepsMax = 8;

/// Above every version that can exist, so it sorts before all entries of its key.
constexpr CommitVersion kNewest = std::numeric_limits<CommitVersion>::max();

constexpr bool is_entry(Kind kind) noexcept {
  return kind == Kind::kPut || kind == Kind::kDelete || kind == Kind::kPutExpiring;
}

/// Returns the bytes of an entry without its tower.
std::uint64_t entry_bytes(const format::Operation& operation) noexcept {
  std::uint64_t bytes =
      sizeof(MemtableNode) + operation.key.size() + format::kInternalSuffixBytes + operation.value.size();
  if (MemtableNode::has_log_place(operation.value.size())) bytes += sizeof(LogPlace);
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

/// Counts an entry that is no plain put.
void count_special(const format::Operation& operation, MemtableDemand& demand) noexcept {
  if (operation.kind == Kind::kDelete) {
    ++demand.delete_count;
  } else {
    ++demand.expiring_count;
    if (format::is_age(format::load_u64(operation.value.data()))) ++demand.age_count;
  }
}

/// Returns the height of a tower. It depends only on the reservation and the entry's position in its batch. So
/// reserve() knows the bytes of every tower before a version exists. Source of the mixing: MurmurHash3's 64-bit
/// finalizer (A. Appleby).
std::size_t tower_height(std::uint64_t seed, std::uint64_t index, std::size_t height_max) noexcept {
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15u + index + 1;
  bits = (bits ^ (bits >> 33)) * 0xFF51AFD7ED558CCDu;
  bits = (bits ^ (bits >> 33)) * 0xC4CEB9FE1A85EC53u;
  bits ^= bits >> 33;
  const auto levels = static_cast<std::size_t>(std::countr_zero(bits)) / 2;  // two zero bits: one in four
  return std::min(1 + levels, height_max);
}

Status out_of_budget(std::uint64_t used_bytes, std::uint64_t bytes_max, std::uint64_t need_bytes) noexcept {
  std::array<char, 128> text;
  const int length = std::snprintf(text.data(), text.size(),
                                   "write buffer is full: %" PRIu64 " of %" PRIu64 " bytes used, %" PRIu64 " needed",
                                   used_bytes, bytes_max, need_bytes);
  assert(length > 0);
  io::probe("the write buffer was full");
  return Status::no_space({text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)});
}

/// Writes an entry and its empty tower to `at`, which has room for both.
MemtableNode* lay_out(char* at, std::size_t height, const format::Operation& operation, CommitVersion version,
                      LogPlace in_log) noexcept {
  for (std::size_t level = 0; level < height; ++level) new (at + level * sizeof(Link)) Link(nullptr);
  auto* node = new (at + height * sizeof(Link)) MemtableNode;
  node->key_bytes = static_cast<std::uint32_t>(operation.key.size() + format::kInternalSuffixBytes);
  node->value_bytes = static_cast<std::uint32_t>(operation.value.size());
  char* out = std::copy(operation.key.begin(), operation.key.end(), node->bytes());
  format::store_internal_suffix(out, version, operation.kind);
  out = std::copy(operation.value.begin(), operation.value.end(), out + format::kInternalSuffixBytes);
  if (MemtableNode::has_log_place(operation.value.size())) std::memcpy(out, &in_log, sizeof(in_log));
  return node;
}

/// Returns the place of a value within a batch that is at `in_log` in the log.
LogPlace place_within(std::string_view batch, std::string_view value, LogPlace in_log) noexcept {
  if (in_log.segment == 0) return LogPlace();
  return {in_log.segment, in_log.offset + static_cast<std::uint64_t>(value.data() - batch.data())};
}

Entry entry_of(const MemtableNode& node) noexcept {
  const format::InternalKey key = format::split_internal_key(node.internal_key());
  return {key.sort_key, key.version, key.kind, node.value()};
}

/// Prefetches an entry. Neighbours in key order are scattered in memory, so a scan fetches the next entry while it uses
/// the current one.
void prefetch_entry(const MemtableNode* node) noexcept {
  if (node == nullptr) return;  // the last entry has no successor
  constexpr std::size_t kLines = 5;
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t line = 0; line < kLines; ++line) {
    format::prefetch(reinterpret_cast<const char*>(node) + line * kLineBytes);
  }
}

}  // namespace

/// The position of a batch's last key at each level. The search for the next key begins there.
///
/// F1  At every level, `before` is the head or an entry at or before the last key. `after` is null or an entry after
///     the last key. Both are in that level's list. Other writers may have linked entries between the two since.
/// F2  From each level to the level above it, `before` stays or moves towards the head.
class Memtable::Finger {
 public:
  explicit Finger(MemtableNode* head) noexcept : head_(head) {
    before_.fill(head);
    after_.fill(nullptr);
  }

  /// Links the node and returns whether the key has an older entry.
  bool insert(MemtableNode* node, std::size_t height) noexcept {
    find(*node);
    const bool has_older = after_[0] != nullptr && after_[0]->sort_key() == node->sort_key();
    assert(!has_older || after_[0]->version() < node->version());  // M2
    if (has_older) node->lead_to_old(*after_[0]);
    for (std::size_t level = 0; level < height; ++level) link(node, level);
    return has_older;
  }

 private:
  void find(const MemtableNode& node) noexcept {
    std::size_t level = used_ ? bracketing_level(node) : kHeightMax;
    used_ = true;
    while (level > 0) {
      --level;
      advance(level, before_[level + 1], after_[level + 1], node);
    }
  }

  /// Returns the lowest level whose gap contains the key and whose gap has no new entries by other writers. The gaps of
  /// the levels above it contain the key too. An entry linked in one of those gaps would also show at this level.
  std::size_t bracketing_level(const MemtableNode& node) const noexcept {
    const MemtableNode* known_before = head_;
    const MemtableNode* known_behind = nullptr;  // a `before` that is not before this key
    const MemtableNode* known_passed = nullptr;  // an `after` that is before this key
    for (std::size_t level = 0; level < kHeightMax; ++level) {
      const MemtableNode* const before = before_[level];
      const MemtableNode* const after = after_[level];
      if (before->next(level) != after) continue;
      if (before == known_behind || (after != nullptr && after == known_passed)) continue;
      if (before != head_ && before != known_before && !before->is_before(node)) {
        known_behind = before;
        continue;
      }
      known_before = before;
      if (after == nullptr || !after->is_before(node)) return level;
      known_passed = after;
    }
    return kHeightMax;
  }

  /// Finds the key's gap at one level. Starts at `before`, which is before the key; `limit` is known to be after the
  /// key.
  void advance(std::size_t level, MemtableNode* before, const MemtableNode* limit, const MemtableNode& node) noexcept {
    MemtableNode* next = before->next(level);
    while (next != limit) {
      // As in find_gap(): if this entry ends the level, the search next reads the entry that the level below links to.
      if (level > 0) format::prefetch(before->link(level - 1).load(std::memory_order_relaxed));
      if (!next->is_before(node)) break;
      before = next;
      next = before->next(level);
    }
    before_[level] = before;
    after_[level] = next;
  }

  void link(MemtableNode* node, std::size_t level) noexcept {
    for (;;) {
      MemtableNode* expected = after_[level];
      node->link(level).store(expected, std::memory_order_relaxed);
      // M1: the release makes every thread that reaches the entry see all of it.
      if (before_[level]->link(level).compare_exchange_strong(expected, node, std::memory_order_release,
                                                              std::memory_order_relaxed)) {
        before_[level] = node;
        return;
      }
      advance(level, before_[level], after_[level], *node);  // Another writer linked an entry first.
    }
  }

  MemtableNode* const head_;
  // One more than the levels: the topmost place has the gap from the head to the end.
  std::array<MemtableNode*, kHeightMax + 1> before_;
  std::array<MemtableNode*, kHeightMax + 1> after_;
  bool used_ = false;
};

Result<MemtableDemand> Memtable::demand_of(std::string_view batch, format::EndForms ends) {
  if (batch.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Status::too_large("the batch has " + std::to_string(batch.size()) + " bytes; at most " +
                             std::to_string(std::numeric_limits<std::uint32_t>::max()) + " are allowed");
  }
  Result<format::BatchReader> reader = format::BatchReader::open(batch, ends);
  if (!reader.ok()) return reader.status();
  return demand_of(*reader);
}

Result<MemtableDemand> Memtable::demand_of(format::BatchReader reader) {
  MemtableDemand demand;
  format::Operation operation;
  for (;;) {
    const Result<bool> more = reader.next(&operation);
    if (!more.ok()) return more.status();
    if (!*more) return demand;
    if (is_entry(operation.kind)) {
      ++demand.entry_count;
      if (operation.kind != Kind::kPut) count_special(operation, demand);
      demand.entry_bytes += entry_bytes(operation);
    } else {
      ++demand.other_count;
    }
  }
}

Memtable::~Memtable() {
  if (budget_) budget_->give_back(charged_bytes_);
}

void Memtable::join(std::shared_ptr<WriteBudget> budget) noexcept {
  assert(budget_ == nullptr);
  budget_ = std::move(budget);
  arena_.draw_on(budget_);
  charged_bytes_ = used_bytes();
  budget_->take_regardless(charged_bytes_);
}

std::uint64_t Memtable::piece_bytes(const MemtableDemand& demand, std::uint64_t tower_seed) noexcept {
  std::uint64_t bytes = demand.entry_bytes;
  for (std::uint32_t index = 0; index < demand.entry_count; ++index) {
    bytes += tower_height(tower_seed, index, kHeightMax) * sizeof(Link);
  }
  return bytes;
}

std::uint64_t Memtable::needed_bytes(const MemtableDemand& demand) const noexcept {
  return piece_bytes(demand, reservations_) + index_.missing_bytes(demand.entry_count);
}

std::uint64_t Memtable::needed_bytes_at_first(const MemtableDemand& demand) noexcept {
  return piece_bytes(demand, 0) + KeyIndex().missing_bytes(demand.entry_count);
}

Result<Memtable::Reservation> Memtable::reserve(const MemtableDemand& demand, BudgetPart part, std::uint64_t promised) {
  Reservation reservation;
  if (demand.entry_count == 0) return reservation;
  const std::uint64_t piece_bytes = Memtable::piece_bytes(demand, reservations_);
  const std::uint64_t table_bytes = index_.missing_bytes(demand.entry_count);
  const std::uint64_t need_bytes = piece_bytes + table_bytes;
  const std::uint64_t lacked_bytes = need_bytes - std::min(need_bytes, promised);
  if (budget_ && !budget_->take(lacked_bytes, part)) {
    return out_of_budget(budget_->used_bytes(), budget_->bytes_max(), need_bytes);
  }

  KeyIndex::OwnedTable table;
  if (table_bytes > 0) table = KeyIndex::make_table(table_bytes);
  if (table_bytes == 0 || table != nullptr) reservation.at_ = arena_.take(piece_bytes);
  if (reservation.at_ == nullptr) {
    if (budget_) budget_->give_back(lacked_bytes);
    return Status::out_of_memory();
  }
  if (budget_) charged_bytes_ += need_bytes;
  if (promised > need_bytes) budget_->give_back(promised - need_bytes);
  reservation.end_ = reservation.at_ + piece_bytes;
  reservation.table_ = &index_.reserve(demand.entry_count, std::move(table));
  reservation.tower_seed_ = reservations_++;
  return reservation;
}

void Memtable::fetch_ways(std::span<const std::string_view> batches) const noexcept {
  struct Way {
    std::string_view key;
    const MemtableNode* before = nullptr;
    std::size_t level = 0;  // one above the level that is read next
  };
  assert(batches.size() <= kWaysMax);
  std::array<Way, kWaysMax> ways;
  std::size_t count = 0;
  for (const std::string_view batch : batches) {
    format::Operation first;
    Result<format::BatchReader> reader = format::BatchReader::open(batch);
    if (reader.ok() && *reader->next(&first) && is_entry(first.kind)) ways[count++] = {first.key, head(), kHeightMax};
  }
  while (count > 0) {
    for (std::size_t at = 0; at < count;) {
      Way& way = ways[at];
      const MemtableNode* const next = way.before->next(way.level - 1);
      if (next != nullptr && next->is_before(way.key, kNewest)) {
        way.before = next;
      } else if (--way.level == 0) {
        way = ways[--count];
        continue;
      }
      // The node's key, and the tower directly before it.
      const auto* const ahead =
          reinterpret_cast<const char*>(way.before->link(way.level - 1).load(std::memory_order_relaxed));
      if (ahead != nullptr) {
        format::prefetch(ahead - sizeof(Link));
        format::prefetch(ahead + kCacheLineBytes - sizeof(Link));
      }
      ++at;
    }
  }
}

void Memtable::insert(const Reservation& reservation, std::string_view batch, CommitVersion version,
                      LogPlace in_log) noexcept {
  assert(version <= format::kCommitVersionMax);
  format::AcceptedBatch operations(batch);  // demand_of() read it.
  Finger finger(head());
  char* at = reservation.at_;
  std::uint64_t count = 0;
  std::uint64_t deletes = 0;
  std::uint64_t large_bytes = 0;
  format::Operation operation;
  while (operations.next(operation)) {
    if (!is_entry(operation.kind)) continue;

    const std::size_t height = tower_height(reservation.tower_seed_, count, kHeightMax);
    const std::uint64_t bytes = height * sizeof(Link) + entry_bytes(operation);
    assert(bytes <= static_cast<std::uint64_t>(reservation.end_ - at));  // M3
    const std::uint64_t hash = KeyIndex::hash_of(operation.key);
    KeyIndex::prefetch(*reservation.table_, hash);
    MemtableNode* const node = lay_out(at, height, operation, version, place_within(batch, operation.value, in_log));
    const bool has_older = finger.insert(node, height);
    index_.insert(*reservation.table_, *node, hash, has_older);
    at += bytes;
    ++count;
    if (operation.kind == Kind::kDelete) ++deletes;
    if (MemtableNode::has_log_place(operation.value.size())) large_bytes += operation.value.size();
  }
  assert(at == reservation.end_);
  if (deletes > 0) delete_count_.fetch_add(deletes, std::memory_order_relaxed);
  if (large_bytes > 0) large_value_bytes_.fetch_add(large_bytes, std::memory_order_relaxed);
  entry_count_.fetch_add(count, std::memory_order_relaxed);
}

MemtableNode* Memtable::head() noexcept {
  return reinterpret_cast<MemtableNode*>(head_tower_.data() + kHeightMax);
}
const MemtableNode* Memtable::head() const noexcept {
  return reinterpret_cast<const MemtableNode*>(head_tower_.data() + kHeightMax);
}

Memtable::Gap Memtable::find_gap(std::string_view sort_key, CommitVersion version) const noexcept {
  const MemtableNode* before = head();
  const MemtableNode* after = nullptr;
  for (std::size_t level = kHeightMax; level > 0;) {
    const MemtableNode* const next = before->next(level - 1);
    // The entry that ended the level above ends this level too. It need not be read again.
    if (next != after) {
      // If this entry ends the level, the search next reads the entry that the level below links to. Prefetch it.
      if (level > 1) format::prefetch(before->link(level - 2).load(std::memory_order_relaxed));
      if (next->is_before(sort_key, version)) {
        before = next;
        continue;
      }
    }
    after = next;
    --level;
  }
  return {before, after};
}

std::optional<Entry> Memtable::find(std::string_view sort_key, std::uint64_t hash,
                                    CommitVersion at_most) const noexcept {
  const MemtableNode* node = index_.find(sort_key, hash);
  if (node == nullptr) return std::nullopt;
  for (int steps = 0; node->version() > at_most; ++steps) {
    node = steps < kStepsMax ? node->next(0) : find_gap(sort_key, at_most).after;
    if (node == nullptr || node->sort_key() != sort_key) return std::nullopt;
  }
  return entry_of(*node);
}

/// A level of the skiplist has about a quarter of the level below, at random.
std::vector<Entry> Memtable::spread_entries(std::size_t count) const {
  std::vector<Entry> entries;
  for (std::size_t level = kHeightMax; level > 0 && entries.size() < count;) {
    --level;
    entries.clear();
    for (const MemtableNode* node = head()->next(level); node != nullptr; node = node->next(level)) {
      entries.push_back(entry_of(*node));
    }
  }
  return entries;
}

void Memtable::check_invariants() const noexcept {
  for (std::size_t level = 0; level < kHeightMax; ++level) {
    const MemtableNode* below = head();
    const MemtableNode* previous = nullptr;
    std::uint64_t count = 0;
    for (const MemtableNode* node = head()->next(level); node != nullptr; node = node->next(level)) {
      if (previous != nullptr) assert(previous->internal_key() < node->internal_key());  // M2
      const MemtableNode* const old = node->old();
      assert(old == nullptr || (old->sort_key() == node->sort_key() && old->version() < node->version()));
      static_cast<void>(old);
      if (level == 0 && (previous == nullptr || previous->sort_key() != node->sort_key())) {
        assert(index_.find(node->sort_key(), KeyIndex::hash_of(node->sort_key())) == node);
      }
      previous = node;
      ++count;
      if (level == 0) continue;
      while (below != node) {
        below = below->next(level - 1);
        assert(below != nullptr);
      }
    }
    if (level == 0) assert(count == entry_count());
  }
}

Entry Memtable::Cursor::entry() const noexcept {
  assert(valid());
  return entry_of(*node_);
}

LogPlace Memtable::Cursor::log_place() const noexcept {
  assert(valid());
  return node_->log_place();
}

void Memtable::Cursor::seek(std::string_view sort_key, CommitVersion at_most) noexcept {
  node_ = memtable_->find_gap(sort_key, at_most).after;
}

void Memtable::Cursor::seek_before(std::string_view sort_key) noexcept {
  const MemtableNode* const node = memtable_->find_gap(sort_key, kNewest).before;
  node_ = node == memtable_->head() ? nullptr : node;
}

void Memtable::Cursor::seek_to_first() noexcept {
  node_ = memtable_->head()->next(0);
}

void Memtable::Cursor::seek_to_last() noexcept {
  const MemtableNode* node = memtable_->head();
  for (std::size_t level = kHeightMax; level > 0;) {
    const MemtableNode* const next = node->next(level - 1);
    if (next != nullptr) {
      node = next;
    } else {
      --level;
    }
  }
  node_ = node == memtable_->head() ? nullptr : node;
}

void Memtable::Cursor::next() noexcept {
  assert(valid());
  node_ = node_->next(0);
  if (node_ != nullptr) prefetch_entry(node_->link(0).load(std::memory_order_relaxed));
}

std::uint64_t Memtable::Cursor::pass_key(std::string_view sort_key) noexcept {
  assert(valid());
  std::uint64_t read = 0;
  do {
    if (const MemtableNode* const old = node_->old(); old != nullptr) {
      node_ = old;
      ++read;
    }
    node_ = node_->next(0);
    ++read;
  } while (node_ != nullptr && node_->sort_key() == sort_key);
  if (node_ != nullptr) prefetch_entry(node_->link(0).load(std::memory_order_relaxed));
  return read;
}

void Memtable::Cursor::previous() noexcept {
  assert(valid());
  const MemtableNode* const node = memtable_->find_gap(node_->sort_key(), node_->version()).before;
  node_ = node == memtable_->head() ? nullptr : node;
}

}  // namespace varve::engine
