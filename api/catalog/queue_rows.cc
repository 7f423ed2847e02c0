// Owns: the encoding of queues' catalog rows (queue_rows.h).
// Must never: return metadata or a limit that no caller could have set.
#include "api/catalog/queue_rows.h"

#include <optional>
#include <utility>

#include "api/catalog/metadata_rows.h"
#include "api/catalog/row_numbers.h"
#include "api/model/quoted.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kQueueIdName = "Id";
constexpr std::string_view kSecret = "Secret";
constexpr std::string_view kMessageBytesMax = "MessageBytesMax";
constexpr std::string_view kReleaseOnOpen = "ReleaseOnOpen";
constexpr std::string_view kSecretRow = "queues";

std::string queue_in_message(std::string_view account, std::string_view queue) {
  return "catalog row of queue " + quoted(queue) + " of account " + quoted(account);
}

std::optional<std::uint32_t> find_message_limit(const format::EncodedEntity& row) {
  const std::optional<format::PropertyView> limit = row.find(kMessageBytesMax);
  if (!limit) return QueueOptions().message_bytes_max;
  if (limit->type != format::PropertyType::kInt32) return std::nullopt;
  const std::int32_t bytes = limit->as_int32();
  if (bytes < 1 || static_cast<std::uint32_t>(bytes) > limits::kMessageBytesMaxLimit) return std::nullopt;
  return static_cast<std::uint32_t>(bytes);
}

std::optional<bool> find_release(const format::EncodedEntity& row) {
  const std::optional<format::PropertyView> release = row.find(kReleaseOnOpen);
  if (!release) return false;
  if (release->type != format::PropertyType::kBoolean) return std::nullopt;
  return release->as_boolean();
}

}  // namespace

// Legal names are ASCII, so encoding them cannot fail.

std::string queue_row_key(std::string_view account, std::string_view queue) {
  return *format::encode_sort_key(kQueuesTable, account, queue);
}

std::string queue_secret_key() {
  return *format::encode_sort_key(kServiceTable, "", kSecretRow);
}

std::string queue_drop_note_key(std::string_view account, std::string_view queue) {
  return *format::encode_sort_key(kQueueDropsTable, account, queue);
}

std::string queue_rows_prefix(std::string_view account) {
  return *format::encode_partition(kQueuesTable, account);
}

Result<QueueRow> decode_queue_row(std::string_view account, std::string_view queue, format::CommitVersion version,
                                  std::string_view value) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(queue_in_message(account, queue));
  const std::optional<std::uint64_t> id =
      find_number(*row, kQueueIdName, format::make_table_id(kFirstNumber, kFirstNumber), UINT64_MAX);
  const std::optional<format::CommitVersion> created = find_created(*row, version);
  const std::optional<std::uint32_t> limit = find_message_limit(*row);
  const std::optional<bool> release = find_release(*row);
  std::optional<std::vector<MetadataPair>> metadata = find_metadata(*row);
  if (!id || !created || !limit || !release || !metadata) {
    return Status::corruption("a property is missing or out of its range").in_file(queue_in_message(account, queue));
  }
  return QueueRow{*id, *created, *limit, *release, *std::move(metadata)};
}

Result<std::uint64_t> decode_queue_secret(std::string_view value) {
  constexpr std::string_view kInMessage = "catalog row of the secret of queues";
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(kInMessage);
  const std::optional<std::uint64_t> secret = find_number(*row, kSecret, 1, UINT64_MAX);
  if (!secret) return Status::corruption("the number is missing").in_file(kInMessage);
  return *secret;
}

std::string encode_queue_row(format::TableId id, const QueueOptions& options) {
  format::EntityBuilder builder;
  builder.add_int64(kQueueIdName, static_cast<std::int64_t>(id));
  if (options.message_bytes_max != QueueOptions().message_bytes_max) {
    builder.add_int32(kMessageBytesMax, static_cast<std::int32_t>(options.message_bytes_max));
  }
  if (options.release_on_open) builder.add_boolean(kReleaseOnOpen, true);
  add_metadata(builder, options.metadata);
  return builder.finish();
}

std::string encode_queue_secret(std::uint64_t secret) {
  format::EntityBuilder builder;
  builder.add_int64(kSecret, static_cast<std::int64_t>(secret));
  return builder.finish();
}

Result<std::string> with_queue_id(std::string_view value, const QueueRow& row, format::TableId id) {
  return with_numbers(
      value, {{kQueueIdName, static_cast<std::int64_t>(id)}, {kCreated, static_cast<std::int64_t>(row.created)}});
}

Result<std::string> with_metadata(std::string_view value, const QueueRow& row,
                                  const std::vector<MetadataPair>& metadata) {
  const Result<format::EncodedEntity> before = format::EncodedEntity::open(value);
  if (!before.ok()) return before.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < before->property_count(); ++i) {
    const format::PropertyView property = before->property(i);
    if (!property.name.starts_with(kMetadataPrefix) && property.name != kCreated) builder.add(property);
  }
  builder.add_int64(kCreated, static_cast<std::int64_t>(row.created));
  add_metadata(builder, metadata);
  return builder.finish();
}

}  // namespace varve
