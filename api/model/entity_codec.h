// Owns: the encoding of entities as stored bytes, their decoding, and the limits on the content of an entity.
// Must never: accept an entity that breaks a limit, or decode properties that the caller did not request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/model/property_room.h"
#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/entity_view.h"
#include "varve/result.h"
#include "varve/store_limits.h"
#include "varve/types.h"

namespace varve {

/// The names of the properties that every entity has.
inline constexpr std::string_view kPartitionKeyName = "PartitionKey";
inline constexpr std::string_view kRowKeyName = "RowKey";
inline constexpr std::string_view kTimestampName = "Timestamp";

/// Up to this number, names are compared pairwise. More names are sorted.
inline constexpr std::size_t kComparedPairwiseMax = 24;

/// The selected names. A few names are compared with each property; many names are sorted.
class Selection {
 public:
  explicit Selection(std::span<const std::string> select) : select_(select) {
    if (select.size() <= kComparedPairwiseMax) return;
    sorted_.reserve(select.size());
    for (std::size_t place = 0; place < select.size(); ++place) sorted_.emplace_back(select[place], place);
    std::sort(sorted_.begin(), sorted_.end());
  }
  /// Returns the first place of the name, or the number of names if it is not selected.
  std::size_t place_of(std::string_view name) const noexcept {
    if (sorted_.empty()) {
      return static_cast<std::size_t>(std::find(select_.begin(), select_.end(), name) - select_.begin());
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), Placed(name, 0));
    return found != sorted_.end() && found->first == name ? found->second : select_.size();
  }
  bool holds(std::string_view name) const noexcept { return place_of(name) != select_.size(); }

 private:
  using Placed = std::pair<std::string_view, std::size_t>;
  std::span<const std::string> select_;
  std::vector<Placed> sorted_;
};

/// The number of encoded properties, and the bytes that they take.
struct StoredSize {
  std::size_t properties = 0;
  std::size_t bytes = 0;
};
StoredSize stored_size(const Entity& entity) noexcept;
/// What check_properties() learns of an entity.
struct CheckedProperties {
  StoredSize size;
  bool has_large_values = false;
};

/// Checks the properties of an entity, in this order: each name and value; no name twice; their number; their size
/// together with the keys. The keys must be valid UTF-8. A property called Timestamp is ignored (D-50). Fills in
/// `learned`, if it is given.
/// Errors: kInvalidArgument, kTooLarge, as Table returns them for a write. Source: D-20 to D-39, D-60, D-62, O-07.
Status check_properties(const Entity& entity, const StoreLimits& limits = {}, CheckedProperties* learned = nullptr);

/// Encodes the properties of an entity that passed check_properties(), without Timestamp, into `value`. The old content
/// of `value` and `builder` is discarded, but their memory is reused.
void encode_properties(const Entity& entity, format::EntityBuilder& builder, std::string& value);
/// Returns the bytes that an entity takes in a transaction: its keys, and its properties as encode_properties() writes
/// them.
std::size_t encoded_size_bytes(const Entity& entity) noexcept;
/// Appends the encoded properties to `bytes` in place, and returns the whole. `size` must be stored_size() of the
/// entity.
std::string encode_properties_behind(std::string bytes, const Entity& entity, const StoredSize& size);

/// Merges two encoded property lists. A property of `added` replaces the property of `stored` that has the same name;
/// others are appended. A property that `removed` names is left out, unless it was added. `key_bytes` is the accounted
/// size of the entity's keys, including the constant of D-60. Both lists come from encode_properties().
/// Errors: kTooLarge (TooManyProperties, EntityTooLarge); kCorruption, kUnsupported (the stored bytes cannot be read).
/// Source: O-12, D-22, D-62.
Result<std::string> merge_properties(std::string_view stored, std::string_view added, std::size_t key_bytes,
                                     const StoreLimits& limits = {}, std::span<const std::string> removed = {});

/// Returns 4 + 2 for each code unit of both keys (D-60). The keys must be valid UTF-8.
std::size_t accounted_key_bytes(std::string_view partition_key, std::string_view row_key) noexcept;

/// Returns the bytes that the selected properties of an encoded entity take as an entity: all bytes if none is selected, or
/// if the entity cannot be decoded.
std::size_t selected_bytes(std::string_view bytes, std::span<const std::string> select);

/// Decodes what the commit `version` stored as `bytes` into an entity that has keys and no properties. If `select` is
/// not empty, only the properties that it names are decoded, in the order of the names. After an error, the properties of
/// the entity are unspecified. Errors: kCorruption, kUnsupported; the message names the keys.
Status decode_properties(Entity& entity, format::CommitVersion version, std::string_view bytes,
                         std::span<const std::string> select);
/// Decodes into `entity`, which has only its keys. The memory of its properties comes from `room`. After an error, the
/// properties of the entity are unspecified.
Status decode_properties(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                         PropertyRoom& room, Entity& entity);
/// Makes `value` a view of the stored value.
void view_value(const format::PropertyView& property, ValueView& value) noexcept;
/// Makes `entity`, which has its keys, a view of the entity in place. `properties` holds the viewed properties; its old
/// content is discarded, and its size is at least their number. Returns false if the entity cannot be read.
bool view_entity(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                 std::vector<PropertyView>& properties, EntityView& entity);
/// Returns why the entity cannot be read. Errors: as decode_properties().
Status unreadable(std::string_view bytes, std::string_view partition_key, std::string_view row_key);

}  // namespace varve
