// Owns: the files that a backup copies: a checkpoint of the store, made by the server that has the store open, or by
// this program.
// Must never: outlive the hold on the checkpoint.
#pragma once

#include <memory>
#include <string>

#include "varve/result.h"

namespace varve::tool {

struct BackupSource {
  /// The id of the store.
  std::string store;
  /// The directory of the checkpoint.
  std::string path;
  /// Keeps the checkpoint.
  std::shared_ptr<void> kept;
};

/// Makes the checkpoint. It holds every write that was acknowledged before the call. Errors: those of open_here(),
/// Store::checkpoint() and HeldCheckpoint::make().
Result<BackupSource> make_backup_source(const std::string& store);

}  // namespace varve::tool
