// Goal: opening a typed table makes the indexes and the expiry that its mapping declares, and changes nothing that differs;
// a typed patch does what a patch does.
#include "varve/typed_declaration.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/verify.h"

namespace varve::typed_declaration_test {
namespace {

struct Address {
  std::string city;
};

struct Order {
  std::string region;
  std::string number;
  std::string customer;
  std::optional<double> total;
  std::int32_t lines = 0;
  Address address;
  std::string secret;
};

/// The same table, declared in another way.
struct OtherOrder {
  std::string region;
  std::string number;
  std::string customer;
  DateTime kept_until;
};

struct Wrong {
  std::string region;
  std::string number;
  std::string secret;
};
struct WrongAge {
  std::string region;
  std::string number;
};

}  // namespace
}  // namespace varve::typed_declaration_test

namespace varve {

namespace test_structs = typed_declaration_test;

template <>
inline constexpr auto mapping<test_structs::Address> = mapped::members(mapped::property("City",
                                                                                        &test_structs::Address::city));
template <>
inline constexpr auto mapping<test_structs::Order> = mapped::members(
    mapped::partition_key(&test_structs::Order::region), mapped::row_key(&test_structs::Order::number),
    mapped::property("Customer", &test_structs::Order::customer),
    mapped::property("Total", &test_structs::Order::total), mapped::property("Lines", &test_structs::Order::lines),
    mapped::flattened("Home", &test_structs::Order::address), mapped::encrypted("Secret", &test_structs::Order::secret),
    mapped::index("ByCustomer", mapped::ascending("Customer"), mapped::descending("Total"), mapped::carried("Lines")),
    mapped::unique_index("ByCity", mapped::ascending("HomeCity"), mapped::ascending("RowKey")),
    mapped::ends_after(std::chrono::hours(24)));
template <>
inline constexpr auto mapping<test_structs::OtherOrder> = mapped::members(
    mapped::partition_key(&test_structs::OtherOrder::region), mapped::row_key(&test_structs::OtherOrder::number),
    mapped::property("Customer", &test_structs::OtherOrder::customer),
    mapped::property("KeptUntil", &test_structs::OtherOrder::kept_until),
    mapped::index("ByCustomer", mapped::descending("Customer")), mapped::index("New", mapped::ascending("KeptUntil")),
    mapped::ends_at("KeptUntil"));
template <>
inline constexpr auto mapping<test_structs::Wrong> =
    mapped::members(mapped::partition_key(&test_structs::Wrong::region), mapped::row_key(&test_structs::Wrong::number),
                    mapped::encrypted("Secret", &test_structs::Wrong::secret),
                    mapped::index("BySecret", mapped::ascending("Secret")), mapped::ends_at("Secret"));
template <>
inline constexpr auto mapping<test_structs::WrongAge> = mapped::members(
    mapped::partition_key(&test_structs::WrongAge::region), mapped::row_key(&test_structs::WrongAge::number),
    mapped::index("None", mapped::carried("RowKey")), mapped::ends_after(std::chrono::milliseconds(0)));

}  // namespace varve

namespace varve::typed_declaration_test {
namespace {

using namespace test;

static_assert(mapped::indexes_fit<Order>() && mapped::expiry_fits<Order>());
static_assert(!mapped::indexes_fit<Wrong>() && !mapped::expiry_fits<Wrong>());
static_assert(!mapped::indexes_fit<WrongAge>() && !mapped::expiry_fits<WrongAge>());

constexpr Said kDiffers = {Code::kExists, "ResourceAlreadyExists"};

class TypedDeclarations : public testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    ASSERT_EQ(said(bench_.store->create_account(kAccount)), kFine);
  }
  Store& store() { return *bench_.store; }
  static std::string account() { return std::string(kAccount); }
  std::vector<IndexInfo> indexes(std::string_view table) {
    Result<std::vector<IndexInfo>> found = store().indexes(account(), table);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : std::vector<IndexInfo>();
  }
  void expect_whole(std::string_view table) {
    const std::vector<IndexInfo> found = indexes(table);
    const TableDeclaration declared = declaration_of<Order>();
    ASSERT_EQ(found.size(), 2u);
    for (const IndexInfo& index : found) {
      EXPECT_EQ(index.state, IndexState::kReady);
      EXPECT_EQ(index.definition, declared.indexes[index.definition.name == "ByCustomer" ? 0 : 1]);
    }
    EXPECT_EQ(*store().table_expiry(account(), table), TableExpiry::after(std::chrono::hours(24)));
  }

  StoreBench bench_;
};

TEST_F(TypedDeclarations, ANewTableGetsWhatItsMappingDeclares) {
  const TableDeclaration declared = declaration_of<Order>();
  ASSERT_EQ(declared.indexes.size(), 2u);
  EXPECT_EQ(declared.indexes[0], (IndexDefinition{"ByCustomer", {{"Customer", false}, {"Total", true}}, {"Lines"}}));
  EXPECT_EQ(declared.indexes[1], (IndexDefinition{"ByCity", {{"HomeCity", false}, {"RowKey", false}}, {}, true}));
  Result<TypedTable<Order>> orders = open_typed_table<Order>(store(), account(), "Orders");
  ASSERT_EQ(said(orders.status()), kFine);
  expect_whole("Orders");
  EXPECT_EQ(said(orders->insert(Order{"eu", "1", "Ann", 2.0, 1, {}, {}})), kFine);
  EXPECT_EQ(said(open_typed_table<Order>(store(), account(), "Orders").status()), kFine);
  expect_whole("Orders");
}

TEST_F(TypedDeclarations, AnOldTableGetsWhatItLacksAndKeepsWhatElseItHas) {
  Table plain = *store().create_table(account(), "Orders");
  ASSERT_TRUE(plain.insert(Entity("eu", "1").set("Customer", "Ann").set("Total", 2.0)).ok());
  int calls = 0;
  const auto stop = [&calls](const IndexBuildProgress&) { return ++calls < 1; };
  EXPECT_EQ(open_typed_table<Order>(store(), account(), "Orders", stop).code(), Code::kCancelled);
  EXPECT_EQ(said(open_typed_table<Order>(store(), account(), "Orders").status()), kFine);
  expect_whole("Orders");
  EXPECT_EQ(said(store().create_index(account(), "Orders", {"Extra", {{"Customer"}}})), kFine);
  EXPECT_EQ(said(open_typed_table<Order>(store(), account(), "Orders").status()), kFine);
  EXPECT_EQ(indexes("Orders").size(), 3u);
}

TEST_F(TypedDeclarations, ATableThatDiffersIsLeftAsItIsAndEachDifferenceIsNamed) {
  ASSERT_EQ(said(open_typed_table<Order>(store(), account(), "Orders").status()), kFine);
  const Status refused = open_typed_table<OtherOrder>(store(), account(), "Orders").status();
  EXPECT_EQ(said(refused), kDiffers);
  for (const std::string_view part : {"'ByCustomer' is (Customer, Total desc) carries Lines", "(Customer desc)",
                                      "after 86400000 ms", "at property 'KeptUntil'"}) {
    EXPECT_NE(refused.to_string().find(part), std::string::npos) << refused.to_string() << part;
  }
  expect_whole("Orders");
}

TEST_F(TypedDeclarations, TypedWritesMoveTheEntriesOfTheirObjects) {
  Result<TypedTable<Order>> orders = open_typed_table<Order>(store(), account(), "Orders");
  ASSERT_EQ(said(orders.status()), kFine);
  EXPECT_EQ(said(orders->insert(Order{"eu", "1", "Ann", 2.0, 1, {"Ulm"}, {}})), kFine);
  EXPECT_EQ(said(orders->insert_or_replace(Order{"us", "2", "Bob", 3.0, 2, {"Rome"}, {}})), kFine);
  EXPECT_EQ(said(orders->replace(Order{"us", "2", "Ann", 4.0, 2, {"Rome"}, {}}, ETag::any())), kFine);
  EXPECT_EQ(said(orders->insert(Order{"af", "1", "Cyd", 1.0, 1, {"Ulm"}, {}})),
            (Said{Code::kExists, "IndexValueAlreadyExists"}));
  Scan of_ann;
  of_ann.filter = "Customer eq 'Ann' and Total ge 0.0";
  const Result<ScanPlan> plan = orders->table().explain(of_ann);
  ASSERT_EQ(said(plan), kFine);
  ASSERT_EQ(plan->indexes.size(), 1u);
  EXPECT_TRUE(plan->indexes[0].name == "ByCustomer" && plan->indexes[0].is_taken);
  EXPECT_EQ(keys_of(*orders->table().scan(of_ann)), (std::vector<std::string>{"eu/1", "us/2"}));
  TypedPatch<Order> patch("eu", "1");
  patch.set<&Order::customer>("Bob");
  EXPECT_EQ(said(orders->patch(patch, ETag::any()).status()), kFine);
  EXPECT_EQ(said(orders->remove(Order{"us", "2", {}, {}, 0, {}, {}}, ETag::any())), kFine);
  EXPECT_EQ(keys_of(*orders->table().scan(of_ann)), std::vector<std::string>());
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_EQ(said(report), kFine);
  EXPECT_TRUE(report->sound()) << report->findings.front();
  EXPECT_EQ(report->index_entries, 2u);
}

TEST_F(TypedDeclarations, AnErrorOfTheStoreIsReturned) {
  EXPECT_EQ(open_typed_table<Order>(store(), "absent", "Orders").code(), Code::kNotFound);
  EXPECT_EQ(open_typed_table<Order>(store(), account(), "0rders!").code(), Code::kInvalidArgument);
}

TEST_F(TypedDeclarations, ATypedPatchSetsRemovesAndIncrementsMembers) {
  TypedTable<Order> orders(bench_.table());
  ASSERT_EQ(said(orders.insert(Order{"eu", "1", "Ann", 2.0, 3, {"Ulm"}, {}})), kFine);
  TypedPatch<Order> patch("eu", "1");
  patch.increment<&Order::lines>(4).remove<&Order::total>().set<&Order::address, &Address::city>("Rome");
  const Result<Order> after = orders.patch(patch.only_if(field<&Order::lines>() < 7), ETag::any());
  ASSERT_EQ(said(after.status()), kFine) << after.status().to_string();
  EXPECT_EQ(after->lines, 7);
  EXPECT_EQ(after->total, std::nullopt);
  EXPECT_EQ(after->address.city, "Rome");
  EXPECT_EQ(after->customer, "Ann");
  EXPECT_EQ(orders.patch(patch, ETag::any()).code(), Code::kPreconditionFailed);
  const Result<Order> made = orders.insert_or_patch(
      TypedPatch<Order>(Order{"eu", "2", "", {}, 9, {}, {}}).increment<&Order::lines>(2).set<&Order::total>(1.5));
  ASSERT_EQ(said(made.status()), kFine) << made.status().to_string();
  EXPECT_EQ(made->lines, 2);
  EXPECT_EQ(made->total, 1.5);
  EXPECT_EQ(read(orders.table(), "eu", "2")->find("Lines")->type(), PropertyType::kInt32);
}

TEST_F(TypedDeclarations, ChangesByFilterNameMembers) {
  TypedTable<Order> orders(bench_.table());
  for (const std::int32_t lines : {1, 2, 3}) {
    ASSERT_EQ(said(orders.insert(Order{"eu", std::to_string(lines), "Ann", 2.0, lines, {"Ulm"}, {}})), kFine);
  }
  const TypedChanges<Order> changes =
      TypedChanges<Order>().set<&Order::address, &Address::city>("Rome").remove<&Order::total>();
  const Query<Order> few = Query<Order>().where(field<&Order::lines>() < 3).in(ScanRange::partition("eu"));
  const Result<WhereProgress> updated = orders.update_where(few, changes);
  ASSERT_EQ(said(updated), kFine) << updated.status().to_string();
  EXPECT_EQ(updated->changed, 2u);
  const std::optional<Order> first = *orders.get("eu", "1");
  EXPECT_EQ(first->address.city, "Rome");
  EXPECT_EQ(first->total, std::nullopt);
  EXPECT_EQ((*orders.get("eu", "3"))->address.city, "Ulm");
  WhereOptions dry;
  dry.dry_run = true;
  EXPECT_EQ((*orders.delete_where(few, dry)).matched, 2u);
  EXPECT_EQ((*orders.delete_where(few)).changed, 2u);
  EXPECT_EQ(*orders.get("eu", "1"), std::nullopt);
  EXPECT_EQ(said(orders.delete_where(Query<Order>())), kInvalidInput) << "no condition";
  EXPECT_EQ(orders.delete_where(Query<Order>(few).take(1)).code(), Code::kInvalidArgument);
  EXPECT_EQ(orders.update_where(Query<Order>(few).order_by("Total"), changes).code(), Code::kInvalidArgument);
  EXPECT_NE(*orders.get("eu", "3"), std::nullopt);
}

TEST_F(TypedDeclarations, EveryTypedWriteKeepsTheIndexesWhole) {
  constexpr Said kTaken = {Code::kExists, "IndexValueAlreadyExists"};
  TypedTable<Order> orders = *open_typed_table<Order>(store(), account(), "Orders");
  const auto of_ann = [&orders] {
    Scan scan;
    scan.filter = "Customer eq 'Ann' and Total ge 0.0";
    const Result<ScanPlan> plan = orders.table().explain(scan);
    EXPECT_TRUE(plan.ok() && plan->indexes.size() == 1 && plan->indexes.front().is_taken);
    return keys_of(*orders.table().scan(scan));
  };
  using Keys = std::vector<std::string>;
  for (const char* const number : {"1", "2", "3"}) {
    ASSERT_EQ(said(orders.insert(Order{"eu", number, "Ann", 2.0, 1, {"Ulm"}, {}})), kFine);
  }
  EXPECT_EQ(said(orders.insert(Order{"us", "3", "Bob", 2.0, 1, {"Ulm"}, {}})), kTaken);
  ASSERT_EQ(said(orders.insert(Order{"us", "3", "Bob", 2.0, 1, {"Rome"}, {}})), kFine);
  const Order same_city{"us", "3", "Ann", 1.0, 1, {"Ulm"}, {}};
  EXPECT_EQ(said(orders.replace(same_city, ETag::any())), kTaken);
  EXPECT_EQ(said(orders.merge(same_city, ETag::any())), kTaken);
  EXPECT_EQ(said(orders.insert_or_replace(same_city)), kTaken);
  EXPECT_EQ(said(orders.insert_or_merge(same_city)), kTaken);
  EXPECT_EQ(said(orders.patch(TypedPatch<Order>("us", "3").set<&Order::address, &Address::city>("Ulm"), ETag::any())),
            kTaken);
  ASSERT_EQ(said(orders.replace(Order{"eu", "1", "Bob", 2.0, 1, {"Ulm"}, {}}, ETag::any())), kFine);
  ASSERT_EQ(said(orders.merge(Order{"us", "3", "Ann", {}, 1, {"Rome"}, {}}, ETag::any())), kFine);
  EXPECT_EQ(of_ann(), (Keys{"eu/2", "eu/3", "us/3"}));
  ASSERT_EQ(said(orders.patch(TypedPatch<Order>("eu", "2").remove<&Order::total>(), ETag::any())), kFine);
  ASSERT_EQ(said(orders.remove(Order{"eu", "3", "", {}, 0, {}, {}}, ETag::any())), kFine);
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_EQ(said(begun), kFine);
  TypedTransaction<Order> transaction(*begun, orders);
  ASSERT_EQ(said(transaction.insert(Order{"us", "4", "Ann", 5.0, 1, {"Rome"}, {}})), kFine);
  ASSERT_EQ(said(transaction.insert(Order{"eu", "3", "Ann", 5.0, 1, {"Ulm"}, {}})), kFine);
  ASSERT_EQ(said(begun->commit()), kFine);
  EXPECT_EQ(of_ann(), (Keys{"eu/3", "us/3", "us/4"})) << "eu/2 lacks the second component";
  ASSERT_EQ(said(orders.update_where(Query<Order>().where(field<&Order::total>() > 4.0),
                                     TypedChanges<Order>().set<&Order::customer>("Cid"))),
            kFine);
  EXPECT_EQ(of_ann(), (Keys{"us/3"}));
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_EQ(said(report), kFine);
  EXPECT_TRUE(report->sound()) << report->findings.front();
  EXPECT_EQ(report->index_entries, 4U + 5U);
}

TEST_F(TypedDeclarations, ATypedPatchInATransactionReturnsTheEntityAfterwards) {
  TypedTable<Order> orders(bench_.table());
  ASSERT_EQ(said(orders.insert(Order{"eu", "1", "Ann", 2.0, 3, {}, {}})), kFine);
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_TRUE(begun.ok());
  TypedTransaction<Order> transaction(*begun, orders);
  EXPECT_EQ(said(transaction.patch(TypedPatch<Order>("eu", "1").increment<&Order::lines>(1), ETag::any())), kFine);
  EXPECT_EQ(said(transaction.insert_or_patch(TypedPatch<Order>("us", "1").set<&Order::customer>("Bob"))), kFine);
  ASSERT_EQ(said(begun->commit().status()), kFine);
  ASSERT_EQ(begun->patched_entities().size(), 2u);
  EXPECT_EQ(*begun->patched_entities()[0].get<std::int32_t>("Lines"), 4);
  EXPECT_EQ(*read(orders.table(), "us", "1")->find("Customer"), Value("Bob"));
}

TEST_F(TypedDeclarations, APatchIsCommittedAlsoWhereItsEntityDoesNotMatchTheStruct) {
  TypedTable<Order> orders(bench_.table());
  ASSERT_TRUE(orders.table().insert(Entity("eu", "1").set("Customer", 7).set("Lines", 1)).ok());
  const Result<Order> after = orders.patch(TypedPatch<Order>("eu", "1").increment<&Order::lines>(1), ETag::any());
  EXPECT_EQ(after.code(), Code::kUnknown);
  EXPECT_EQ(*read(orders.table(), "eu", "1")->get<std::int32_t>("Lines"), 2);
}

}  // namespace
}  // namespace varve::typed_declaration_test
