// Owns: rows as a store of keys and values holds them.
// Must never: differ between contenders: a key is the sort key, a value the encoded properties, and what is read is
// decoded to the same object.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/entities.h"
#include "format/keys/sort_key.h"
#include "varve/entity_view.h"
#include "varve/result.h"

namespace varve::bench {

format::TableId id_of(std::uint32_t table);
std::string key_of(std::uint32_t table, std::string_view partition, std::string_view row);
std::string value_of(const Row& row);
/// A value with one property of another text.
Result<std::string> with_property(const Keys& keys, std::string_view value, std::string_view name,
                                  std::string_view text);

/// As an Entity, which is thrown away.
Status decode_row(const Keys& keys, std::string_view value);

/// Looks at the entries of one scan, as the contender finds them.
class EntryReader {
 public:
  /// Entities are made and thrown away, or seen in place; of a group alone, unless it is kNoGroup.
  explicit EntryReader(Scanned scanned, std::int32_t group = kNoGroup) noexcept : scanned_(scanned), group_(group) {}

  /// Whether the entry is one that is asked for.
  Result<bool> take(std::string_view key, std::string_view value);

 private:
  Result<bool> is_of_group(std::string_view value) const;
  Status make(std::string_view key, std::string_view value);
  Status see(std::string_view key, std::string_view value);

  const Scanned scanned_;
  const std::int32_t group_;
  // Of one entry seen; their memory serves them all.
  format::SortKeyDecoder key_;
  std::vector<PropertyView> properties_;
};

/// Such stores have no versions to compare, so their users put one before each value.
std::uint64_t version_of(std::string_view value);
std::string with_version(std::uint64_t version, std::string_view value);

/// The version that each partition's rows were left with; zero for one that has none. Any number of threads at once.
class KnownVersions {
 public:
  std::uint64_t of(std::string_view partition);
  void set(std::string_view partition, std::uint64_t version);

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> versions_;
};

}  // namespace varve::bench
