// Owns: the notes of drops (name_release.h).
// Must never: rely on the content of a note. It has none.
#include "api/catalog/name_release.h"

#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/queue_rows.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/entity.h"

namespace varve {

std::string NameRelease::note_key(std::string_view account, std::string_view lower_name) const {
  switch (of_) {
    case Of::kTables: return drop_note_key(account, lower_name);
    case Of::kQueues: return queue_drop_note_key(account, lower_name);
    case Of::kContainers: break;
  }
  return container_drop_note_key(account, lower_name);
}

Status NameRelease::judge(engine::CommitVersion dropped_at, std::string_view account,
                          std::string_view lower_name) const {
  const auto delay = static_cast<io::Ticks>(delay_.count()) * io::kTicksPerMillisecond;
  if (clock_.wall() >= dropped_at + delay) return Status();
  const std::string text = " " + quoted(lower_name) + " of account " + quoted(account) +
                           " was dropped; its name can be used again " + std::to_string(delay_.count()) +
                           " ms after the drop";
  switch (of_) {
    case Of::kTables: return service_error::table_being_deleted("table" + text);
    case Of::kQueues: return service_error::queue_being_deleted("queue" + text);
    case Of::kContainers: break;
  }
  return service_error::container_being_deleted("container" + text);
}

Result<NameRelease::Found> NameRelease::look(const engine::ReadView& view, std::string_view account,
                                             std::string_view lower_name) const {
  Found found;
  if (!is_delayed()) return found;
  const Result<engine::Newest> note = view.newest(note_key(account, lower_name));
  if (!note.ok()) return note.status();
  if (!note->value) return found;
  found.rests_on = note->version;
  found.has_note = true;
  found.status = judge(note->version, account, lower_name);
  return found;
}

Status NameRelease::check(const engine::ReadView& view, std::string_view account, std::string_view lower_name) const {
  if (!is_delayed()) return Status();
  const auto note = view.get(note_key(account, lower_name));
  if (!note.ok()) return note.status();
  return *note ? judge((*note)->version, account, lower_name) : Status();
}

void NameRelease::note_drop(format::BatchBuilder& batch, std::string_view account, std::string_view lower_name) const {
  if (is_delayed()) batch.put(note_key(account, lower_name), format::EntityBuilder().finish());
}

void NameRelease::forget(format::BatchBuilder& batch, const Found& found, std::string_view account,
                         std::string_view lower_name) const {
  if (found.has_note) batch.remove(note_key(account, lower_name));
}

}  // namespace varve
