// Owns: what a scenario stands on: a store on a machine that may fail, and short words for what users do with a store,
// each entered in the ledger with what it came to.
// Must never: take an error for a failure of the lab: where faults are planned, every verb may fail. What no fault
// explains (a read that contradicts the ledger) is a problem.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/scenario/ledger.h"
#include "tests/support/engine_bench.h"
#include "varve/store.h"

namespace varve::lab {

inline constexpr std::string_view kStorePath = "/store";
inline constexpr std::string_view kAccount = "account1";

/// What a scenario's stores are opened with.
struct Tuning {
  std::uint64_t write_buffer_bytes = 8 << 20;
  std::uint64_t block_cache_bytes = 1 << 20;
  std::optional<Durability> default_durability{};
};
Result<StoreOptions> make_options(const Tuning& tuning, const io::Env& env);

/// A checkpoint that was begun: where, and what is known of it.
struct CheckpointBegun {
  std::string path;
  std::optional<std::uint64_t> version;  // of the finished one
};

class Stage {
 public:
  using Kind = TransactionOperation::Kind;

  /// Both outlive it. The ledger says what is in the store.
  Stage(test::Machine& machine, const Tuning& tuning, Ledger& ledger);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // -- The store ----------------------------------------------------------------------------------------------------

  Status open(bool read_only = false);
  /// The next open is the first after a power cut.
  void expect_power_cut() noexcept { after_power_cut_ = true; }
  /// The machine lies: what an open finds is a state that there was, and nothing says how late a one.
  void promise_nothing() noexcept { is_lied_to_ = true; }
  Status close();
  Status reopen();
  bool is_open() const noexcept { return store_ != nullptr; }
  Store& store() { return *store_; }
  test::Machine& machine() noexcept { return machine_; }
  Ledger& ledger() noexcept { return ledger_; }

  // -- Commits; each is one ---------------------------------------------------------------------------------------

  void account(std::string_view account = kAccount);
  void drop_account(std::string_view account = kAccount);
  void table(std::string_view table, std::string_view account = kAccount);
  void drop_table(std::string_view table, std::string_view account = kAccount);
  void policies(std::string_view table, int count);

  struct Write {
    Kind kind = Kind::kInsertOrReplace;
    std::string partition_key;
    std::string row_key;
    std::string value;     // of the property V; of a merge, of W
    bool if_same = false;  // insists on the ETag that the ledger has
  };
  void write(std::string_view table, Write write, Durability durability = Durability::kSync, std::string_view tag = {});
  /// An entity group transaction.
  void batch(std::string_view table, std::vector<Write> writes, Durability durability = Durability::kSync);
  /// A transaction over tables: reads the first key of each write, too.
  void transact(std::vector<std::pair<std::string, Write>> writes, Durability durability = Durability::kSync);
  /// `count` upserts, 20 to a batch, of values of so many bytes that do not compress, under row keys that ascend from
  /// `first`.
  void fill(std::string_view table, std::string_view partition_key, int first, int count, std::size_t bytes,
            Durability durability = Durability::kBuffered);
  /// Loads `count` entities; `step` other than 1 brings them out of order.
  void load(std::string_view table, int count, std::size_t bytes, int step = 1, bool finish = true);
  /// Any other commit: `act` returns its version.
  void commit(const std::string& what, Durability durability, const std::function<Result<std::uint64_t>()>& act,
              Effect effect);

  // -- What is no commit -------------------------------------------------------------------------------------------

  void sync();
  void compact();
  void checkpoint(const std::string& path);
  /// Reads everything and compares it with the ledger.
  void read_all();
  std::uint64_t visible_version() const;

  // -- What came of it ----------------------------------------------------------------------------------------------

  std::vector<CheckpointBegun>& checkpoints() noexcept { return checkpoints_; }
  std::size_t error_count() const noexcept { return errors_.size(); }
  const std::vector<Status>& errors() const noexcept { return errors_; }
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  void problem(std::string what) { problems_.push_back(std::move(what)); }
  /// Called before (true) and after (false) each call of the store, so that what fails there fails the store alone.
  void set_call_hook(std::function<void(bool)> hook) { hook_ = std::move(hook); }
  std::uint64_t random(std::uint64_t bound) { return io::random_below(random_, bound); }
  std::string letters(std::size_t bytes);

 private:
  template <typename Call>
  auto call(const Call& call);
  template <typename Call>
  auto call_or_tell(const Call& call);
  Entity entity_of(const Write& write) const;
  std::uint64_t version_seen() const;
  ETag condition(std::string_view table, const Write& write) const;
  Status note(const Status& status);

  test::Machine& machine_;
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

/// While it lives, what this thread allocates is the lab's own.
class LabsOwn {
 public:
  LabsOwn() noexcept;
  ~LabsOwn();
  LabsOwn(const LabsOwn&) = delete;
  LabsOwn& operator=(const LabsOwn&) = delete;
};
/// Whether this thread is in a LabsOwn, or where a kernel would have the memory.
bool is_not_the_stores_memory() noexcept;

/// What one write does to the content.
void apply(Content& content, std::string_view table, const Stage::Write& write, std::uint64_t version);

}  // namespace varve::lab
