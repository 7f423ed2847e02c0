// Owns: the making of one page: it scans ranges of keys in order, applies the filter, and makes the token at the end.
// Must never: end a page without a token while more entities may follow, or examine an entity twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/block_filter.h"
#include "api/filter/filter.h"
#include "api/filter/index_cover.h"
#include "api/filter/key_plan.h"
#include "api/model/property_room.h"
#include "api/read/first_entities.h"
#include "api/read/short_pages.h"
#include "engine/engine.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/entity_view.h"
#include "varve/query.h"

namespace varve {

/// The bounds of one page.
struct PageBounds {
  std::uint64_t entities_max = 0;
  std::uint64_t bytes_max = UINT64_MAX;
  std::chrono::nanoseconds deadline{0};
  /// The remainder of Scan::take.
  std::optional<std::uint64_t> remaining{};
  std::optional<ShortPages> short_pages{};
  std::stop_token stop{};
};

enum class Wanted : std::uint8_t { kEntities, kCount };

/// Receives the entities that a page counts, in the order of the scan, where they lie in the store's memory.
class EntityFold {
 public:
  EntityFold() = default;
  EntityFold(const EntityFold&) = delete;
  EntityFold& operator=(const EntityFold&) = delete;
  virtual ~EntityFold() = default;
  /// Returns true if add() uses the keys of an entity.
  virtual bool names_keys() const noexcept = 0;
  /// Returns the names of the properties that add() uses, keys and Timestamp among them, each once.
  virtual std::vector<std::string> properties() const = 0;
  /// Errors end the page.
  virtual Status add(const FilterSubject& entity) = 0;
  /// Returns what judges blocks whose entities change nothing if they are added. Null: each entity must be added.
  virtual BlockUse* block_use() noexcept { return nullptr; }
};

/// How much of a page its caller makes before it gives way to other work.
struct PageShare {
  std::uint64_t entries_max = UINT64_MAX;  // examined, dead ones included
  std::uint64_t bytes_max = UINT64_MAX;    // of entities in the page
  bool may_wait = true;                    // for the disk

  /// For a thread that begins operations: most pages from memory, in about half a millisecond at most.
  static constexpr PageShare of_caller() noexcept { return {1024, std::uint64_t{512} << 10, false}; }
  /// For the one thread that runs the steps of all operations.
  static constexpr PageShare of_executor() noexcept { return {128, std::uint64_t{64} << 10, false}; }
};

/// Makes one page, in one or several shares. The arguments of the constructor must outlive it.
class PageScan {
 public:
  /// `filter` is the part of the filter that must be evaluated for entities in the ranges. Entities that match are kept
  /// in the page, or passed to the reader if there is one.
  PageScan(const engine::ReadView& view, const Filter& filter, const Scan& scan, PageBounds bounds, Wanted wanted,
           io::Clock& clock, const EntityReader* reader = nullptr);
  PageScan(const PageScan&) = delete;
  PageScan& operator=(const PageScan&) = delete;

  /// Sets the ranges to read, first. They must be in order and disjoint, and outlive this object. Of each range
  /// only the part inside `within` is read. Inside `within`, the filter matches nothing outside the ranges. If the page has
  /// read its ranges, and wants more, the ranges that follow may be set; the ones before may end then. A page with an order
  /// is complete with its last ranges: `others_follow` says that these are not the last ones.
  void set_ranges(std::span<const KeyRange> ranges, const KeyRange& within, bool others_follow = false) noexcept;
  /// Notes that the ranges are the points to which a part of an index leads.
  void note_part(std::size_t entities) noexcept;
  /// Makes the page take the entities of these ranges, which are points, without a read, where they are known. The span is
  /// empty, or has one element for each range: what the filter, the fold and the selection use of the entity, with its version
  /// if entities are wanted. An empty element: the entity must be read. Called after each set_ranges(). The elements may end
  /// when the ranges may.
  void know(std::span<const std::optional<KnownEntity>> entities) noexcept { known_ = entities; }
  /// Makes the page walk from one point to the next, while few other entities lie between them. For points to which an index
  /// leads: they may be most of a table. Called before go_on().
  void walk_near_points() noexcept {
    may_walk_points_ = true;
    expects_ = engine::Expects::kFound;
  }
  /// Makes the page have these entities, whose order it is, in place of the first ones by key. Called before go_on(), with
  /// bounds that end no page. `first` outlives this object.
  void set_order(FirstEntities& first) noexcept { first_ = &first; }
  /// Fails the page if it has an order, and its ranges are not read by then. `time_max` is for the message. Called before
  /// go_on(), after offer_points().
  void bound_order(std::chrono::nanoseconds deadline, std::chrono::milliseconds time_max) noexcept {
    bounds_.deadline = deadline;
    order_time_max_ = time_max;
  }
  /// Makes a page with an order walk its ranges in this direction, which has the order. So the page ends where it is
  /// complete, and also at its deadline, once it has an entity. Called before set_ranges().
  void walk_in_order(bool backward) noexcept {
    backward_ = backward;
    walks_in_order_ = true;
  }
  /// Reads entities by their sort keys, in any order, and offers those that match to the order. Called before go_on().
  /// Errors: as go_on().
  Status offer_points(std::span<const std::string_view> points);
  /// The cost of the page so far. A search for keys adds its reads to it.
  engine::ReadCost& read_cost() noexcept { return read_cost_; }
  /// Passes each entity that is counted to `fold`, which outlives this object. Null passes none.
  void fold_into(EntityFold* fold) noexcept;
  /// Continues the page where the last share ended. Returns whether the page is complete. Without a bound it is. Any
  /// thread may make the next share.
  /// Errors: those of reading; kCorruption (a stored entity cannot be decoded).
  Result<bool> go_on(const PageShare& share = {});
  /// Returns whether the page is complete only because all ranges were read.
  bool wants_more() const noexcept { return !has_ended_; }
  /// Returns the complete page, once.
  Page take_page() noexcept;
  /// Returns how many entities the page has, or would have if entities were wanted.
  std::uint64_t matched() const noexcept { return matched_; }

 private:
  /// An entity in the store's memory. Its key is decoded at most once, and only if needed.
  struct Candidate {
    std::string_view sort_key;
    format::CommitVersion version = 0;
    std::string_view value;
    /// The bytes that its key is known to share with the one in key_, at the start.
    std::size_t shared = 0;
    bool is_key_decoded = false;  // into key_
    bool is_open = false;         // as opened_
  };

  /// Why a step over a range, or over some points, ended. After an error, failure_ is that error.
  enum class Ended : std::uint8_t { kRange, kPage, kShare };

  const KeyRange& next_range() const noexcept;
  /// Takes the next range or points. Returns false at the end.
  bool begin_range();
  void begin_walk(const KeyRange& range);
  Ended walk();
  /// Returns the expected number of entities; zero if it is not known.
  std::uint64_t entities_expected() const noexcept;
  Ended look_up();
  Ended take_known();
  /// Returns the entity of a point that was begun, or null if it must be read.
  const KnownEntity* known_entity(std::size_t point) const noexcept;
  Ended look_up_together(std::span<const std::string_view> points);
  /// Takes the first points by a walk, as long as they are near. Adds how many to `taken`. Returns true if the page has ended.
  bool walk_points(std::span<const std::string_view> points, std::size_t& taken);
  Ended end_by(Status failure);
  /// Offers the entity to the order. Returns whether the page has ended, also by an error.
  bool offer(const Candidate& candidate);
  // These return true if the page has ended. If it ended by an error, failure_ is that error.
  bool take(Candidate candidate);
  bool take(std::string_view sort_key, format::CommitVersion version, std::string_view value);
  bool fail(Status failure);
  /// Ends the page. The next page begins at the candidate, or at the start of its partition.
  bool end_before(Candidate& candidate, bool at_partition = false);

  /// Keeps the entities of the order, once all were offered.
  Result<bool> keep_first();

  // These return false after an error, which is failure_ then.
  bool did(Status step);
  bool keep(Candidate& candidate);
  bool make_entity(Candidate& candidate);
  bool show(const Candidate& candidate);
  bool decode_key(Candidate& candidate) {
    if (candidate.is_key_decoded) return true;
    candidate.is_key_decoded = true;
    shared_with_key_ = kWhole;
    return key_.decode_row_alone(candidate.sort_key, candidate.shared) || decode_whole_key(candidate.sort_key);
  }
  bool decode_whole_key(std::string_view sort_key);

  /// Makes the subject of a filter or fold. Decodes the key if `with_keys` says so.
  bool open(Candidate& candidate, bool with_keys, FilterSubject& subject);
  bool fold(Candidate& candidate);

  /// Returns false also after an error, which is failure_ then.
  bool matches(Candidate& candidate);
  void make_room();
  /// Returns the bytes that the candidate takes of PageBounds::bytes_max.
  std::uint64_t bytes_of(const Candidate& candidate) const;
  /// Reads the clock only once every 16 entities, and never before the first entity was examined.
  bool is_over() {
    constexpr std::uint64_t kEntitiesBetween = 16;
    if (matched_ == bounds_.entities_max) return true;
    return page_.cost.entities_examined % kEntitiesBetween == 1 && is_time_over();
  }
  bool is_time_over();

  const engine::ReadView& view_;
  const Filter& filter_;
  const bool matches_everything_;
  BlockFilter block_filter_;
  const Scan& scan_;
  PageBounds bounds_;
  const Wanted wanted_;
  io::Clock& clock_;
  const EntityReader* const reader_;
  FirstEntities* first_ = nullptr;  // null: the page has the order of keys
  bool backward_;
  bool walks_in_order_ = false;  // of first_
  bool has_first_ = false;       // all of them
  std::chrono::milliseconds order_time_max_{0};
  EntityFold* fold_ = nullptr;
  format::EncodedEntity opened_;     // the candidate, if it was opened
  std::vector<PropertyView> shown_;  // of one entity; reused for all of them
  format::SortKeyDecoder key_;
  // The bytes that all keys of the cursor since the one in key_ share with it. kWhole: there were none.
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
  std::size_t shared_with_key_ = 0;
  PropertyRoom room_;
  engine::ReadCost read_cost_;

  std::span<const KeyRange> ranges_;
  const KeyRange* within_ = nullptr;
  bool others_follow_ = false;
  std::size_t next_range_ = 0;                            // in the direction of the scan
  std::optional<engine::Cursor> cursor_;                  // over the range that was begun, if it has more than a point
  std::vector<std::string_view> points_;                  // that were begun
  std::size_t next_point_ = 0;                            // of points_
  bool may_walk_points_ = false;                          // false once they were not near
  engine::Expects expects_ = engine::Expects::kAnything;  // of points
  std::size_t points_begin_ = 0;  // the place of the first of points_ among the ranges, in the scan's direction
  std::span<const std::optional<KnownEntity>> known_;  // one for each range, or none
  std::uint64_t taken_known_ = 0;                      // of the examined entities; they were not read
  PageShare share_;                                    // the rest of the present one
  std::uint64_t bytes_end_ = 0;                        // The present share ends at this many bytes.
  std::uint64_t matched_ = 0;
  std::uint64_t bytes_ = 0;
  Page page_;
  bool has_ended_ = false;  // before the end of the ranges
  Status failure_;
};

}  // namespace varve
