// Owns: writing one table of a backup into a store, which may be in use by a server.
// Must never: change a table that exists, or keep a part of a table after an error.
#pragma once

#include <cstdint>

#include "tools/varve/backup/backup.h"
#include "tools/varve/session/session.h"

namespace varve::tool {

struct RestoredTable {
  std::uint64_t entities = 0;
  /// Whether the entities have lost their ends, because a server holds the store. They end once they are written again.
  bool has_lost_ends = false;
};

/// Restores the table `place.table` of the account `place.account` into the store `place.store`, and compares what it
/// wrote with the backup. The entities get new Timestamps. They keep their ends, unless a server holds the store. The table
/// gets its expiry.
/// Errors: kNotFound (the backup has no such table), kExists (the store has this table), kCorruption (the comparison
/// failed), and those of reading the backup and of writing. After an error the table does not exist.
Result<RestoredTable> restore_table(const BackupPlace& backups, const BackupManifest& manifest, const Place& place);

}  // namespace varve::tool
