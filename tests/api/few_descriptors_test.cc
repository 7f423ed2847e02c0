// Goal: a store with far more files than the process's limit of descriptors works like any other store. It is read,
// written, merged, copied, verified and repaired, by blocking and by asynchronous operations.
// Method: a separate process with 64 descriptors on this machine's disk. Its store has over 200 table files, which a
// load with small files has created.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "api/catalog/catalog_rows.h"
#include "api/model/entity_codec.h"
#include "engine/load/load.h"
#include "tests/api/store_bench.h"
#include "tests/io/child_process.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/entity_bytes.h"
#include "varve/async.h"

namespace varve::few_descriptors_test {
namespace {

constexpr rlim_t kDescriptors = 64;
constexpr std::uint64_t kFilesMin = 200;
constexpr std::size_t kPartitions = 10;
constexpr std::size_t kRowsOfPartition = 800;

std::string partition_of(std::size_t i) {
  return "p" + std::to_string(100 + i / kRowsOfPartition);
}
std::string row_of(std::size_t i) {
  return std::to_string(1000 + i % kRowsOfPartition);
}
constexpr std::size_t kRows = kPartitions * kRowsOfPartition;

/// Returns an incompressible value. All of them are made once, which takes longer than reading them.
const std::string& value_of(std::size_t i) {
  static const std::vector<std::string> values = [] {
    std::vector<std::string> made(kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      io::SeededRandom random(row + 1);
      while (made[row].size() < 1000) made[row].push_back(static_cast<char>('!' + io::random_below(random, 90)));
    }
    return made;
  }();
  return values[i];
}

/// Runs in the process with few descriptors. Reports the first fault.
class Life {
 public:
  explicit Life(const io::TemporaryDirectory& directory) : directory_(directory) {}

  /// Opens a store with over kFilesMin table files, and a cache that holds almost nothing of them.
  std::string begin() {
    const rlimit limit{kDescriptors, kDescriptors};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return "setrlimit failed";
    ResourceOptions chosen;
    chosen.block_cache_bytes = 64 << 10;
    resources_ = *Resources::create(chosen);
    open();
    if (!fault_.empty()) return fault_;
    must(store_->create_account(test::kAccount));
    must(store_->create_table(test::kAccount, "Orders").status());
    store_.reset();
    fill();
    open();
    if (!fault_.empty()) return fault_;
    const std::uint64_t files = file_count();
    return files >= kFilesMin ? "" : "only " + std::to_string(files) + " files";
  }

  void must(const Status& status) {
    if (!status.ok() && fault_.empty()) fault_ = status.to_string();
  }
  void must(bool is_so, const std::string& what) {
    if (!is_so && fault_.empty()) fault_ = what;
  }
  const std::string& fault() const { return fault_; }
  Store& store() { return *store_; }
  Table& table() { return *table_; }
  void close() {
    must(store_->close());
    table_.reset();
    store_.reset();
  }
  std::string path() const { return directory_.path_of("store"); }
  std::string path_of(const std::string& name) const { return directory_.path_of(name); }

  std::uint64_t file_count() {
    std::uint64_t files = 0;
    const Statistics figures = *store_->statistics();
    for (const auto& level : figures.levels) files += level.files;
    return files;
  }

  void must_be(const Result<std::optional<Entity>>& found, const std::string& value) {
    must(found.status());
    if (!fault_.empty()) return;
    must(*found && *(*found)->find("V")->get_if<std::string>() == value, "an entity is another one");
  }
  void read_all(const ReadOptions& options = {}) {
    // In an order in which each read uses another file than the one before.
    for (std::size_t n = 0; n < kRows && fault_.empty(); ++n) {
      const std::size_t i = n * 1009 % kRows;
      must_be(table_->get(partition_of(i), row_of(i), options), value_of(i));
    }
  }
  void scan_all(bool backward, const ReadOptions& options = {}) {
    std::size_t count = 0;
    Scan scan;
    scan.backward = backward;
    scan.read = options;
    for (bool is_end = false; !is_end && fault_.empty();) {
      const Result<Page> page = table_->scan(scan);
      must(page.status());
      if (!page.ok()) return;
      for (const Entity& entity : page->entities) {
        const std::size_t i = backward ? kRows - 1 - count : count;
        must(*entity.find("V")->get_if<std::string>() == value_of(i), "a scan comes to another entity");
        ++count;
      }
      is_end = !page->continuation;
      if (page->continuation) scan.continuation = *page->continuation;
    }
    must(count == kRows, "a scan ended after " + std::to_string(count));
  }

 private:
  void open() {
    if (!fault_.empty()) return;
    StoreOptions options;
    options.create_if_absent = true;
    options.resources = resources_;
    Result<std::unique_ptr<Store>> opened = Store::open(path(), options);
    must(opened.status());
    if (!opened.ok()) return;
    store_ = *std::move(opened);
    Result<Table> table = store_->open_table(test::kAccount, "Orders");
    if (table.ok()) table_.emplace(*std::move(table));
  }
  void fill() {
    Result<std::unique_ptr<engine::Engine>> opened = engine::Engine::open(io::system_env(), path(), {});
    must(opened.status());
    if (!opened.ok()) return;
    engine::Engine& engine = **opened;
    const engine::ReadView view = engine.view();
    const auto row = view.get(*format::encode_sort_key(kTablesTable, test::kAccount, "orders"));
    must(row.ok() && row->has_value(), "no row of the catalog");
    if (!fault_.empty()) return;
    const Result<TableRow> named = decode_table_row(test::kAccount, "orders", view.version(), (*row)->value);
    must(named.status());
    engine::LoadOptions small;
    small.file_bytes = 8 << 10;
    small.chunk_bytes_max = 4 << 10;
    Result<std::unique_ptr<engine::Load>> load = engine.begin_load(small);
    must(load.status());
    if (!fault_.empty()) return;
    const auto begun = test::Change(kTablesTable).put(test::kAccount, "orders", (*row)->value).commit(engine);
    must(begun.status());
    (*load)->begin(named->id, *begun);
    for (std::size_t i = 0; i < kRows && fault_.empty(); ++i) {
      const Entity entity = test::with_value(partition_of(i), row_of(i), value_of(i));
      must((*load)->add(*format::encode_sort_key(named->id, partition_of(i), row_of(i)),
                        test::encoded_properties(entity)));
    }
    must((*load)->install());
    if (!fault_.empty()) return;
    format::BatchBuilder batch;
    batch.put(*format::encode_sort_key(kTablesTable, test::kAccount, "orders"), (*row)->value);
    batch.adopt(named->id);
    engine::CommitRequest request;
    request.batch = batch.finish();
    request.tables = {named->id};
    request.load = load->get();
    must(engine.commit(std::move(request)).status());
    load->reset();
    must(engine.close());
  }

  const io::TemporaryDirectory& directory_;
  std::shared_ptr<Resources> resources_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::string fault_;
};

class FewDescriptors : public testing::Test {
 protected:
  /// Returns the fault of a process with few descriptors that opened the store.
  std::string live(const std::function<void(Life&)>& body) {
    return io::in_child([&]() -> std::string {
      Life life(directory_);
      if (std::string fault = life.begin(); !fault.empty()) return fault;
      body(life);
      return life.fault();
    });
  }
  const io::TemporaryDirectory directory_;
};

TEST_F(FewDescriptors, ReadsAndScansInBothDirectionsFindEverything) {
  EXPECT_EQ(live([](Life& life) {
              life.read_all();
              life.scan_all(false);
              life.scan_all(true);
              life.read_all();
            }),
            "");
}

TEST_F(FewDescriptors, ManyReadsSideBySideFindEverything) {
  EXPECT_EQ(live([](Life& life) {
              std::vector<EntityKey> keys;
              for (std::size_t i = 0; i < kRows; i += 7) keys.push_back({partition_of(i), row_of(i)});
              const auto found = life.table().get_many(keys);
              life.must(found.status());
              if (!found.ok()) return;
              for (std::size_t n = 0; n < keys.size(); ++n) life.must_be((*found)[n], value_of(7 * n));
            }),
            "");
}

TEST_F(FewDescriptors, AsynchronousReadsFindEverything) {
  EXPECT_EQ(live([](Life& life) {
              const AsyncTable table(life.table());
              for (std::size_t round = 0; round < 4; ++round) {
                std::vector<Task<Result<std::optional<Entity>>>> reads;
                std::vector<std::size_t> wanted;
                for (std::size_t i = round; i < kRows; i += 5) {
                  reads.push_back(table.get(partition_of(i), row_of(i)));
                  wanted.push_back(i);
                }
                const auto found = wait(all(std::move(reads)));
                for (std::size_t n = 0; n < found.size(); ++n) life.must_be(found[n], value_of(wanted[n]));
              }
            }),
            "");
}

TEST_F(FewDescriptors, ASnapshotReadsFilesThatHaveLeftTheStore) {
  EXPECT_EQ(live([](Life& life) {
              const Result<Snapshot> before = life.store().snapshot();
              life.must(before.status());
              for (std::size_t i = 0; i < kRows && life.fault().empty(); i += 3) {
                const Entity changed = test::with_value(partition_of(i), row_of(i), "changed");
                WriteOptions quick;
                quick.durability = Durability::kBuffered;
                life.must(life.table().insert_or_replace(changed, quick).status());
              }
              life.must(life.store().compact());
              ReadOptions then;
              then.snapshot = *before;
              life.read_all(then);
              life.scan_all(false, then);
              for (std::size_t i = 0; i < kRows && life.fault().empty(); ++i) {
                life.must_be(life.table().get(partition_of(i), row_of(i)), i % 3 == 0 ? "changed" : value_of(i));
              }
            }),
            "");
}

TEST_F(FewDescriptors, AStoreIsCopiedVerifiedAndRepaired) {
  EXPECT_EQ(live([](Life& life) {
              life.read_all();
              life.must(life.store().checkpoint(life.path_of("copy")).status());
              life.close();
              for (const std::string& path : {life.path(), life.path_of("copy")}) {
                const Result<VerifyReport> report = Store::verify(path);
                life.must(report.status());
                if (!report.ok()) return;
                life.must(report->sound() && report->entities == kRows,
                          report->findings.empty() ? "entities are missing" : report->findings.front());
              }
              const Result<RepairReport> repaired = Store::repair(life.path_of("copy"), life.path_of("repaired"));
              life.must(repaired.status());
              if (!repaired.ok()) return;
              life.must(repaired->lost_nothing(), "a repair lost something of a sound store");
              const Result<VerifyReport> report = Store::verify(life.path_of("repaired"));
              life.must(report.status());
              if (report.ok())
                life.must(report->sound() && report->entities == kRows, "what was repaired is not whole");
            }),
            "");
}

}  // namespace
}  // namespace varve::few_descriptors_test
