// Goal: each backup is whole or does not exist, whatever ends the program, and a restored store equals the backed-up one.
// Method: the program runs as a process on the real file system; it is killed at many moments, and files are damaged.
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "tests/tools/run_program.h"
#include "tests/tools/stored_end.h"
#include "tests/tools/stored_objects.h"
#include "varve/store.h"

namespace varve::backup_test {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr int kRows = 300;

class Backup : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int part = 0; part < 3; ++part) {
      add_rows("p" + std::to_string(part));
      ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
    }
    add_rows("in-the-log");
  }
  void add_rows(const std::string& partition) const {
    std::string rows = "PartitionKey,RowKey,Text\n";
    for (int row = 0; row < kRows; ++row) {
      const std::string number = std::to_string(row);
      rows += partition;
      rows += "," + number + "," + std::string(100, 'x') + number + "\n";
    }
    ASSERT_EQ(run_program({"import", store_, "Rows", "-", "--format", "csv"}, rows).exit_code, 0);
  }
  static std::string exported(const std::string& store) {
    const ProgramResult result = run_program({"export", store, "Rows"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  nlohmann::json back_up(const Words& more = {}) const {
    Words words = {"backup", store_, backups_, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult made = run_program(words);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return nlohmann::json::parse(made.out, nullptr, false);
  }
  std::vector<fs::path> contents() const {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(backups_ + "/contents", ignored)) {
      if (entry.is_regular_file(ignored)) files.push_back(entry.path());
    }
    return files;
  }
  std::string listed() const { return run_program({"backups", backups_}).out; }
  void expect_sound() const {
    const ProgramResult verified = run_program({"verify", backups_});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
  std::string backups_ = scratch_.path("backups");
};

TEST_F(Backup, ARestoredTableMayHoldValuesThatEqualNoOther) {
  const std::string row = R"({"PartitionKey":"p","RowKey":"1","D@odata.type":"Edm.Double","D":"NaN"})";
  ASSERT_EQ(run_program({"import", store_, "Numbers", "-", "--format", "jsonl"}, row + "\n").exit_code, 0);
  back_up();
  const std::string target = scratch_.path("restored");
  const ProgramResult restored = run_program({"restore", backups_, target, "--table", "Numbers"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_EQ(run_program({"export", target, "Numbers", "--format", "jsonl"}).out,
            run_program({"export", store_, "Numbers", "--format", "jsonl"}).out);
}

TEST_F(Backup, IsRestoredAsAStoreOfTheSameContent) {
  const std::string rows = exported(store_);
  const auto made = back_up();
  EXPECT_EQ(made["files"], made["files_new"]);
  EXPECT_FALSE(fs::exists(store_ + "/SERVED"));
  const ProgramResult restored = run_program({"restore", backups_, scratch_.path("restored")});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("1,200 entities"));
  EXPECT_EQ(exported(scratch_.path("restored")), rows);
  EXPECT_EQ(run_program({"put", scratch_.path("restored"), "Rows", "p0", "new"}).exit_code, 0);
  expect_sound();
}

TEST_F(Backup, QX01_BX22_HasQueuesBlobsAndLargeValues) {
  test::put_objects(store_);
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);  // so that contents are in value files
  ASSERT_EQ(run_program({"blob", "put", store_, "photos", "late", "-"}, "in the log").exit_code, 0);
  const std::string shown = test::shown_objects(store_);
  const auto first = back_up();
  ASSERT_EQ(run_program({"blob", "delete", store_, "photos", "film"}).exit_code, 0);
  ASSERT_EQ(run_program({"queue", "drop", store_, "orders", "--yes"}).exit_code, 0);
  back_up();
  expect_sound();
  const std::string restored = scratch_.path("restored");
  const ProgramResult done = run_program({"restore", backups_, restored, "--backup", first["backup"]});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  test::expect_objects(restored, shown);
  EXPECT_EQ(run_program({"blob", "get", restored, "photos", "late"}).out, "in the log");
  EXPECT_EQ(run_program({"queue", "put", restored, "orders", "after"}).exit_code, 0);
  EXPECT_EQ(run_program({"blob", "put", restored, "photos", "film", "-"}, "after").exit_code, 0);
}

TEST_F(Backup, CopiesOnlyContentsThatNoEarlierBackupHas) {
  const auto first = back_up();
  ASSERT_EQ(run_program({"put", store_, "Rows", "p0", "more"}).exit_code, 0);
  const auto second = back_up();
  EXPECT_LT(second["files_new"], second["files"]);
  EXPECT_LT(second["bytes_new"], first["bytes"]);
  ASSERT_EQ(run_program({"restore", backups_, scratch_.path("old"), "--backup", first["backup"]}).exit_code, 0);
  EXPECT_EQ(run_program({"get", scratch_.path("old"), "Rows", "p0", "more"}).exit_code, 1);
  ASSERT_EQ(run_program({"restore", backups_, scratch_.path("new")}).exit_code, 0);
  EXPECT_EQ(run_program({"get", scratch_.path("new"), "Rows", "p0", "more"}).exit_code, 0);
}

TEST_F(Backup, PrunesOldBackupsAndTheContentsThatOnlyTheyNeed) {
  back_up();
  ASSERT_EQ(run_program({"table", "drop", store_, "Rows"}).exit_code, 0);
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  add_rows("later");
  back_up();
  const std::size_t before = contents().size();
  const auto pruned = back_up({"--keep", "2"});
  EXPECT_EQ(pruned["backups_removed"], 1);
  EXPECT_LT(contents().size(), before);
  EXPECT_THAT(listed(), Not(HasSubstr("000001-")));
  EXPECT_THAT(listed(), HasSubstr("000003-"));
  expect_sound();
  ASSERT_EQ(run_program({"restore", backups_, scratch_.path("restored")}).exit_code, 0);
  EXPECT_EQ(exported(scratch_.path("restored")), exported(store_));
}

TEST_F(Backup, NamesTheBackupsThatADamagedContentBelongsTo) {
  back_up();
  ASSERT_EQ(run_program({"put", store_, "Rows", "p0", "more"}).exit_code, 0);
  const std::vector<fs::path> shared = contents();
  back_up();
  std::set<fs::path> fresh;
  for (const fs::path& path : contents()) fresh.insert(path);
  for (const fs::path& path : shared) fresh.erase(path);
  ASSERT_FALSE(fresh.empty());
  std::fstream file(*fresh.begin(), std::ios::in | std::ios::out | std::ios::binary);
  const int byte = file.get();
  file.seekp(0);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  const ProgramResult verified = run_program({"verify", backups_});
  EXPECT_EQ(verified.exit_code, 3);
  EXPECT_THAT(verified.out, HasSubstr("000001-"));
  EXPECT_THAT(verified.out, HasSubstr("sound"));
  EXPECT_THAT(verified.out, HasSubstr("Corruption"));
  const ProgramResult restored = run_program({"restore", backups_, scratch_.path("restored")});
  EXPECT_EQ(restored.exit_code, 3) << restored.out;
  EXPECT_NE(run_program({"get", scratch_.path("restored"), "Rows", "p0", "1"}).exit_code, 0) << "it opens as no store";
  EXPECT_EQ(run_program({"restore", backups_, scratch_.path("s2"), "--table", "Rows"}).exit_code, 3);
  EXPECT_FALSE(fs::exists(scratch_.path("s2")));
}

TEST_F(Backup, RefusesADirectoryOfAnotherStoreOrWithOtherThings) {
  back_up();
  const std::string other = scratch_.path("other");
  ASSERT_EQ(run_program({"put", other, "Rows", "p", "r"}).exit_code, 0);
  const std::string before = listed();
  const ProgramResult refused = run_program({"backup", other, backups_});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("another store"));
  EXPECT_EQ(run_program({"backup", store_, other}).exit_code, 1);
  EXPECT_EQ(listed(), before);
  EXPECT_EQ(run_program({"verify", other}).exit_code, 0);
  EXPECT_EQ(run_program({"restore", backups_, other}).exit_code, 1);
  EXPECT_EQ(run_program({"restore", backups_, scratch_.path("s"), "--backup", "../x"}).exit_code, 1);
}

/// A file system of a chosen size. It needs the rights of root.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    fs::create_directory(path_);
    is_mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64m,mode=0700") == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const noexcept { return is_mounted_; }
  /// Leaves this number of free bytes.
  bool leave(std::uint64_t bytes) const {
    struct statvfs about {};
    if (::statvfs(path_.c_str(), &about) != 0) return false;
    const std::uint64_t used = (about.f_blocks - about.f_bfree) * about.f_frsize;
    const std::string size = "size=" + std::to_string(used + bytes);
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()) == 0;
  }

 private:
  const std::string path_;
  bool is_mounted_ = false;
};

TEST_F(Backup, LeavesTheEarlierOnesWholeIfTheDiskIsFull) {
  const SmallDisk disk(backups_);
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting a small file system needs the rights of root";
  back_up();
  const std::string before = listed();
  const std::size_t contents_before = contents().size();
  add_rows("more");
  int refusals = 0;
  for (std::uint64_t pages = 1; pages < 12; ++pages) {
    ASSERT_TRUE(disk.leave(pages * 4096));
    const ProgramResult full = run_program({"backup", store_, backups_});
    if (full.exit_code == 0) break;
    ++refusals;
    EXPECT_EQ(full.exit_code, 4) << full.err;
    EXPECT_THAT(full.err, HasSubstr("NoSpace"));
    EXPECT_EQ(listed(), before);
    EXPECT_EQ(contents().size(), contents_before) << "what the failed backup wrote takes no space";
    expect_sound();
  }
  EXPECT_GT(refusals, 2);
  ASSERT_TRUE(disk.leave(std::uint64_t{32} << 20));
  back_up();
  expect_sound();
}

/// Runs the program and kills it when `is_time` returns true. Returns whether it was killed before its end.
bool killed_when(const Words& words, const std::function<bool()>& is_time) {
  test::RunningProgram program(words);
  siginfo_t ended{};
  while (!is_time()) {
    ended.si_pid = 0;
    if (::waitid(P_PID, static_cast<id_t>(program.process()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0) {
      program.finish();
      return false;
    }
    ::sched_yield();
  }
  ::kill(program.process(), SIGKILL);
  program.finish();
  return true;
}

TEST_F(Backup, KilledAtAnyMomentLeavesNoHalfBackupAndIsContinued) {
  int kills = 0;
  for (std::size_t wanted = 0; wanted < 20; ++wanted) {
    if (wanted == 8) back_up();
    if (wanted >= 8) add_rows("more" + std::to_string(wanted));
    const std::string before = listed();
    const std::size_t target = contents().size() + wanted % 8;
    const bool was_killed = killed_when({"backup", store_, backups_}, [&] { return contents().size() >= target; });
    kills += was_killed ? 1 : 0;
    if (was_killed && fs::exists(backups_ + "/VARVE-BACKUPS")) {
      const std::string after = listed();
      EXPECT_EQ(after.substr(0, before.size()), before);
      expect_sound();
    }
  }
  EXPECT_GT(kills, 0);
  back_up();
  expect_sound();
  ASSERT_EQ(run_program({"restore", backups_, scratch_.path("restored")}).exit_code, 0);
  EXPECT_EQ(exported(scratch_.path("restored")), exported(store_));
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(Backup, ARestoreThatIsKilledIsNoStoreAndIsContinued) {
  back_up();
  const std::string target = scratch_.path("restored");
  for (int wanted = 1; wanted < 5; ++wanted) {
    const bool was_killed = killed_when({"restore", backups_, target}, [&] {
      std::error_code none;
      return std::distance(fs::directory_iterator(target, none), fs::directory_iterator()) >= wanted;
    });
    if (was_killed && !fs::exists(target + "/CURRENT")) {
      EXPECT_NE(run_program({"get", target, "Rows", "p0", "1"}).exit_code, 0);
    }
    if (fs::exists(target + "/CURRENT")) fs::remove_all(target);
  }
  fs::remove(target + "/LOCK");
  const ProgramResult restored = run_program({"restore", backups_, target});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_EQ(exported(target), exported(store_));
}

TEST_F(Backup, GivesOneTableBackToAStoreThatLostIt) {
  const std::string rows = run_program({"export", store_, "Rows", "--format", "csv"}).out;
  back_up();
  EXPECT_EQ(run_program({"restore", backups_, store_, "--table", "Rows"}).exit_code, 1) << "the table is there";
  ASSERT_EQ(run_program({"table", "drop", store_, "Rows"}).exit_code, 0);
  ASSERT_EQ(run_program({"put", store_, "Others", "p", "r"}).exit_code, 0);
  const ProgramResult restored = run_program({"restore", backups_, store_, "--table", "Rows"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_EQ(run_program({"export", store_, "Rows", "--format", "csv"}).out, rows);
  EXPECT_EQ(run_program({"get", store_, "Others", "p", "r"}).exit_code, 0);
  EXPECT_EQ(run_program({"restore", backups_, store_, "--table", "Absent"}).exit_code, 1);
}

TEST_F(Backup, GivesATableBackWithItsExpiryAndItsEnds) {
  ASSERT_EQ(run_program({"put", store_, "Rows", "before", "r"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "expiry", store_, "Rows", "--expire-after", "30d"}).exit_code, 0);
  ASSERT_EQ(run_program({"put", store_, "Rows", "aged", "r"}).exit_code, 0);
  const std::uint64_t end = test::end_in(store_, "Rows", "aged", "r");
  ASSERT_NE(end, 0U);
  const std::string rule = run_program({"table", "expiry", store_, "Rows"}).out;
  const std::string rows = run_program({"export", store_, "Rows", "--format", "csv"}).out;
  back_up();
  ASSERT_EQ(run_program({"table", "drop", store_, "Rows"}).exit_code, 0);
  const ProgramResult restored = run_program({"restore", backups_, store_, "--table", "Rows"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.err, Not(HasSubstr("written again")));
  EXPECT_EQ(test::end_in(store_, "Rows", "aged", "r"), end);
  EXPECT_EQ(test::end_in(store_, "Rows", "before", "r"), 0U);
  EXPECT_EQ(run_program({"table", "expiry", store_, "Rows"}).out, rule);
  EXPECT_EQ(run_program({"export", store_, "Rows", "--format", "csv"}).out, rows);
}

TEST_F(Backup, GivesATableBackWithItsAccessPolicies) {
  const AccessPolicy reader{"reader", {}, {}, {}};
  {
    const Result<std::unique_ptr<Store>> store = Store::open(store_, StoreOptions());
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE((*store)->set_access_policies("devstoreaccount1", "Rows", {&reader, 1}).ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  back_up();
  ASSERT_EQ(run_program({"table", "drop", store_, "Rows"}).exit_code, 0);
  const ProgramResult restored = run_program({"restore", backups_, store_, "--table", "Rows"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  const Result<std::unique_ptr<Store>> store = Store::open(store_, StoreOptions());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ(*(*store)->access_policies("devstoreaccount1", "Rows"), std::vector<AccessPolicy>{reader});
}

TEST_F(Backup, GivesATableBackWithItsIndexes) {
  const auto put = [this](const char* row, const char* mail, const char* town) {
    return run_program({"put", store_, "Customers", "p", row, mail, town});
  };
  ASSERT_EQ(run_program({"table", "create", store_, "Customers"}).exit_code, 0);
  ASSERT_EQ(put("1", "Mail=a@b", "Town=Ulm").exit_code, 0);
  ASSERT_EQ(put("2", "Mail=c@d", "Town=Ulm").exit_code, 0);
  ASSERT_EQ(run_program({"index", "create", store_, "Customers", "ByMail", "--on", "Mail", "--unique"}).exit_code, 0);
  ASSERT_EQ(
      run_program({"index", "create", store_, "Customers", "ByTown", "--on", "Town,RowKey:desc", "--carry", "Mail"})
          .exit_code,
      0);
  const std::string indexes = run_program({"index", "list", store_, "Customers"}).out;
  back_up();
  ASSERT_EQ(run_program({"table", "drop", store_, "Customers"}).exit_code, 0);
  const ProgramResult restored = run_program({"restore", backups_, store_, "--table", "Customers"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_EQ(run_program({"index", "list", store_, "Customers"}).out, indexes);
  EXPECT_THAT(run_program({"query", store_, "Customers", "--filter", "Town eq 'Ulm'", "--all", "--explain"}).err,
              HasSubstr("ByTown: 2 entities, taken"));
  EXPECT_EQ(put("3", "Mail=a@b", "Town=Rome").exit_code, 1) << "the unique index refuses again";
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(Backup, GivesEntitiesBackThatWereStoredBeforeARuleUnderWhichTheyWouldHaveEnded) {
  ASSERT_EQ(run_program({"table", "create", store_, "Events"}).exit_code, 0);
  ASSERT_EQ(
      run_program({"put", store_, "Events", "p", "old", "Until=2020-01-01T00:00:00Z", "--type", "Until=Edm.DateTime"})
          .exit_code,
      0);
  ASSERT_EQ(run_program({"table", "expiry", store_, "Events", "--expire-at", "Until"}).exit_code, 0);
  const std::string before = run_program({"get", store_, "Events", "p", "old", "--json"}).out;
  back_up();
  ASSERT_EQ(run_program({"table", "drop", store_, "Events"}).exit_code, 0);
  const ProgramResult restored = run_program({"restore", backups_, store_, "--table", "Events"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  const ProgramResult found = run_program({"get", store_, "Events", "p", "old", "--json"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("2020-01-01"));
  EXPECT_THAT(before, HasSubstr("2020-01-01"));
}

TEST_F(Backup, OfAStoreThatAnotherProgramHasOpenNamesThatProgram) {
  const Result<std::unique_ptr<Store>> held = Store::open(store_);
  ASSERT_TRUE(held.ok());
  const ProgramResult refused = run_program({"backup", store_, backups_});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_FALSE(fs::exists(store_ + "/SERVED"));
}

}  // namespace
}  // namespace varve::backup_test
