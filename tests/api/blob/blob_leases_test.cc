// Goal: leases of blobs and containers follow the table of states.
// Method: each cell of the table, through the verbs, by a clock that the test moves.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"

namespace varve::test::blob_leases_test {
namespace {

using namespace std::chrono_literals;
using Action = LeaseRequest::Action;

const Guid kLeaseA = guid_of(1);
const Guid kLeaseB = guid_of(2);

constexpr Said kMismatch{Code::kConflict, "LeaseIdMismatchWithLeaseOperation"};
constexpr Said kNotPresent{Code::kConflict, "LeaseNotPresentWithLeaseOperation"};
constexpr Said kPresent{Code::kConflict, "LeaseAlreadyPresent"};
constexpr Said kIsBroken{Code::kConflict, "LeaseIsBrokenAndCannotBeRenewed"};

/// One action and what it says in the states available, leased, expired, breaking and broken.
struct LeaseRow {
  const char* name;
  LeaseRequest request;
  Said said[5];
  LeaseState after[5];
};

constexpr LeaseState kNone = LeaseState::kAvailable;
constexpr LeaseState kHeld = LeaseState::kLeased;
constexpr LeaseState kOver = LeaseState::kExpired;
constexpr LeaseState kEnding = LeaseState::kBreaking;
constexpr LeaseState kEnded = LeaseState::kBroken;

std::vector<LeaseRow> lease_rows() {
  const Said no_acquire{Code::kConflict, "LeaseIsBreakingAndCannotBeAcquired"};
  const Said no_change{Code::kConflict, "LeaseIsBreakingAndCannotBeChanged"};
  return {
      {"acquire other",
       {.action = Action::kAcquire, .proposed = kLeaseB, .duration = 20s},
       {kFine, kPresent, kFine, kPresent, kFine},
       {kHeld, kHeld, kHeld, kEnding, kHeld}},
      {"acquire without id",
       {.action = Action::kAcquire},
       {kFine, kPresent, kFine, kPresent, kFine},
       {kHeld, kHeld, kHeld, kEnding, kHeld}},
      {"acquire A",
       {.action = Action::kAcquire, .proposed = kLeaseA, .duration = 60s},
       {kFine, kFine, kFine, no_acquire, kFine},
       {kHeld, kHeld, kHeld, kEnding, kHeld}},
      {"renew A",
       {.action = Action::kRenew, .id = kLeaseA},
       {kMismatch, kFine, kFine, kIsBroken, kIsBroken},
       {kNone, kHeld, kHeld, kEnding, kEnded}},
      {"renew other",
       {.action = Action::kRenew, .id = kLeaseB},
       {kMismatch, kMismatch, kMismatch, kMismatch, kMismatch},
       {kNone, kHeld, kOver, kEnding, kEnded}},
      {"change A to B",
       {.action = Action::kChange, .id = kLeaseA, .proposed = kLeaseB},
       {kNotPresent, kFine, kNotPresent, no_change, kNotPresent},
       {kNone, kHeld, kOver, kEnding, kEnded}},
      {"change B to A",
       {.action = Action::kChange, .id = kLeaseB, .proposed = kLeaseA},
       {kNotPresent, kFine, kNotPresent, kMismatch, kNotPresent},
       {kNone, kHeld, kOver, kEnding, kEnded}},
      {"release A",
       {.action = Action::kRelease, .id = kLeaseA},
       {kMismatch, kFine, kFine, kFine, kFine},
       {kNone, kNone, kNone, kNone, kNone}},
      {"break 0",
       {.action = Action::kBreak, .break_period = 0s},
       {kNotPresent, kFine, kFine, kFine, kFine},
       {kNone, kEnded, kEnded, kEnded, kEnded}},
      {"break 5",
       {.action = Action::kBreak, .break_period = 5s},
       {kNotPresent, kFine, kFine, kFine, kFine},
       {kNone, kEnding, kEnded, kEnding, kEnded}},
      {"break",
       {.action = Action::kBreak},
       {kNotPresent, kFine, kFine, kFine, kFine},
       {kNone, kEnding, kEnded, kEnding, kEnded}},
  };
}

class BlobLeases : public testing::Test {
 protected:
  Said acquire(std::string_view blob, std::chrono::seconds duration) {
    return said(photos_.lease(blob, {.action = Action::kAcquire, .proposed = kLeaseA, .duration = duration}));
  }
  /// Makes a blob whose lease is in the state.
  void make(std::string_view blob, LeaseState state) {
    (void)put_blob(photos_, blob, "text");
    if (state == kNone) return;
    EXPECT_EQ(acquire(blob, 30s), kFine);
    if (state == kOver) bench_.pass(31s);
    if (state != kEnding && state != kEnded) return;
    const std::chrono::seconds period = state == kEnding ? 20s : 0s;
    EXPECT_EQ(said(photos_.lease(blob, {.action = Action::kBreak, .break_period = period})), kFine);
  }
  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobLeases, BE02_EachActionInEachState) {
  constexpr LeaseState kStates[] = {kNone, kHeld, kOver, kEnding, kEnded};
  for (const LeaseRow& row : lease_rows()) {
    for (std::size_t i = 0; i < 5; ++i) {
      const std::string blob = std::string(row.name) + std::to_string(i);
      make(blob, kStates[i]);
      const BlobState before = state_in(photos_, blob);
      EXPECT_EQ(before.lease.state, kStates[i]) << blob;
      EXPECT_EQ(said(photos_.lease(blob, row.request)), row.said[i]) << blob;
      const BlobState after = state_in(photos_, blob);
      EXPECT_EQ(after.lease.state, row.after[i]) << blob;
      EXPECT_EQ(after.etag, before.etag) << blob;
    }
  }
}

TEST_F(BlobLeases, BE01_TimesAreChecked) {
  (void)put_blob(photos_, "a", "text");
  const Said bad{Code::kInvalidArgument, "InvalidHeaderValue"};
  for (const std::chrono::seconds time : {0s, 14s, 61s, -2s}) EXPECT_EQ(acquire("a", time), bad) << time.count();
  EXPECT_EQ(acquire("none", 15s), kBlobGone);
  EXPECT_EQ(acquire("a", 15s), kFine);
  for (const std::chrono::seconds time : {-1s, 61s}) {
    EXPECT_EQ(said(photos_.lease("a", {.action = Action::kBreak, .break_period = time})), bad) << time.count();
  }
  EXPECT_EQ(state_in(photos_, "a").lease.state, kHeld);
}

TEST_F(BlobLeases, BE02_ABreakTakesTheLesserOfPeriodAndRest) {
  (void)put_blob(photos_, "a", "text");
  EXPECT_EQ(acquire("a", 30s), kFine);
  const Result<LeaseAnswer> longer = photos_.lease("a", {.action = Action::kBreak, .break_period = 60s});
  ASSERT_TRUE(longer.ok());
  EXPECT_LE(longer->left, 30s);
  EXPECT_GE(longer->left, 29s);
  EXPECT_EQ((*photos_.lease("a", {.action = Action::kBreak, .break_period = 10s})).left, 10s);
  bench_.pass(11s);
  EXPECT_EQ(state_in(photos_, "a").lease.state, kEnded);
  EXPECT_EQ(acquire("a", kInfiniteLease), kFine);
  EXPECT_TRUE(state_in(photos_, "a").lease.is_infinite);
  EXPECT_EQ((*photos_.lease("a", {.action = Action::kBreak})).left, 0s);
  EXPECT_EQ(state_in(photos_, "a").lease.state, kEnded);
}

TEST_F(BlobLeases, BE03_AWriteNeedsTheIdOfTheLease) {
  make("a", kHeld);
  Container& c = photos_;
  const auto expect_all = [&](const std::optional<Guid>& id, Said expected) {
    const BlobConditions with{.lease = id};
    EXPECT_EQ(said(c.put("a", "x", {.conditions = with})), expected);
    EXPECT_EQ(said(c.write("a", {.conditions = with})), expected);
    EXPECT_EQ(said(c.set_properties("a", {}, {.conditions = with})), expected);
    EXPECT_EQ(said(c.set_metadata("a", {}, {.conditions = with})), expected);
    EXPECT_EQ(said(c.create_append_blob("a", {.conditions = with})), expected);
    EXPECT_EQ(said(c.commit_blocks("a", {}, {.conditions = with})), expected);
    EXPECT_EQ(stage(c, "a", "01", "x", {.conditions = with}), expected);
    EXPECT_EQ(said(c.copy("a", c, "a", {.conditions = with})), expected);
    EXPECT_EQ(said(c.remove("a", {.conditions = with})), expected);
  };
  expect_all(std::nullopt, {Code::kPreconditionFailed, "LeaseIdMissing"});
  expect_all(kLeaseB, {Code::kPreconditionFailed, "LeaseIdMismatchWithBlobOperation"});
  EXPECT_EQ(content_in(c, "a"), "text");
  EXPECT_EQ(said(c.set_tags("a", {{"t", "1"}})), kFine) << "tags need no lease";
  EXPECT_EQ(said(c.set_tier("a", BlobTier::kCool)), kFine);
  EXPECT_EQ(said(c.read("a")), kFine);
  EXPECT_EQ(said(c.read("a", {.conditions = {.lease = kLeaseB}})),
            (Said{Code::kPreconditionFailed, "LeaseIdMismatchWithBlobOperation"}));
  EXPECT_EQ(said(c.put("a", "x", {.conditions = {.lease = kLeaseA}})), kFine);
  EXPECT_EQ(state_in(c, "a").lease.state, kHeld) << "BE-04: overwriting keeps the lease";
  bench_.pass(31s);
  EXPECT_EQ(said(c.put("a", "x", {.conditions = {.lease = kLeaseA}})), (Said{Code::kPreconditionFailed, "LeaseLost"}));
  EXPECT_EQ(said(c.put("a", "x", {.conditions = {.lease = kLeaseB}})),
            (Said{Code::kPreconditionFailed, "LeaseNotPresentWithBlobOperation"}));
}

TEST_F(BlobLeases, BE04_AWriteAfterExpiryEndsTheLease) {
  make("a", kOver);
  (void)put_blob(photos_, "a", "by another one");
  EXPECT_EQ(said(photos_.lease("a", {.action = Action::kRenew, .id = kLeaseA})), kMismatch);
  EXPECT_EQ(state_in(photos_, "a").lease.state, kNone);
}

TEST_F(BlobLeases, BE05_LeasesSurviveARestart) {
  make("ends", kHeld);
  (void)put_blob(photos_, "never", "text");
  EXPECT_EQ(acquire("never", kInfiniteLease), kFine);
  photos_ = bench_.reopened();
  EXPECT_EQ(state_in(photos_, "ends").lease.state, kHeld);
  bench_.pass(31s);
  EXPECT_EQ(state_in(photos_, "ends").lease.state, kOver);
  EXPECT_EQ(state_in(photos_, "never").lease.state, kHeld);
  EXPECT_EQ(said(photos_.put("never", "x")), (Said{Code::kPreconditionFailed, "LeaseIdMissing"}));
}

TEST_F(BlobLeases, BB16_ALeaseOfAContainerGuardsItsDelete) {
  const LeaseRequest request{.action = Action::kAcquire, .proposed = kLeaseA};
  EXPECT_EQ(said(photos_.lease_container(request)), kFine);
  EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos")),
            (Said{Code::kPreconditionFailed, "LeaseIdMissing"}));
  EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos", {.lease = kLeaseB})),
            (Said{Code::kPreconditionFailed, "LeaseIdMismatchWithContainerOperation"}));
  (void)put_blob(photos_, "a", "the blobs are free");
  EXPECT_EQ(said(photos_.set_container_metadata({{"a", "b"}})), kFine);
  EXPECT_EQ(said(photos_.set_container_metadata({}, {.lease = kLeaseB})),
            (Said{Code::kPreconditionFailed, "LeaseIdMismatchWithContainerOperation"}));
  EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos", {.lease = kLeaseA})), kFine);
}

}  // namespace
}  // namespace varve::test::blob_leases_test
