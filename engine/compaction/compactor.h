// Owns: the plan of compaction: which job begins, what follows from its end, and which files are removed.
// Must never: hold a lock that a reader or a commit needs during its own I/O, or let two conflicting jobs run at once.
//
// The workers call work(). One of them at a time plans: it looks at the store and picks a job. Then it performs the job,
// while another worker may plan the next one.
//
// K1  A job's outputs and their names are durable before the manifest names them. Its inputs are removed when the edit
//     that removes them is durable and no reader uses them any more.
// K2  After an error the inputs stay. A damaged table file is quarantined: it is left alone until it contains only dead
//     tables, and then leaves unread like a sound file. From a damaged value file, no value is copied into tables any
//     more. All other work goes on, and pointers into that file are copied unchanged.
// K3  After any other failure the affected files rest, each time longer, up to BackOff::kLongest. Each attempt is
//     logged once. A rest delays only jobs of these files. The failure's place names the file; without a place, all
//     files of the job rest.
// K4  Loaded entries go beneath everything that is there: they are merged with the files of the last level. While they wait for
//     jobs that write there, no other such job begins. So they wait no longer than for the jobs that run.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/base/background_pool.h"
#include "engine/base/snapshots.h"
#include "engine/commit/commit_queue.h"
#include "engine/compaction/back_off.h"
#include "engine/compaction/job_run.h"
#include "engine/compaction/picker.h"
#include "engine/compaction/tree.h"
#include "engine/settings/options.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

class Compactor final : private BackgroundPool::Source {
 public:
  /// All arguments outlive the compactor.
  Compactor(const io::Env& env, BackgroundPool& pool, CommitQueue& queue, Snapshots& snapshots, Tree& tree,
            BlockReader& blocks, ReadQueues& read_queues, EventSink* events);
  ~Compactor() override;

  /// Begins to compact.
  void start() noexcept { wake(); }
  /// Gives up the jobs in progress, and begins no other.
  void stop() noexcept;
  /// Lets a worker plan, because there may be work.
  void wake() noexcept;

  /// Waits until no work is left that helps readers or space, idle work included. Files that rest after a failure are
  /// tried once more.
  /// Errors: that of the first job that failed meanwhile, returned when all other jobs are done; kClosed.
  Status wait_until_done();

  /// Merges loaded entries with all files of the last level that overlap them, by one job and one edit (K4). Waits until that
  /// is done. Afterwards the entries have no streams. Meanwhile calls `goes_on` now and then, under no lock, unless it is
  /// empty. If it returns false, the merge ends. Errors: those of the merge (K2; nothing has changed); kCorruption (such a
  /// file is quarantined); kCancelled (`goes_on` returned false), kClosed, kPoisoned. Throws std::bad_alloc, and what
  /// `goes_on` throws.
  Status merge_beneath(const std::shared_ptr<LoadedEntries>& loaded, const std::function<bool()>& goes_on);

  /// Returns whether drops that the manifest does not contain yet would free at least one log segment, or as many bytes
  /// in files.
  bool has_space_to_give_back() const;
  /// Called after stop(): removes files that contain only dead tables, without reading them. The next open does the
  /// rest.
  void unlink_dead() noexcept;

  /// Sets the figures of compactions, except the debt, which the engine computes.
  void add_figures_to(Statistics& figures) const noexcept;

 private:
  /// The picker's input from one look at the store.
  struct View;
  /// A job from the plan on, until the planner has taken note of its end.
  struct Running;
  /// A call of merge_beneath(). The mutex guards its fields.
  struct Beneath {
    const std::shared_ptr<LoadedEntries> loaded;
    bool is_begun = false;
    bool has_ended = false;
    Status result{};
  };

  BackgroundPool::Pause work(bool is_due) noexcept override;
  /// Takes the right to plan. Returns false if another worker has it; that worker then plans once more.
  bool begin_planning() noexcept;
  BackgroundPool::Pause end_planning(const Result<Running*>& planned) noexcept;
  Result<Running*> try_plan() noexcept;
  void begin_round();
  bool is_awaited() const VARVE_REQUIRES(mutex_) { return answered_calls_ < calls_; }
  bool all_have_ended() const noexcept;
  /// Takes note of the jobs that have ended.
  void collect_ended();
  void note_end(const Running& ended);
  /// Performs one round: garbage, drops, the choice of at most one job. Returns null if there is nothing to begin.
  Result<Running*> plan();
  std::optional<Job> pick(const View& view);
  bool await_beneath(Beneath& asked, bool is_brief);
  std::optional<Job> job_beneath(const Levels& levels);
  Beneath* begin_beneath(const Job& job) noexcept;
  void end_beneath(Beneath& beneath, const Status& result) noexcept;
  void refuse_beneath(const Status& cause) noexcept;
  void perform(Running& running) noexcept;
  void remove_garbage();
  View look(const FileSet& files) const;
  void hasten(View& view);
  Status hasten_drops(View& view);
  std::uint64_t dead_bytes(const std::vector<format::DeadId>& dropped, std::uint64_t enough) const;
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
  BackgroundPool& pool_;
  CommitQueue& queue_;
  Snapshots& snapshots_;
  Tree& tree_;
  BlockReader& blocks_;
  ReadQueues& read_queues_;
  EventSink* events_;
  const TreeShape shape_ = tree_shape();
  std::atomic<bool> stopping_{false};

  // Used only by the planning worker:
  CommitVersion seen_version_ = 0;             // the visible version in the round before
  bool writers_rest_ = false;                  // nothing was committed since then
  bool idle_round_ = false;                    // wait_until_done() waits for this round
  std::uint64_t round_call_ = 0;               // the last call before this round
  std::chrono::nanoseconds rest_;              // after a round that failed
  std::set<std::uint64_t> quarantined_;        // table files
  std::map<BackOff::Key, Status> quarantine_;  // the causes, for table files and value files
  BackOff back_off_;
  std::uint64_t let_go_seen_ = 0;  // CommitQueue::let_go_bytes() when the space was last hastened
  CommitVersion let_go_upto_ = 0;  // the visible version then
  std::map<std::uint64_t, std::vector<format::DirectoryEntry>> directories_;  // by file, for files with dead tables
  std::map<std::uint64_t, std::uint64_t> dead_bytes_;
  std::vector<std::unique_ptr<Running>> running_;

  std::atomic<std::uint64_t> jobs_{0};
  JobFigures figures_;

  io::Mutex mutex_;
  io::Condition changed_;
  bool is_planning_ VARVE_GUARDED_BY(mutex_) = false;
  bool plans_again_ VARVE_GUARDED_BY(mutex_) = false;          // there may be work that the present plan has not seen
  std::uint64_t callers_ VARVE_GUARDED_BY(mutex_) = 0;         // inside wait_until_done()
  std::uint64_t calls_ VARVE_GUARDED_BY(mutex_) = 0;           // of wait_until_done()
  std::uint64_t answered_calls_ VARVE_GUARDED_BY(mutex_) = 0;  // the last that a round without work began after
  bool wakes_all_ VARVE_GUARDED_BY(mutex_) = false;            // resting files must be tried at once
  Status first_failure_ VARVE_GUARDED_BY(mutex_);              // since the first of the callers came
  std::deque<Beneath*> beneath_ VARVE_GUARDED_BY(mutex_);      // not ended, in the order of the calls
  BackgroundPool::Seat seat_;
};

}  // namespace varve::engine
