// Goal: a store has one owner, whatever happens to its files from outside.
// Method: while writer A has a store open, one of its files is removed, replaced, cut or renamed, or its whole
// directory is moved, copied or removed. Then a second process B tries to open the store and to write, and A continues.
// At most one of the two may acknowledge a write, and the other gets a typed error. Acknowledged data is found at the
// path, or the store reports damage.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/manifest/manifest.h"
#include "tests/api/store_bench.h"
#include "tests/io/child_process.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/effort.h"
#include "tests/support/remove_in_use.h"
#include "varve/store.h"

namespace varve::ownership_test {
namespace {

namespace fs = std::filesystem;
using test::kAccount;

constexpr std::string_view kTable = "rows";

/// Returns a row. A row of 30,000 characters is a separate value, so that a flush keeps a value file.
Entity row(const std::string& key, std::size_t bytes = 100) {
  Entity entity("p", key);
  entity.set("V", std::string(bytes, 'v'));
  return entity;
}

Result<std::unique_ptr<Store>> open_store(const std::string& path, bool may_create = false, bool read_only = false) {
  StoreOptions options;
  options.create_if_absent = may_create;
  options.read_only = read_only;
  return Store::open(path, options);
}

/// Returns the result of B: "Ok" if its write was acknowledged, else the code of the refusal.
std::string open_and_write(const std::string& path, bool may_create) {
  return io::in_child([&]() -> std::string {
    ::alarm(60);
    const Result<std::unique_ptr<Store>> store = open_store(path, may_create);
    if (!store.ok()) return std::string(code_name(store.code()));
    (void)(*store)->create_account(kAccount);
    Result<Table> table = (*store)->open_table(kAccount, kTable);
    if (!table.ok()) table = (*store)->create_table(kAccount, kTable);
    if (!table.ok()) return std::string(code_name(table.code()));
    return std::string(code_name(table->insert(row("b")).code()));
  });
}

/// The part of A in one case.
class Owner {
 public:
  explicit Owner(const std::string& path) {
    Result<std::unique_ptr<Store>> store = open_store(path, true);
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    store_ = *std::move(store);
    EXPECT_TRUE(store_->create_account(kAccount).ok());
    table_.emplace(*store_->create_table(kAccount, kTable));
    EXPECT_EQ(insert("before", 30'000), Code::kOk);
    EXPECT_TRUE(store_->compact().ok());
    EXPECT_EQ(insert("logged"), Code::kOk);
  }

  Code insert(const std::string& key, std::size_t bytes = 100) {
    const Result<ETag> inserted = table_->insert(row(key, bytes));
    if (inserted.ok()) acknowledged_.push_back(key);
    return inserted.code();
  }
  Status compact() { return store_->compact(); }
  Status close() { return store_->close(); }
  const std::vector<std::string>& acknowledged() const { return acknowledged_; }

 private:
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::vector<std::string> acknowledged_;
};

bool is_fence(Code code) {
  return code == Code::kFenced || code == Code::kUnknown || code == Code::kPoisoned;
}

/// Returns whether the store reports damage.
bool says_damage(const std::string& path) {
  const Result<VerifyReport> report = Store::verify(path);
  return !report.ok() || report->finding_count > 0;
}

void expect_all_there_or_damage(const std::string& path, const std::vector<std::string>& keys) {
  if (says_damage(path)) return;
  const Result<std::unique_ptr<Store>> store = open_store(path);
  ASSERT_TRUE(store.ok()) << "verify calls it sound: " << store.status().to_string();
  const Result<Table> table = (*store)->open_table(kAccount, kTable);
  ASSERT_TRUE(table.ok()) << "verify calls it sound: " << table.status().to_string();
  for (const std::string& key : keys) {
    const Result<std::optional<Entity>> found = table->get("p", key);
    EXPECT_TRUE(found.ok() && found->has_value()) << key << " was acknowledged, and verify calls the store sound";
  }
}

/// Lets A continue after `tamper`, and B try, and checks the invariant. `keeps_earlier`: the data at the path includes
/// A's earlier writes.
void run_case(const std::string& path, const std::function<void(const std::string&)>& tamper, bool keeps_earlier,
              bool b_may_create = false) {
  std::vector<std::string> acknowledged;
  std::string answer_of_b;
  {
    Owner a(path);
    const std::size_t earlier = a.acknowledged().size();
    tamper(path);
    answer_of_b = open_and_write(path, b_may_create);
    std::vector<Code> codes;
    codes.push_back(a.insert("after"));
    const Status compacted = a.compact();
    codes.push_back(a.insert("later"));
    const bool a_acknowledges = a.acknowledged().size() > earlier;
    EXPECT_FALSE(answer_of_b == "Ok" && a_acknowledges) << "both acknowledge";
    EXPECT_NE(answer_of_b, "NotFound") << "B was told that there is no store";
    for (const Code code : codes) EXPECT_TRUE(code == Code::kOk || is_fence(code)) << code_name(code);
    if (compacted.code() == Code::kFenced) {
      EXPECT_EQ(codes.back(), Code::kFenced);
    }
    const Status closed = a.close();
    if (codes.back() == Code::kFenced) {
      EXPECT_EQ(closed.code(), Code::kFenced) << closed.to_string();
    }
    acknowledged.assign(a.acknowledged().begin() + (keeps_earlier ? 0 : static_cast<std::ptrdiff_t>(earlier)),
                        a.acknowledged().end());
  }
  if (answer_of_b == "Ok") acknowledged.emplace_back("b");
  expect_all_there_or_damage(path, acknowledged);
}

void copy_over(const std::string& file) {
  fs::copy_file(file, file + ".copy");
  fs::rename(file + ".copy", file);
}

std::vector<std::string> files_of_a_store() {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  const Owner a(path);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Stores created in the same way have equal file numbers, so a name in one is a name in the next.
TEST(Ownership, OneOwnerWhateverFileIsTakenAwayOrReplaced) {
  struct Way {
    const char* name;
    std::function<void(const std::string&)> act;
    bool is_in_place = false;
  };
  const std::vector<Way> ways{
      {"removed", [](const std::string& file) { fs::remove(file); }},
      {"renamed", [](const std::string& file) { fs::rename(file, file + ".away"); }},
      {"replaced by a copy", copy_over},
      {"replaced by an empty file",
       [](const std::string& file) {
         std::ofstream(file + ".new").close();
         fs::rename(file + ".new", file);
       }},
      {"cut", [](const std::string& file) { fs::resize_file(file, fs::file_size(file) / 2); }, true},
  };
  const std::vector<std::string> names = files_of_a_store();
  ASSERT_GE(names.size(), 6U);
  std::size_t number = 0;
  for (const std::string& name : names) {
    for (const Way& way : ways) {
      if (test::kEffortDivisor > 1 && number++ % 3 != 0) continue;  // five ways: so every way is taken with some files
      SCOPED_TRACE(name + " " + way.name);
      const io::TemporaryDirectory scratch;
      run_case(
          scratch.path_of("store"),
          [&](const std::string& path) {
            if (fs::exists(path + "/" + name)) way.act(path + "/" + name);
          },
          true);
    }
  }
}

TEST(Ownership, WithoutItsLockFileAStoreIsStillOwned) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  Owner a(path);
  fs::remove(path + "/LOCK");
  EXPECT_EQ(open_and_write(path, false), "Locked");
  EXPECT_TRUE(open_store(path, false, true).code() == Code::kLocked) << "nor may anybody read beside the writer";
  EXPECT_EQ(a.insert("after"), Code::kOk);
  EXPECT_TRUE(a.compact().ok());
  EXPECT_TRUE(fs::exists(path + "/LOCK")) << "the owner makes it anew";
  EXPECT_TRUE(a.close().ok());
  expect_all_there_or_damage(path, a.acknowledged());
  EXPECT_FALSE(says_damage(path));
}

TEST(Ownership, AnOwnerOfALockFileThatCameLaterFencesTheFirst) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  Owner a(path);
  fs::remove(path + "/LOCK");
  // An older build, which locks only the file.
  const int older = ::open((path + "/LOCK").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(older, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(a.compact().code(), Code::kFenced);
  EXPECT_EQ(a.insert("after"), Code::kFenced);
  ::close(older);
}

TEST(Ownership, AnotherDirectoryInItsPlaceFencesTheOwner) {
  struct Way {
    const char* name;
    std::function<void(const std::string&)> act;
    bool keeps_earlier;
    bool b_may_create;
  };
  const std::vector<Way> ways{
      {"copied back",
       [](const std::string& path) {
         fs::rename(path, path + ".away");
         fs::copy(path + ".away", path, fs::copy_options::recursive);
       },
       true, false},
      {"linked back",
       [](const std::string& path) {
         fs::rename(path, path + ".away");
         fs::create_directory(path);
         for (const fs::directory_entry& entry : fs::directory_iterator(path + ".away")) {
           fs::create_hard_link(entry.path(), path + "/" + entry.path().filename().string());
         }
         fs::remove(path + "/LOCK");
       },
       true, false},
      {"an empty one", [](const std::string& path) { fs::rename(path, path + ".away"), fs::create_directory(path); },
       false, true},
      {"removed", [](const std::string& path) { EXPECT_TRUE(test::remove_in_use(path)); }, false, true},
      {"its parent copied back",
       [](const std::string& path) {
         const fs::path parent = fs::path(path).parent_path();
         fs::rename(parent, parent.string() + ".away");
         fs::copy(parent.string() + ".away", parent, fs::copy_options::recursive);
       },
       true, false},
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    const io::TemporaryDirectory scratch;
    fs::create_directory(scratch.path_of("parent"));
    const std::string path = scratch.path_of("parent/store");
    run_case(path, way.act, way.keeps_earlier, way.b_may_create);
  }
}

TEST(Ownership, ADirectoryThatMovedAndLeftNothingIsStillItsOwners) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  const std::string moved = scratch.path_of("moved");
  Owner a(path);
  fs::rename(path, moved);
  EXPECT_EQ(a.insert("after"), Code::kOk);
  EXPECT_TRUE(a.compact().ok());
  EXPECT_EQ(open_and_write(moved, false), "Locked");
  EXPECT_TRUE(a.close().ok());
  expect_all_there_or_damage(moved, a.acknowledged());
  EXPECT_FALSE(says_damage(moved));
}

TEST(Ownership, ACopyWithoutALockFileIsReadWithoutMakingAnything) {
  const io::TemporaryDirectory scratch;
  const std::string path = scratch.path_of("store");
  { Owner a(path); }
  const std::string copy = scratch.path_of("copy");
  fs::copy(path, copy, fs::copy_options::recursive);
  fs::remove(copy + "/LOCK");
  const auto names = [&] {
    std::vector<std::string> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(copy)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<std::string> before = names();
  fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_exec);
  {
    const Result<std::unique_ptr<Store>> reader = open_store(copy, false, true);
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    EXPECT_TRUE((*(*(*reader)->open_table(kAccount, kTable)).get("p", "before")).has_value());
    EXPECT_TRUE(open_store(copy, false, true).ok()) << "readers share it";
    EXPECT_EQ(open_and_write(copy, false), "Locked") << "and keep writers out";
  }
  EXPECT_FALSE(says_damage(copy));
  fs::permissions(copy, fs::perms::owner_all);
  std::vector<std::string> after = names();
  after.erase(std::remove(after.begin(), after.end(), "LOCK"), after.end());
  EXPECT_EQ(after, before) << "the reader made nothing; a writer that was refused makes at most the lock file";
}

// -- In memory --------------------------------------------------------------------------------------------------------

/// Tests the same kinds on the simulated machine, where every file is removed or cut in turn.
TEST(Ownership, InMemoryTooAStoreWhoseFilesGoAcknowledgesNothingThatIsLost) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at == 0 || at < names.size(); ++at) {
    for (const bool is_removed : {true, false}) {
      test::StoreBench bench(7);
      std::vector<std::string> acknowledged;
      {
        const auto store = *Store::open(test::kStorePath, bench.options());
        ASSERT_TRUE(store->create_account(kAccount).ok());
        Table table = *store->create_table(kAccount, kTable);
        const auto insert = [&](const std::string& key, std::size_t bytes = 100) {
          if (table.insert(row(key, bytes)).ok()) acknowledged.push_back(key);
        };
        insert("before", 30'000);
        ASSERT_TRUE(store->compact().ok());
        insert("logged");
        if (names.empty()) names = bench.machine.files->snapshot().file_names(test::kStorePath);
        const std::string file = std::string(test::kStorePath) + "/" + names[at];
        bench.machine.files->change_disk([&](io::MemoryDisk& disk) {
          if (!disk.contains(file)) return;
          EXPECT_TRUE((is_removed ? disk.remove_file(file) : disk.truncate(file, 0)).ok());
        });
        insert("after");
        (void)store->compact();
        insert("later");
      }
      SCOPED_TRACE(names[at] + (is_removed ? " removed" : " cut"));
      StoreOptions options = bench.options();
      options.create_if_absent = false;
      const Result<VerifyReport> report = Store::verify(test::kStorePath, options);
      if (!report.ok() || report->finding_count > 0) continue;
      const Result<std::unique_ptr<Store>> again = Store::open(test::kStorePath, options);
      ASSERT_TRUE(again.ok()) << again.status().to_string();
      const Result<Table> table = (*again)->open_table(kAccount, kTable);
      ASSERT_TRUE(table.ok()) << table.status().to_string();
      for (const std::string& key : acknowledged) {
        const Result<std::optional<Entity>> found = table->get("p", key);
        EXPECT_TRUE(found.ok() && found->has_value()) << key;
      }
    }
  }
}

}  // namespace
}  // namespace varve::ownership_test
