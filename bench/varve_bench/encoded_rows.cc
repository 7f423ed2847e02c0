#include "bench/varve_bench/encoded_rows.h"

#include <cstring>
#include <utility>

#include "api/entity_codec.h"
#include "format/entity.h"

namespace varve::bench {

format::TableId id_of(std::uint32_t table) {
  return format::make_table_id(1, table + 1);
}

std::string key_of(std::uint32_t table, std::string_view partition, std::string_view row) {
  return *format::encode_sort_key(id_of(table), partition, row);
}

std::string value_of(std::string_view payload) {
  format::EntityBuilder builder;
  builder.add_string(kPayloadName, payload);
  return builder.finish();
}

Status decode_row(const Keys& keys, std::string_view value) {
  return decode_entity(keys.partition, keys.row, 1, value, {}).status();
}

Status decode_entry(std::string_view key, std::string_view value) {
  Result<format::SortKey> keys = format::decode_sort_key(key);
  if (!keys.ok()) return keys.status();
  return decode_entity(std::move(keys->partition_key), std::move(keys->row_key), 1, value, {}).status();
}

std::uint64_t version_of(std::string_view value) {
  std::uint64_t version = 0;
  if (value.size() >= sizeof version) std::memcpy(&version, value.data(), sizeof version);
  return version;
}

std::string with_version(std::uint64_t version, std::string_view value) {
  std::string text(sizeof version, '\0');
  std::memcpy(text.data(), &version, sizeof version);
  return text.append(value);
}

std::uint64_t KnownVersions::of(std::string_view partition) {
  const std::lock_guard lock(mutex_);
  const auto found = versions_.find(partition);
  return found == versions_.end() ? 0 : found->second;
}

void KnownVersions::set(std::string_view partition, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  versions_.insert_or_assign(std::string(partition), version);
}

}  // namespace varve::bench
