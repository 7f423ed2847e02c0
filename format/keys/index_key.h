// Owns: the definition of a secondary index, and the keys and values of its entries, as bytes.
// Must never: give two values the order of bytes that contradicts their order as values, or find more than one entity in
// one key.
//
//   entry key   = index id (8 bytes, big-endian) . escaped(components) 00 . escaped(text(PartitionKey) . text(RowKey)) 00
//   entry value = the carried properties, as an entity (entity.h)
//
// escaped(b) writes bytes 00 and 01 as 01 01 and 01 02, as text(s) does. So the key has the frame of a sort key, and its
// first part is the partition of its lock. A component is a tag byte and a value, and ends itself:
//
//   tag 11 Binary    the bytes, with 00 and 01 escaped, then the end
//       12 Boolean   1 byte: 0 or 1
//       13 DateTime  u64, big-endian
//       14 Double    u64, big-endian: the bits, all inverted if the sign is set, else with the sign set. -0.0 is
//                    written as 0.0. Every NaN is the same one, and sorts above infinity
//       15 Guid      16 bytes, in the order of its text
//       16 Int32     u32, big-endian, with the sign inverted
//       17 Int64     u64, big-endian, with the sign inverted
//       18 String    text(s) without its end byte, then the end. PartitionKey and RowKey are Strings
//       19 Timestamp the version of the entity: nine bytes of seven bits each, the highest bits first, each plus 2
//
// The commit that writes an entity assigns its version after it has made the entries. So a Timestamp has the same length for
// each version, and none of its bytes is escaped. In a batch without a version, a Timestamp is that of version zero.
//
// Only the first 256 bytes of a Binary or a String are written (of UTF-8, counted before the escape). The end is 00, or FF
// after a value that was cut. A descending component has all its bytes inverted, its tag too. An entity that lacks a
// component, or has a LargeValue there, has no entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::format {

/// An index has the number n + kIndexTables in its account, where n is a table number that was drawn for it. So an id
/// alone says that its keys are those of an index. n is below kIndexTablesMax.
inline constexpr std::uint32_t kIndexTables = 0xC000'0000;
inline constexpr std::uint32_t kIndexTablesMax = std::uint32_t{1} << 29;
constexpr bool is_index(TableId table) noexcept {
  return account_of(table) != 0 &&
         static_cast<std::uint32_t>(table) / kIndexTablesMax == kIndexTables / kIndexTablesMax;
}
/// Returns the id of the index for which this table id was drawn, and back.
constexpr TableId index_of_drawn(TableId drawn) noexcept {
  return drawn + kIndexTables;
}
constexpr TableId drawn_for_index(TableId index) noexcept {
  return index - kIndexTables;
}

inline constexpr std::size_t kIndexComponentsMax = 4;
inline constexpr std::size_t kIndexCarriedMax = 252;
/// The limit of a String or Binary in a component, in bytes before the escape.
inline constexpr std::size_t kIndexTextBytesMax = 256;
/// Limit of an entry's key in bytes. A byte 00 of a String takes four bytes; a byte of an encoded text takes two at most.
inline constexpr std::size_t kIndexKeyBytesMax = kTableIdBytes +
                                                 kIndexComponentsMax * (1 + 4 * kIndexTextBytesMax + 2) + 1 +
                                                 2 * (kSortKeyBytesMax - kTableIdBytes) + 1;
/// Limit of the keys of entities and of entries.
inline constexpr std::size_t kAnyKeyBytesMax = kIndexKeyBytesMax;
static_assert(kAnyKeyBytesMax >= kSortKeyBytesMax);

/// What a component is made of. The numbers are part of the format.
enum class IndexSource : std::uint8_t { kProperty = 1, kPartitionKey = 2, kRowKey = 3, kTimestamp = 4 };

struct IndexComponent {
  IndexSource source = IndexSource::kProperty;
  /// The name of the property. Empty for another source.
  std::string property{};
  bool is_descending = false;
  bool operator==(const IndexComponent&) const = default;
};

struct IndexDefinition {
  std::vector<IndexComponent> components{};
  /// Whether two entities may not have equal components.
  bool is_unique = false;
  /// The names of the properties that an entry's value repeats.
  std::vector<std::string> carried{};
  bool operator==(const IndexDefinition&) const = default;
};

/// Errors: kInvalidArgument: no component or too many, a name that is empty, too long, repeated, or given to another source
/// than a property, a Timestamp in a unique index.
Status check_index_definition(const IndexDefinition& definition);

/// Tagged fields: 1 component (list: source byte, byte 0 ascending or 1 descending, name), 3 unique (number 1, else
/// missing), 5 name of a carried property (list). The definition was checked.
std::string encode_index_definition(const IndexDefinition& definition);
/// Errors: kCorruption; kUnsupported (an unknown source, or an unknown odd tag).
Result<IndexDefinition> decode_index_definition(std::string_view bytes);

/// Appends the component of a value, which has the form that it has in an entity, to components that are not escaped yet.
/// Returns whether the value was cut. The type is not LargeValue (asserted).
bool append_index_component(std::string& components, PropertyType type, std::string_view value, bool is_descending);

/// Appends the component of a Timestamp to components that are not escaped yet.
void append_index_timestamp(std::string& components, CommitVersion version, bool is_descending);
/// Writes the version into a component that append_index_timestamp() made for version zero. `at` is its tag, also within a key.
void set_index_timestamp(char* at, CommitVersion version) noexcept;
inline constexpr std::size_t kIndexTimestampBytes = 10;

/// Facts about components beside their bytes.
struct IndexComponentsInfo {
  bool was_cut = false;
  /// Where the tag of the Timestamp is.
  std::optional<std::size_t> timestamp_at{};
};

/// Returns the components of an entity, not escaped, or nothing if it has no entry. `sort_key` is the entity's, and is
/// framed. `version` is zero if the entity has none yet.
std::optional<std::string> index_components(const IndexDefinition& definition, std::string_view sort_key,
                                            CommitVersion version, const EncodedEntity& properties,
                                            IndexComponentsInfo* info = nullptr);

/// Returns whether a component of the entity is NaN, which no value equals.
bool has_nan_component(const IndexDefinition& definition, const EncodedEntity& properties);

/// Returns the prefix that all keys share whose components begin with these, which are not escaped.
std::string index_prefix(TableId index, std::string_view components);
/// Returns the part of a key that all entities with these components share: the partition of its lock.
std::string index_partition(TableId index, std::string_view components);
/// Returns the bound that divides the entries with these components as `bound` divides the keys of entities. `prefix` is
/// index_prefix() of all components. `bound` begins with a table's id, and need not be a whole key.
std::string index_bound(std::string_view prefix, std::string_view bound);
/// Returns the key of an entity's entry. `components` are not escaped.
std::string encode_index_key(TableId index, std::string_view components, std::string_view sort_key);
/// Returns an entry's value.
std::string encode_index_value(const IndexDefinition& definition, const EncodedEntity& properties);

/// One component of a decoded key.
struct IndexValue {
  PropertyType type = PropertyType::kString;
  /// As in an entity.
  std::string value{};
  bool was_cut = false;
  bool is_descending = false;
  /// The value is the entity's Timestamp, and no property.
  bool is_timestamp = false;
  bool operator==(const IndexValue&) const = default;
};
struct IndexKey {
  TableId index = 0;
  std::vector<IndexValue> components{};
  SortKey entity{};  // its table is zero
};
/// Decodes the key of an entry, whatever the definition of its index. Errors: kCorruption. A key that was decoded is
/// one that encode_index_key() makes, except for the last character of a String that was cut.
Result<IndexKey> decode_index_key(std::string_view key);
/// Decodes the components alone. Errors: kCorruption; of the rest of the key, only the frame is checked.
Result<std::vector<IndexValue>> decode_index_components(std::string_view key);
/// Returns the sort key of the entry's entity in `table`. Errors: kCorruption; only the frame and the escapes are checked.
Result<std::string> entity_key_of(std::string_view index_key, TableId table);

}  // namespace varve::format
