// Goal: patches, merges, changes by filter and transactions with messages keep an index whole. An index holds and finds
// values of each type. A checkpoint answers by it. A store without an index has no feature of indexes.
// Method: writes to a table with indexes, queries that an index must have served, and a verification of the closed store.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/log/root.h"
#include "tests/api/store_bench.h"
#include "varve/queue.h"
#include "varve/store_transaction.h"
#include "varve/table_index.h"
#include "varve/verify.h"

namespace varve::index_upkeep_test {
namespace {

using namespace test;
using Keys = std::vector<std::string>;

const IndexDefinition kByValue{"ByValue", {{"V"}}, {"W"}};

/// Returns the keys of the entities that the filter matches. The index must have served it.
Keys found_by(std::string_view index, const Table& table, std::string_view filter) {
  Scan scan;
  scan.filter = filter;
  const Result<ScanPlan> plan = table.explain(scan);
  EXPECT_EQ(said(plan), kFine);
  bool is_taken = false;
  for (const IndexCandidate& each : plan.ok() ? plan->indexes : std::vector<IndexCandidate>()) {
    is_taken = is_taken || (each.name == index && each.is_taken);
  }
  EXPECT_TRUE(is_taken) << filter;
  const Result<Page> page = table.scan(scan);
  EXPECT_EQ(said(page), kFine);
  return page.ok() ? keys_of(*page) : Keys();
}

class IndexUpkeep : public ::testing::Test {
 protected:
  IndexUpkeep() : table_(bench_.table()) {}

  Store& store() { return *bench_.store; }
  void declare(const IndexDefinition& definition) {
    ASSERT_EQ(said(store().create_index(kAccount, "Orders", definition)), kFine);
  }
  Keys having(std::string_view value) { return found_by("ByValue", table_, "V eq '" + std::string(value) + "'"); }
  void expect_verified(std::uint64_t entries, std::string_view path = kStorePath) {
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(path, bench_.options());
    ASSERT_EQ(said(report), kFine);
    EXPECT_TRUE(report->sound()) << report->findings.front();
    EXPECT_EQ(report->index_entries, entries);
  }

  StoreBench bench_;
  Table table_;
};

TEST_F(IndexUpkeep, PatchesAndMergesMoveTheEntry) {
  declare(kByValue);
  Patch patch("p", "1");
  patch.set("V", "x").increment("N", std::int32_t{1});
  ASSERT_EQ(said(table_.insert_or_patch(patch)), kFine);
  ASSERT_EQ(said(table_.insert_or_merge(with_value("p", "2", "x"))), kFine);
  ASSERT_EQ(said(table_.insert(with_value("p", "3", "x"))), kFine);
  EXPECT_EQ(having("x"), (Keys{"p/1", "p/2", "p/3"}));
  Patch again("p", "1");
  again.set("V", "y").set("W", "carried");
  ASSERT_EQ(said(table_.patch(again, ETag::any())), kFine);
  ASSERT_EQ(said(table_.merge(with_value("p", "2", "y"), ETag::any())), kFine);
  EXPECT_EQ(having("x"), (Keys{"p/3"}));
  EXPECT_EQ(having("y"), (Keys{"p/1", "p/2"}));
  Patch without("p", "3");
  without.remove("V");
  ASSERT_EQ(said(table_.patch(without, ETag::any())), kFine);
  EXPECT_EQ(having("x"), Keys());
  EntityGroupTransaction group;
  group.add(WriteOperation::patch(Patch("p", "1").set("V", "x"), ETag::any()));
  group.merge(Entity("p", "2").set("W", "carried"), ETag::any());
  group.add(WriteOperation::insert_or_patch(Patch("p", "3").set("V", "x")));
  ASSERT_EQ(said(table_.execute(group)), kFine);
  EXPECT_EQ(having("x"), (Keys{"p/1", "p/3"}));
  EXPECT_EQ(having("y"), (Keys{"p/2"}));
  expect_verified(3);
}

TEST_F(IndexUpkeep, ChangesByFilterMoveTheEntries) {
  declare(kByValue);
  for (int row = 0; row < 30; ++row) {
    Entity entity = with_value(row < 20 ? "p" : "q", std::to_string(100 + row), row % 2 == 0 ? "x" : "y");
    ASSERT_EQ(said(table_.insert(entity.set("N", row))), kFine);
  }
  PropertyChanges changes;
  changes.set.push_back({"V", "z"});
  const Result<WhereProgress> updated = table_.update_where({.filter = "V eq 'x' and N lt 4"}, changes);
  ASSERT_EQ(said(updated), kFine);
  EXPECT_EQ(updated->changed, 2U);
  EXPECT_EQ(having("z"), (Keys{"p/100", "p/102"}));
  EXPECT_EQ(having("x").size(), 13U);
  PropertyChanges removal;
  removal.remove.push_back("V");
  ASSERT_EQ((*table_.update_where({.filter = "V eq 'y' and N lt 4"}, removal)).changed, 2U);
  EXPECT_EQ(having("y").size(), 13U);
  ASSERT_EQ((*table_.delete_where({.filter = "V eq 'x'"})).changed, 13U);
  EXPECT_EQ(having("x"), Keys());
  ASSERT_EQ((*table_.delete_where({.range = ScanRange::partition("q"), .filter = "N ge 0"})).changed, 5U);
  EXPECT_EQ(having("y").size(), 8U);
  expect_verified(10);
}

TEST_F(IndexUpkeep, ATransactionWithMessagesKeepsIt) {
  declare(kByValue);
  ASSERT_EQ(said(store().create_queue(kAccount, "tasks")), kFine);
  const Result<Queue> queue = store().open_queue(kAccount, "tasks");
  ASSERT_EQ(said(queue), kFine);
  const MessageWrite notice = MessageWrite::put(*queue, "text");
  const WriteOperation made[] = {WriteOperation::insert(with_value("p", "1", "x")),
                                 WriteOperation::insert(with_value("p", "2", "x"))};
  ASSERT_EQ(said(table_.execute_with_messages(made, {&notice, 1})), kFine);
  EXPECT_EQ(having("x"), (Keys{"p/1", "p/2"}));
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_EQ(said(begun), kFine);
  begun->put(*queue, "text");
  begun->patch(table_, Patch("p", "1").set("V", "y"), ETag::any());
  begun->merge(table_, with_value("p", "2", "y"), ETag::any());
  ASSERT_EQ(said(begun->commit()), kFine);
  EXPECT_EQ(having("x"), Keys());
  EXPECT_EQ(having("y"), (Keys{"p/1", "p/2"}));
  expect_verified(2);
}

TEST_F(IndexUpkeep, ValuesOfEachTypeAreHeldAndFoundByTheRulesOfFilters) {
  const std::pair<const char*, Value> values[] = {{"boolean", true},
                                                  {"date", DateTime{639'028'656'000'000'000}},
                                                  {"double", 1.0},
                                                  {"int32", std::int32_t{1}},
                                                  {"int64", std::int64_t{1}},
                                                  {"text", "1"}};
  for (const auto& [row, value] : values) ASSERT_EQ(said(table_.insert(Entity("p", row).set("V", value))), kFine);
  ASSERT_EQ(said(table_.insert(Entity("p", "without"))), kFine);
  const std::pair<const char*, Keys> cases[] = {
      {"V eq 1", {"p/double", "p/int32", "p/int64"}},  // an Int32 is compared with each number,
      {"V eq 1L", {"p/double", "p/int64"}},            // an Int64 with an Int32 is not,
      {"V eq 1.0", {"p/double"}},
      {"V eq '1'", {"p/text"}},
      {"V eq true", {"p/boolean"}},
      {"V eq datetime'2026-01-01T12:00:00Z'", {"p/date"}},
      {"V eq guid'00000000-0000-0000-0000-000000000000'", {}},
      {"V ge 0 and V lt 2", {"p/double", "p/int32", "p/int64"}},
      {"V gt 1", {}},
      {"V lt 0", {"p/boolean", "p/date", "p/text"}},  // and what has another type is less.
      {"V lt '0'", {"p/boolean", "p/date", "p/double", "p/int32", "p/int64"}},
      {"V in (1.0, '1', true)", {"p/boolean", "p/double", "p/text"}}};
  for (const bool is_descending : {false, true}) {
    const std::string name = is_descending ? "Down" : "Up";
    declare({name, {{"V", is_descending}}, {}});
    for (const auto& [filter, keys] : cases) EXPECT_EQ(found_by(name, table_, filter), keys) << name << ": " << filter;
    ASSERT_EQ(said(store().drop_index(kAccount, "Orders", name)), kFine);
    for (const auto& [filter, keys] : cases) {
      Scan scan;
      scan.filter = filter;
      EXPECT_EQ(keys_of(*table_.scan(scan)), keys) << "without an index: " << filter;
    }
  }
  declare({"Up", {{"V"}}, {}});
  expect_verified(6);
}

TEST_F(IndexUpkeep, ACheckpointAnswersByAReadyIndexAndKeepsIt) {
  declare(kByValue);
  ASSERT_EQ(said(table_.insert(with_value("p", "1", "x"))), kFine);
  ASSERT_EQ(said(store().compact()), kFine);
  ASSERT_EQ(said(table_.insert(with_value("q", "2", "x"))), kFine);
  ASSERT_EQ(said(store().checkpoint("/copy").status()), kFine);
  ASSERT_EQ(said(table_.remove("p", "1", ETag::any())), kFine);
  {
    const Result<std::unique_ptr<Store>> copy = Store::open("/copy", bench_.options());
    ASSERT_EQ(said(copy), kFine);
    Table copied = *(*copy)->open_table(kAccount, "Orders");
    EXPECT_EQ(found_by("ByValue", copied, "V eq 'x'"), (Keys{"p/1", "q/2"}));
    ASSERT_EQ(said(copied.insert(with_value("r", "3", "x"))), kFine);
    EXPECT_EQ(found_by("ByValue", copied, "V eq 'x'"), (Keys{"p/1", "q/2", "r/3"}));
  }
  EXPECT_EQ(having("x"), (Keys{"q/2"}));
  expect_verified(1);
  expect_verified(3, "/copy");
}

TEST_F(IndexUpkeep, AnIndexOfFiveComponentsIsRefused) {
  IndexDefinition wide{"Wide", {{"A"}, {"B"}, {"C"}, {"D"}}, {}};
  declare(wide);
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "Wide")), kFine);
  wide.components.push_back({"E"});
  const Status refused = store().create_index(kAccount, "Orders", wide);
  EXPECT_EQ(said(refused), kInvalidInput) << refused.to_string();
  wide.is_unique = true;
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", wide)), kInvalidInput);
  EXPECT_TRUE((*store().indexes(kAccount, "Orders")).empty());
}

TEST_F(IndexUpkeep, AStoreThatNeverHadAnIndexHasNoFeatureInItsFiles) {
  ASSERT_EQ(said(table_.insert(with_value("p", "1", "x"))), kFine);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", {"None", {}})), kInvalidInput);
  EXPECT_EQ(said(store().create_index(kAccount, "Nothing", kByValue)), kTableNotFound);
  EXPECT_EQ(said(store().drop_index(kAccount, "Orders", "None")), kResourceNotFound);
  ASSERT_EQ(said(store().compact()), kFine);
  const auto features_of_files = [this]() -> std::uint64_t {
    EXPECT_EQ(said(store().close()), kFine);
    const auto current = bench_.machine.files->snapshot().read_file(std::string(kStorePath) + "/CURRENT");
    const Result<format::Root> root = format::decode_root(format::as_text(*current));
    EXPECT_TRUE(root.ok());
    const auto engine = bench_.machine.open();  // reads the features of the manifest
    EXPECT_TRUE(engine.ok());
    if (!root.ok() || !engine.ok()) return ~std::uint64_t{0};
    EXPECT_EQ((*engine)->has_ends(), (root->features.incompatible & format::kExpiryFeature) != 0);
    EXPECT_EQ((*engine)->has_indexes(), (root->features.incompatible & format::kIndexFeature) != 0);
    return root->features.incompatible;
  };
  EXPECT_EQ(features_of_files(), 0U);
  bench_.open();
  declare(kByValue);
  EXPECT_EQ(features_of_files(), format::kIndexFeature);
  bench_.open();
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByValue")), kFine);
  EXPECT_EQ(features_of_files(), format::kIndexFeature) << "older builds still cannot know which ids are indexes";
}

}  // namespace
}  // namespace varve::index_upkeep_test
