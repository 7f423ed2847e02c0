// Owns: reading the ends of stored entities (copied_ends.h).
// Must never: read a value.
#include "api/doors/copied_ends.h"

#include <optional>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/model/guarded.h"
#include "format/keys/sort_key.h"
#include "varve/names.h"

namespace varve {

Result<CopiedEnds> CopiedEnds::of(const Snapshot& snapshot, std::string_view account, std::string_view table) {
  return guarded([&]() -> Result<CopiedEnds> {
    CopiedEnds ends(snapshot);
    if (StoreCore::time_of(snapshot) == 0) return ends;
    const Result<engine::ReadView> view = StoreCore::view_of(snapshot);
    if (!view.ok()) return view.status();
    const Result<std::optional<TableRow>> row = Catalog::find_table(*view, account, lower_case(table));
    if (!row.ok()) return row.status();
    if (!*row) return no_such_table(account, table);
    ends.encoded_id_ = format::encode_table((*row)->id);
    return ends;
  });
}

std::uint64_t CopiedEnds::time_of(const Snapshot& snapshot) noexcept {
  return StoreCore::time_of(snapshot);
}

Result<std::uint64_t> CopiedEnds::end_of(const Entity& entity) const {
  return guarded([&]() -> Result<std::uint64_t> {
    if (encoded_id_.empty()) return std::uint64_t{0};
    std::string key = encoded_id_;
    if (Status encoded = format::append_text(key, entity.partition_key()); !encoded.ok()) return encoded;
    if (Status encoded = format::append_text(key, entity.row_key()); !encoded.ok()) return encoded;
    const Result<engine::ReadView> view = StoreCore::view_of(snapshot_);
    if (!view.ok()) return view.status();
    const Result<std::optional<engine::FoundPlace>> place = view->locate(key);
    if (!place.ok()) return place.status();
    return *place ? (*place)->end : std::uint64_t{0};
  });
}

}  // namespace varve
