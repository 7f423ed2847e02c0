// Owns: the conversions of values.h.
#include "api/c/values.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"
#include "api/model/large_value_maker.h"

namespace varve::c {
namespace {

Result<Value> read_value(const varve_value& value) {
  switch (value.type) {
    case VARVE_BINARY: {
      Result<std::string_view> bytes = read_text(value.as.text, "the bytes of a property");
      return bytes.ok() ? Result<Value>(Value(Binary{std::string(*bytes)})) : bytes.status();
    }
    case VARVE_BOOLEAN: return Value(value.as.boolean != 0);
    case VARVE_DATETIME: return Value(DateTime{value.as.datetime});
    case VARVE_DOUBLE: return Value(value.as.number);
    case VARVE_GUID: {
      Guid guid;
      std::memcpy(guid.bytes.data(), value.as.guid.bytes, guid.bytes.size());
      return Value(guid);
    }
    case VARVE_INT32: return Value(value.as.int32);
    case VARVE_INT64: return Value(value.as.int64);
    case VARVE_STRING: {
      Result<std::string_view> text = read_text(value.as.text, "the text of a property");
      return text.ok() ? Result<Value>(Value(*text)) : text.status();
    }
    // The commit checks that the account has a large value with this number and this length.
    case VARVE_LARGE_VALUE: return Value(LargeValueMaker::make({value.as.large.id, value.as.large.length}));
    default:
      return Status::invalid_argument("the type of a property is " + std::to_string(value.type) +
                                      "; VARVE_BINARY (1) to VARVE_LARGE_VALUE (9) are allowed");
  }
}

Result<std::vector<std::string>> read_select(const varve_text* names, std::size_t count) {
  if (names == nullptr && count != 0) return null_pointer("select");
  std::vector<std::string> select;
  // One more than allowed is enough for the verb to refuse it.
  for (std::size_t i = 0; i < std::min(count, limits::kSelectedNamesMax + 1); ++i) {
    const Result<std::string_view> name = read_text(names[i], "a selected name");
    if (!name.ok()) return name.status();
    select.emplace_back(*name);
  }
  return select;
}

Result<ScanRange> read_range(const varve_scan& scan) {
  const Result<std::string_view> partition = read_text(scan.partition_key, "partition_key");
  if (!partition.ok()) return partition.status();
  const Result<std::string_view> from = read_text(scan.from, "from");
  if (!from.ok()) return from.status();
  const Result<std::string_view> end = read_text(scan.to, "to");
  if (!end.ok()) return end.status();
  const std::optional<std::string> to = scan.to.data == nullptr ? std::nullopt : std::optional<std::string>(*end);
  switch (scan.range) {
    case VARVE_RANGE_TABLE: return ScanRange::whole_table();
    case VARVE_RANGE_PARTITION: return ScanRange::partition(*partition);
    case VARVE_RANGE_ROWS: return ScanRange::rows(*partition, *from, to);
    case VARVE_RANGE_ROW_PREFIX: return ScanRange::rows_with_prefix(*partition, *from);
    case VARVE_RANGE_PARTITIONS: return ScanRange::partitions(*from, to);
    default:
      return Status::invalid_argument("the range of a scan is " + std::to_string(scan.range) +
                                      "; VARVE_RANGE_TABLE (0) to VARVE_RANGE_PARTITIONS (4) are allowed");
  }
}

Result<std::optional<KeyBound>> read_bound(const varve_text& partition_key, const varve_text& row_key) {
  const Result<std::string_view> partition = read_text(partition_key, "the PartitionKey of a bound");
  if (!partition.ok()) return partition.status();
  const Result<std::string_view> row = read_text(row_key, "the RowKey of a bound");
  if (!row.ok()) return row.status();
  if (partition_key.data == nullptr) {
    if (row_key.data == nullptr) return std::optional<KeyBound>();
    return Status::invalid_argument("a bound has a RowKey and no PartitionKey; set both, or only the PartitionKey");
  }
  KeyBound bound{std::string(*partition)};
  if (row_key.data != nullptr) bound.row_key = std::string(*row);
  return std::optional<KeyBound>(std::move(bound));
}

Result<Property> read_property(const varve_property& property) {
  const Result<std::string_view> name = read_text(property.name, "the name of a property");
  if (!name.ok()) return name.status();
  Result<Value> value = read_value(property.value);
  if (!value.ok()) return value.status();
  return Property{std::string(*name), *std::move(value)};
}

}  // namespace

Result<std::string_view> read_text(const varve_text& text, std::string_view name) noexcept {
  if (text.data != nullptr) return std::string_view(text.data, text.size);
  if (text.size == 0) return std::string_view();
  return Status::invalid_argument("the data is NULL, but the size is not zero").in_file(name);
}

Result<std::vector<std::string>> read_names(const varve_text* names, std::size_t count, std::string_view what) {
  if (names == nullptr && count != 0) return null_pointer(what);
  std::vector<std::string> read;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<std::string_view> name = read_text(names[i], "the name of a property");
    if (!name.ok()) return name.status();
    read.emplace_back(*name);
  }
  return read;
}

Result<Entity> read_entity(const varve_entity* entity) {
  if (entity == nullptr) return null_pointer("entity");
  const Result<std::string_view> partition = read_text(entity->partition_key, "PartitionKey");
  if (!partition.ok()) return partition.status();
  const Result<std::string_view> row = read_text(entity->row_key, "RowKey");
  if (!row.ok()) return row.status();
  if (entity->properties == nullptr && entity->property_count != 0) return null_pointer("properties");
  Entity made{std::string(*partition), std::string(*row)};
  made.reserve(std::min<std::size_t>(entity->property_count, StoreLimits::kCustomPropertiesCeiling));
  for (std::size_t i = 0; i < entity->property_count; ++i) {
    Result<Property> property = read_property(entity->properties[i]);
    if (!property.ok()) return property.status();
    made.add(std::move(property->name), std::move(property->value));
  }
  return made;
}

Result<ReadPatch> read_patch(const varve_patch* patch) {
  if (patch == nullptr) return null_pointer("patch");
  const Result<varve_patch> given = read_sized(patch);
  if (!given.ok()) return given.status();
  Result<Entity> entity = read_entity(&given->entity);
  if (!entity.ok()) return entity.status();
  if (given->removed == nullptr && given->removed_count != 0) return null_pointer("removed");
  if (given->increments == nullptr && given->increment_count != 0) return null_pointer("increments");
  const Result<std::string_view> condition = read_text(given->condition, "condition");
  if (!condition.ok()) return condition.status();
  ReadPatch read{Patch(entity->partition_key(), entity->row_key()), to_etag(given->if_match), given->may_insert};
  for (Property& property : std::move(*entity).properties()) {
    read.patch.set(std::move(property.name), std::move(property.value));
  }
  for (std::size_t i = 0; i < given->removed_count; ++i) {
    const Result<std::string_view> name = read_text(given->removed[i], "the name of a property");
    if (!name.ok()) return name.status();
    read.patch.remove(std::string(*name));
  }
  for (std::size_t i = 0; i < given->increment_count; ++i) {
    Result<Property> increment = read_property(given->increments[i]);
    if (!increment.ok()) return increment.status();
    read.patch.increment(std::move(increment->name), std::move(increment->value));
  }
  read.patch.only_if(std::string(*condition));
  return read;
}

Result<WriteOperation> read_operation(const varve_operation& operation, const varve_text& condition) {
  if (operation.kind < VARVE_INSERT || operation.kind > VARVE_REMOVE) {
    return Status::invalid_argument("the kind of an operation is " + std::to_string(operation.kind) +
                                    "; VARVE_INSERT (0) to VARVE_REMOVE (5) are allowed");
  }
  const Result<std::string_view> filter = read_text(condition, "condition");
  if (!filter.ok()) return filter.status();
  Result<Entity> entity = read_entity(&operation.entity);
  if (!entity.ok()) return entity.status();
  return WriteOperation{static_cast<WriteOperation::Kind>(operation.kind), *std::move(entity),
                        to_etag(operation.if_match)}
      .only_if(std::string(*filter));
}

Result<std::vector<EntityKey>> read_keys(const varve_key* keys, std::size_t count) {
  if (keys == nullptr && count != 0) return null_pointer("keys");
  std::vector<EntityKey> read;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<std::string_view> partition = read_text(keys[i].partition_key, "PartitionKey");
    if (!partition.ok()) return partition.status();
    const Result<std::string_view> row = read_text(keys[i].row_key, "RowKey");
    if (!row.ok()) return row.status();
    read.push_back({std::string(*partition), std::string(*row)});
  }
  return read;
}

std::chrono::milliseconds to_milliseconds(std::uint64_t count) noexcept {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 40;
  return std::chrono::milliseconds(std::min(count, kMax));
}

Result<std::optional<Durability>> read_durability(std::int32_t durability) {
  if (durability == VARVE_SYNC || durability == VARVE_BUFFERED) {
    return std::optional<Durability>(static_cast<Durability>(durability));
  }
  if (durability == VARVE_DURABILITY_DEFAULT) return std::optional<Durability>();
  return Status::invalid_argument("durability is " + std::to_string(durability) +
                                  "; 0, VARVE_SYNC (1) and VARVE_BUFFERED (2) are allowed");
}

Result<WriteOptions> read_write_options(const varve_write_options* options) {
  const Result<varve_write_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  WriteOptions read;
  const Result<std::optional<Durability>> durability = read_durability(given->durability);
  if (!durability.ok()) return durability.status();
  read.durability = *durability;
  // A longer wait than this is no wait with an end.
  constexpr std::uint64_t kWaitMax = std::uint64_t{1} << 40;
  if (given->has_wait_max && given->wait_max_ms < kWaitMax) {
    read.wait_max = std::chrono::milliseconds(given->wait_max_ms);
  }
  const Result<std::string_view> tag = read_text(given->tag, "tag");
  if (!tag.ok()) return tag.status();
  read.tag = *tag;
  return read;
}

Result<std::optional<Snapshot>> read_snapshot(const varve_snapshot* snapshot) {
  if (snapshot == nullptr) return std::optional<Snapshot>();
  const Use<SnapshotObject> use(snapshot);
  if (!use.ok()) return use.status();
  return std::optional<Snapshot>(use->snapshot);
}

Result<ReadOptions> read_read_options(const varve_read_options* options) {
  const Result<varve_read_options> given = read_sized(options);
  if (!given.ok()) return given.status();
  Result<std::vector<std::string>> select = read_select(given->select, given->select_count);
  if (!select.ok()) return select.status();
  Result<std::optional<Snapshot>> snapshot = read_snapshot(given->snapshot);
  if (!snapshot.ok()) return snapshot.status();
  return ReadOptions{*std::move(select), *std::move(snapshot)};
}

Result<Scan> read_scan(const varve_scan* scan, const StoreLimits& limits) {
  const Result<varve_scan> given = read_sized(scan);
  if (!given.ok()) return given.status();
  Result<ScanRange> range = read_range(*given);
  if (!range.ok()) return range.status();
  const Result<std::string_view> filter = read_text(given->filter, "filter");
  if (!filter.ok()) return filter.status();
  const Result<std::string_view> continuation = read_text(given->continuation, "continuation");
  if (!continuation.ok()) return continuation.status();
  const Result<std::string_view> order_by = read_text(given->order_by, "order_by");
  if (!order_by.ok()) return order_by.status();
  Result<std::vector<std::string>> select = read_select(given->select, given->select_count);
  if (!select.ok()) return select.status();
  Result<std::optional<Snapshot>> snapshot = read_snapshot(given->snapshot);
  if (!snapshot.ok()) return snapshot.status();

  Scan read;
  read.order_by = *order_by;
  read.range = *std::move(range);
  read.filter = *filter;
  read.continuation = *continuation;
  read.backward = given->backward;
  read.page_entities_max = given->page_entities_max != 0 ? given->page_entities_max
                                                         : std::min(limits::kPageEntitiesMax, limits.page_entities_max);
  if (given->page_bytes_max != 0) read.page_bytes_max = given->page_bytes_max;
  if (given->has_take) read.take = given->take;
  // The verb refuses everything above limits::kPageTimeMax.
  constexpr std::uint64_t kTimeMax = 1'000'000;
  if (given->time_max_ms != 0) read.page_time_max = std::chrono::milliseconds(std::min(given->time_max_ms, kTimeMax));
  if (given->order_time_max_ms != 0) read.order_time_max = to_milliseconds(given->order_time_max_ms);
  read.filter_extensions = !given->no_filter_extensions;
  read.read.select = *std::move(select);
  read.read.snapshot = *std::move(snapshot);
  return read;
}

Result<Access> read_access(const varve_access* access) {
  if (access == nullptr) return null_pointer("access");
  const Result<varve_access> given = read_sized(access);
  if (!given.ok()) return given.status();
  constexpr std::uint32_t kAll = VARVE_MAY_QUERY | VARVE_MAY_ADD | VARVE_MAY_UPDATE | VARVE_MAY_DELETE;
  if ((given->permissions & ~kAll) != 0) {
    return Status::invalid_argument("permissions has unknown bits; the sum of VARVE_MAY_* is expected");
  }
  std::string letters;
  for (const auto& [bit, letter] :
       {std::pair{VARVE_MAY_QUERY, 'r'}, {VARVE_MAY_ADD, 'a'}, {VARVE_MAY_UPDATE, 'u'}, {VARVE_MAY_DELETE, 'd'}}) {
    if ((given->permissions & static_cast<std::uint32_t>(bit)) != 0) letters.push_back(letter);
  }
  Result<Permissions> permissions = Permissions::parse(letters);
  if (!permissions.ok()) return permissions.status();
  Result<std::optional<KeyBound>> from = read_bound(given->from_partition_key, given->from_row_key);
  if (!from.ok()) return from.status();
  Result<std::optional<KeyBound>> to = read_bound(given->to_partition_key, given->to_row_key);
  if (!to.ok()) return to.status();
  Access read;
  read.permissions = *permissions;
  read.interval = {*std::move(from), *std::move(to)};
  return read;
}

varve_value value_of(const ValueView& value) noexcept {
  varve_value made{};
  made.type = static_cast<varve_type>(property_type_of(value));
  std::visit(
      [&made](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, BinaryView>) made.as.text = text_of(held.bytes);
        if constexpr (std::is_same_v<T, bool>) made.as.boolean = held ? 1 : 0;
        if constexpr (std::is_same_v<T, DateTime>) made.as.datetime = held.ticks;
        if constexpr (std::is_same_v<T, double>) made.as.number = held;
        if constexpr (std::is_same_v<T, Guid>) std::memcpy(made.as.guid.bytes, held.bytes.data(), held.bytes.size());
        if constexpr (std::is_same_v<T, LargeValue>) made.as.large = {held.id(), held.length()};
        if constexpr (std::is_same_v<T, std::int32_t>) made.as.int32 = held;
        if constexpr (std::is_same_v<T, std::int64_t>) made.as.int64 = held;
        if constexpr (std::is_same_v<T, std::string_view>) made.as.text = text_of(held);
      },
      value);
  return made;
}

}  // namespace varve::c
