// Owns: the encoding of work rows (work_rows.h).
// Must never: give two pieces of work one key.
#include "api/catalog/work_rows.h"

#include <optional>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/model/stored_row.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

constexpr std::string_view kDone = "Done";
constexpr std::string_view kExpiryContainer = "Container";
constexpr std::string_view kExpiryName = "Name";

bool is_work_kind(char letter) noexcept {
  return letter == 'F' || letter == 'L' || letter == 'S' || letter == 'C' || letter == 'T' || letter == 'X';
}

/// The work of a drop removes all rows of its subject, so nothing else may be taken for one.
bool may_be_stored(const Work& work) noexcept {
  switch (work.kind) {
    case WorkKind::kTable: return has_large_values(work.subject) && work.owner == table_fence_of(work.subject);
    case WorkKind::kContainer: return work.owner == fence_of(work.subject);
    default: return true;
  }
}

}  // namespace

std::string work_key(const Work& work) {
  return stored_row_key(kWorkTable, KindAndNumber(static_cast<char>(work.kind), work.subject), NumberText(work.owner));
}

Result<Work> decode_work_key(std::string_view key) {
  const std::optional<KeyParts> parts = key_parts_of(key);
  const bool has_kind = parts && !parts->first.empty() && is_work_kind(parts->first.front());
  const std::optional<std::uint64_t> subject = has_kind ? parse_number_text(parts->first.substr(1)) : std::nullopt;
  const std::optional<std::uint64_t> owner = has_kind ? parse_number_text(parts->second) : std::nullopt;
  if (!subject || !owner) return Status::corruption("the key of a work row has no kind or no two numbers");
  const Work work{static_cast<WorkKind>(parts->first.front()), *subject, *owner};
  if (!may_be_stored(work)) {
    return Status::corruption(
        "the key of a work row names the drop of a table or container with a fence that is not its own");
  }
  return work;
}

std::string encode_work(std::uint64_t done) {
  format::EntityBuilder builder;
  if (done != 0) builder.add_int64(kDone, static_cast<std::int64_t>(done));
  return builder.finish();
}

Result<std::uint64_t> decode_work(std::string_view value) {
  return decode_stored_row(value, "work row", [](RowReader& reader) {
    return reader.has(kDone) ? static_cast<std::uint64_t>(reader.number(kDone)) : std::uint64_t{0};
  });
}

std::string encode_expiry(const StagedPlace& place) {
  format::EntityBuilder builder;
  builder.add_int64(kExpiryContainer, static_cast<std::int64_t>(place.container));
  builder.add_string(kExpiryName, place.name);
  return builder.finish();
}

Result<StagedPlace> decode_expiry(std::string_view value) {
  return decode_stored_row(value, "expiry of staged blocks", [](RowReader& reader) {
    return StagedPlace{static_cast<format::TableId>(reader.number(kExpiryContainer)),
                       std::string(reader.text(kExpiryName))};
  });
}

}  // namespace varve
