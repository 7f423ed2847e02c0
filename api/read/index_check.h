// Owns: the comparison of the indexes of a store with the entities that they index, for Store::verify.
// Must never: keep something for each entity or entry.
//
// An index is compared with what its entities would make: by the count of its entries, and by a sum of hashes of their keys,
// values and ends. So the entries may be visited in any order, before or after their entities. Only a value that a unique
// index has twice is found by the order of the keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

class IndexCheck {
 public:
  /// Takes the indexes of a table. `subject` names the table in findings.
  void add_table(const TableRow& row, const std::string& subject);
  bool has_indexes(format::TableId table) const { return tables_.contains(table); }
  /// Visits an entity of a table with indexes. `end` is zero if it has none.
  void visit_entity(std::string_view sort_key, format::CommitVersion version, const format::EncodedEntity& properties,
                    format::CommitVersion end);
  /// Visits an entry. Errors: kCorruption (also: the entry before has the same value of a unique index), kUnsupported.
  Status visit_entry(std::string_view key, std::string_view value, format::CommitVersion end);
  /// Notes that an entity of the table, or an entry of the index, could not be read. Then the comparison means nothing.
  void note_unread(format::TableId id);
  /// Reports each ready index whose entries are not those of its entities.
  void compare(const std::function<void(const std::string& subject, const Status& found)>& report) const;
  /// Counts the indexes that are ready, and their entries.
  void count(std::uint64_t& indexes, std::uint64_t& entries) const;

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t hashes = 0;
    void add(std::string_view key, std::string_view value, format::CommitVersion end) noexcept;
    bool operator==(const Sum&) const = default;
  };
  struct Checked {
    TableIndex index;
    std::string subject;
    Sum made{};
    Sum found{};
    bool is_unread = false;
    /// The entry that was visited last, if the index is unique.
    std::string last_key{};
  };
  static Status compare_with_last(Checked& checked, const format::IndexKey& entry, std::string_view key);

  std::map<format::TableId, Checked> indexes_;
  std::map<format::TableId, std::vector<Checked*>> tables_;
};

}  // namespace varve
