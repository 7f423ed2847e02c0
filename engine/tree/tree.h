// Owns: the live table files of an open store: their arrangement by level as readers see it, and every change of it.
// Must never: show readers a file that the manifest does not name, or let a file's name go while a reader needs it.
//
// Changes (a flush, a compaction, a drop's end) are made one at a time: the edit is made durable first, then readers get
// the new arrangement, then files that left it are removed when the last reader has let go of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "api/result.h"
#include "engine/cache/block_cache.h"
#include "engine/commit/retired_ids.h"
#include "engine/files/manifest.h"
#include "engine/read/read_states.h"
#include "engine/tables/table_file.h"
#include "engine/tree/levels.h"
#include "engine/tree/rewrite.h"
#include "io/env.h"

namespace varve::engine {

class Tree {
 public:
  /// The arrangement of the tables that the set names; none is opened before it is read. All outlive the tree.
  /// Errors: kCorruption (two files of one level overlap), kOutOfMemory.
  static Result<std::shared_ptr<const Levels>> arrange(const FileSet& files, TableFiles& tables);

  Tree(const io::Env& env, io::Directory& directory, Manifest& manifest, ReadStates& states, TableFiles& tables);

  /// Makes the edit durable and gives readers the arrangement that follows from it, together with what `change` does to
  /// the rest of their state. On an error the edit's new files are removed and nothing has changed, save after
  /// a failure of the manifest, which poisons the store.
  Status apply(const format::ManifestEdit& edit, const std::function<void(ReadState&)>& change);

  TableSink sink(const std::atomic<bool>& stopping) noexcept { return {env_, directory_, manifest_, stopping}; }

  std::shared_ptr<const Levels> levels() const { return states_.pin()->tables; }
  Manifest& manifest() noexcept { return manifest_; }

 private:
  const io::Env& env_;
  io::Directory& directory_;
  Manifest& manifest_;
  ReadStates& states_;
  TableFiles& tables_;
  io::Mutex changing_;
};

}  // namespace varve::engine
