// Owns: the notes of drops (name_release.h).
// Must never: rely on the content of a note. It has none.
#include "api/catalog/name_release.h"

#include "api/catalog/catalog_rows.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/entity.h"

namespace varve {

Result<NameRelease::Found> NameRelease::look(const engine::ReadView& view, std::string_view account,
                                             std::string_view lower_name) const {
  Found found;
  if (!is_delayed()) return found;
  const Result<engine::Newest> note = view.newest(drop_note_key(account, lower_name));
  if (!note.ok()) return note.status();
  if (!note->value) return found;
  found.rests_on = note->version;
  found.has_note = true;
  const auto delay = static_cast<io::Ticks>(delay_.count()) * io::kTicksPerMillisecond;
  if (clock_.wall() < note->version + delay) {
    found.status = service_error::table_being_deleted("table " + quoted(lower_name) + " of account " + quoted(account) +
                                                      " was dropped; its name can be used again " +
                                                      std::to_string(delay_.count()) + " ms after the drop");
  }
  return found;
}

void NameRelease::note_drop(format::BatchBuilder& batch, std::string_view account, std::string_view lower_name) const {
  if (is_delayed()) batch.put(drop_note_key(account, lower_name), format::EntityBuilder().finish());
}

void NameRelease::forget(format::BatchBuilder& batch, const Found& found, std::string_view account,
                         std::string_view lower_name) {
  if (found.has_note) batch.remove(drop_note_key(account, lower_name));
}

}  // namespace varve
