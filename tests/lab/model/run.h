// Owns: one run: a list of operations is applied both to a store on a machine of its own and to the model.
// Must never: ignore a difference. The first difference ends the run.
//
// The ledger is the run's own memory, outside of the failing machine. It has the state at each commit version, the
// promised versions, and the commit that ended in kUnknown and may or may not have happened.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/env.h"
#include "tests/lab/machine/machine_files.h"
#include "tests/lab/model/operation.h"
#include "tests/lab/model/profile.h"
#include "tests/lab/model/state.h"
#include "tests/lab/model/table_verbs.h"
#include "varve/loader.h"
#include "varve/store.h"

namespace varve::lab {

struct RunResult {
  /// The violated law, empty if there was none, and the operation's index.
  std::string what;
  std::size_t operation = 0;
  std::map<std::string, std::uint64_t> counts;
  /// A hash of each operation's answer, without the ETags, which may differ between profiles.
  std::vector<std::uint64_t> answers;
};

RunResult run_list(const OperationList& list, Planted planted = Planted::kNone);

class Run {
 public:
  Run(const OperationList& list, Planted planted);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  RunResult run();

 private:
  using Numbers = std::array<std::uint32_t, kOperationNumbers>;
  static constexpr std::size_t kSlots = 4;

  struct Place {
    std::uint32_t table, partition, row;
  };

  // -- run.cc: the run, and functions for all operations -----------------------------------------------------------

  void prepare();
  void step(const Operation& operation);
  bool do_data(const Operation& operation);
  bool do_tables(const Operation& operation);
  void do_machine(const Operation& operation);

  bool failed() const { return !result_.what.empty(); }
  void broken(const std::string& what);
  void count(const char* name, std::uint64_t more = 1) { result_.counts[name] += more; }
  void answer(std::string_view text);
  void answer(const Status& status);
  void answer(const Entity& entity);

  /// Returns the handle of a table. It is created when the table first exists, and kept. Returns nothing if the table
  /// never existed.
  std::optional<TableVerbs> verbs(const TableName& name);
  DateTime visible();
  /// Returns the table at the present time, or null: without the entities that have ended.
  TablePointer table_now(const TableName& name) const { return living(state_->table(name), time_); }
  /// Returns whether a present fault can cause this status.
  bool is_excused(const Status& status) const;
  /// Compares the result of a write with the expected one, and updates the model. Returns true if the write happened.
  bool settle(const Status& status, const Expected& expected, bool durable, const Change& change);
  /// Records a commit with the present state, at the present visible version.
  void note_version(bool durable);
  void expect_unchanged();
  /// Returns whether a unique index refused a write as expected.
  bool is_taken_as_expected(const Status& status, const Expected& expected);
  WriteOptions write_options(std::uint32_t durability, const std::string& tag, bool* durable) const;

  // -- run_time.cc: the time at which entities end ------------------------------------------------------------------

  /// Asks for the time at which readers judge ends, and compares it with the clock. If no entity ends, it does not matter.
  void ask_time();
  /// Sets the clock beyond each end that is so near that an operation might pass it.
  void pass_near_ends();
  void jump_clock(const Numbers& numbers);
  /// Returns the time of the store's clock by the rules of versions.
  std::uint64_t clock_time();
  void note_clock_at_open();

  // -- run_writes.cc ----------------------------------------------------------------------------------------------

  void write(OperationName operation, const Numbers& numbers);
  void group(const Numbers& numbers);
  void transact(const Numbers& numbers);
  void patch(const Numbers& numbers);
  static Place random_place(io::SeededRandom& random);
  bool read_in(StoreTransaction& transaction, const Place& at);
  void commit_writes(const Numbers& numbers, io::SeededRandom& random, bool conflicts, StoreTransaction& transaction);
  WriteOperation planned_write(WriteOperation::Kind kind, const TablePointer& table, const KeyText& partition,
                               const KeyText& row, std::uint32_t entity, std::uint32_t condition) const;

  // -- run_reads.cc -----------------------------------------------------------------------------------------------

  void get(const Numbers& numbers);
  void get_many(const Numbers& numbers);
  void scan(const Numbers& numbers);
  void count_entities(const Numbers& numbers);
  void begin_walk(const Numbers& numbers);
  void continue_walk();
  void take_snapshot(std::uint32_t slot);
  void read_snapshot(std::uint32_t slot);
  void compare_entity(const Entity& found, const Entity& expected, const char* where);
  /// Compares all pages of the scan with these rows.
  void compare_scan(TableVerbs& table, Scan scan, const std::vector<RowPointer>& expected, const char* where);
  /// Compares the whole content of a store with a state.
  void compare_store(Store& store, const State& state, const char* where);
  void compare_tables(Store& store, const State& state, const std::string& account, const char* where);

  // -- run_tables.cc ----------------------------------------------------------------------------------------------

  void create_table(std::uint32_t number);
  void drop_table(std::uint32_t number);
  void create_account(std::uint32_t number);
  void drop_account(std::uint32_t number);
  void list(std::uint32_t page);
  void set_policies(const Numbers& numbers);
  void read_policies(std::uint32_t table);
  void load(const Numbers& numbers);
  bool fill(Loader& loader, const std::vector<Entity>& entities);
  void finish_load(const Numbers& numbers, Loader& loader, const std::vector<Entity>& entities, bool refused);
  void checkpoint(std::uint32_t write);
  void compact();
  void sync();
  void last_tag();

  // -- run_indexes.cc: indexes, and the expiry of tables -----------------------------------------------------------

  void declare_index(const Numbers& numbers);
  void drop_index(const Numbers& numbers);
  void query_index(const Numbers& numbers);
  void set_expiry(const Numbers& numbers);
  /// Makes a commit between two parts of a build. Returns whether it ended the build.
  bool interrupt_build(const Numbers& numbers);
  /// Returns whether such an interruption stops the build.
  static bool stops(const Numbers& numbers);
  /// Records the commits of a build since the last recorded version. No version of them has other entities.
  void note_build(const TableName& name, const IndexDefinition& definition, std::optional<IndexState> reached);
  /// Records the commits of the builds of a load since the last recorded version.
  void note_builds_of_load();
  /// Sets the states in which a load has left the indexes of its table.
  void settle_builds_of_load(const TableName& name, const std::vector<UnbuiltIndex>& unbuilt, bool is_stopped);
  /// Sets the state of an index, which may be a new one.
  void set_index(const TableName& name, const IndexDefinition& definition, std::optional<IndexState> state);
  /// Judges the end of a build because two entities have one value, or a value is too long.
  void settle_failed_build(const TableName& name, const IndexDefinition& definition, const Status& ended,
                           bool is_expected);
  void compare_indexes(Store& store, const TableState& table, const TableName& name, const char* where);

  // -- run_orders.cc ----------------------------------------------------------------------------------------------

  /// Compares the first entities of the scan in an order that the index may have.
  void compare_order(TableVerbs& table, Scan scan, std::vector<RowPointer> expected, const IndexDefinition& index,
                     std::uint32_t seed);
  /// Compares the counts of entities for each value of the property.
  void compare_aggregates(TableVerbs& table, Scan scan, const std::vector<RowPointer>& expected,
                          const std::string& property);

  // -- run_machine.cc: ends, beginnings, misfortunes --------------------------------------------------------------

  std::string path() const { return machine_->files->path("store"); }
  void make_resources();
  void make_machine(Remains remains, std::uint64_t seed);
  StoreOptions options(const io::Env& env) const;
  Status open();
  void close();
  void reopen(std::uint32_t faults);
  void verify();
  void read_only_open();
  std::uint64_t floor_of(bool killed) const;
  void crash(bool killed, io::CrashPolicy policy);
  /// Lets another process take the store over from one that is frozen, and then goes on and may answer nothing. Does
  /// nothing on a machine with a disk.
  void take_over();
  void plan_image(const Numbers& numbers);
  void take_image();
  void check_image();
  /// Opens what a crash left on a machine of its own, and compares it with the model.
  void check_disk(Remains remains, std::uint64_t floor, const char* where);
  /// Returns the state of a store at this version. If no commit had it, reports a violation and returns null.
  StatePointer state_at(std::uint64_t version, const char* where);
  void recovered(std::uint64_t floor, const char* where);
  void fail(const Numbers& numbers);
  void fill_disk(std::uint32_t pages);
  void free_disk();
  void let_others_run();

  struct Image {
    bool armed = false;
    std::uint64_t steps_left = 0;
    std::uint32_t policy = 0;
    std::optional<Remains> remains;
    std::uint64_t floor = 0;
  };
  struct Walk {
    std::uint32_t table = 0;
    Scan scan;
    std::optional<Units> last;  // the last entity returned
    std::optional<Units> next;  // the entity to be returned next, as of the read of the page before
  };
  /// The commits of a build between two recorded versions.
  struct Build {
    std::uint64_t after = 0;
    StatePointer state;
  };
  struct Held {
    Snapshot snapshot;
    StatePointer state;                   // without the entities that had ended
    std::map<std::string, Table> tables;  // by "account/lower"
  };

  const OperationList& list_;
  const Planted planted_;
  const Profile profile_;
  RunResult result_;
  std::uint64_t answer_ = 0;

  io::SeededRandom random_;
  std::shared_ptr<Resources> resources_;
  std::unique_ptr<ScheduledMachine> machine_;
  std::unique_ptr<Store> store_;
  std::map<std::string, Table> handles_;  // by "account/lower"
  std::array<std::optional<Held>, kSlots> held_;
  std::optional<Walk> walk_;
  Image image_;
  std::uint64_t checkpoints_ = 0;
  std::map<std::string, TablePointer> graveyard_;  // for Planted::kDropKeepsEntities

  // The ledger.
  StatePointer state_;
  std::map<std::uint64_t, StatePointer> history_;  // by version
  std::map<std::uint64_t, Build> builds_;          // by their last versions
  std::uint64_t version_ = 0;                      // of state_
  std::uint64_t time_ = 0;                         // at which reads judge the ends of entities
  std::uint64_t latest_time_ = 0;                  // of all opens
  std::uint64_t seen_end_ = 0;                     // the highest end that readers have judged as passed since the open
  io::Ticks wall_at_open_ = 0;
  std::chrono::nanoseconds monotonic_at_open_{0};
  std::uint64_t highest_ = 0;       // the highest version that this store has shown
  std::uint64_t promised_ = 0;      // must survive a power cut
  std::uint64_t acknowledged_ = 0;  // must survive the death of the process
  std::optional<Change> unknown_;
  bool misfortune_ = false;  // since the last open
  bool faults_ = false;      // other than a full disk
};

}  // namespace varve::lab
