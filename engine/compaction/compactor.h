// Owns: the thread that compacts: it asks the picker for a job, does it, and installs what came of it; and the removal
// of files that left.
// Must never: hold a lock that a reader or a commit needs while it reads or writes, or drop what a reader may ask for.
//
// K1  a job's outputs are durable, names included, before the manifest names them; its inputs are removed when the
//     edit that lets them go is durable and nobody reads them any more.
// K2  after an error the inputs stay, and a table file that is damaged is left alone from then on, until it
//     holds nothing but dead tables: then it leaves unread, as a sound one does. From a value file that is damaged no
//     value is brought home any more, and everything else goes on: pointers into it are copied as they are.
// K3  what failed for another reason rests, ever longer up to BackOff::kLongest, and is logged once for each attempt.
//     The rest holds up nothing but jobs of the same files. Which files those are the failure's place says, and without
//     one all files of the job.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/base/snapshots.h"
#include "engine/commit/commit_queue.h"
#include "engine/compaction/back_off.h"
#include "engine/compaction/picker.h"
#include "engine/compaction/tree.h"
#include "engine/settings/options.h"
#include "engine/settings/statistics.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class Compactor {
 public:
  /// All outlive the compactor.
  Compactor(const io::Env& env, CommitQueue& queue, Snapshots& snapshots, Tree& tree, BlockReader& blocks,
            EventSink* events);
  ~Compactor();

  /// Starts the thread. Errors: kOutOfMemory, kIoError.
  Status start();
  /// Ends it; a job under way is given up.
  void stop() noexcept;
  /// There may be something to do.
  void wake() noexcept;

  /// Waits until there is nothing left to do that helps readers or space, idle work included. What rests after a
  /// failure is tried once more. Errors: that of the first job that failed meanwhile, told when all others are done;
  /// kClosed.
  Status wait_until_done();

  /// Whether drops that the manifest does not know of yet free at least a segment of the log, or as much in files.
  bool has_space_to_give_back() const;
  /// After stop(): what holds dead tables alone leaves, unread. What cannot be done is left to the next open.
  void unlink_dead() noexcept;

  /// All but the debt, which the pacer knows.
  CompactionFigures figures() const noexcept;

 private:
  /// What one look at the store tells the picker.
  struct View;

  void run() noexcept;
  Result<bool> try_work() noexcept;
  void begin_round() noexcept;
  /// One round: garbage, drops, at most one job. True if there may be more to do at once.
  Result<bool> work();
  bool wait_for_work();
  std::optional<Job> pick(const View& view);
  Status perform(const Job& job, const View& view);
  Status merge(const Job& job, const View& view, format::ManifestEdit& edit);
  void remove_garbage();
  View look(const FileSet& files) const;
  void hasten(View& view);
  Status hasten_drops(View& view);
  std::uint64_t dead_bytes(const std::vector<format::DeadId>& dropped) const;
  Status hasten_deletes();
  void read_directories(const View& view);
  void look_at_value_files(View& view, const FileSet& files) const;
  void set_aside(const Job& job, const Status& status);
  void set_aside(BackOff::Key file, const Status& status);
  void quarantine(BackOff::Key file, const Status& status);
  void forget_gone(const FileSet& files);
  void rest(const std::vector<BackOff::Key>& keys, std::string_view what, const Status& status);
  void keep_failure(const Status& status) noexcept;

  const io::Env& env_;
  CommitQueue& queue_;
  Snapshots& snapshots_;
  Tree& tree_;
  BlockReader& blocks_;
  EventSink* events_;
  const TreeShape shape_;
  std::atomic<bool> stopping_{false};

  // Of the thread alone:
  CommitVersion seen_version_ = 0;             // what was visible in the round before
  bool writers_rest_ = false;                  // nothing was committed since then
  bool idle_round_ = false;                    // this round is for somebody who waits until all is done
  std::set<std::uint64_t> quarantined_;        // table files
  std::map<BackOff::Key, Status> quarantine_;  // why, of table files and value files
  BackOff back_off_;
  std::map<std::uint64_t, std::vector<format::DirectoryEntry>> directories_;  // by file, of those with dead tables
  std::map<std::uint64_t, std::uint64_t> dead_bytes_;

  std::atomic<std::uint64_t> jobs_{0};
  std::atomic<std::uint64_t> moved_files_{0};
  std::atomic<std::uint64_t> unlinked_files_{0};
  std::atomic<std::uint64_t> read_bytes_{0};
  std::atomic<std::uint64_t> written_bytes_{0};
  std::atomic<std::uint64_t> copied_bytes_{0};

  io::Mutex mutex_;
  io::Condition changed_;
  bool awake_ VARVE_GUARDED_BY(mutex_) = true;
  bool idle_asked_ VARVE_GUARDED_BY(mutex_) = false;        // somebody waits for all work to be done
  std::uint64_t rounds_done_ VARVE_GUARDED_BY(mutex_) = 0;  // such rounds that found nothing to do
  bool wakes_all_ VARVE_GUARDED_BY(mutex_) = false;         // what rests is to be tried at once
  Status first_failure_ VARVE_GUARDED_BY(mutex_);           // since somebody asked for all work to be done
  io::Thread thread_;
};

}  // namespace varve::engine
