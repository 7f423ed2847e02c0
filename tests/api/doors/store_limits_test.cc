// Goal: a store applies the limits with which it was created, and no others.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/core/stored_limits.h"
#include "tests/api/store_bench.h"

namespace varve::store_limits_test {
namespace {

using namespace test;

StoreLimits raised() {
  StoreLimits limits;
  limits.key_code_units_max = StoreLimits::kKeyCodeUnitsCeiling;
  limits.custom_properties_max = 5000;
  limits.string_code_units_max = 4u << 20;
  limits.binary_bytes_max = 12u << 20;
  limits.entity_bytes_max = StoreLimits::kEntityBytesCeiling;
  limits.transaction_operations_max = 2000;
  limits.transaction_bytes_max = StoreLimits::kTransactionBytesCeiling;
  limits.page_entities_max = 5000;
  limits.blob_appends_max = 1'000'000;
  return limits;
}

class RaisedLimits : public ::testing::Test {
 protected:
  StoreOptions options() const {
    StoreOptions chosen = bench_.options();
    chosen.limits = raised();
    return chosen;
  }
  Table table() {
    bench_.open(options());
    return bench_.table();
  }
  StoreBench bench_;
};

TEST_F(RaisedLimits, HoldForWritesAndSurviveCompactionAndReopen) {
  const std::string key(3072, 'k');
  {
    Table orders = table();
    Entity wide("p", "wide");
    for (int i = 0; i < 5000; ++i) wide.set("N" + std::to_string(i), i);
    ASSERT_TRUE(orders.insert(wide).ok());
    Entity large(key, key);
    large.set("Text", std::string(2u << 20, 't')).set("Bytes", Binary{std::string(11u << 20, 'b')});
    const Result<ETag> written = orders.insert(large);
    ASSERT_TRUE(written.ok()) << written.status().to_string();
    ASSERT_TRUE(bench_.store->compact().ok());
  }
  bench_.open(bench_.options());  // names no limits, and uses the stored ones
  Table orders = *bench_.store->open_table(kAccount, "Orders");
  EXPECT_EQ(read(orders, "p", "wide")->properties().size(), 5000U);
  const std::optional<Entity> large = read(orders, key, key);
  ASSERT_TRUE(large.has_value());
  EXPECT_EQ((*large->get<Binary>("Bytes")).bytes.size(), 11u << 20);
  EXPECT_TRUE(orders.remove(key, key, ETag::any()).ok());
}

TEST_F(RaisedLimits, HoldForTransactionsAndPages) {
  Table orders = table();
  EntityGroupTransaction transaction;
  for (int i = 0; i < 2000; ++i) transaction.insert(Entity("p", std::to_string(10000 + i)).set("N", i));
  ASSERT_TRUE(orders.execute(transaction).ok());
  Scan scan;
  scan.page_entities_max = 5000;
  EXPECT_EQ((*orders.scan(scan)).entities.size(), 2000U);
  scan.page_entities_max = 5001;
  EXPECT_EQ(said(orders.scan(scan)), kInvalidInput);
  transaction = EntityGroupTransaction();
  for (int i = 0; i < 2001; ++i) transaction.insert(Entity("q", std::to_string(i)));
  EXPECT_EQ(said(orders.execute(transaction)), kInvalidInput);
  transaction = EntityGroupTransaction();
  for (int i = 0; i < 2; ++i) {
    transaction.insert(Entity("q", std::to_string(i)).set("Bytes", Binary{std::string(12u << 20, 'b')}));
  }
  EXPECT_EQ(said(orders.execute(transaction)), kFine);
}

TEST_F(RaisedLimits, RefuseAByteOverEach) {
  Table orders = table();
  EXPECT_EQ(said(orders.insert(Entity(std::string(3073, 'k'), "r"))), kPropertyValueTooLarge);
  std::string wide_characters;
  for (int i = 0; i < 1025; ++i) wide_characters += "\xE2\x82\xAC";
  EXPECT_EQ(said(orders.insert(Entity(wide_characters, "r"))), kPropertyValueTooLarge) << "3,075 bytes";
  EXPECT_EQ(said(orders.insert(Entity("p", "r").set("B", Binary{std::string((12u << 20) + 1, 'b')}))),
            kPropertyValueTooLarge);
  EXPECT_EQ(said(orders.insert(Entity("p", "r").set("S", std::string((4u << 20) + 1, 's')))), kPropertyValueTooLarge);
  Entity entity("p", "r");
  for (int i = 0; i < 5001; ++i) entity.set("N" + std::to_string(i), i);
  EXPECT_EQ(said(orders.insert(entity)), kTooManyProperties);
}

TEST_F(RaisedLimits, AnOpenThatAsksForOthersIsRefused) {
  (void)table();
  bench_.store.reset();
  StoreOptions other = options();
  other.limits->page_entities_max = 4999;
  EXPECT_EQ(Store::open(kStorePath, other).code(), Code::kInvalidArgument);
  other.limits = StoreLimits();
  EXPECT_EQ(Store::open(kStorePath, other).code(), Code::kInvalidArgument);
  EXPECT_TRUE(Store::open(kStorePath, options()).ok());
}

TEST(StoreLimits, TheServicesOwnAreNotStoredAndCanBeAskedFor) {
  EXPECT_EQ(encode_limits(StoreLimits()), "");
  StoreBench bench;
  (void)bench.table();
  StoreOptions options = bench.options();
  options.limits = StoreLimits();
  bench.open(options);
  options.limits->transaction_operations_max = 101;
  bench.store.reset();
  EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kInvalidArgument);
}

TEST(StoreLimits, AreReadBackAsTheyWereStored) {
  EXPECT_EQ(*decode_limits(encode_limits(raised())), raised());
  EXPECT_EQ(*decode_limits(""), StoreLimits());
  const std::string bytes = encode_limits(raised());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const Result<StoreLimits> cut = decode_limits(std::string_view(bytes).substr(0, size));
    if (cut.ok()) {
      EXPECT_NE(*cut, raised()) << size;
    }
  }
}

TEST(StoreLimits, NeitherZeroNorMoreThanTheFormatHoldsIsPossible) {
  StoreLimits limits = raised();
  EXPECT_TRUE(check_limits(limits).ok());
  limits.page_entities_max = 0;
  EXPECT_EQ(check_limits(limits).code(), Code::kInvalidArgument);
  limits = raised();
  ++limits.key_code_units_max;
  EXPECT_EQ(check_limits(limits).code(), Code::kInvalidArgument);
  limits = raised();
  limits.transaction_bytes_max = limits.entity_bytes_max - 1;
  EXPECT_EQ(check_limits(limits).code(), Code::kInvalidArgument);
  StoreBench bench;
  StoreOptions options = bench.options();
  options.limits = limits;
  EXPECT_EQ(Store::open(kStorePath, options).code(), Code::kInvalidArgument);
}

TEST(StoreLimits, Q30_AStrictStoreTakesFifteenComparisonsAndOthersAnyNumber) {
  std::string filter = "A eq 0";
  for (int i = 1; i < 15; ++i) filter += " or A eq " + std::to_string(i);
  Scan scan;
  scan.filter = filter;
  Scan more = scan;
  more.filter += " or B";
  StoreBench any;
  Table free_table = any.table();
  EXPECT_EQ(said(free_table.scan(more)), kFine);
  StoreBench strict;
  StoreOptions options = strict.options();
  options.limits = StoreLimits();
  options.limits->filter_comparisons_max = limits::kStrictFilterComparisonsMax;
  strict.open(options);
  Table strict_table = strict.table();
  EXPECT_EQ(said(strict_table.scan(scan)), kFine);
  EXPECT_EQ(said(strict_table.scan(more)), kInvalidInput);
  EXPECT_EQ(said(strict_table.count(more)), kInvalidInput);
}

}  // namespace
}  // namespace varve::store_limits_test
