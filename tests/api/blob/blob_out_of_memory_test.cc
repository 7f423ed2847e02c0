// Goal: if any single allocation of a verb of blobs fails, the error is reported, nothing is half done, and the store
// goes on.
// Method: each verb is repeated with its 1st, 2nd, 3rd... allocation failing, until it needs no more. After each failure
// the blob is read and compared. At the end all owners of contents are verified. It uses this machine's own files,
// because the in-memory file system would allocate too.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/allocation_sweep.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/io/temporary_directory.h"
#include "varve/verify.h"

namespace varve::test::blob_out_of_memory_test {
namespace {

using testing::ElementsAre;

class BlobsOutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.create_if_absent = true;
    Result<std::unique_ptr<Store>> opened = Store::open(path_, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    Result<Container> photos = store_->create_container(kAccount, "photos");
    ASSERT_TRUE(photos.ok()) << photos.status().to_string();
    photos_.emplace(*std::move(photos));
  }
  void TearDown() override {
    photos_.reset();
    store_.reset();
    const Result<VerifyReport> report = Store::verify(path_);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }
  Container& photos() { return *photos_; }
  void expect_content(std::string_view name, const std::string& content) {
    const std::string found = content_in(photos(), name);
    EXPECT_TRUE(found == content) << name << " has " << found.size() << " bytes: " << found.substr(0, 40);
  }
  std::vector<std::string> staged() {
    std::vector<std::string> ids;
    const Result<BlockLists> lists = photos().blocks("list");
    if (!lists.ok()) return ids;
    for (const BlockInfo& block : lists->staged) ids.push_back(block.id + ":" + std::to_string(block.length));
    return ids;
  }

  const io::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/store";
  std::unique_ptr<Store> store_;
  std::optional<Container> photos_;
  const std::string middle_ = uneven_bytes(70'000, 1);
  const BlobWriteOptions options_{
      .properties = {.content_type = "a type that is longer than a short string"},
      .metadata = {{"name", "a value that is longer than a short string"}},
      .tags = {{"a name of a tag that is longer than a short string", "value"}},
  };
};

TEST_F(BlobsOutOfMemory, APutChangesNothing) {
  for (const std::string& content : {std::string("short"), middle_, uneven_bytes(1'200'000, 2)}) {
    const std::string name = "a name that is longer than a short string";
    (void)photos().remove(name);
    sweep([&] { return photos().put(name, content, options_).status(); },
          [&](std::uint64_t) { expect_content(name, "BlobNotFound"); },
          [&] {
            expect_content(name, content);
            EXPECT_TRUE(photos().remove(name).ok());
          });
    expect_content(name, content);
  }
}

TEST_F(BlobsOutOfMemory, AReplacementChangesNothing) {
  (void)put_blob(photos(), "a", middle_, options_);
  const std::string next = uneven_bytes(80'000, 3);
  sweep([&] { return photos().put("a", next, options_).status(); },
        [&](std::uint64_t) { expect_content("a", middle_); });
  expect_content("a", next);
  const BlobCopyOptions from{.source_address = "http://an/address/that/is/long"};
  sweep([&] { return photos().copy("b", photos(), "a", from).status(); },
        [&](std::uint64_t) { expect_content("b", "BlobNotFound"); });
  sweep([&] { return photos().create_append_blob("a", options_).status(); },
        [&](std::uint64_t) { expect_content("a", next); });
  expect_content("a", "");
  expect_content("b", next);
  sweep([&] { return photos().remove("b"); }, [&](std::uint64_t) { expect_content("b", next); });
  expect_content("b", "BlobNotFound");
}

TEST_F(BlobsOutOfMemory, AnAppendChangesNothing) {
  ASSERT_TRUE(photos().create_append_blob("log", options_).ok());
  std::string content;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::string text = uneven_bytes(40'000, i);
    sweep([&] { return photos().append("log", text).status(); },
          [&](std::uint64_t) { expect_content("log", content); });
    content += text;
    expect_content("log", content);
    if (i == 1) {
      EXPECT_EQ(said(photos().copy("copy", photos(), "log")), kFine);
    }
  }
}

TEST_F(BlobsOutOfMemory, AWriterThatFailedPublishesNothing) {
  const std::string part = uneven_bytes(700'000, 4);
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1'000U);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<BlobWriter> writer = photos().write("a", options_);
    ASSERT_TRUE(writer.ok());
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      for (int i = 0; i < 4 && status.ok(); ++i) status = writer->append(part);
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(said(writer->publish()), kFine);
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    EXPECT_EQ(writer->append("more").code(), Code::kOutOfMemory) << "it may have taken a part of the bytes";
    EXPECT_EQ(writer->publish().code(), Code::kOutOfMemory);
    expect_content("a", "BlobNotFound");
    if (HasFailure()) return;
  }
  expect_content("a", part + part + part + part);
}

TEST_F(BlobsOutOfMemory, BlocksAreStagedAndCommittedWholeOrNotAtAll) {
  sweep([&] { return photos().stage_block("list", "1").status(); }, [&](std::uint64_t) {});
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1'000U);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<BlobWriter> writer = photos().stage_block("list", "1");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->append(middle_).ok());
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = writer->publish().status();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    ASSERT_TRUE(staged().empty());
  }
  EXPECT_EQ(stage(photos(), "list", "2", "second"), kFine);
  const std::vector<BlockChoice> blocks = {{"2"}, {"1"}, {"2"}};
  sweep([&] { return photos().blocks("list").status(); }, [&](std::uint64_t) {});
  sweep([&] { return photos().commit_blocks("list", blocks, options_).status(); },
        [&](std::uint64_t) { EXPECT_THAT(staged(), ElementsAre("1:70000", "2:6")); });
  expect_content("list", "second" + middle_ + "second");
  EXPECT_EQ(stage(photos(), "list", "1", "new"), kFine);
  const std::vector<BlockChoice> two = {{"1"}, {"2"}};
  sweep([&] { return photos().commit_blocks("list", two).status(); },
        [&](std::uint64_t) { expect_content("list", "second" + middle_ + "second"); });
  expect_content("list", "newsecond");
}

TEST_F(BlobsOutOfMemory, AChangeOfTheStateChangesNothing) {
  const BlobState before = put_blob(photos(), "a", middle_, options_);
  const auto expect_same = [&](std::uint64_t) {
    const BlobState state = state_in(photos(), "a");
    EXPECT_EQ(state.etag, before.etag);
    EXPECT_EQ(state.properties, options_.properties);
    EXPECT_EQ(state.tags, options_.tags);
    EXPECT_EQ(state.tier, BlobTier::kDefault);
    EXPECT_EQ(state.lease.state, LeaseState::kAvailable);
  };
  const std::vector<BlobTag> tags = {{"another name of a tag that is long", "x"}};
  LeaseRequest request;
  request.proposed = guid_of(1);
  sweep([&] { return photos().set_properties("a", {.cache_control = "none"}).status(); }, expect_same);
  (void)put_blob(photos(), "a", middle_, options_);
  const std::vector<MetadataPair> pair = {{"k", "v"}};
  sweep([&] { return photos().set_metadata("a", pair).status(); },
        [&](std::uint64_t) { EXPECT_EQ(state_in(photos(), "a").metadata, options_.metadata); });
  sweep([&] { return photos().set_tags("a", tags).status(); },
        [&](std::uint64_t) { EXPECT_EQ(state_in(photos(), "a").tags, options_.tags); });
  sweep([&] { return photos().set_tier("a", BlobTier::kCool).status(); },
        [&](std::uint64_t) { EXPECT_EQ(state_in(photos(), "a").tier, BlobTier::kDefault); });
  sweep([&] { return photos().lease("a", request).status(); },
        [&](std::uint64_t) { EXPECT_EQ(state_in(photos(), "a").lease.state, LeaseState::kAvailable); });
  EXPECT_EQ(state_in(photos(), "a").lease.state, LeaseState::kLeased);
}

/// A read may do without memory that only saves time, for example that of the block cache.
void sweep_read(const std::function<Status()>& read) {
  for (std::uint64_t nth = 1; nth < 10'000; ++nth) {
    const AllocationFailure failure(nth);
    const Status status = read();
    const bool failed = failure.happened();
    ASSERT_TRUE(status.ok() || (failed && status.code() == Code::kOutOfMemory)) << nth << ": " << status.to_string();
    if (!failed) return;
  }
}

TEST_F(BlobsOutOfMemory, AReadTellsItOrDoesWithout) {
  (void)put_blob(photos(), "a", uneven_bytes(1'200'000, 5), options_);
  ASSERT_TRUE(store_->compact().ok());
  std::string buffer(100'000, '?');
  sweep_read([&] { return photos().read("a").status(); });
  const Result<BlobReader> reader = photos().read("a");
  ASSERT_TRUE(reader.ok());
  sweep_read([&] { return reader->read(1'000'000, buffer).status(); });
  EXPECT_TRUE(buffer == uneven_bytes(1'200'000, 5).substr(1'000'000, buffer.size()));
  sweep_read([&] { return photos().state("a").status(); });
  sweep_read([&] { return photos().list({.delimiter = "/", .with_uncommitted = true}).status(); });
  sweep_read([&] { return photos().container_state().status(); });
}

TEST_F(BlobsOutOfMemory, AVerbOfAContainerChangesNothing) {
  (void)put_blob(photos(), "a", middle_);
  const std::vector<MetadataPair> metadata = {{"name", "a value that is longer than a short string"}};
  sweep([&] { return photos().set_container_metadata(metadata).status(); },
        [&](std::uint64_t) { EXPECT_TRUE((*photos().container_state()).metadata.empty()); });
  sweep([&] { return photos().set_access({}, PublicAccess::kBlobs).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*photos().container_state()).public_access, PublicAccess::kNone); });
  LeaseRequest request;
  request.proposed = guid_of(1);
  sweep([&] { return photos().lease_container(request).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*photos().container_state()).lease.state, LeaseState::kAvailable); });
  BlobConditions mine;
  mine.lease = guid_of(1);
  sweep([&] { return store_->drop_container(kAccount, "photos", mine); },
        [&](std::uint64_t) { expect_content("a", middle_); });
  const ContainerOptions options{.metadata = metadata};
  sweep([&] { return store_->create_container(kAccount, "photos", options).status(); },
        [&](std::uint64_t) { EXPECT_EQ(said(photos().container_state()), kContainerGone); });
  expect_content("a", "BlobNotFound");
}

}  // namespace
}  // namespace varve::test::blob_out_of_memory_test
