// Owns: the environment of a scenario: a store on a machine that may fail, and short functions for users' operations.
// Each operation is entered in the ledger with its result.
// Must never: treat an error as a failure of the lab: if faults are planned, every operation may fail. An effect that
// no fault explains (a read that contradicts the ledger) is a problem.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/machine/machine_files.h"
#include "tests/lab/scenario/ledger.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"
#include "varve/store.h"

namespace varve::lab {

inline constexpr std::string_view kStorePath = "/store";
inline constexpr std::string_view kAccount = "account1";

/// The options of a scenario's stores.
struct Tuning {
  std::uint64_t write_buffer_bytes = 8 << 20;
  std::uint64_t block_cache_bytes = 1 << 20;
  std::optional<Durability> default_durability{};
  /// Size of table files. Small ones give a few entries many files and levels.
  std::uint64_t file_bytes = engine::TreeShape().file_bytes;
  /// Whether the law also ends the builds of indexes, compacts, and compares each entry (content/index_comparison.h).
  bool has_indexes = false;
};
Result<StoreOptions> make_options(const Tuning& tuning, const io::Env& env);

/// A checkpoint that was begun: its path, and its version if known.
struct CheckpointBegun {
  std::string path;
  std::optional<std::uint64_t> version;  // of a finished checkpoint
};

class Stage {
 public:
  using Kind = WriteOperation::Kind;

  /// All must outlive the stage. The ledger contains the store's content. With `files`, the store is in these and not on
  /// the machine's disk.
  Stage(test::Machine& machine, const Tuning& tuning, Ledger& ledger, MachineFiles* files = nullptr);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // -- The store ----------------------------------------------------------------------------------------------------

  Status open(bool read_only = false);
  /// Marks the next open as the first after a power cut.
  void expect_power_cut() noexcept { after_power_cut_ = true; }
  /// Marks the machine as lying: an open may find any earlier state, however old.
  void promise_nothing() noexcept { is_lied_to_ = true; }
  Status close();
  Status reopen();
  bool is_open() const noexcept { return store_ != nullptr; }
  Store& store() { return *store_; }
  test::Machine& machine() noexcept { return machine_; }
  Ledger& ledger() noexcept { return ledger_; }

  // -- Commits; each function is one commit -------------------------------------------------------------------------

  void account(std::string_view account = kAccount);
  void drop_account(std::string_view account = kAccount);
  void table(std::string_view table, std::string_view account = kAccount);
  void drop_table(std::string_view table, std::string_view account = kAccount);
  void policies(std::string_view table, int count);
  /// Creates a table whose entities end, but long after the script.
  void expiring_table(std::string_view table);
  /// Lets the entities that are written from now on end long after the script, or never.
  void expiry(std::string_view table, bool expires);
  /// Creates a table whose entities end at their property Until. See Write::has_ended.
  void dated_table(std::string_view table);

  /// Declares an index of a table with entities, and stops its build after the first part.
  void declare_index(std::string_view table, const IndexDefinition& definition);
  /// Builds a declared index. After the first part of the build, calls `meanwhile`, which may make other commits. The build
  /// ends with `ending`.
  void build_index(std::string_view table, const IndexDefinition& definition,
                   const std::function<void()>& meanwhile = {}, Code ending = Code::kOk);
  void drop_index(std::string_view table, std::string_view index);

  struct Write {
    Kind kind = Kind::kInsertOrReplace;
    std::string partition_key;
    std::string row_key;
    std::string value;       // of the property V; for a merge, of W
    bool if_same = false;    // requires the ETag in the ledger
    bool has_ended = false;  // has a property Until, which lies in the past
  };
  void write(std::string_view table, Write write, Durability durability = Durability::kSync, std::string_view tag = {});
  /// Commits an entity group transaction.
  void batch(std::string_view table, std::vector<Write> writes, Durability durability = Durability::kSync);
  /// Commits a transaction over tables. It also reads the first key of each write.
  void transact(std::vector<std::pair<std::string, Write>> writes, Durability durability = Durability::kSync);
  /// Writes `count` upserts, 20 in each batch. Values have `bytes` bytes that do not compress. Row keys ascend from
  /// `first`.
  void fill(std::string_view table, std::string_view partition_key, int first, int count, std::size_t bytes,
            Durability durability = Durability::kBuffered);
  /// Loads `count` entities. If `step` is not 1, they are out of order.
  void load(std::string_view table, int count, std::size_t bytes, int step = 1, bool finish = true);
  /// Loads entities into an empty table with this index, which the load builds after its commit.
  void load_indexed(std::string_view table, std::string_view index, int count, std::size_t bytes);
  /// Makes any other commit: `act` returns its version, or version_seen() after it.
  void commit(const std::string& what, Durability durability, const std::function<Result<std::uint64_t>()>& act,
              Effect effect);

  // -- Other operations --------------------------------------------------------------------------------------------

  void sync();
  void compact();
  void checkpoint(const std::string& path);
  /// Reads everything and compares it with the ledger.
  void read_all();
  std::uint64_t visible_version() const;
  /// Returns the visible version after a commit whose own version is not known, with a mark that says so.
  std::uint64_t version_seen() const;

  // -- Results ------------------------------------------------------------------------------------------------------

  std::vector<CheckpointBegun>& checkpoints() noexcept { return checkpoints_; }
  std::size_t error_count() const noexcept { return errors_.size(); }
  const std::vector<Status>& errors() const noexcept { return errors_; }
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  void problem(std::string what) { problems_.push_back(std::move(what)); }
  /// Sets a hook that is called before (true) and after (false) each call of the store, so that faults hit only the
  /// store.
  void set_call_hook(std::function<void(bool)> hook) { hook_ = std::move(hook); }
  std::uint64_t random(std::uint64_t bound) { return io::random_below(random_, bound); }
  std::string letters(std::size_t bytes);

 private:
  template <typename Call>
  auto call(const Call& call);
  template <typename Call>
  auto call_or_tell(const Call& call);
  Entity entity_of(const Write& write) const;
  ETag condition(std::string_view table, const Write& write) const;
  Status note(const Status& status);
  std::vector<Write> loaded_rows(int count, std::size_t bytes, int step);
  /// Enters the state of an index after a call that declared or built it. Only a state that the store shows is certain.
  void note_index(const std::string& what, std::uint64_t before, const Status& ended, std::string_view table,
                  std::string_view index);

  std::string path_of(std::string_view store) const;
  Remains remains() const;

  test::Machine& machine_;
  MachineFiles* const files_;
  io::Env env_;
  Tuning tuning_;
  Ledger& ledger_;
  io::SeededRandom random_;
  std::unique_ptr<Store> store_;
  bool after_power_cut_ = false;
  bool is_lied_to_ = false;
  std::function<void(bool)> hook_;
  std::vector<CheckpointBegun> checkpoints_;
  std::vector<Status> errors_;
  std::vector<std::string> problems_;
};

template <typename Call>
auto Stage::call(const Call& call) {
  if (hook_) hook_(true);
  auto answer = call();
  if (hook_) hook_(false);
  return answer;
}

/// Calls the store. Its functions return kOutOfMemory, so an exception is a problem.
template <typename Call>
auto Stage::call_or_tell(const Call& act) {
  try {
    return call(act);
  } catch (const std::bad_alloc&) {
    if (hook_) hook_(false);
    problem("a verb threw std::bad_alloc");
    return decltype(act())(Status(Code::kOutOfMemory));
  }
}

/// While it lives, allocations of this thread belong to the lab.
class LabsOwn {
 public:
  LabsOwn() noexcept;
  ~LabsOwn();
  LabsOwn(const LabsOwn&) = delete;
  LabsOwn& operator=(const LabsOwn&) = delete;
};
/// Returns whether this thread is in a LabsOwn, or in a place where a kernel would grant the memory.
bool is_not_the_stores_memory() noexcept;

/// Returns whether a fault of the machine or of memory, or its consequences, can explain this code.
bool is_misfortune(Code code);

/// Applies one write to the content.
void apply(Content& content, std::string_view table, const Stage::Write& write, std::uint64_t version);

}  // namespace varve::lab
