// Owns: the making of one page: ranges of keys walked in order, entities judged by the filter, the token where it ends.
// Must never: end a page without a token while something may follow.
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

/// What ends one page.
struct PageBounds {
  std::uint64_t entities_max = 0;
  std::uint64_t bytes_max = UINT64_MAX;
  std::chrono::nanoseconds deadline{0};
  /// What is left of Scan::take.
  std::optional<std::uint64_t> remaining{};
  std::optional<ShortPages> short_pages{};
  std::stop_token stop{};
};

enum class Wanted : std::uint8_t { kEntities, kCount };

/// For one page. What is passed to the constructor outlives it.
class PageScan {
 public:
  /// `filter` is what is left to be judged of entities in the ranges. Entities that are wanted are kept in the page or
  /// given to the reader, if there is one.
  PageScan(const engine::ReadView& view, const Filter& filter, const Scan& scan, PageBounds bounds, Wanted wanted,
           io::Clock& clock, const EntityReader* reader = nullptr);

  /// The ranges are in order and apart from each other. Of each, what lies within `within` is read, and the filter
  /// matches nothing there outside them.
  /// Errors: those of reading; kCorruption (what is stored cannot be read).
  Result<Page> run(std::span<const KeyRange> ranges, const KeyRange& within);
  /// How many entities the page holds, or would hold if they were wanted.
  std::uint64_t matched() const noexcept { return matched_; }

 private:
  /// An entity where it lies; the key is decoded once, and only for what needs it.
  struct Candidate {
    std::string_view sort_key;
    format::CommitVersion version = 0;
    std::string_view value;
    bool is_key_decoded = false;  // into key_
  };

  // True: the page has ended.
  Result<bool> walk(std::string_view lower, std::string_view upper);
  /// Zero: not known.
  std::uint64_t entities_expected() const noexcept;
  Result<bool> look_up(std::span<const std::string_view> points);
  Result<bool> take(std::string_view sort_key, format::CommitVersion version, std::string_view value);
  Status keep(Candidate& candidate);
  Status show(const Candidate& candidate);
  /// The next page begins at the candidate, or where its partition does.
  Result<bool> end_before(Candidate& candidate, bool at_partition = false);
  Result<bool> matches(Candidate& candidate);
  Status decode_key(Candidate& candidate);
  void make_room();
  bool is_over();

  const engine::ReadView& view_;
  const Filter& filter_;
  BlockFilter block_filter_;
  const Scan& scan_;
  PageBounds bounds_;
  const Wanted wanted_;
  io::Clock& clock_;
  const EntityReader* const reader_;
  std::vector<PropertyView> shown_;  // of one entity; its memory serves them all
  format::SortKeyDecoder key_;
  PropertyRoom room_;
  engine::ReadCost read_cost_;
  std::uint64_t matched_ = 0;
  std::uint64_t bytes_ = 0;
  Page page_;
};

}  // namespace varve
