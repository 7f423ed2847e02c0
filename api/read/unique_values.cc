// Owns: the search for the entities that have the values of unique indexes (unique_values.h).
// Must never: show the keys of an entity to a caller who may not read it.
#include "api/read/unique_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

bool is_checked(const TableIndex& index) noexcept {
  return index.definition.is_unique && index.is_maintained();
}

/// Returns the refusal of a value which the entity of this entry has.
Status value_is_taken(const TableIndex& index, std::string_view entry_key, std::string_view holder_key,
                      const UniqueValues::Giver& giver) {
  constexpr format::TableId kNoTable = 0;  // no one sees the table's id
  const Result<std::string> refused = format::entity_key_of(entry_key, kNoTable);
  if (!refused.ok()) return refused.status();
  const Result<std::string> holder = format::entity_key_of(holder_key, kNoTable);
  if (!holder.ok()) return holder.status();
  const Result<format::SortKey> keys = format::decode_sort_key(*holder);
  if (!keys.ok()) return keys.status();
  TakenValue taken{index.name, giver.may_see_others, {}, {}};
  std::string message = "the entity " + quoted_keys(*refused) + " has a value of the unique index " +
                        quoted(index.name) + " that another entity has already";
  if (giver.may_see_others) {
    taken.partition_key = keys->partition_key;
    taken.row_key = keys->row_key;
    message.append(": ").append(quoted_keys(*holder));
  }
  return Status::exists(message).with_service_error(kIndexValueAlreadyExists).with_taken_value(taken);
}

}  // namespace

bool has_unique_index(const TableIndexes& indexes) noexcept {
  return std::any_of(indexes.all.begin(), indexes.all.end(), is_checked);
}

bool compares_value(const TableIndex& index, const format::EncodedEntity& properties) {
  return is_checked(index) && !format::has_nan_component(index.definition, properties);
}

void append_value_lock(const TableIndex& index, std::string_view sort_key, const format::EncodedEntity& properties,
                       std::vector<std::uint64_t>& hashes) {
  if (!compares_value(index, properties)) return;
  constexpr format::CommitVersion kNoVersion = 0;  // A unique index has no Timestamp.
  const std::optional<std::string> components =
      format::index_components(index.definition, sort_key, kNoVersion, properties);
  if (components) hashes.push_back(format::partition_hash(format::index_partition(index.id, *components)));
}

Status UniqueValues::give(const TableIndex& index, std::string_view components, bool was_cut, std::string_view sort_key,
                          const Giver& giver) {
  if (was_cut) {
    return service_error::property_value_too_large(
        "the entity " + quoted_keys(sort_key) + " has a String or Binary of more than " +
        std::to_string(format::kIndexTextBytesMax) + " bytes, which the unique index " + quoted(index.name) +
        " cannot compare");
  }
  std::string value = format::index_partition(index.id, components);
  if (!std::binary_search(locks_.begin(), locks_.end(), format::partition_hash(value))) {
    return Status(Code::kConflict).with_service_error(engine::kTableReshaped);
  }
  gifts_.push_back({&index, std::move(value), format::encode_index_key(index.id, components, sort_key), giver});
  return Status();
}

Refusal UniqueValues::check(const engine::ReadView& view, std::size_t& operation) {
  if (gifts_.empty()) return {};
  std::sort(taken_.begin(), taken_.end());
  std::vector<const Gift*> by_value;
  by_value.reserve(gifts_.size());
  for (const Gift& gift : gifts_) by_value.push_back(&gift);
  std::stable_sort(by_value.begin(), by_value.end(),
                   [](const Gift* left, const Gift* right) { return left->value < right->value; });
  for (std::size_t i = 0; i < by_value.size(); ++i) {
    const Gift& gift = *by_value[i];
    operation = gift.giver.operation;
    if (i > 0 && by_value[i - 1]->value == gift.value) {
      return value_is_taken(*gift.index, gift.entry_key, by_value[i - 1]->entry_key, gift.giver);
    }
    if (Refusal refusal = search(view, gift); refusal.is_refused()) return refusal;
  }
  return {};
}

/// Searches the entries of the value for one that stays beside the new one.
Refusal UniqueValues::search(const engine::ReadView& view, const Gift& gift) const {
  const std::string end = format::end_of_prefix(gift.value);
  std::string from = gift.value;
  for (;;) {
    const Result<std::optional<engine::NewestKey>> found = view.first_newest(from, end);
    if (!found.ok()) return found.status();
    if (!*found) return {};
    const std::string& holder = (*found)->sort_key;
    if (holder != gift.entry_key && !std::binary_search(taken_.begin(), taken_.end(), holder)) {
      return {value_is_taken(*gift.index, gift.entry_key, holder, gift.giver), (*found)->version};
    }
    from = holder;
    from.push_back('\0');  // No key lies between.
  }
}

}  // namespace varve
