// Owns: entries of a table that writers use already, as of one version: they are sorted beside the log, and come to lie beneath
// all that the writers have put since.
// Must never: hide a newer entry, or leave an entry of a table that was dropped meanwhile.
//
// A1  The load holds a snapshot of the entries' version from before the first entry until they are installed. So no
//     compaction drops a delete above that version, though nothing that it hides is there yet.
// A2  The entries are merged with the files of the last level (Compactor::merge_beneath). Nothing lies below, and all other
//     files with keys of the table lie above.
// A3  All commits up to the version are in tables before the entries are. So a recovered store, and a checkpoint, has
//     everything that the entries follow from.
// A4  The tree does not forget a drop of the table while the load lives. So entries that are installed after the drop are dead
//     from the beginning.
// A5  Without an installation nothing remains. The manifest never names a file before that.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/base/snapshots.h"
#include "engine/compaction/tree.h"
#include "engine/load/load.h"
#include "engine/load/sorter.h"
#include "engine/memory/memtables.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time uses it. It must not outlive the engine.
class BeneathLoad {
 public:
  /// `snapshot` was taken after the first commit that knew the table, so its version is not zero (asserted). Throws std::bad_alloc.
  BeneathLoad(const LoadParts& parts, Memtables& memtables, const LoadOptions& options, TableId table,
              HeldVersion snapshot);
  /// Removes everything that was not installed.
  ~BeneathLoad();
  BeneathLoad(const BeneathLoad&) = delete;
  BeneathLoad& operator=(const BeneathLoad&) = delete;

  /// The version of the entries.
  const HeldVersion& snapshot() const noexcept { return snapshot_; }

  /// Adds a put, in any order of keys. The key is a framed sort key of the table, and is given once. If it was put since, the
  /// value is the one that the snapshot shows. The value of a kPutExpiring begins with its end. After an error, only
  /// destruction is allowed. Errors: those of Sorter::add(), kClosed. Throws std::bad_alloc.
  Status add(std::string_view sort_key, std::string_view value, Kind kind = Kind::kPut);
  /// Installs the entries. From then on every reader finds them. `goes_on` is called now and then, under no lock, unless it is
  /// empty; if it returns false, the installation ends. Errors: kCancelled (`goes_on` returned false), those of Engine::flush()
  /// and Compactor::merge_beneath(). Then nothing is installed, unless the store has stopped. After an error or std::bad_alloc
  /// the entries are there, and another call installs them.
  Status install(const std::function<bool()>& goes_on = {});

 private:
  Status check_open() const;

  const LoadParts parts_;
  Memtables& memtables_;
  const LoadOptions options_;
  const TableId table_;
  const Tree::Awaited awaited_;
  const HeldVersion snapshot_;
  Sorter sorter_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace varve::engine
