// Goal: every operation of a store reports an impossible account name, a closed store, and a store opened for reading
// with one text each, and changes nothing.
// Method: each operation once in each of the three cases.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/limits.h"
#include "varve/loader.h"
#include "varve/store_transaction.h"

namespace varve::test::refused_verbs_test {
namespace {

struct NamedVerb {
  const char* name;
  bool writes;
  std::function<Status(Store&, std::string_view account)> call;
};

const NamedVerb kAccountVerbs[] = {
    {"drop_account", true, [](Store& store, std::string_view account) { return store.drop_account(account); }},
    {"create_table", true,
     [](Store& store, std::string_view account) { return store.create_table(account, "Fresh").status(); }},
    {"drop_table", true, [](Store& store, std::string_view account) { return store.drop_table(account, "Orders"); }},
    {"set_access_policies", true,
     [](Store& store, std::string_view account) { return store.set_access_policies(account, "Orders", {}); }},
    {"create_queue", true,
     [](Store& store, std::string_view account) { return store.create_queue(account, "fresh").status(); }},
    {"open_queue", false,
     [](Store& store, std::string_view account) { return store.open_queue(account, "orders").status(); }},
    {"list_queues", false, [](Store& store, std::string_view account) { return store.list_queues(account).status(); }},
    {"drop_queue", true, [](Store& store, std::string_view account) { return store.drop_queue(account, "orders"); }},
    {"set_service_properties", true,
     [](Store& store, std::string_view account) {
       return store.set_service_properties(account, ServicePropertiesChange());
     }},
    {"set_service_properties of queues", true,
     [](Store& store, std::string_view account) {
       return store.set_service_properties(account, ServicePropertiesChange(), StorageService::kQueues);
     }},
    {"service_properties of queues", false,
     [](Store& store, std::string_view account) {
       return store.service_properties(account, StorageService::kQueues).status();
     }},
    {"load_table", true,
     [](Store& store, std::string_view account) { return store.load_table(account, "Fresh").status(); }},
    {"open_table", false,
     [](Store& store, std::string_view account) { return store.open_table(account, "Orders").status(); }},
    {"access_policies", false,
     [](Store& store, std::string_view account) { return store.access_policies(account, "Orders").status(); }},
    {"service_properties", false,
     [](Store& store, std::string_view account) { return store.service_properties(account).status(); }},
    {"list_tables", false, [](Store& store, std::string_view account) { return store.list_tables(account).status(); }},
};

class RefusedVerbs : public testing::Test {
 protected:
  void SetUp() override {
    Table orders = bench_.table("Orders");
    ASSERT_EQ(said(orders.insert(with_value("p", "r", "x"))), kFine);
    ASSERT_EQ(said(bench_.store->create_queue(kAccount, "orders")), kFine);
  }
  void expect_unchanged() {
    const Result<Table> orders = bench_.store->open_table(kAccount, "Orders");
    ASSERT_TRUE(orders.ok()) << orders.status().to_string();
    EXPECT_EQ(value_in(*orders, "p", "r"), "x");
    EXPECT_EQ((*bench_.store->list_tables(kAccount)).tables.size(), 1u);
  }
  StoreBench bench_;
};

TEST_F(RefusedVerbs, OfAnAccountThatCannotBeFindNone) {
  for (const NamedVerb& verb : kAccountVerbs) {
    SCOPED_TRACE(verb.name);
    for (const std::string& account : {std::string(), std::string("no such\nname"), std::string(300, 'a')}) {
      EXPECT_EQ(said(verb.call(*bench_.store, account)), kResourceNotFound);
    }
  }
  expect_unchanged();
}

TEST_F(RefusedVerbs, OfAStoreOpenedForReadingOnlyWriteNothing) {
  ASSERT_TRUE(bench_.store->close().ok());
  StoreOptions reading = bench_.options();
  reading.create_if_absent = false;
  reading.read_only = true;
  bench_.open(reading);
  for (const NamedVerb& verb : kAccountVerbs) {
    SCOPED_TRACE(verb.name);
    const Status answer = verb.call(*bench_.store, kAccount);
    EXPECT_EQ(answer.code(), verb.writes ? Code::kReadOnly : Code::kOk) << answer.to_string();
  }
  expect_unchanged();
}

TEST_F(RefusedVerbs, APatchNeedsAStoreThatIsOpenForWriting) {
  const Patch patch = Patch("p", "r").set("V", "y");
  ASSERT_TRUE(bench_.store->close().ok());
  StoreOptions reading = bench_.options();
  reading.create_if_absent = false;
  reading.read_only = true;
  bench_.open(reading);
  Table orders = *bench_.store->open_table(kAccount, "Orders");
  EXPECT_EQ(orders.patch(patch, ETag::any()).status().code(), Code::kReadOnly);
  EXPECT_EQ(orders.insert_or_patch(patch).status().code(), Code::kReadOnly);
  expect_unchanged();
  ASSERT_TRUE(bench_.store->close().ok());
  EXPECT_EQ(orders.patch(patch, ETag::any()).status().code(), Code::kClosed);
}

TEST_F(RefusedVerbs, OfAClosedStoreSaySo) {
  ASSERT_TRUE(bench_.store->close().ok());
  for (const NamedVerb& verb : kAccountVerbs) {
    SCOPED_TRACE(verb.name);
    EXPECT_EQ(verb.call(*bench_.store, kAccount).code(), Code::kClosed);
  }
}

TEST_F(RefusedVerbs, ATransactionWithATagThatIsTooLongCommitsNothing) {
  const Table orders = *bench_.store->open_table(kAccount, "Orders");
  StoreTransaction transaction = *bench_.store->begin_transaction();
  transaction.insert(orders, with_value("p", "new", "y"));
  const std::string too_long(limits::kTagBytesMax + 1, 't');
  WriteOptions options;
  options.tag = too_long;
  EXPECT_EQ(said(transaction.commit(options).status()), kInvalidInput);
  EXPECT_EQ(value_in(orders, "p", "new"), "-");
}

}  // namespace
}  // namespace varve::test::refused_verbs_test
