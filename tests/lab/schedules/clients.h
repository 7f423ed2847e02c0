// Owns: a store with its clients under the seeded scheduler. The seed determines their operations, and their results
// are recorded.
// Must never: check an order of operations. The recorder checks it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/machine/machine_files.h"
#include "tests/lab/model/table_verbs.h"
#include "tests/lab/schedules/recorder.h"
#include "varve/store.h"

namespace varve::lab {

/// The store of one schedule, and the state that its clients share.
class World {
 public:
  World(std::uint64_t seed, bool on_rados);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs the clients to their end, reopens the store, and reads everything.
  void run();

  io::Scheduler& scheduler() { return machine.scheduler(); }
  Table& table(std::size_t object) {
    return object > kVolatileObject ? *named : object == kVolatileObject ? *changing : *fixed;
  }
  /// Returns whether this run's faults may have caused the status. Otherwise it is a finding.
  bool excuses(const Status& status, const char* verb);

  std::uint64_t seed;
  io::SeededRandom random;
  ScheduledMachine machine;
  bool has_faults = false;
  bool has_stuck = false;  // a call of the file system does not return for a while
  /// Whether each write must be durable: faults or a kill would let a buffered one be lost.
  bool syncs_all = false;
  bool was_stuck = false;
  Recorder recorder;
  std::unique_ptr<Store> store;
  std::optional<Table> fixed;
  std::optional<Table> changing;
  std::optional<Table> named;                                      // with a unique index, and a counter
  std::vector<std::pair<std::string, std::uint64_t>> checkpoints;  // path and version

 private:
  Status open();
  void prepare();
  void add_faults();
  void add_stuck();
  void refuse_links();
  void run_threads();
  void be_device();
  void look_at_killed_process();
  void add_view(Store& looked_at, std::uint64_t moment, std::uint64_t version, const char* text);
  void finish();
  void look_at_checkpoints();
  std::shared_ptr<Resources> resources_;
  io::Mutex device_mutex_;
  io::Condition device_woken_;
  bool clients_ended_ = false;  // under the mutex
};

std::string partition_name(std::size_t object);
std::string row_name(std::size_t cell);

/// One thread that uses the public interface.
class Client {
 public:
  Client(World& world, std::uint64_t seed, bool asynchronous)
      : world_(world), recorder_(world.recorder), random_(seed), asynchronous_(asynchronous) {}

  void run(int operations);
  /// Creates and drops a table, and runs compactions and checkpoints.
  void maintain(int operations);
  /// Reads every row of every object after all other clients have ended.
  void read_everything();

 private:
  struct Seen {
    std::int64_t value = 0;
    ETag etag;
  };

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(io::random_below(random_, bound)); }
  TableVerbs verbs(std::size_t object) { return {world_.table(object), world_.scheduler(), asynchronous_}; }
  Place any_place(std::size_t objects = kObjects);
  Entity entity(const Place& at, std::int64_t value);
  WriteOptions options();
  /// Ends a write: records its requirements and effects if it happened, and the meaning of a refusal otherwise.
  void end_write(std::size_t object, HistoryOperation operation, const Status& status, ETag etag);
  void end_refused(std::size_t object, HistoryOperation operation, const Status& status);

  void write_one();
  void write_side_by_side();
  void write_group();
  void remove_one();
  /// Reads all rows of a partition by checked scans, and adds them to what the commit read.
  Status check_partition(StoreTransaction& transaction, std::size_t object, CommitRecord& commit);
  void transact();
  // clients_names.cc
  void use_names();
  void take_name();
  void move_name();
  void let_go_name();
  void read_name(std::size_t cell);
  void increment();
  void read_counter();
  /// Records a refusal by the unique index, which reveals the entity that has the name.
  void end_taken(HistoryOperation operation, std::size_t cell, const Status& status);

  void read_one();
  void read_partition();
  void read_table();
  void read_snapshot();
  void create_or_drop();
  void checkpoint();
  FixedContent content_of(const Page& page);
  std::int64_t value_of(const Entity& entity);
  void add_reads(const FixedContent& content, std::uint64_t invoked, std::uint64_t returned, const char* text);

  World& world_;
  Recorder& recorder_;
  io::SeededRandom random_;
  bool asynchronous_;
  std::map<Place, Seen> seen_;
  /// An entity with a name that this client wrote last. No other client changes it.
  struct Named {
    std::int64_t entity = 0;
    std::size_t cell = 1;
    ETag etag;
  };
  std::vector<Named> own_;
};

}  // namespace varve::lab
