// Owns: the making of one page: it scans ranges of keys in order, applies the filter, and makes the token at the end.
// Must never: end a page without a token while more entities may follow.
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
#include "api/filter/key_plan.h"
#include "api/model/property_room.h"
#include "api/read/short_pages.h"
#include "engine/engine.h"
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

/// Makes one page. The arguments of the constructor must outlive it.
class PageScan {
 public:
  /// `filter` is the part of the filter that must be evaluated for entities in the ranges. Entities that match are kept
  /// in the page, or passed to the reader if there is one.
  PageScan(const engine::ReadView& view, const Filter& filter, const Scan& scan, PageBounds bounds, Wanted wanted,
           io::Clock& clock, const EntityReader* reader = nullptr);

  /// Reads the ranges, which must be in order and disjoint. Reads only the part of each range inside `within`. Inside
  /// `within`, the filter matches nothing outside the ranges.
  /// Errors: those of reading; kCorruption (a stored entity cannot be decoded).
  Result<Page> run(std::span<const KeyRange> ranges, const KeyRange& within);
  /// Returns how many entities the page has, or would have if entities were wanted.
  std::uint64_t matched() const noexcept { return matched_; }

 private:
  /// An entity in the store's memory. Its key is decoded at most once, and only if needed.
  struct Candidate {
    std::string_view sort_key;
    format::CommitVersion version = 0;
    std::string_view value;
    bool is_key_decoded = false;  // into key_
  };

  // These return true if the page has ended. If it ended by an error, failure_ is that error.
  bool walk(std::string_view lower, std::string_view upper);
  /// Returns the expected number of entities; zero if it is not known.
  std::uint64_t entities_expected() const noexcept;
  bool look_up(std::span<const std::string_view> points);
  bool take(std::string_view sort_key, format::CommitVersion version, std::string_view value);
  bool fail(Status failure);
  /// Ends the page. The next page begins at the candidate, or at the start of its partition.
  bool end_before(Candidate& candidate, bool at_partition = false);

  // These return false after an error, which is failure_ then.
  bool keep(Candidate& candidate);
  bool show(const Candidate& candidate);
  bool decode_key(Candidate& candidate);

  /// Returns false also after an error, which is failure_ then.
  bool matches(Candidate& candidate);
  void make_room();
  bool is_over();

  const engine::ReadView& view_;
  const Filter& filter_;
  const bool matches_everything_;
  BlockFilter block_filter_;
  const Scan& scan_;
  PageBounds bounds_;
  const Wanted wanted_;
  io::Clock& clock_;
  const EntityReader* const reader_;
  std::vector<PropertyView> shown_;  // of one entity; reused for all of them
  format::SortKeyDecoder key_;
  PropertyRoom room_;
  engine::ReadCost read_cost_;
  std::uint64_t matched_ = 0;
  std::uint64_t bytes_ = 0;
  Page page_;
  Status failure_;
};

}  // namespace varve
