// Goal: containers are created, dropped and created again as the rules say (BB-10 to BB-17, BX-11).
// Method: examples for each rule.
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

TEST_F(Containers, BB11_BX11_ADropTakesEverythingAndFreesTheName) {
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

}  // namespace
}  // namespace varve::test::container_test
