// Owns: the making of one page: ranges of keys walked in order, entities judged by the filter, the token where it ends.
// Must never: end a page without a token while something may follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "api/query.h"
#include "engine/engine.h"
#include "format/sort_key.h"
#include "io/env.h"

namespace varve {

/// For one page. What is passed to the constructor outlives it.
class PageWalk {
 public:
  PageWalk(const engine::ReadView& view, const Filter& filter, const Scan& scan, io::Clock& clock);

  /// The ranges are in order and apart from each other, and the filter matches nothing outside them.
  /// Errors: those of reading; kCorruption (what is stored cannot be read).
  Result<Page> run(const std::vector<KeyRange>& ranges);

 private:
  /// True: the page has ended, before the entity at hand.
  Result<bool> walk(const KeyRange& range);
  Result<bool> look_up(const KeyRange& point);
  Result<bool> take(std::string_view sort_key, format::CommitVersion version, std::string_view value);
  /// `key` is there where the filter names keys.
  Result<bool> matches(const std::optional<format::SortKey>& key, format::CommitVersion version,
                       std::string_view value) const;
  bool is_over();

  const engine::ReadView& view_;
  const Filter& filter_;
  const Scan& scan_;
  io::Clock& clock_;
  const std::chrono::nanoseconds deadline_;
  Page page_;
};

}  // namespace varve
