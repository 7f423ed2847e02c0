// Goal: whatever byte of a store's contents is damaged, no read gives out a wrong byte: it gives the right ones or
// kCorruption. Verification names the blob, and a repair keeps the blobs that are whole (BX-41, BX-07).
// Method: a store with every form of content is closed. Bytes of its files are flipped and files are cut, one at a time.
// Then every blob is read in ranges and compared.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/support/effort.h"
#include "varve/verify.h"

namespace varve::test::blob_damage_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kPiece = std::size_t{64} << 10;

/// What a name has, or its first range that cannot be read.
using Contents = std::map<std::string, std::string>;

class DamagedBlobs : public testing::Test {
 protected:
  void SetUp() override {
    BlobBench bench;
    Container photos = bench.container();
    put(photos, "inline", uneven_bytes(300, 1));
    put(photos, "middle", uneven_bytes(200'000, 2));
    put(photos, "large", uneven_bytes(1'300'000, 3));
    EXPECT_EQ(said(photos.copy("copy", photos, "middle")), kFine);
    contents_["copy"] = contents_["middle"];
    const std::string first = uneven_bytes(70'000, 4);
    const std::string second = uneven_bytes(80'000, 5);
    EXPECT_EQ(stage(photos, "list", "1", first), kFine);
    EXPECT_EQ(stage(photos, "list", "2", second), kFine);
    EXPECT_EQ(said(photos.commit_blocks("list", std::vector<BlockChoice>{{"1"}, {"2"}})), kFine);
    contents_["list"] = first + second;
    EXPECT_EQ(said(photos.create_append_blob("log")), kFine);
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::string text = uneven_bytes(40'000, 6 + i);
      EXPECT_EQ(said(photos.append("log", text)), kFine);
      contents_["log"] += text;
    }
    EXPECT_EQ(said(bench.store->compact()), kFine);
    Container again = bench.reopened();  // so that the contents are not in the last segment of the log
    put(again, "later", "text");
    EXPECT_EQ(said(bench.store->compact()), kFine);
    EXPECT_EQ(said(bench.store->close()), kFine);
    disk_ = bench.machine.files->snapshot();
  }

  void put(Container& photos, const std::string& name, const std::string& content) {
    (void)put_blob(photos, name, content);
    contents_[name] = content;
  }

  static std::string path_of(const std::string& name) { return std::string(kStorePath) + "/" + name; }

  io::MemoryDisk with_flip(const std::string& bytes) const { return test::with_flip(disk_, bytes); }

  /// Opens a damaged store. Returns nothing if it refuses to open, with a typed error.
  static std::unique_ptr<Store> opened(const StoreBench& bench) {
    StoreOptions options = bench.options();
    options.create_if_absent = false;
    options.read_only = true;
    Result<std::unique_ptr<Store>> store = Store::open(kStorePath, options);
    if (store.ok()) return *std::move(store);
    EXPECT_TRUE(is_damage(store.status())) << store.status().to_string();
    return nullptr;
  }
  static bool is_damage(const Status& status) {
    return status.code() == Code::kCorruption || status.code() == Code::kUnsupported;
  }

  /// Reads all blobs in pieces. Returns the pieces that could not be read, as "name/number". A wrong byte is a failure.
  std::vector<std::string> unread(const Store& store) const {
    std::vector<std::string> failed;
    const Result<Container> photos = store.open_container(kAccount, "photos");
    if (!photos.ok()) {
      EXPECT_TRUE(is_damage(photos.status())) << photos.status().to_string();
      return {"photos"};
    }
    for (const auto& [name, content] : contents_) {
      const Result<BlobReader> reader = photos->read(name);
      if (!reader.ok()) {
        EXPECT_TRUE(is_damage(reader.status())) << name << ": " << reader.status().to_string();
        failed.push_back(name);
        continue;
      }
      for (std::size_t offset = 0; offset < content.size(); offset += kPiece) {
        std::string buffer(kPiece, '?');
        const Result<std::size_t> got = reader->read(offset, buffer);
        if (!got.ok()) {
          EXPECT_TRUE(is_damage(got.status())) << name << ": " << got.status().to_string();
          failed.push_back(name + "/" + std::to_string(offset / kPiece));
          continue;
        }
        EXPECT_TRUE(buffer.substr(0, *got) == content.substr(offset, kPiece)) << name << " at " << offset;
      }
      std::string whole(content.size(), '?');
      const Result<std::size_t> got = reader->read(0, whole);
      if (got.ok()) {
        EXPECT_TRUE(whole == content) << name;
      }
    }
    return failed;
  }

  std::string findings_of(io::MemoryDisk disk) const {
    const StoreBench bench(9, std::move(disk));
    const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
    if (!report.ok()) return report.status().to_string();
    std::string all;
    for (const std::string& finding : report->findings) all += finding + "\n";
    EXPECT_EQ(report->sound(), all.empty());
    return all;
  }

  Contents contents_;
  io::MemoryDisk disk_;
};

TEST_F(DamagedBlobs, BX41_AFlippedByteFailsTheReadsThatCoverItAndNoOther) {
  for (const auto& [name, piece, copy] : std::vector<std::tuple<std::string, std::size_t, std::string>>{
           {"large", 2, ""}, {"large", 0, ""}, {"middle", 1, "copy/1"}}) {
    const std::string bytes = contents_[name].substr(piece * kPiece + 1'000, 64);
    const StoreBench bench(9, with_flip(bytes));
    const std::unique_ptr<Store> store = opened(bench);
    ASSERT_NE(store, nullptr);
    std::vector<std::string> expected;
    if (!copy.empty()) expected.push_back(copy);
    expected.push_back(name + "/" + std::to_string(piece));
    EXPECT_EQ(unread(*store), expected);
  }
}

TEST_F(DamagedBlobs, BX41_BX07_NoFlippedByteOfAnyFileGivesAWrongByte) {
  std::uint64_t flips = 0;
  std::uint64_t failures = 0;
  for (const std::string& name : disk_.file_names(kStorePath)) {
    const std::uint64_t size = *disk_.file_size_bytes(path_of(name));
    const std::uint64_t step = std::max<std::uint64_t>(size / effort<std::uint64_t>(60), 1) | 1;
    for (std::uint64_t offset = step / 2; offset < size; offset += step) {
      SCOPED_TRACE(name + " offset " + std::to_string(offset));
      io::MemoryDisk damaged = disk_;
      ASSERT_TRUE(damaged.flip_bit(path_of(name), offset, std::byte{0x01}).ok());
      const StoreBench bench(9, std::move(damaged));
      const std::unique_ptr<Store> store = opened(bench);
      if (store == nullptr || !unread(*store).empty()) ++failures;
      ++flips;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(flips, effort<std::uint64_t>(200));
  EXPECT_GT(failures, flips / 4);
}

TEST_F(DamagedBlobs, BX41_AFileThatWasCutGivesNoWrongByte) {
  for (const std::string& name : disk_.file_names(kStorePath)) {
    const std::uint64_t size = *disk_.file_size_bytes(path_of(name));
    for (const std::uint64_t kept : {std::uint64_t{0}, size / 4, size / 2, size - size / 4, size - 1}) {
      if (kept >= size) continue;
      SCOPED_TRACE(name + " cut at " + std::to_string(kept));
      io::MemoryDisk damaged = disk_;
      ASSERT_TRUE(damaged.truncate(path_of(name), kept).ok());
      const StoreBench bench(9, std::move(damaged));
      const std::unique_ptr<Store> store = opened(bench);
      if (store != nullptr) (void)unread(*store);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DamagedBlobs, BX41_VerificationNamesTheBlob) {
  EXPECT_EQ(findings_of(disk_), "");
  const std::string middle = findings_of(with_flip(contents_["middle"].substr(100'000, 64)));
  EXPECT_THAT(middle, HasSubstr("blob 'middle' of container 'photos'"));
  EXPECT_THAT(middle, HasSubstr("blob 'copy' of container 'photos'"));
  EXPECT_THAT(middle, Not(HasSubstr("blob 'large'")));
  EXPECT_THAT(middle, Not(HasSubstr("counts of their owners")));
  const std::string list = findings_of(with_flip(contents_["list"].substr(75'000, 64)));
  EXPECT_THAT(list, HasSubstr("blob 'list' of container 'photos'"));
  EXPECT_THAT(list, Not(HasSubstr("blob 'middle'")));
  const std::string log = findings_of(with_flip(contents_["log"].substr(45'000, 64)));
  EXPECT_THAT(log, HasSubstr("blob 'log' of container 'photos'"));
}

TEST_F(DamagedBlobs, BX41_ARepairKeepsWhatIsWhole) {
  const StoreBench bench(9, with_flip(contents_["middle"].substr(100'000, 64)));
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_FALSE(report->was_sound());
  EXPECT_EQ(report->containers, 1U);
  const Result<std::unique_ptr<Store>> store = Store::open("/repaired", bench.options());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  const std::vector<std::string> lost = unread(**store);
  EXPECT_FALSE(lost.empty());
  for (const std::string& piece : lost) {
    EXPECT_TRUE(piece.starts_with("middle/") || piece.starts_with("copy/")) << piece;
  }
  Container photos = *(*store)->open_container(kAccount, "photos");
  EXPECT_EQ(said(photos.remove("copy")), kFine) << "a damaged blob can be deleted";
  EXPECT_EQ(put_blob(photos, "middle", "new").length, 3U) << "and replaced";
}

}  // namespace
}  // namespace varve::test::blob_damage_test
