#include "bench/varve_bench/encoded_rows.h"

#include <cstring>
#include <optional>
#include <utility>

#include "api/model/entity_codec.h"
#include "format/keys/entity.h"

namespace varve::bench {

format::TableId id_of(std::uint32_t table) {
  return format::make_table_id(1, table + 1);
}

std::string key_of(std::uint32_t table, std::string_view partition, std::string_view row) {
  return *format::encode_sort_key(id_of(table), partition, row);
}

std::string value_of(const Row& row) {
  format::EntityBuilder builder;
  if (row.group != kNoGroup) builder.add_int32(kGroupName, row.group);
  for_properties(row, [&](const std::string& name, std::string_view text, bool is_binary) {
    is_binary ? builder.add_binary(name, text) : builder.add_string(name, text);
  });
  return builder.finish();
}

Result<std::string> with_property(const Keys& keys, std::string_view value, std::string_view name,
                                  std::string_view text) {
  format::EntityBuilder added;
  added.add_string(name, text);
  return merge_properties(value, added.finish(), accounted_key_bytes(keys.partition, keys.row));
}

Status decode_row(const Keys& keys, std::string_view value) {
  Entity entity(keys.partition, keys.row);
  return decode_properties(entity, 1, value, {});
}

namespace {

/// Makes the compiler believe that the bytes are read.
void use(const char* bytes) {
  asm volatile("" : : "r"(bytes) : "memory");
}

}  // namespace

void copy_bytes(std::string_view bytes) {
  const std::string copy(bytes);
  use(copy.data());
}

Status answer_row(Answer answer, std::string_view partition, std::string_view row, std::string_view value) {
  if (answer == Answer::kDecoded) return decode_row({std::string(partition), std::string(row)}, value);
  copy_bytes(value);
  return Status();
}

Result<bool> EntryReader::take(std::string_view key, std::string_view value) {
  const Result<bool> asked_for = is_of_group(value);
  if (!asked_for.ok() || !*asked_for) return asked_for;
  if (answer_ == Answer::kCopied) {
    copy(key, value);
    return true;
  }
  if (Status read = scanned_ == Scanned::kMade ? make(key, value) : see(key, value); !read.ok()) return read;
  return true;
}

Result<bool> EntryReader::is_of_group(std::string_view value) const {
  if (group_ == kNoGroup) return true;
  const Result<format::EncodedEntity> entity = format::EncodedEntity::open(value);
  if (!entity.ok()) return entity.status();
  const std::optional<format::PropertyView> found = entity->find(kGroupName);
  return found && found->type == format::PropertyType::kInt32 && found->as_int32() == group_;
}

Status EntryReader::make(std::string_view key, std::string_view value) {
  Result<format::SortKey> keys = format::decode_sort_key(key);
  if (!keys.ok()) return keys.status();
  Entity entity(std::move(keys->partition_key), std::move(keys->row_key));
  return decode_properties(entity, 1, value, {});
}

Status EntryReader::see(std::string_view key, std::string_view value) {
  if (Status decoded = key_.decode(key); !decoded.ok()) return decoded;
  EntityView entity;
  entity.partition_key = key_.partition_key();
  entity.row_key = key_.row_key();
  if (view_entity(1, value, {}, properties_, entity)) return Status();
  return unreadable(value, entity.partition_key, entity.row_key);
}

void EntryReader::copy(std::string_view key, std::string_view value) {
  if (scanned_ == Scanned::kMade) {
    copy_bytes(key);
    copy_bytes(value);
    return;
  }
  copied_.assign(key);
  copied_.append(value);
  use(copied_.data());
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
