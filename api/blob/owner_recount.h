// Owns: the recount of the owners of contents by their names, for a store that a repair made.
// Must never: give a content fewer owners than the rows that name it.
//
// A repair saves each row by itself. The newest state of a head may be lost, and an older one may be found. Then a removal
// of one name would remove a content that has another, or a content would stay for ever. If a head is lost, but not the
// parts, no removal would find the parts. If an older row of an append blob is found, the content that grew has parts that
// no row reaches; the next appends would be written over some of them, and readers would come upon the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/blob/content_rows.h"
#include "api/catalog/work_rows.h"
#include "engine/engine.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

/// The contents of one account. It needs memory for the number of each content.
class OwnerRecount {
 public:
  /// Rows to put, as keys and values, and keys without a value to remove.
  using Rows = std::vector<std::pair<std::string, std::optional<std::string>>>;

  /// The view outlives the object. If names may be missing, no content loses owners.
  OwnerRecount(const engine::ReadView& view, std::uint32_t account, bool may_miss_names) noexcept
      : view_(view), contents_(contents_of_account(account)), may_miss_names_(may_miss_names) {}

  /// Counts the names in the rows of a container. Errors: those of reading.
  Status add_container(format::TableId container);
  /// Counts the large values of a table's entities. Errors: those of reading.
  Status add_table(format::TableId table);
  /// Counts the names in lists of blocks. Then returns the heads that have another count, heads that entities' contents
  /// lost, work rows for contents without a name, and the parts that no name reaches. Errors: those of reading.
  Result<Rows> finish();

 private:
  struct Head {
    ContentId content = 0;
    ContentHead head;
  };
  struct Names {
    std::uint32_t count = 0;
    /// The length that an entity names.
    std::optional<std::uint64_t> length{};
    /// The longest length that a blob or a list names.
    std::uint64_t reach = 0;
  };
  void note(ContentId content, std::uint64_t length);
  Status read_heads();
  Status add_list(const Head& list);
  Status add_mended(const Head& found, Rows& rows) const;
  Status add_unreached(ContentId content, Rows& rows) const;
  Result<std::uint64_t> entries_let_go(ContentId list) const;
  Status find_empty_values();
  Status add_headless(ContentId content, Rows& rows) const;
  Status add_orphan(ContentId content, Rows& rows) const;
  Result<std::optional<std::uint64_t>> crc64_of(ContentId content, std::uint64_t length) const;
  Result<bool> has_work(WorkKind kind, ContentId content) const;
  std::string work_of(WorkKind kind, ContentId content) const;

  const engine::ReadView& view_;
  const format::TableId contents_;
  bool may_miss_names_;
  std::unordered_map<ContentId, Names> names_;
  std::vector<Head> heads_;
  std::vector<ContentId> headless_;
};

}  // namespace varve
