// Goal: containers are created, dropped and created again as the rules say, and the space of what they had comes back
// (BB-10 to BB-17, BX-11, BX-32).
// Method: examples for each rule. Figures of the store and of the disk show the space.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "varve/names.h"

namespace varve::test::container_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr Said kContainerExists{Code::kExists, "ContainerAlreadyExists"};

class Containers : public testing::Test {
 protected:
  std::vector<std::string> listed(const ListOptions& options = {}) {
    std::vector<std::string> names;
    const Result<ContainerPage> page = bench_.store->list_containers(kAccount, options);
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    if (!page.ok()) return names;
    for (const ContainerState& container : page->containers) names.push_back(container.name);
    return names;
  }
  Status drop(std::string_view name = "photos", const BlobConditions& conditions = {}) {
    return bench_.store->drop_container(kAccount, name, conditions);
  }
  ContainerState state() {
    Result<ContainerState> found = photos_.container_state();
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *std::move(found) : ContainerState();
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(Containers, BB10_ANameIsTakenOnce) {
  EXPECT_EQ(said(bench_.store->create_container(kAccount, "photos")), kContainerExists);
  EXPECT_EQ(said(bench_.store->create_container("nobody", "photos")).code, Code::kNotFound);
  EXPECT_EQ(said(bench_.store->open_container(kAccount, "others")), kContainerGone);
  for (const std::string_view name : {"$root", "$logs", "$web", "a-b", "0ab"}) {
    EXPECT_EQ(said(bench_.store->create_container(kAccount, name)), kFine) << name;
  }
  for (const std::string_view name : {"$else", "A-b", "a--b", "-ab", "a_b"}) {
    EXPECT_EQ(said(bench_.store->create_container(kAccount, name)), kInvalidResourceName) << name;
  }
  EXPECT_EQ(said(bench_.store->create_container(kAccount, "ab")), kOutOfRangeInput);
  EXPECT_EQ(said(bench_.store->create_container(kAccount, std::string(64, 'a'))), kOutOfRangeInput);
  EXPECT_THAT(listed(), ElementsAre("$logs", "$root", "$web", "0ab", "a-b", "photos"));
  EXPECT_THAT(listed({.prefix = "a"}), ElementsAre("a-b"));
}

TEST_F(Containers, BB11_ADropTakesEverythingAndFreesTheName) {
  (void)put_blob(photos_, "a", uneven_bytes(100'000));
  (void)put_blob(photos_, "b", "small");
  EXPECT_EQ(stage(photos_, "c", "1", "block"), kFine);
  EXPECT_EQ(said(photos_.set_access({}, PublicAccess::kContainer)), kFine);
  const Result<BlobReader> reader = photos_.read("a");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(said(drop()), kFine);
  EXPECT_EQ(said(drop()), kContainerGone);
  EXPECT_EQ(said(photos_.put("a", "x")), kContainerGone);
  EXPECT_EQ(said(photos_.list()), kContainerGone);
  EXPECT_EQ(said(photos_.state("a")), kContainerGone);
  EXPECT_TRUE(all_of(*reader) == uneven_bytes(100'000)) << "BX-11: a reader reads to the end";

  Container again = bench_.container();
  EXPECT_THAT((*again.list({.with_uncommitted = true})).entries, IsEmpty());
  EXPECT_EQ(state().public_access, PublicAccess::kNone);
  EXPECT_EQ(said(photos_.state("a")), kBlobGone) << "the old handle means the new container";
  EXPECT_EQ(said(photos_.blocks("c")), kBlobGone);
  (void)put_blob(photos_, "a", "new");
  EXPECT_EQ(content_in(again, "a"), "new");
  photos_ = bench_.reopened();
  EXPECT_EQ(content_in(photos_, "a"), "new");
  EXPECT_EQ(said(photos_.state("b")), kBlobGone);
}

TEST_F(Containers, BB11_AWriterThatBeganBeforeTheDropWritesToTheNewContainerOrNone) {
  Result<BlobWriter> lost = photos_.write("a");
  Result<BlobWriter> kept = photos_.write("b");
  ASSERT_TRUE(lost.ok() && kept.ok());
  EXPECT_EQ(said(lost->append(uneven_bytes(2'200'000))), kFine);
  EXPECT_EQ(said(kept->append(uneven_bytes(2'200'000))), kFine);
  EXPECT_EQ(said(drop()), kFine);
  EXPECT_EQ(said(lost->publish()), kContainerGone);
  photos_ = bench_.container();
  EXPECT_EQ(said(kept->publish()), kFine);
  EXPECT_TRUE(content_in(photos_, "b") == uneven_bytes(2'200'000));
  EXPECT_EQ(said(photos_.state("a")), kBlobGone);
}

TEST_F(Containers, BB11_ADropHasConditionsOnDates) {
  const DateTime changed = state().modified;
  const DateTime before{changed.ticks - 20'000'000};
  EXPECT_EQ(said(drop("photos", {.if_modified_since = changed})), kConditionNotMet);
  EXPECT_EQ(said(drop("photos", {.if_unmodified_since = before})), kConditionNotMet);
  EXPECT_EQ(said(drop("photos", {.if_modified_since = before, .if_unmodified_since = changed})), kFine);
}

TEST_F(Containers, BB12_BB13_AStateHasWhatWasSetAndALeaseLeavesItsETag) {
  const ETag first = state().etag;
  (void)put_blob(photos_, "a", "x");
  EXPECT_EQ(state().etag, first) << "a blob does not change its container";
  EXPECT_EQ(said(photos_.set_container_metadata({{"a", "1"}, {"b", "2"}})), kFine);
  const ContainerState second = state();
  EXPECT_NE(second.etag, first);
  EXPECT_THAT(second.metadata, ElementsAre(MetadataPair{"a", "1"}, MetadataPair{"b", "2"}));
  EXPECT_EQ(said(photos_.lease_container({})), kFine);
  EXPECT_EQ(state().etag, second.etag);
  EXPECT_EQ(state().lease.state, LeaseState::kLeased);
  const Result<ContainerState> third = photos_.set_container_metadata({{"c", "3"}});
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->etag, state().etag);
  EXPECT_THAT(third->metadata, ElementsAre(MetadataPair{"c", "3"}));
  EXPECT_EQ(third->lease.state, LeaseState::kLeased);
}

TEST_F(Containers, BB16_ALeaseEndsWithItsContainer) {
  LeaseRequest request;
  request.proposed = guid_of(1);
  request.duration = 15s;
  EXPECT_EQ(said(photos_.lease_container(request)), kFine);
  EXPECT_EQ(said(drop()), (Said{Code::kPreconditionFailed, "LeaseIdMissing"}));
  bench_.pass(16s);
  EXPECT_EQ(state().lease.state, LeaseState::kExpired);
  EXPECT_EQ(said(drop()), kFine) << "an expired lease guards nothing";
  photos_ = bench_.container();
  EXPECT_EQ(state().lease.state, LeaseState::kAvailable);
  EXPECT_EQ(said(drop("photos", {.lease = guid_of(1)})),
            (Said{Code::kPreconditionFailed, "LeaseNotPresentWithContainerOperation"}));
}

// -- Space ------------------------------------------------------------------------------------------------------------

class BlobSpace : public Containers {
 protected:
  std::uint64_t live_bytes() {
    const Result<Statistics> figures = bench_.store->statistics();
    EXPECT_TRUE(figures.ok());
    return figures.ok() ? figures->value_file_live_bytes : 0;
  }
  std::uint64_t used_bytes() { return bench_.machine.files->used_bytes(); }
  void compact() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(said(bench_.store->compact()), kFine);
  }
  void fill(int blobs) {
    for (int i = 0; i < blobs; ++i) {
      (void)put_blob(photos_, std::to_string(i), uneven_bytes(kMiB, static_cast<std::uint32_t>(i)));
    }
    compact();
  }
};

TEST_F(BlobSpace, BX05_BX32_ValueFilesShrinkAfterDeletesAndCompaction) {
  const std::uint64_t empty = used_bytes();
  fill(24);
  EXPECT_GE(live_bytes(), 24 * kMiB);
  EXPECT_LE(live_bytes(), 25 * kMiB) << "BX-05: each byte is stored once";
  const std::uint64_t full = used_bytes();
  for (int i = 0; i < 24; ++i) {
    if (i % 4 != 0) {
      EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
    }
  }
  compact();
  EXPECT_LE(live_bytes(), 7 * kMiB);
  EXPECT_LT(used_bytes(), full - 12 * kMiB);
  for (int i = 0; i < 24; i += 4) {
    EXPECT_TRUE(content_in(photos_, std::to_string(i)) == uneven_bytes(kMiB, static_cast<std::uint32_t>(i)));
    EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
  }
  compact();
  EXPECT_EQ(live_bytes(), 0U);
  EXPECT_LT(used_bytes(), empty + 4 * kMiB);
}

TEST_F(BlobSpace, BX08_BY06_CopiesTakeNoSpaceAndKeepWhatTheyShare) {
  fill(8);
  const std::uint64_t before = live_bytes();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(said(photos_.copy("copy " + std::to_string(i), photos_, std::to_string(i))), kFine);
  }
  compact();
  EXPECT_EQ(live_bytes(), before);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(said(photos_.remove(std::to_string(i))), kFine);
  compact();
  EXPECT_EQ(live_bytes(), before);
  EXPECT_TRUE(content_in(photos_, "copy 3") == uneven_bytes(kMiB, 3));
  for (int i = 0; i < 8; ++i) (void)put_blob(photos_, "copy " + std::to_string(i), "overwritten");
  compact();
  EXPECT_EQ(live_bytes(), 0U);
}

TEST_F(BlobSpace, BX11_AReaderHoldsItsContentUntilItIsClosed) {
  fill(1);
  {
    const Result<BlobReader> reader = photos_.read("0");
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(said(photos_.remove("0")), kFine);
    compact();
    EXPECT_GE(live_bytes(), kMiB);
    EXPECT_TRUE(all_of(*reader) == uneven_bytes(kMiB, 0));
  }
  compact();
  EXPECT_EQ(live_bytes(), 0U);
}

}  // namespace
}  // namespace varve::test::container_test
