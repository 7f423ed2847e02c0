// Owns: the live table files of an open store: their arrangement by level as readers see it, and every change of it.
// Must never: show readers a file that the manifest does not name, or let a file's name go while a reader needs it.
//
// Changes (a flush, a compaction, the end of a drop) are made one at a time: the edit is made durable first, then
// readers get the new arrangement, then files that left it are removed when the last reader has let go of them.
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

/// How files of a level are written.
format::TableOptions table_options(std::uint32_t level);
/// How files are written that will be merged before long: in half the time, and larger.
format::TableOptions passing_table_options();

/// A file set, and what keeps its files: the names of tables stay as long as the arrangement they are in, those of log
/// segments as long as the hold. Ends before the tree.
struct HeldFiles {
  NameRemoval::Hold hold;
  FileSet files;
  std::shared_ptr<const Levels> levels;
};

/// Any thread.
class Tree {
 public:
  /// The arrangement of the tables that a set names; none is opened before it is read.
  /// Errors: kCorruption (two files of one level overlap, say), kOutOfMemory.
  static Result<std::shared_ptr<const Levels>> arrange(const FileSet& files, TableFiles& tables);

  /// All outlive the tree. `on_fatal` is called, under no lock of a commit, when a change can neither be made nor left:
  /// the store must stop. `on_change` is called after every change.
  Tree(const io::Env& env, io::Directory& directory, Manifest& manifest, ReadStates& states, TableFiles& tables,
       std::function<void(const Status&)> on_fatal, std::function<void()> on_change);

  /// Makes the edit durable and gives readers the arrangement that follows from it, together with what `change` does to
  /// the rest of their state. Dead ids of which no table holds anything any more leave the set in the same edit.
  /// Errors: those of Directory::sync, after which the edit's new files are removed and nothing has changed, and those
  /// of Manifest::append; after both the store has stopped.
  Status apply(format::ManifestEdit edit, const std::function<void(ReadState&)>& change);

  /// apply(), for new files that hold one table of which nothing else holds anything: they go to the deepest level
  /// where they neither overlap a file nor a claim. Their entries say no level yet. Errors: as apply(); kBusy (no such
  /// level; nothing changed): in a store below some TiB one is free as soon as compaction has caught up.
  Status install(format::ManifestEdit edit);

  /// The place of what a compaction will write: until it ends, nothing is installed there.
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
  /// Claims the job's range of its output level. Nothing if `seen`, from which the job was picked, is not the
  /// arrangement any more: then the job must be picked anew.
  std::optional<Claim> claim(const Levels& seen, const Job& job);

  /// Where new files come from, until `stopping` is set.
  TableSink sink(const std::atomic<bool>& stopping) noexcept {
    return {env_, directory_, manifest_, tables_, stopping};
  }
  std::shared_ptr<const Levels> levels() const { return states_.pin()->tables; }
  /// Whether the memtable that takes commits holds many deletes, and mostly those.
  bool collects_deletes() const noexcept;
  /// As dead_bytes_in_memory() of the state that readers see.
  std::uint64_t dead_bytes_in_memory(const std::vector<format::DeadId>& dead_ids, std::uint64_t enough) const {
    return engine::dead_bytes_in_memory(*states_.pin(), dead_ids, enough);
  }
  Manifest& manifest() noexcept { return manifest_; }

  /// The set of this moment, whose files keep their names for now.
  HeldFiles hold_files();
  /// Removes the name of a file that the manifest names no more and nobody uses.
  void remove_file(format::FileType type, std::uint64_t number) noexcept;
  /// As TableFiles::remove_garbage().
  Status remove_garbage() { return tables_.remove_garbage(removal_); }

 private:
  struct ClaimedRange {
    std::uint64_t id = 0;
    std::uint32_t level = 0;
    std::string smallest;
    std::string largest;
  };

  using Completion = std::function<Status(format::ManifestEdit&)>;
  Status change_tables(format::ManifestEdit edit, const std::function<void(ReadState&)>& change,
                       const Completion& complete);
  std::optional<std::uint32_t> deepest_free_level(const KeyRange& range) const VARVE_REQUIRES(changing_);
  Result<std::shared_ptr<const Levels>> rearrange(const FileSet& files);
  Status make_durable(const format::ManifestEdit& edit);

  const io::Env& env_;
  io::Directory& directory_;
  Manifest& manifest_;
  ReadStates& states_;
  TableFiles& tables_;
  const std::function<void(const Status&)> on_fatal_;
  const std::function<void()> on_change_;
  NameRemoval removal_;
  mutable io::Mutex changing_;  // held across I/O, by background work and loads; before the manifest's
  std::vector<ClaimedRange> claims_ VARVE_GUARDED_BY(changing_);
  std::uint64_t claims_made_ VARVE_GUARDED_BY(changing_) = 0;
};

}  // namespace varve::engine
