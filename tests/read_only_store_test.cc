// Goal: a read-only open of a store on a real file system makes no call that could change it. It works in a directory
// without write permission, and on a read-only file system.
// Method: in a child the kernel refuses every such call. The parent checks that the directory is unchanged.
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/posix/small_file_system.h"
#include "tests/io/temporary_directory.h"
#include "varve/store.h"

namespace varve::read_only_store_test {
namespace {

constexpr std::string_view kAccount = "account";

/// Fills a store with rows in tables and in the log. If `killed`, its writer does not close it.
std::string fill(const std::string& path, bool killed) {
  auto store = Store::open(path, {.create_if_absent = true});
  if (!store.ok()) return store.status().to_string();
  if (Status made = (*store)->create_account(kAccount); !made.ok()) return made.to_string();
  auto table = (*store)->create_table(kAccount, "Orders");
  if (!table.ok()) return table.status().to_string();
  for (int i = 0; i < 50; ++i) {
    if (auto put = table->insert(Entity("p", std::to_string(i)).set("V", i)); !put.ok())
      return put.status().to_string();
    if (i != 25) continue;
    if (Status compacted = (*store)->compact(); !compacted.ok()) return compacted.to_string();
  }
  if (killed) ::_exit(0);
  return (*store)->close().to_string();
}

std::string read_all(const std::string& path) {
  StoreOptions options;
  options.read_only = true;
  auto store = Store::open(path, options);
  if (!store.ok()) return store.status().to_string();
  auto table = (*store)->open_table(kAccount, "Orders");
  if (!table.ok()) return table.status().to_string();
  auto page = table->scan(Scan{});
  if (!page.ok()) return page.status().to_string();
  std::string words = std::to_string(page->entities.size());
  const auto report = Store::verify(path);
  if (!report.ok()) return report.status().to_string();
  words += report->sound() ? " sound" : " damaged";
  const Status closed = (*store)->close();
  return words + " " + closed.to_string();
}

/// Refuses every call that changes a file, a name or an attribute. The exception is write(), which the child needs for
/// its pipe.
void refuse_changes(int error) {
  io::refuse_system_calls({{SYS_openat, error, {{2, O_WRONLY, O_ACCMODE}}},
                           {SYS_openat, error, {{2, O_RDWR, O_ACCMODE}}},
                           {SYS_openat, error, {{2, O_CREAT, O_CREAT}}},
                           {SYS_unlinkat, error},
                           {SYS_renameat, error},
                           {SYS_renameat2, error},
                           {SYS_linkat, error},
                           {SYS_mkdirat, error},
                           {SYS_ftruncate, error},
                           {SYS_fallocate, error},
                           {SYS_pwrite64, error},
                           {SYS_pwritev, error},
                           {SYS_pwritev2, error},
                           {SYS_fsync, error},
                           {SYS_fdatasync, error},
                           {SYS_fchmod, error},
                           {SYS_utimensat, error}});
}

/// Returns names, sizes, and times of modification and status change of the directory and its files.
std::string picture_of(const std::string& path) {
  std::string words;
  const auto add = [&](const std::string& what) {
    struct stat status {};
    if (::stat(what.c_str(), &status) != 0) return;
    words += what + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_nlink);
    for (const timespec& time : {status.st_mtim, status.st_ctim}) {
      words += " " + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
    }
    words += "\n";
  };
  add(path);
  for (const char* const name : {"LOCK", "CURRENT", "BALLAST", "CURRENT.tmp"}) add(path + "/" + name);
  for (int number = 0; number < 100; ++number) {
    std::string digits = std::to_string(number);
    digits.insert(0, 6 - digits.size(), '0');
    for (const char* const ending : {".wal", ".sst", ".buf"}) add(path + "/" + digits + ending);
    add(path + "/MANIFEST-" + digits);
  }
  return words;
}

class ReadOnlyStore : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    path_ = temporary_.path_of("store");
    const std::string filled = io::in_child([&] { return fill(path_, GetParam()); });
    ASSERT_EQ(filled, GetParam() ? "" : "Ok");
  }
  io::TemporaryDirectory temporary_;
  std::string path_;
};

TEST_P(ReadOnlyStore, MakesNoCallThatCouldChangeAnything) {
  const std::string before = picture_of(path_);
  EXPECT_NE(before.find(".sst"), std::string::npos);
  const std::string answer = io::in_child([&] {
    refuse_changes(EROFS);
    return read_all(path_);
  });
  EXPECT_EQ(answer, "50 sound Ok");
  EXPECT_EQ(picture_of(path_), before);
}

TEST_P(ReadOnlyStore, NeedsNoPermissionToWrite) {
  const std::string answer = io::in_child([&] {
    refuse_changes(EACCES);
    return read_all(path_);
  });
  EXPECT_EQ(answer, "50 sound Ok");
  ASSERT_EQ(::chmod(path_.c_str(), 0555), 0);
  const std::string before = picture_of(path_);
  EXPECT_EQ(io::in_child([&] { return read_all(path_); }), "50 sound Ok");
  EXPECT_EQ(picture_of(path_), before);
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);  // So that the temporary directory can be removed.
}

INSTANTIATE_TEST_SUITE_P(Of, ReadOnlyStore, testing::Bool(),
                         [](const auto& each) { return each.param ? "AKilledWriter" : "AClosedStore"; });

TEST(ReadOnlyFileSystem, IsReadAndAWriterIsToldSo) {
  const io::TemporaryDirectory temporary;
  const std::string where = temporary.path_of("mounted");
  ASSERT_EQ(::mkdir(where.c_str(), 0755), 0);
  const std::string answer = io::in_child([&] {
    const bool mounted = io::mount_small(where, "size=64m");
    const std::string path = where + "/store";
    if (std::string filled = fill(path, false); filled != "Ok") return filled;
    if (!mounted || !io::make_read_only(where)) refuse_changes(EROFS);
    const std::string writer(code_name(Store::open(path, {.create_if_absent = true}).code()));
    return read_all(path) + ", " + writer;
  });
  EXPECT_EQ(answer, "50 sound Ok, ReadOnly");
}

}  // namespace
}  // namespace varve::read_only_store_test
