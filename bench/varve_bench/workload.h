// Owns: the definition of a workload: rows that one contender runs in one process, and the results of a row.
// Must never: know a contender by name, or print.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/varve_bench/contender.h"

namespace varve::bench {

/// The options of the command line. The defaults are those of the published race.
struct Choice {
  std::string directory = ".";
  std::vector<std::string> workloads;   // empty: all that are not only_when_named
  std::vector<std::string> contenders;  // empty: all
  std::uint64_t entities = 1'000'000;
  int rounds = 3;
  double seconds = 2;
  std::uint64_t tables = 100'000;
  double endurance_seconds = 600;
  double slot_seconds = 10;
  std::uint64_t curve_entities = 10'000'000;
  /// Entities and tables of the workload `mixed`. The number of tables is a multiple of a hundred.
  std::uint64_t mixed_entities = 200'000;
  std::uint32_t mixed_tables = 10'000;
  /// The offered operations per second in `smooth`.
  double offered = 0;
  std::string json;
  /// A regular expression. Only rows whose name matches are run. Empty: all rows.
  std::string rows;
  /// The number of the first round. The order of contenders rotates with it.
  int first_round = 1;
  /// The part of each cache that a contender gets: 1, or less after its memory limit has ended it. No option sets it.
  double cache_share = 1;
};

/// Figures by name. A name is the heading of the report's column. Figures without a column are listed.
using Figures = std::map<std::string, double>;

struct Outcome {
  double value = 0;
  std::string unit;  // of `value`: "/s", "ms"
  bool more_is_better = true;
  Figures figures;
  /// Figures over time: one value for each slot of Choice::slot_seconds.
  std::map<std::string, std::vector<double>> series{};
};

using OpenContender = std::function<Result<std::unique_ptr<Contender>>(const std::string&, const Settings&)>;

/// One contender, open in a directory of its own.
class Session {
 public:
  Session(Choice choice, std::string directory, OpenContender open)
      : choice_(std::move(choice)), directory_(std::move(directory)), open_(std::move(open)) {}

  const Choice& choice() const noexcept { return choice_; }
  const std::string& directory() const noexcept { return directory_; }
  Contender& contender() noexcept { return *contender_; }
  /// Sets the form of reads, also after a reopen().
  void answer_as(Answer answer) noexcept {
    answer_ = answer;
    if (contender_ != nullptr) contender_->answer_as(answer);
  }
  /// Returns the settings of the last open, with the whole cache.
  const Settings& settings() const noexcept { return settings_; }
  /// Returns the cache of the last open, with Choice::cache_share.
  double cache_bytes() const noexcept { return static_cast<double>(settings_.cache_bytes) * choice_.cache_share; }
  bool is_open() const noexcept { return contender_ != nullptr; }
  void close() noexcept { contender_.reset(); }
  /// Closes the contender if it is open, then opens the same directory. It gets Choice::cache_share of the cache.
  Status reopen(const Settings& settings) {
    close();
    settings_ = settings;
    Settings given = settings_;
    given.cache_bytes = static_cast<std::uint64_t>(cache_bytes());
    Result<std::unique_ptr<Contender>> opened = open_(directory_, given);
    if (!opened.ok()) return opened.status();
    contender_ = *std::move(opened);
    contender_->answer_as(answer_);
    return Status();
  }

 private:
  Choice choice_;
  std::string directory_;
  OpenContender open_;
  Settings settings_;
  Answer answer_ = Answer::kDecoded;
  std::unique_ptr<Contender> contender_;
};

/// The performance of the device itself, shown beside a row. It is measured with the given number of threads, or with
/// the given number of reads in flight from one thread.
struct Limit {
  /// kUnwrittenWrite: a durable write into space that was allocated and never written.
  enum class Kind : std::uint8_t { kNone, kDurableWrite, kUnwrittenWrite, kRandomRead, kSequentialRead };
  Kind kind = Kind::kNone;
  int threads = 1;
  int in_flight = 1;
  /// Bytes of each read or write.
  std::uint64_t bytes = 4096;
  /// The figure that the limit applies to, in megabytes per second. Empty: it applies to the value, in operations per
  /// second.
  std::string figure{};
};

struct WorkloadRow {
  std::string name;
  std::function<Result<Outcome>(Session&)> run;
  Limit limit{};
  /// A second limit that the report shows beside the first, in the same unit.
  Limit unwritten_limit{};
};

/// Returns each row, followed by the same row with opponents that copy bytes: see Answer.
std::vector<WorkloadRow> in_both_forms(std::vector<WorkloadRow> rows);

struct Workload {
  std::string name;
  std::string about;
  std::function<Settings(const Choice&)> settings;
  std::vector<WorkloadRow> rows;
  /// Workloads with the same data share one loaded store. Other workloads get a new store in each round.
  std::string data{};
  /// Loads the data, once for each contender.
  std::function<Status(Session&)> prepare{};
  /// Called in the rows' process while it has no other thread, instead of opening the contender. It opens the contender
  /// and does other preparations, or leaves both to the rows.
  std::function<Status(Session&)> begin{};
  bool only_when_named = false;
  /// The rows build on one another, so choosing one row runs all of them.
  bool in_order = false;
  /// Changes the options of the command line, if this workload has options of its own.
  std::function<void(Choice&)> adapt{};
};

inline Settings default_settings(const Choice& /*choice*/) {
  return {};
}

// The registry: one function for each file in workloads/.
Workload durable_workload();
Workload checked_workload();
Workload load_workload();
Workload small_buffer_load_workload();
Workload random_put_workload();
Workload read_workload();
Workload cold_workload();
Workload drop_workload();
Workload delete_workload();
Workload queue_workload();
Workload warm_restart_workload();
Workload merge_workload();
Workload settled_workload();
Workload log_space_workload();
Workload two_threads_workload();
Workload pages_workload();
Workload tables_workload();
/// `log_megabytes` is the size of the user's data in the log when the process is killed.
Workload recovery_workload(std::uint64_t log_megabytes);
Workload endurance_workload();
Workload curve_workload();
Workload mixed_workload();
Workload large_workload();
Workload cold_insert_workload();
Workload space_workload();
Workload bag_space_workload();
Workload selective_workload();
Workload smooth_workload();
Workload page_cache_workload();
Workload memory_workload();
Workload ycsb_workload();
Workload ycsb_in_memory_workload();
std::vector<Workload> all_workloads();

}  // namespace varve::bench
