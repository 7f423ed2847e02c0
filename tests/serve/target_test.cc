// Goal: an address has the meaning of its decoded text, however the client encoded it.
#include "api/rest/protocol/target.h"

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::target_test {
namespace {

using namespace test;

bool is_known(std::string_view account) {
  return account == kAccount;
}
Result<Address> address(std::string_view path, std::string_view host = "127.0.0.1:10002") {
  return parse_address(path, host, "http", is_known);
}

struct AddressCase {
  std::string_view path;
  std::string_view host;
  std::string_view account;
  bool is_secondary;
  std::string_view root;
  std::string_view resource;
};

TEST(ServeTarget, H01_X18_HostAndPathStyleNameTheAccount) {
  const std::vector<AddressCase> cases = {
      {"/devstoreaccount1/Tables", "127.0.0.1:10002", "devstoreaccount1", false,
       "http://127.0.0.1:10002/devstoreaccount1", "Tables"},
      {"/devstoreaccount1-secondary/Orders()", "localhost", "devstoreaccount1", true,
       "http://localhost/devstoreaccount1-secondary", "Orders()"},
      {"/Orders", "devstoreaccount1.localhost:10002", "devstoreaccount1", false,
       "http://devstoreaccount1.localhost:10002", "Orders"},
      {"/Orders", "devstoreaccount1-secondary.table.example.net", "devstoreaccount1", true,
       "http://devstoreaccount1-secondary.table.example.net", "Orders"},
      {"/devstoreaccount1/Orders", "devstoreaccount1.localhost", "devstoreaccount1", false,
       "http://devstoreaccount1.localhost/devstoreaccount1", "Orders"},
      {"/devstoreaccount1-secondary/Orders", "devstoreaccount1.localhost", "devstoreaccount1", true,
       "http://devstoreaccount1.localhost/devstoreaccount1-secondary", "Orders"},
      {"/devstoreaccount1", "devstoreaccount1.localhost", "devstoreaccount1", false,
       "http://devstoreaccount1.localhost", "devstoreaccount1"},
      {"/nobody/Orders", "other.example.net", "nobody", false, "http://other.example.net/nobody", "Orders"},
      {"/devstoreaccount1", "127.0.0.1", "devstoreaccount1", false, "http://127.0.0.1/devstoreaccount1", ""},
      {"/devstoreaccount1/", "127.0.0.1", "devstoreaccount1", false, "http://127.0.0.1/devstoreaccount1", ""},
      {"/devstoreaccount1/a%2Fb", "127.0.0.1", "devstoreaccount1", false, "http://127.0.0.1/devstoreaccount1", "a/b"},
  };
  for (const AddressCase& expected : cases) {
    SCOPED_TRACE(std::string(expected.host) + std::string(expected.path));
    const Result<Address> found = address(expected.path, expected.host);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(found->account, expected.account);
    EXPECT_EQ(found->is_secondary, expected.is_secondary);
    EXPECT_EQ(found->root, expected.root);
    EXPECT_EQ(found->resource, expected.resource);
  }
}

TEST(ServeTarget, H01_QN03_BN03_TheHostsSecondLabelNamesTheService) {
  const std::vector<std::pair<std::string_view, std::optional<StorageService>>> cases = {
      {"devstoreaccount1.table.example.net", StorageService::kTables},
      {"devstoreaccount1-secondary.QUEUE.localhost:10001", StorageService::kQueues},
      {"devstoreaccount1.blob.localhost", StorageService::kBlobs},
      {"devstoreaccount1.file.example.net", std::nullopt},
      {"devstoreaccount1.queue", std::nullopt},  // the name of a machine
      {"devstoreaccount1.queue:10001", std::nullopt},
      {"devstoreaccount1.localhost", std::nullopt},
      {"devstoreaccount1.", std::nullopt},
      {"other.queue.example.net", std::nullopt},  // it names no account
      {"127.0.0.1:10002", std::nullopt}};
  for (const auto& [host, service] : cases) {
    const Result<Address> found = address("/devstoreaccount1/orders", host);
    ASSERT_TRUE(found.ok()) << host;
    EXPECT_EQ(found->service, service) << host;
  }
}

TEST(ServeTarget, H01_WithoutAnAccountThereIsNoAddress) {
  for (const std::string_view path : {"/", "/x/Tables", "/UPPER/Tables", "//Tables", "/abc%2", "/abc%zz", "Tables"}) {
    EXPECT_EQ(address(path).status().service_error(), "InvalidUri") << path;
  }
  EXPECT_EQ(address("/devstoreaccount1/Tables", "").status().service_error(), "HostInformationNotPresent");
}

struct ResourceCase {
  std::string_view text;
  Resource resource;
  std::string_view table;
  std::string_view partition_key;
  std::string_view row_key;
};

TEST(ServeTarget, H02_H03_O16_ResourcesAreReadFromDecodedText) {
  const std::vector<ResourceCase> cases = {
      {"", Resource::kService, "", "", ""},
      {"Tables", Resource::kTables, "", "", ""},
      {"Tables()", Resource::kTables, "", "", ""},
      {"Tables('Orders')", Resource::kTable, "Orders", "", ""},
      {"$batch", Resource::kBatch, "", "", ""},
      {"Orders", Resource::kEntities, "Orders", "", ""},
      {"Orders()", Resource::kEntities, "Orders", "", ""},
      {"Orders(PartitionKey='eu',RowKey='1')", Resource::kEntity, "Orders", "eu", "1"},
      {"Orders(RowKey='1' , PartitionKey='eu')", Resource::kEntity, "Orders", "eu", "1"},
      {"Orders( PartitionKey = 'eu', RowKey = '1' )", Resource::kEntity, "Orders", "eu", "1"},
      {"Orders(PartitionKey='',RowKey='')", Resource::kEntity, "Orders", "", ""},
      {"Orders(PartitionKey='O''B n',RowKey='''')", Resource::kEntity, "Orders", "O'B n", "'"},
      {"Orders(PartitionKey='O'B',RowKey='a,b=c')", Resource::kEntity, "Orders", "O'B", "a,b=c"},
      {"Orders(PartitionKey='(x)',RowKey='a''b''')", Resource::kEntity, "Orders", "(x)", "a'b'"},
      {"Orders(PartitionKey='eu')", Resource::kPartition, "Orders", "eu", ""},
      {"tables", Resource::kEntities, "tables", "", ""},
  };
  for (const ResourceCase& expected : cases) {
    SCOPED_TRACE(expected.text);
    const Result<Target> found = parse_resource(expected.text);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(found->resource, expected.resource);
    EXPECT_EQ(found->table, expected.table);
    EXPECT_EQ(found->partition_key, expected.partition_key);
    EXPECT_EQ(found->row_key, expected.row_key);
  }
}

TEST(ServeTarget, X10_KeyPredicatesAreStrict) {
  for (const std::string_view text :
       {"Orders(PartitionKey='eu'RowKey='1')", "Orders('eu','1')", "Orders(PartitionKey=eu,RowKey='1')",
        "Orders(RowKey='1')", "Orders(PartitionKey='eu',RowKey='1'", "Orders(PartitionKey='eu',RowKey='1)",
        "Orders(PartitionKey='eu',PartitionKey='eu')", "Orders(PartitionKey='eu',Rowkey='1')",
        "Orders(PartitionKey='eu',)", "Orders(PartitionKey='eu',RowKey='1',Third='x')", "Tables(Orders)",
        "Tables(')"}) {
    EXPECT_EQ(said(parse_resource(text)), kInvalidInput) << text;
  }
}

TEST(ServeTarget, D06_NamesThatNoTableCanHave) {
  EXPECT_EQ(said(parse_resource("$MetricsOfAnother()")), kTableNotFound);
  EXPECT_TRUE(parse_resource("$MetricsHourPrimaryTransactionsTable()").ok());
  EXPECT_EQ(said(parse_resource("with-hyphen")), kInvalidResourceName);
  EXPECT_EQ(said(parse_resource("1abc")), kInvalidResourceName);
  EXPECT_EQ(said(parse_resource("Orders/x")), kInvalidResourceName);
  EXPECT_EQ(said(parse_resource("a%")), kInvalidResourceName);
  EXPECT_EQ(said(parse_resource("(PartitionKey='p',RowKey='r')")), kInvalidResourceName);
  EXPECT_TRUE(parse_resource("ab").ok());  // too short to exist, which the store reports
}

TEST(ServeTarget, H22_H44_ReferencesDoubleQuotesAndEncodeTheRest) {
  EXPECT_EQ(entity_reference("Orders", "eu", "1"), "Orders(PartitionKey='eu',RowKey='1')");
  EXPECT_EQ(entity_reference("Orders", "O'B n", "\xC3\xA4%"), "Orders(PartitionKey='O''B%20n',RowKey='%C3%A4%25')");
  EXPECT_EQ(entity_reference("Orders", "", "'"), "Orders(PartitionKey='',RowKey='''')");
  EXPECT_EQ(table_reference("Orders"), "Tables('Orders')");
}

}  // namespace
}  // namespace varve::serve::target_test
