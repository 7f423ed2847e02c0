// Owns: the encoding of containers' catalog rows (container_rows.h).
// Must never: return metadata or an access that no caller could have set.
#include "api/catalog/container_rows.h"

#include <optional>
#include <utility>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/metadata_rows.h"
#include "api/catalog/row_numbers.h"
#include "api/model/quoted.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

constexpr std::string_view kContainerIdName = "Id";
constexpr std::string_view kContainerChanged = "Changed";
constexpr std::string_view kPublicAccessName = "PublicAccess";

std::string container_in_message(std::string_view account, std::string_view container) {
  return "catalog row of container " + quoted(container) + " of account " + quoted(account);
}

std::optional<PublicAccess> find_public_access(const format::EncodedEntity& row) {
  const std::optional<format::PropertyView> access = row.find(kPublicAccessName);
  if (!access) return PublicAccess::kNone;
  if (access->type != format::PropertyType::kInt32) return std::nullopt;
  const std::int32_t value = access->as_int32();
  if (value != static_cast<std::int32_t>(PublicAccess::kBlobs) &&
      value != static_cast<std::int32_t>(PublicAccess::kContainer)) {
    return std::nullopt;
  }
  return static_cast<PublicAccess>(value);
}

std::optional<format::CommitVersion> find_changed(const format::EncodedEntity& row, format::CommitVersion version) {
  if (!row.find(kContainerChanged)) return version;
  return find_number(row, kContainerChanged, 1, version);
}

bool is_known(std::string_view name) {
  return name == kContainerIdName || name == kCreated || name == kContainerChanged || name == kPublicAccessName ||
         name.starts_with(kMetadataPrefix) || name.starts_with(kLeasePrefix);
}

void add_container(format::EntityBuilder& builder, const ContainerRow& row) {
  builder.add_int64(kContainerIdName, static_cast<std::int64_t>(row.id));
  if (row.created != 0) builder.add_int64(kCreated, static_cast<std::int64_t>(row.created));
  if (row.changed != 0) builder.add_int64(kContainerChanged, static_cast<std::int64_t>(row.changed));
  if (row.public_access != PublicAccess::kNone) {
    builder.add_int32(kPublicAccessName, static_cast<std::int32_t>(row.public_access));
  }
  add_lease(builder, row.lease);
  add_metadata(builder, row.metadata);
}

}  // namespace

// Legal names are ASCII, so encoding them cannot fail.

std::string container_row_key(std::string_view account, std::string_view container) {
  return *format::encode_sort_key(kContainersTable, account, container);
}

std::string container_drop_note_key(std::string_view account, std::string_view container) {
  return *format::encode_sort_key(kContainerDropsTable, account, container);
}

std::string container_rows_prefix(std::string_view account) {
  return *format::encode_partition(kContainersTable, account);
}

Result<ContainerRow> decode_container_row(std::string_view account, std::string_view container,
                                          format::CommitVersion version, std::string_view value) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(container_in_message(account, container));
  const std::optional<std::uint64_t> id =
      find_number(*row, kContainerIdName, format::make_table_id(kFirstNumber, kFirstNumber), UINT64_MAX - 1);
  const std::optional<format::CommitVersion> created = find_created(*row, version);
  const std::optional<format::CommitVersion> changed = find_changed(*row, version);
  const std::optional<PublicAccess> access = find_public_access(*row);
  const std::optional<Lease> lease = find_lease(*row);
  std::optional<std::vector<MetadataPair>> metadata = find_metadata(*row);
  if (!id || !created || !changed || !access || !lease || !metadata) {
    return Status::corruption("a property is missing or out of its range")
        .in_file(container_in_message(account, container));
  }
  return ContainerRow{*id, *created, *changed, *access, *std::move(metadata), *lease};
}

std::string encode_new_container_row(format::TableId id, const ContainerOptions& options) {
  format::EntityBuilder builder;
  add_container(builder, {id, 0, 0, options.public_access, options.metadata, {}});
  return builder.finish();
}

Result<std::string> with_container(std::string_view before, const ContainerRow& row) {
  const Result<format::EncodedEntity> old = format::EncodedEntity::open(before);
  if (!old.ok()) return old.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < old->property_count(); ++i) {
    const format::PropertyView property = old->property(i);
    if (!is_known(property.name)) builder.add(property);
  }
  add_container(builder, row);
  return builder.finish();
}

}  // namespace varve
