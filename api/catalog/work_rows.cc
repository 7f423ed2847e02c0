// Owns: the encoding of work rows (work_rows.h).
// Must never: give two pieces of work one key.
#include "api/catalog/work_rows.h"

#include <optional>

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
  return Work{static_cast<WorkKind>(parts->first.front()), *subject, *owner};
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
