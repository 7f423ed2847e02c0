// Goal: a queue keeps the access policies that were set last, within the limits of tables and with letters of its own.
// Method: policies are set and read across clears, deletes, new starts and power cuts.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog/queue_rows.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "tests/api/queue/queue_bench.h"
#include "varve/limits.h"
#include "varve/verify.h"

namespace varve::test::queue_policies_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr DateTime kStart{limits::kDateTimeTicksMin};
constexpr DateTime kExpiry{limits::kDateTimeTicksMax};

std::vector<AccessPolicy> some_policies() {
  return {{"workers", kStart, kExpiry, *Permissions::parse_for_queue("rp")},
          {std::string(limits::kAccessPolicyIdCodeUnitsMax, 'i')},
          {"all", {}, kExpiry, Permissions::all_for_queues()}};
}

class QueuePolicies : public testing::Test {
 protected:
  QueueBench bench_;
  Queue queue_ = bench_.queue("orders", {.metadata = {{"a", "b"}}});
};

TEST(QueuePermissions, QB09_AreSomeOfRaupInAnyOrder) {
  for (const std::string letters : {"", "r", "p", "raup", "ap"}) {
    ASSERT_TRUE(Permissions::parse_for_queue(letters).ok()) << letters;
    EXPECT_EQ((*Permissions::parse_for_queue(letters)).to_string(), letters);
  }
  EXPECT_EQ(*Permissions::parse_for_queue("pura"), Permissions::all_for_queues());
  for (const std::string letters : {"d", "raud", "rr", "x", "R", "pp", " r", "r "}) {
    EXPECT_EQ(said(Permissions::parse_for_queue(letters)), kInvalidXmlNodeValue) << letters;
  }
  EXPECT_EQ(said(Permissions::parse("p")), kInvalidXmlNodeValue) << "tables have no such letter";
}

TEST_F(QueuePolicies, QB09_AreReplacedAsAWhole) {
  EXPECT_THAT(*queue_.access_policies(), IsEmpty());
  EXPECT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  EXPECT_EQ(*queue_.access_policies(), some_policies());
  const AccessPolicy other{"other"};
  EXPECT_EQ(said(queue_.set_access_policies({&other, 1})), kDone);
  EXPECT_THAT(*queue_.access_policies(), ElementsAre(other));
  EXPECT_EQ(said(queue_.set_access_policies({})), kDone);
  EXPECT_THAT(*queue_.access_policies(), IsEmpty());
}

TEST_F(QueuePolicies, QB09_AreCheckedAndARefusedChangeChangesNothing) {
  ASSERT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  const auto refused = [&](std::vector<AccessPolicy> policies) { return said(queue_.set_access_policies(policies)); };
  EXPECT_EQ(refused({{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}}), kInvalidXmlDocument);
  EXPECT_EQ(refused({{"same"}, {"same"}}), kInvalidXmlDocument);
  EXPECT_EQ(refused({{""}}), kInvalidXmlDocument);
  EXPECT_EQ(refused({{std::string(limits::kAccessPolicyIdCodeUnitsMax + 1, 'i')}}), kInvalidXmlDocument);
  EXPECT_EQ(refused({{"early", DateTime{limits::kDateTimeTicksMin - 1}}}), kInvalidXmlNodeValue);
  EXPECT_EQ(refused({{"d", {}, {}, Permissions{Permission::kRemove}}}), kInvalidXmlNodeValue);
  EXPECT_EQ(*queue_.access_policies(), some_policies());
  EXPECT_EQ(refused({{"1"}, {"2"}, {"3"}, {"4"}, {"5"}}), kDone);
}

TEST_F(QueuePolicies, QB09_ATableTakesNoPermissionOfQueues) {
  (void)bench_.table();
  const AccessPolicy policy{"p", {}, {}, Permissions{Permission::kProcess}};
  EXPECT_EQ(said(bench_.store->set_access_policies(kAccount, "Orders", {&policy, 1})), kInvalidXmlNodeValue);
}

TEST_F(QueuePolicies, QB09_AClearAndNewMetadataKeepThemAndADeleteTakesThem) {
  ASSERT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  EXPECT_THAT(*queue_.metadata(), ElementsAre(MetadataPair{"a", "b"})) << "policies leave the metadata";
  ASSERT_EQ(said(queue_.clear()), kDone);
  EXPECT_EQ(*queue_.access_policies(), some_policies());
  ASSERT_EQ(said(queue_.set_metadata({{"c", "d"}})), kDone);
  EXPECT_EQ(*queue_.access_policies(), some_policies());
  ASSERT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kDone);
  EXPECT_EQ(said(queue_.access_policies()), kQueueGone);
  EXPECT_EQ(said(queue_.set_access_policies(some_policies())), kQueueGone);
  Queue again = bench_.queue();
  EXPECT_THAT(*again.access_policies(), IsEmpty());
}

TEST_F(QueuePolicies, QB09_LeaveMessagesAndCreationAlone) {
  (void)sent(queue_, "text");
  const DateTime created = (*bench_.store->list_queues(kAccount)).queues.front().created;
  ASSERT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  EXPECT_EQ((*bench_.store->list_queues(kAccount)).queues.front().created, created);
  EXPECT_THAT(peeked(queue_), ElementsAre("text"));
}

TEST_F(QueuePolicies, QB10_SurviveANewStart) {
  ASSERT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  bench_.open();
  EXPECT_EQ(*(*bench_.store->open_queue(kAccount, "orders")).access_policies(), some_policies());
}

TEST(QueuePoliciesCrash, QB10_AnAcknowledgedChangeSurvivesAPowerCutInABufferedStoreToo) {
  StoreBench bench(3);
  StoreOptions buffered = bench.options();
  buffered.default_durability = Durability::kBuffered;
  bench.open(buffered);
  ASSERT_EQ(said(bench.store->create_account(kAccount)), kDone);
  Queue queue = *bench.store->create_queue(kAccount, "orders");
  ASSERT_EQ(said(queue.set_access_policies(some_policies())), kDone);
  ASSERT_EQ(said(queue.set_access_policies({})), kDone);
  io::SeededRandom picks(4);
  for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 4)) {
    StoreBench after(5, std::move(disk));
    after.open();
    EXPECT_THAT(*(*after.store->open_queue(kAccount, "orders")).access_policies(), IsEmpty())
        << "a revoked policy must not return";
  }
}

TEST_F(QueuePolicies, ADamagedPolicyIsAFindingAndAnError) {
  ASSERT_EQ(said(queue_.set_access_policies(some_policies())), kDone);
  bench_.store.reset();
  EXPECT_TRUE((*Store::verify(kStorePath, bench_.options())).sound());
  format::EntityBuilder row;
  row.add_int64("Id", static_cast<std::int64_t>(format::make_table_id(1, 1)));
  row.add_string("Policy0Id", "readers");
  row.add_string("Policy0Permissions", "d");
  {
    auto engine = bench_.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    format::BatchBuilder batch;
    batch.put(queue_row_key(kAccount, "orders"), row.finish());
    engine::CommitRequest request;
    request.batch = batch.finish();
    ASSERT_TRUE((*engine)->commit(std::move(request)).ok());
  }
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 1U);
  bench_.open();
  Queue damaged = *bench_.store->open_queue(kAccount, "orders");
  EXPECT_EQ(damaged.access_policies().code(), Code::kCorruption);
  EXPECT_EQ(said(damaged.set_access_policies({})), kDone);
}

}  // namespace
}  // namespace varve::test::queue_policies_test
