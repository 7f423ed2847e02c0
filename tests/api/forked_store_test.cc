// Goal: a forked child can exit in every way with every kind of inherited object, without an effect on its parent.
// Method: threads of the parent write, load, read and compact without pause while the process forks repeatedly. In each
// child an alarm ends a hang, which the parent distinguishes from an exit. Afterwards the parent's own writes are
// counted, and the store is verified.
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/store_bench.h"
#include "tests/io/child_process.h"
#include "tests/io/temporary_directory.h"
#include "varve/async.h"
#include "varve/blob.h"
#include "varve/loader.h"
#include "varve/store.h"
#include "varve/store_transaction.h"

namespace varve::forked_store_test {
namespace {

using test::kAccount;
using test::with_value;

constexpr unsigned kHangSeconds = 60;

/// All kinds of a store's objects that a program can hold.
struct Objects {
  std::shared_ptr<Resources> resources;
  std::unique_ptr<Store> store;
  std::unique_ptr<Store> other;  // shares the resources
  std::optional<Table> table;
  std::optional<Snapshot> snapshot;
  std::optional<StoreTransaction> transaction;
  std::optional<Loader> loader;         // for entities in order
  std::optional<Loader> sorted_loader;  // for entities out of order
  std::optional<AsyncTable> async;
  std::optional<Container> container;
  std::optional<BlobWriter> writer;  // of which parts are written
  std::optional<BlobReader> reader;

  explicit Objects(const std::string& path) {
    ResourceOptions options;
    options.write_buffer_bytes = std::uint64_t{8} << 20;
    options.block_cache_bytes = std::uint64_t{1} << 20;
    resources = *Resources::create(options);
    StoreOptions opening;
    opening.create_if_absent = true;
    opening.default_durability = Durability::kBuffered;
    opening.resources = resources;
    store = *Store::open(path, opening);
    other = *Store::open(path + ".other", opening);
    EXPECT_TRUE(store->create_account(kAccount).ok());
    table.emplace(*store->create_table(kAccount, "Rows"));
    EXPECT_TRUE(table->insert(with_value("p", "0", "v")).ok());
    snapshot.emplace(*store->snapshot());
    transaction.emplace(*store->begin_transaction());
    EXPECT_TRUE(transaction->get(*table, "p", "0").ok());
    loader.emplace(*store->load_table(kAccount, "Loaded"));
    sorted_loader.emplace(*store->load_table(kAccount, "Sorted"));
    for (int i = 0; i < 2000; ++i) {
      EXPECT_TRUE(loader->add(with_value("p", std::to_string(100'000 + i), std::string(500, 'l'))).ok());
      EXPECT_TRUE(sorted_loader->add(with_value("p", std::to_string(100'000 - i), std::string(500, 's'))).ok());
    }
    container.emplace(*store->create_container(kAccount, "photos"));
    EXPECT_TRUE(container->put("blob", std::string(100'000, 'b')).ok());
    reader.emplace(*container->read("blob"));
    writer.emplace(*container->write("long"));
    EXPECT_TRUE(writer->append(std::string(3'000'000, 'w')).ok());
    async.emplace(*table);
    EXPECT_TRUE(wait(async->get("p", "0")).ok());
  }
};

/// Threads that keep every mutex and every background thread of the store busy until the end.
class Traffic {
 public:
  explicit Traffic(Objects& objects) {
    for (std::size_t number = 0; number < 2; ++number) {
      threads_.emplace_back([this, &objects, number] { write(objects, number); });
    }
    threads_.emplace_back([this, &objects] { read(objects); });
  }
  ~Traffic() { end(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void end() {
    is_ending_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// Returns the number of writes of each writer.
  const std::array<std::atomic<int>, 2>& written() const { return written_; }

 private:
  void write(Objects& objects, std::size_t number) {
    while (!is_ending_) {
      const std::string key = std::to_string(number) + "-" + std::to_string(written_[number]);
      const Result<ETag> inserted = objects.table->insert(with_value("w", key, std::string(3'000, 'w')));
      EXPECT_TRUE(inserted.ok()) << inserted.status().to_string();
      if (!inserted.ok()) return;
      ++written_[number];
    }
  }
  void read(Objects& objects) {
    for (int round = 0; !is_ending_; ++round) {
      EXPECT_TRUE(objects.store->snapshot().ok());
      EXPECT_TRUE(objects.table->scan(Scan{}).ok());
      EXPECT_TRUE(wait(objects.async->get("w", "0-0")).ok());
      if (round % 16 == 0) {
        EXPECT_TRUE(objects.store->compact().ok());
      }
    }
  }

  std::atomic<bool> is_ending_{false};
  std::array<std::atomic<int>, 2> written_{};
  std::vector<std::thread> threads_;
};

std::string words_of(Code code) {
  return std::string(code_name(code)) + " ";
}

/// Returns the answers other than kLocked, for each operation.
std::string wrong_answers(Objects& objects) {
  std::vector<std::pair<std::string, Code>> answers;
  const auto say = [&](const char* verb, Code code) { answers.emplace_back(verb, code); };
  Store& store = *objects.store;
  Table& table = *objects.table;
  say("insert", table.insert(with_value("c", "1", "v")).code());
  say("get", table.get("p", "0").code());
  say("get_many", table.get_many(std::vector<EntityKey>{{"p", "0"}}).code());
  say("scan", table.scan(Scan{}).code());
  say("count", table.count(Scan{}).code());
  say("remove", table.remove("p", "0", ETag::any()).code());
  say("sync", store.sync().code());
  say("compact", store.compact().code());
  say("snapshot", store.snapshot().code());
  say("statistics", store.statistics().code());
  say("begin_transaction", store.begin_transaction().code());
  say("list_accounts", store.list_accounts().code());
  say("list_tables", store.list_tables(kAccount).code());
  say("create_account", store.create_account("another1").code());
  say("create_table", store.create_table(kAccount, "Another").code());
  say("open_table", store.open_table(kAccount, "Rows").code());
  say("drop_table", store.drop_table(kAccount, "Rows").code());
  say("load_table", store.load_table(kAccount, "Another").code());
  say("last_tag", store.last_tag().code());
  say("checkpoint", store.checkpoint("/nowhere/at/all").code());
  say("add", objects.loader->add(with_value("p", "9", "v")).code());
  say("finish", objects.sorted_loader->finish().code());
  say("transaction get", objects.transaction->get(table, "p", "0").code());
  say("transaction commit", objects.transaction->commit().code());
  say("async get", wait(objects.async->get("p", "0")).code());
  say("async insert", wait(objects.async->insert(with_value("c", "2", "v"))).code());
  std::string buffer(10, ' ');
  say("blob append", objects.writer->append("x").code());
  say("blob publish", objects.writer->publish().code());
  say("blob read", objects.reader->read(0, buffer).code());
  say("blob put", objects.container->put("other", "x").code());
  StoreOptions sharing;
  sharing.resources = objects.resources;
  sharing.create_if_absent = true;
  say("open with the parent's resources", Store::open("/nowhere/at/all", sharing).code());
  std::string wrong;
  for (const auto& [verb, code] : answers) {
    if (code != Code::kLocked) wrong += verb + ": " + std::string(code_name(code)) + "; ";
  }
  return wrong;
}

/// An action of a child with the inherited objects. `objects` is its own copy, which it may take apart.
struct Way {
  const char* name;
  std::function<std::string(std::unique_ptr<Objects>&)> act;
};

std::vector<Way> ways() {
  return {
      {"verbs", [](auto& objects) { return wrong_answers(*objects); }},
      {"close", [](auto& objects) { return words_of(objects->store->close().code()); }},
      {"close twice, and verbs",
       [](auto& objects) {
         (void)objects->other->close();
         (void)objects->other->close();
         return words_of(objects->other->close().code()) + words_of(objects->other->sync().code());
       }},
      {"the store first", [](auto& objects) { return objects->store.reset(), std::string(); }},
      {"everything", [](auto& objects) { return objects.reset(), std::string(); }},
      {"the resources", [](auto& objects) { return objects->resources.reset(), objects.reset(), std::string(); }},
      {"the table", [](auto& objects) { return objects->table.reset(), std::string(); }},
      {"the snapshot", [](auto& objects) { return objects->snapshot.reset(), std::string(); }},
      {"the transaction", [](auto& objects) { return objects->transaction.reset(), std::string(); }},
      {"the streams of blobs", [](auto& objects) { return objects->writer.reset(), objects->reader.reset(), ""; }},
      {"the loaders", [](auto& objects) { return objects->loader.reset(), objects->sorted_loader.reset(), ""; }},
      {"a loader aborted",
       [](auto& objects) {
         objects->sorted_loader->abort();
         objects->loader->abort();
         return std::string();
       }},
      {"asynchronous", [](auto& objects) { return objects->async.reset(), std::string(); }},
      {"a store of its own",
       [](auto& objects) {
         objects.reset();
         const io::TemporaryDirectory scratch;
         StoreOptions opening;
         opening.create_if_absent = true;
         const auto own = Store::open(scratch.path_of("own"), opening);
         return own.ok() ? words_of((*own)->create_account(kAccount).code()) : words_of(own.code());
       }},
  };
}

std::string expected_of(const std::string& way) {
  if (way == "close" || way == "a store of its own") return "Ok ";
  if (way == "close twice, and verbs") return "Ok Closed ";
  return "";
}

/// Holds objects until the process ends by exit(), like a static object of a program.
std::unique_ptr<Objects>& held_until_exit() {
  static std::unique_ptr<Objects> objects;
  return objects;
}

/// Returns how a child ends that leaves by exit(), including destructors of static objects.
std::string end_by_exit(std::unique_ptr<Objects>& objects) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kHangSeconds);
    held_until_exit() = std::move(objects);
    std::exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "ended with " + std::to_string(WEXITSTATUS(status));
}

void expect_writes_are_there(const std::string& path, const std::vector<int>& written) {
  const Result<VerifyReport> report = Store::verify(path);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 0U);
  const auto store = *Store::open(path);
  const Table table = *store->open_table(kAccount, "Rows");
  for (std::size_t number = 0; number < written.size(); ++number) {
    for (int i = 0; i < written[number]; ++i) {
      const auto found = table.get("w", std::to_string(number) + "-" + std::to_string(i));
      ASSERT_TRUE(found.ok() && found->has_value()) << number << "-" << i;
    }
  }
  std::uint64_t entities = 0;
  Scan scan;
  do {
    const Result<Count> count = table.count(scan);
    ASSERT_TRUE(count.ok()) << count.status().to_string();
    entities += count->entities;
    scan.continuation = count->continuation.value_or("");
  } while (!scan.continuation.empty());
  EXPECT_EQ(entities, static_cast<std::uint64_t>(written[0] + written[1] + 1)) << "a child added none and took none";
}

TEST(ForkedStore, AChildLetsGoOfEverythingAndTheParentGoesOn) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  std::vector<int> written;
  {
    auto objects = std::make_unique<Objects>(path);
    Traffic traffic(*objects);
    for (int round = 0; round < 4; ++round) {
      for (const Way& way : ways()) {
        const std::string answer = io::in_child([&] {
          ::alarm(kHangSeconds);
          return way.act(objects);
        });
        EXPECT_EQ(answer, expected_of(way.name)) << way.name << ", round " << round;
      }
      EXPECT_EQ(end_by_exit(objects), "") << "exit, round " << round;
    }
    traffic.end();
    for (const std::atomic<int>& count : traffic.written()) written.push_back(count);
    EXPECT_EQ(objects->transaction->get(*objects->table, "p", "0").code(), Code::kOk);
    EXPECT_TRUE(objects->snapshot->version().ticks > 0);
    EXPECT_TRUE(objects->loader->finish().ok());
    EXPECT_TRUE(objects->sorted_loader->finish().ok());
    EXPECT_TRUE(objects->store->close().ok());
  }
  expect_writes_are_there(path, written);
}

TEST(ForkedStore, AChildThatClosedDoesNotKeepTheLockOfAParentThatDied) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  int ready[2];
  int stay[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(stay), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    StoreOptions opening;
    opening.create_if_absent = true;
    auto store = Store::open(path, opening);
    if (::fork() == 0) {
      (void)(*store)->close();
      ::alarm(kHangSeconds);
      ::close(stay[1]);
      (void)!::write(ready[1], "c", 1);
      (void)!::read(stay[0], ready, 1);  // until the test has checked it
      ::_exit(0);
    }
    ::close(stay[1]);
    ::pause();
  }
  char closed = 0;
  ASSERT_EQ(::read(ready[0], &closed, 1), 1);
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(Store::open(path).ok()) << "the grandchild lives, and has let go";
  for (const int end : {ready[0], ready[1], stay[0], stay[1]}) ::close(end);
}

}  // namespace
}  // namespace varve::forked_store_test
