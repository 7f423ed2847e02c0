#include "tools/varve/backup/backup_source.h"

#include <utility>

#include "tools/serve/local/served_place.h"
#include "tools/serve/local/store_identity.h"
#include "tools/varve/reach/reach.h"

namespace varve::tool {
namespace {

/// A store that this program has open, with the place of the checkpoint in its directory.
struct OwnCheckpoint {
  OpenedStore store;
  serve::ServedPlace place;  // removed before the store is closed
};

Result<BackupSource> make_own(OpenedStore opened, const std::string& store, std::string id) {
  Result<serve::ServedPlace> place = serve::ServedPlace::create(store);
  if (!place.ok()) return place.status();
  const auto own = std::make_shared<OwnCheckpoint>(OwnCheckpoint{std::move(opened), *std::move(place)});
  const std::string path = own->place.checkpoint_path("1");
  const Result<CheckpointStatistics> made = own->store->checkpoint(path);
  if (!made.ok()) return made.status();
  return BackupSource{std::move(id), path, own};
}

}  // namespace

Result<BackupSource> make_backup_source(const std::string& store) {
  Result<std::string> id = serve::store_id_in(store);
  if (!id.ok()) return id.status();
  Result<ServedCheckpoint> checkpoint = checkpoint_by_server_of(store);
  if (!checkpoint.ok()) return checkpoint.status();
  if (!(*checkpoint).path.empty())
    return BackupSource{*std::move(id), std::move((*checkpoint).path), std::move((*checkpoint).kept)};
  Result<OpenedStore> opened = open_here(store, StoreOptions());
  if (!opened.ok()) return opened.status();
  return make_own(*std::move(opened), store, *std::move(id));
}

}  // namespace varve::tool
