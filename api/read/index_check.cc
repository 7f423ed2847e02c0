// Owns: the sums over entities and entries by which indexes are compared (index_check.h).
// Must never: report an index that is being built, whose entries are not complete.
#include "api/read/index_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "api/model/quoted.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/keys/index_key.h"

namespace varve {

void IndexCheck::Sum::add(std::string_view key, std::string_view value, format::CommitVersion end) noexcept {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  ++count;
  // A sum of products notices two entries that have exchanged their values or ends. A sum of sums would not.
  hashes += format::content_hash(key) * (2 * (format::content_hash(value) + kOdd * end) + 1);
}

void IndexCheck::add_table(const TableRow& row, const std::string& subject) {
  for (const TableIndex& index : row.indexes.all) {
    if (!index.is_maintained()) continue;
    Checked& checked = indexes_[index.id];
    checked = {index, "index " + quoted(index.name) + " of " + subject};
    tables_[row.id].push_back(&checked);
  }
}

void IndexCheck::visit_entity(std::string_view sort_key, format::CommitVersion version,
                              const format::EncodedEntity& properties, format::CommitVersion end) {
  const auto table = tables_.find(format::table_id_of(sort_key));
  if (table == tables_.end()) return;
  for (Checked* const checked : table->second) {
    const TableIndex& index = checked->index;
    const std::optional<std::string> components =
        format::index_components(index.definition, sort_key, version, properties);
    if (!components) continue;
    checked->made.add(format::encode_index_key(index.id, *components, sort_key),
                      format::encode_index_value(index.definition, properties), end);
  }
}

Status IndexCheck::visit_entry(std::string_view key, std::string_view value, format::CommitVersion end) {
  const Result<format::IndexKey> decoded = format::decode_index_key(key);
  if (!decoded.ok()) return decoded.status();
  const Result<format::EncodedEntity> carried = format::EncodedEntity::open(value);
  if (!carried.ok()) return carried.status();
  if (Status verified = carried->verify(); !verified.ok()) return verified;
  const auto index = indexes_.find(format::table_id_of(key));
  if (index == indexes_.end()) return Status::corruption("no catalog row names its index");
  index->second.found.add(key, value, end);
  return index->second.index.definition.is_unique ? compare_with_last(index->second, *decoded, key) : Status();
}

/// Compares the value of the entry with that of the last one.
Status IndexCheck::compare_with_last(Checked& checked, const format::IndexKey& entry, std::string_view key) {
  const std::string last = std::exchange(checked.last_key, std::string(key));
  if (last.empty() || format::partition_of(last) != format::partition_of(key)) return Status();
  const auto is_nan = [](const format::IndexValue& component) {
    return component.type == format::PropertyType::kDouble &&
           std::isnan(std::bit_cast<double>(format::load_u64(component.value.data())));
  };
  if (std::any_of(entry.components.begin(), entry.components.end(), is_nan)) return Status();
  constexpr format::TableId kNoTable = 0;
  const Result<std::string> other = format::entity_key_of(last, kNoTable);
  if (!other.ok()) return other.status();
  return Status::corruption("has the value of " + checked.subject + " that entity " + quoted_keys(*other) +
                            " has too, and the index is unique");
}

void IndexCheck::note_unread(format::TableId id) {
  if (const auto index = indexes_.find(id); index != indexes_.end()) index->second.is_unread = true;
  const auto table = tables_.find(id);
  if (table == tables_.end()) return;
  for (Checked* const checked : table->second) checked->is_unread = true;
}

void IndexCheck::count(std::uint64_t& indexes, std::uint64_t& entries) const {
  for (const auto& [id, checked] : indexes_) {
    if (checked.index.state != IndexState::kReady) continue;
    ++indexes;
    entries += checked.found.count;
  }
}

void IndexCheck::compare(const std::function<void(const std::string& subject, const Status& found)>& report) const {
  for (const auto& [id, checked] : indexes_) {
    if (checked.index.state != IndexState::kReady || checked.is_unread || checked.made == checked.found) continue;
    report(checked.subject, Status::corruption("has " + std::to_string(checked.found.count) +
                                               " entries; its table makes " + std::to_string(checked.made.count) +
                                               (checked.made.count == checked.found.count ? " others" : "")));
  }
}

}  // namespace varve
