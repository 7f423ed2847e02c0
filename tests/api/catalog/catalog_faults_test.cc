// Goal: if a catalog cannot be read, or has wrong content, every operation that needs it reports this and changes
// nothing. Other operations work.
// Method: a store whose catalog is in table files is opened anew for each operation with an empty cache, and each read
// of the operation fails in turn. Also, stores in which one row of the catalog has other content.
#include <functional>
#include <ostream>
#include <thread>

#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "format/keys/entity.h"
#include "tests/api/store_bench.h"
#include "varve/loader.h"
#include "varve/store_transaction.h"

namespace varve::catalog_faults_test {
namespace {

using namespace test;

constexpr std::string_view kOther = "other";

struct Verb {
  const char* name;
  std::function<Status(Store&)> call;
};

std::ostream& operator<<(std::ostream& out, const Verb& verb) {
  return out << verb.name;
}

AccessPolicy policy() {
  AccessPolicy made;
  made.id = "readers";
  return made;
}

ServicePropertiesChange change_of_properties() {
  ServicePropertiesChange change;
  change.cors_rules.emplace();
  return change;
}

/// Each can succeed once in the store of made_store().
const Verb kVerbs[] = {
    {"CreateAccount", [](Store& store) { return store.create_account("fresh"); }},
    {"DropAccount", [](Store& store) { return store.drop_account(kAccount); }},
    {"ListAccounts", [](Store& store) { return store.list_accounts().status(); }},
    {"CreateTable", [](Store& store) { return store.create_table(kAccount, "Fresh").status(); }},
    {"DropTable", [](Store& store) { return store.drop_table(kAccount, "Orders"); }},
    {"OpenTable", [](Store& store) { return store.open_table(kAccount, "Orders").status(); }},
    {"ListTables", [](Store& store) { return store.list_tables(kAccount).status(); }},
    {"SetPolicies",
     [](Store& store) {
       const AccessPolicy policies[] = {policy()};
       return store.set_access_policies(kAccount, "Orders", policies);
     }},
    {"Policies", [](Store& store) { return store.access_policies(kAccount, "Orders").status(); }},
    {"LoadAbsent",
     [](Store& store) {
       Result<Loader> loader = store.load_table(kAccount, "Loaded");
       if (!loader.ok()) return loader.status();
       if (Status added = loader->add(with_value("p", "r", "loaded")); !added.ok()) return added;
       return loader->finish().status();
     }},
    {"LoadEmpty",
     [](Store& store) {
       Result<Loader> loader = store.load_table(kAccount, "Blank");
       if (!loader.ok()) return loader.status();
       if (Status added = loader->add(with_value("p", "r", "loaded")); !added.ok()) return added;
       return loader->finish().status();
     }},
    {"Get",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->get("p", "r").status() : table.status();
     }},
    {"Insert",
     [](Store& store) {
       Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->insert(with_value("p", "new", "x")).status() : table.status();
     }},
    {"Merge",
     [](Store& store) {
       Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->merge(with_value("p", "r", "x"), ETag::any()).status() : table.status();
     }},
    {"Remove",
     [](Store& store) {
       Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->remove("p", "r", ETag::any()) : table.status();
     }},
    {"Execute",
     [](Store& store) {
       Result<Table> table = store.open_table(kAccount, "Orders");
       if (!table.ok()) return table.status();
       EntityGroupTransaction transaction;
       transaction.insert(with_value("p", "new", "x")).merge(with_value("p", "r", "second"), ETag::any());
       return table->execute(transaction).status();
     }},
    {"Scan",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->scan(Scan{}).status() : table.status();
     }},
    {"Count",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->count(Scan{}).status() : table.status();
     }},
    {"GetMany",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       const EntityKey keys[] = {{"p", "r"}, {"p", "absent"}};
       return table.ok() ? table->get_many(keys).status() : table.status();
     }},
    {"InsertOrMerge",
     [](Store& store) {
       Result<Table> table = store.open_table(kAccount, "Orders");
       return table.ok() ? table->insert_or_merge(with_value("p", "r", "x")).status() : table.status();
     }},
    {"SetServiceProperties",
     [](Store& store) { return store.set_service_properties(kAccount, change_of_properties()); }},
    {"ServiceProperties", [](Store& store) { return store.service_properties(kAccount).status(); }},
    {"SetQueueServiceProperties",
     [](Store& store) {
       return store.set_service_properties(kAccount, change_of_properties(), StorageService::kQueues);
     }},
    {"QueueServiceProperties",
     [](Store& store) { return store.service_properties(kAccount, StorageService::kQueues).status(); }},
    {"TransactionScan",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       if (!table.ok()) return table.status();
       const Result<StoreTransaction> transaction = store.begin_transaction();
       return transaction.ok() ? transaction->scan(*table, Scan{}).status() : transaction.status();
     }},
    {"FilteredScan",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       if (!table.ok()) return table.status();
       Scan scan;
       scan.filter = "PartitionKey eq 'p' and V eq 'first'";
       return table->scan(scan).status();
     }},
    {"StoreTransaction",
     [](Store& store) {
       const Result<Table> table = store.open_table(kAccount, "Orders");
       if (!table.ok()) return table.status();
       return store
           .transact([&](StoreTransaction& transaction) {
             if (const auto found = transaction.get(*table, "p", "r"); !found.ok()) return found.status();
             transaction.insert(*table, with_value("q", "new", "x"));
             return Status();
           })
           .status();
     }},
};

/// Returns a closed store with all data in table files. The account kAccount has the tables Orders, with one entity and
/// one policy, and Blank. The account kOther has no table.
io::MemoryDisk made_store() {
  StoreBench bench(5);
  Table orders = bench.table("Orders");
  (void)bench.table("Blank");
  EXPECT_TRUE(bench.store->create_account(kOther).ok());
  EXPECT_TRUE(orders.insert(with_value("p", "r", "first")).ok());
  const AccessPolicy policies[] = {policy()};
  EXPECT_TRUE(bench.store->set_access_policies(kAccount, "Orders", policies).ok());
  EXPECT_TRUE(bench.store->compact().ok());
  EXPECT_TRUE(bench.store->close().ok());
  return bench.machine.files->snapshot();
}

std::string content_of(Store& store) {
  std::string content;
  const Result<AccountPage> accounts = store.list_accounts();
  for (const AccountInfo& account : accounts->accounts) {
    content += account.name + ":";
    const Result<TablePage> tables = store.list_tables(account.name);
    for (const TableInfo& table : tables->tables) {
      content += " " + table.name;
      const Result<Page> page = (*store.open_table(account.name, table.name)).scan(Scan{});
      for (const std::string& key : keys_of(*page)) content += " " + key;
    }
    content += "\n";
  }
  return content;
}

constexpr const char* kContent = "devstoreaccount1: Blank Orders p/r\nother:\n";

class CatalogFaults : public ::testing::TestWithParam<Verb> {};

TEST_P(CatalogFaults, EveryReadErrorIsToldAndNothingChanged) {
  const io::MemoryDisk disk = made_store();
  std::uint64_t nth = 0;
  for (;; ++nth) {
    SCOPED_TRACE("read " + std::to_string(nth));
    ASSERT_LT(nth, 1000U);
    StoreBench bench(6, disk);
    ResourceOptions resources;
    resources.block_cache_bytes = 0;  // the open may have read what the operation reads
    StoreOptions options = bench.options();
    options.resources = *Resources::create(resources);
    Store& store = bench.open(options);
    io::FaultPlan& faults = bench.machine.files->faults();
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.skip_count = nth;
    // Only the operation's own reads fail: reads of the store's threads after a drop affect no caller.
    rule.predicate = [caller = std::this_thread::get_id()](const io::Operation&) {
      return std::this_thread::get_id() == caller;
    };
    faults.add(rule);
    const Status answer = GetParam().call(store);
    const bool happened = faults.hit_count() > 0;
    faults.clear();
    if (!happened) {
      EXPECT_TRUE(answer.ok()) << answer.to_string();
      break;
    }
    ASSERT_EQ(answer.code(), Code::kIoError) << answer.to_string();
    EXPECT_EQ(content_of(store), kContent);
    const Status again = GetParam().call(store);
    EXPECT_TRUE(again.ok()) << again.to_string();
    if (HasFailure()) return;
  }
  EXPECT_GE(nth, 1U) << "a verb that reads nothing shows nothing here";
}

INSTANTIATE_TEST_SUITE_P(Each, CatalogFaults, ::testing::ValuesIn(kVerbs),
                         [](const auto& each) { return each.param.name; });

// -- Rows with other content ------------------------------------------------------------------------------------------

/// Replaces a row of the catalog by `value`, which the engine below the catalog does not prevent.
io::MemoryDisk with_row(format::TableId table, std::string_view partition, std::string_view row,
                        const std::string& value) {
  Machine machine(7, made_store());
  auto engine = machine.open();
  EXPECT_TRUE(engine.ok());
  EXPECT_TRUE(test::Change(table).put(partition, row, value).commit(**engine).ok());
  EXPECT_TRUE((*engine)->close().ok());
  return machine.files->snapshot();
}

/// Expects these operations to fail, as "Verb: Code", with messages that contain `words`.
void expect_refused(const io::MemoryDisk& disk, const std::vector<std::string>& wanted, std::string_view words) {
  std::vector<std::string> refused;
  for (const Verb& verb : kVerbs) {
    StoreBench bench(8, disk);
    const Status answer = verb.call(bench.open());
    if (answer.ok()) continue;
    refused.push_back(std::string(verb.name) + ": " + std::string(code_name(answer.code())));
    EXPECT_NE(answer.to_string().find(words), std::string::npos) << verb.name << ": " << answer.to_string();
  }
  EXPECT_EQ(refused, wanted);
}

/// Returns an entity that is no row of the catalog.
std::string row_without_numbers() {
  format::EntityBuilder builder;
  builder.add_string("Other", "x");
  return builder.finish();
}

std::vector<std::string> each_with(const std::vector<std::string>& verbs, std::string_view code) {
  std::vector<std::string> answers;
  for (const std::string& verb : verbs) answers.push_back(verb + ": " + std::string(code));
  return answers;
}

TEST(CatalogDamage, AnAccountRowIsToldByWhatNeedsIt) {
  std::vector<std::string> verbs = {"DropAccount",
                                    "ListAccounts",
                                    "CreateTable",
                                    "ListTables",
                                    "LoadAbsent",
                                    "LoadEmpty",
                                    "SetServiceProperties",
                                    "SetQueueServiceProperties",
                                    "QueueServiceProperties"};
  expect_refused(with_row(kAccountsTable, kAccount, "", row_without_numbers()), each_with(verbs, "Corruption"),
                 "catalog row of account");
  verbs.insert(verbs.end() - 2, "ServiceProperties");  // It needs only the properties of the row.
  expect_refused(with_row(kAccountsTable, kAccount, "", "of a newer format"), each_with(verbs, "Unsupported"),
                 "catalog row of account");
}

TEST(CatalogDamage, ATableRowIsToldByWhatNeedsIt) {
  std::vector<std::string> verbs = {"DropTable", "OpenTable", "ListTables", "SetPolicies", "Get", "Insert", "Merge"};
  for (const char* verb : {"Remove", "Execute", "Scan", "Count", "GetMany", "InsertOrMerge", "TransactionScan",
                           "FilteredScan", "StoreTransaction"}) {
    verbs.push_back(verb);
  }
  expect_refused(with_row(kTablesTable, kAccount, "orders", row_without_numbers()), each_with(verbs, "Corruption"),
                 "catalog row of table");
  verbs.insert(verbs.begin() + 4, "Policies");  // They need only the properties of the row.
  expect_refused(with_row(kTablesTable, kAccount, "orders", "of a newer format"), each_with(verbs, "Unsupported"),
                 "catalog row of table");
}

TEST(CatalogDamage, TheCounterOfAccountsIsToldByWhatNeedsIt) {
  expect_refused(with_row(kServiceTable, "", "accounts", row_without_numbers()), {"CreateAccount: Corruption"},
                 "catalog row of the next account number");
}

TEST(CatalogDamage, NumbersThatAreUsedUpAreToldAndNeverGivenTwice) {
  expect_refused(with_row(kServiceTable, "", "accounts", encode_account_counter(kAccountNumberEnd)),
                 {"CreateAccount: NoSpace"}, "no account number is left");
  const AccountRow row{kFirstNumber, kFirstNumber, 1};
  const Result<std::string> used_up = with_next_table(encode_account_row(kFirstNumber), row, kTableNumberEnd);
  ASSERT_TRUE(used_up.ok());
  expect_refused(with_row(kAccountsTable, kAccount, "", *used_up),
                 {"CreateTable: NoSpace", "LoadAbsent: NoSpace", "LoadEmpty: NoSpace"}, "no table number is left");
}

}  // namespace
}  // namespace varve::catalog_faults_test
