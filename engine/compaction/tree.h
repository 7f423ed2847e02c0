// Owns: the live table files of an open store: their arrangement in levels as readers see it, and every change of it.
// Must never: show readers a file that the manifest does not name, or remove a file's name while a reader needs it.
//
// Changes (a flush, a compaction, the end of a drop) are made one at a time. First the edit becomes durable, then
// readers get the new arrangement. Files that left the arrangement are removed when their last reader has released
// them. A change costs what it changes: the new arrangement and the new file set share all other files with the old
// ones.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/name_removal.h"
#include "engine/compaction/dead_bytes.h"
#include "engine/compaction/rewrite.h"
#include "engine/levels/job.h"
#include "engine/levels/levels.h"
#include "engine/manifest/manifest.h"
#include "engine/memory/read_states.h"
#include "engine/tables/table_file.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Returns the options for files of a level.
format::TableOptions table_options(std::uint32_t level);
/// Returns the options for files that will soon be merged. They are written in half the time, and are larger.
format::TableOptions passing_table_options();

/// A file set whose files keep their names: tables as long as `levels`, log segments as long as `hold`. It is destroyed
/// before the tree.
struct HeldFiles {
  NameRemoval::Hold hold;
  FileSet files;
  std::shared_ptr<const Levels> levels;
};

/// Thread-safe.
class Tree {
 public:
  /// Returns the arrangement of the tables in a file set. A table is opened at its first read.
  /// Errors: kCorruption (for example, two files of one level overlap), kOutOfMemory.
  static Result<std::shared_ptr<const Levels>> arrange(const FileSet& files, TableFiles& tables);

  /// All arguments outlive the tree. `on_fatal` is called, under no lock of a commit, if a change can neither be
  /// completed nor undone: the store must stop. `on_change` is called after every change.
  Tree(const io::Env& env, io::Directory& directory, Manifest& manifest, ReadStates& states, TableFiles& tables,
       std::function<void(const Status&)> on_fatal, std::function<void()> on_change);

  /// Makes the edit durable and gives readers the resulting arrangement. `change` changes the rest of the readers'
  /// state in the same step. The edit also removes dead ids of which no table contains anything any more.
  /// Errors:
  ///
  /// - Those of Directory::sync: the edit's new files are removed and nothing has changed, but the store has stopped.
  /// - Those of Manifest::append: if the manifest has stopped, so has the store. Otherwise the edit's new files are
  ///   removed, nothing has changed, and the store goes on.
  /// - kOutOfMemory: the edit was durable already, and the store has stopped.
  ///
  /// Throws std::bad_alloc. Then the edit's new files are removed and nothing has changed.
  Status apply(format::ManifestEdit edit, const std::function<void(ReadState&)>& change);

  /// Applies an edit with the outputs of a part of a merge. From then on readers pass `inputs`, files of level 0 that stay,
  /// in that part. The outputs have all that a reader may ask for there. Errors: as apply().
  Status apply_part(format::ManifestEdit edit, const LevelFiles& inputs, const KeySpan& part);

  /// Applies an edit with new files of one table that nothing else contains. It puts the files into the deepest level
  /// where they overlap neither a file nor a claim. Their entries have no level yet.
  /// Returns false if there is no such level; then nothing has changed, and the files are there. In a store below some TiB, a
  /// level is free once compaction has caught up. Errors: as apply().
  Result<bool> install(format::ManifestEdit edit);

  /// While it lives, the tree does not forget that the table was dropped, even if no file has anything of it. Files of the
  /// table are still to come.
  class Awaited {
   public:
    Awaited(Awaited&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)), table_(other.table_) {}
    Awaited& operator=(Awaited&&) = delete;
    ~Awaited();

   private:
    friend class Tree;
    Awaited(Tree* tree, TableId table) noexcept : tree_(tree), table_(table) {}
    Tree* tree_;
    TableId table_;
  };
  /// Throws std::bad_alloc.
  Awaited await_files_of(TableId table);

  /// Reserves the place of a compaction's output. While the claim lives, nothing is installed there.
  class Claim {
   public:
    Claim(Claim&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)), id_(other.id_) {}
    Claim& operator=(Claim&&) = delete;
    ~Claim();

   private:
    friend class Tree;
    Claim(Tree* tree, std::uint64_t id) noexcept : tree_(tree), id_(id) {}
    Tree* tree_;
    std::uint64_t id_;
  };
  /// Claims the job's range of its output level. Returns nothing if `seen`, from which the job was picked, is no longer
  /// the arrangement. Then the job must be picked again.
  std::optional<Claim> claim(const Levels& seen, const Job& job);

  /// Returns the environment of new files, valid until `stopping` is set.
  TableSink sink(const std::atomic<bool>& stopping) noexcept {
    return {env_, directory_, manifest_, tables_, stopping};
  }
  std::shared_ptr<const Levels> levels() const { return states_.pin()->tables; }
  /// Returns whether the active memtable contains many deletes, and mostly deletes.
  bool collects_deletes() const noexcept;
  /// Returns dead_bytes_in_memory() of the readers' current state.
  std::uint64_t dead_bytes_in_memory(const std::vector<format::DeadId>& dead_ids, std::uint64_t enough) const {
    return engine::dead_bytes_in_memory(*states_.pin(), dead_ids, enough);
  }
  Manifest& manifest() noexcept { return manifest_; }
  io::Scheduler& scheduler() noexcept { return env_.scheduler; }

  /// Returns the current file set, whose files keep their names while it is held.
  HeldFiles hold_files();
  /// Returns whether a set of files is held.
  bool are_names_held() noexcept { return removal_.is_held(); }
  /// Removes the name of a file that the manifest no longer names and that has no users.
  void remove_file(format::FileType type, std::uint64_t number) noexcept;
  /// Removes garbage as TableFiles::remove_garbage() does.
  Status remove_garbage() { return tables_.remove_garbage(removal_); }

 private:
  struct ClaimedRange {
    std::uint64_t id = 0;
    std::uint32_t level = 0;
    std::string smallest;
    std::string largest;
  };

  /// Completes an edit, or returns false. Then nothing changes.
  using Completion = std::function<bool(format::ManifestEdit&)>;
  /// A part of a merge, and its files of level 0.
  struct MergedPart {
    const LevelFiles& inputs;
    const KeySpan& keys;
  };
  Status change_tables(format::ManifestEdit edit, const std::function<void(ReadState&)>& change,
                       const Completion& complete, const MergedPart* merged = nullptr);
  std::optional<std::uint32_t> deepest_free_level(const KeyRange& range) const VARVE_REQUIRES(changing_);
  struct Rearranged;
  Result<Rearranged> rearrange(const FileSet& before, const FileSet& after, const format::ManifestEdit& edit,
                               const MergedPart* merged);
  static void pass_merged(const Levels& present, const MergedPart& merged, LevelFiles& removed, LevelFiles& added);
  static void remove_values(const std::vector<std::uint64_t>& removed, Rearranged& made);
  void forget_unused(const Levels& levels, const FileSet& before, FileSet& after, format::ManifestEdit& edit) const
      VARVE_REQUIRES(changing_);
  Status make_durable(const format::ManifestEdit& edit) VARVE_REQUIRES(changing_);
  /// Stops the store. It ends in code of the host, which may call the store and so wait for the tree's lock.
  void report_fatal(const Status& failure) VARVE_EXCLUDES(changing_) { on_fatal_(failure); }

  const io::Env& env_;
  io::Directory& directory_;
  Manifest& manifest_;
  ReadStates& states_;
  TableFiles& tables_;
  const std::function<void(const Status&)> on_fatal_;
  const std::function<void()> on_change_;
  NameRemoval removal_;
  mutable io::Mutex changing_;  // held during I/O, by background work and loads; locked before the manifest's
  std::vector<ClaimedRange> claims_ VARVE_GUARDED_BY(changing_);
  std::vector<TableId> awaited_ VARVE_GUARDED_BY(changing_);  // one for each Awaited
  std::uint64_t claims_made_ VARVE_GUARDED_BY(changing_) = 0;
  /// Set by the first change, which also forgets value files that nothing points into since before the open.
  bool has_changed_ VARVE_GUARDED_BY(changing_) = false;
};

}  // namespace varve::engine
