// Owns: rows as keys and values for a key-value store.
// Must never: differ between contenders. A key is the sort key, a value is the encoded properties, and a read decodes
// them to an object of the same type.
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
/// Returns a value with another text for one property.
Result<std::string> with_property(const Keys& keys, std::string_view value, std::string_view name,
                                  std::string_view text);

/// Decodes a row to an Entity, and discards it.
Status decode_row(const Keys& keys, std::string_view value);

/// Copies bytes, and discards the copy. The compiler cannot leave the copy out.
void copy_bytes(std::string_view bytes);

/// Gives a row that was read in the form of `answer`, and discards it.
Status answer_row(Answer answer, std::string_view partition, std::string_view row, std::string_view value);

/// Reads the entries of one scan in the contender's memory.
class EntryReader {
 public:
  /// Entities are either built and discarded, or viewed in place. With Answer::kCopied keys and values are copied
  /// instead: to memory of their own, or over the entry before. Unless `group` is kNoGroup, only entities of that group
  /// are.
  explicit EntryReader(Answer answer, Scanned scanned, std::int32_t group = kNoGroup) noexcept
      : answer_(answer), scanned_(scanned), group_(group) {}

  /// Returns whether the entry belongs to the requested group.
  Result<bool> take(std::string_view key, std::string_view value);

 private:
  Result<bool> is_of_group(std::string_view value) const;
  Status make(std::string_view key, std::string_view value);
  Status see(std::string_view key, std::string_view value);
  void copy(std::string_view key, std::string_view value);

  const Answer answer_;
  const Scanned scanned_;
  const std::int32_t group_;
  // The decoded entry. All entries reuse this memory.
  format::SortKeyDecoder key_;
  std::vector<PropertyView> properties_;
  std::string copied_;
};

/// Returns the version before a value. Such stores have no versions to compare, so their users add one.
std::uint64_t version_of(std::string_view value);
std::string with_version(std::uint64_t version, std::string_view value);

/// The last version of each partition's rows. Zero means none. Any number of threads may use it.
class KnownVersions {
 public:
  std::uint64_t of(std::string_view partition);
  void set(std::string_view partition, std::uint64_t version);

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> versions_;
};

}  // namespace varve::bench
