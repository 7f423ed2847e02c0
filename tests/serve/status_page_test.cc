// Goal: the status page shows the server's state and the tables' content to users of this machine, and to no other
// client.
#include "tools/serve/watch/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/watch_bench.h"
#include "tools/serve/watch/page_files.h"
#include "tools/serve/watch/page_guard.h"

namespace varve::serve::status_page_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kEntities = "api/entities?account=devstoreaccount1&table=Orders";
constexpr std::string_view kMessages = "api/messages?account=devstoreaccount1&queue=orders";
constexpr std::string_view kBlobs = "api/blobs?account=devstoreaccount1&container=files";
/// Every answer that shows something of the store's content.
constexpr std::string_view kExplored[] = {
    kEntities,    "api/tables", "api/table?table=Orders", "api/description?table=Orders",
    "api/queues", kMessages,    "api/containers",         kBlobs};

Headers with_host(std::string_view host, Headers more = {}) {
  more.emplace_back("Host", host);
  return more;
}

class Page : public ::testing::Test {
 protected:
  int ask(std::string_view name, Headers headers) {
    return bench_.send(WatchBench::page_request(name, std::move(headers))).status;
  }
  int ask_from(std::string client, std::string_view name) {
    HttpRequest request = WatchBench::page_request(name);
    request.arrival.client_ip = std::move(client);
    return bench_.send(std::move(request)).status;
  }
  WatchBench bench_;
};

TEST_F(Page, FilesComeWithAStrictPolicyAndHoldNothingForeign) {
  EXPECT_GE(page_files().size(), 5U);
  for (const PageFile& file : page_files()) {
    SCOPED_TRACE(file.name);
    const HttpResponse response = bench_.look(file.name);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, file.content);
    EXPECT_GT(file.content.size(), 100U);
    EXPECT_THAT(header(response, "Content-Security-Policy"), StartsWith("default-src 'none'; script-src 'self';"));
    EXPECT_THAT(header(response, "Content-Security-Policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "");
    for (const std::string_view foreign : {"https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(",
                                           " style=", "onclick=", "document.write", "<script>"}) {
      EXPECT_THAT(file.content, Not(HasSubstr(foreign)));
    }
  }
  EXPECT_THAT(header(bench_.look("page.js"), "Content-Type"), StartsWith("text/javascript"));
  EXPECT_THAT(header(bench_.look(""), "Content-Type"), StartsWith("text/html"));
  EXPECT_EQ(bench_.look("elsewhere").status, 404);
  EXPECT_EQ(bench_.look("../etc/passwd").status, 404);
}

TEST_F(Page, IsFoundWithoutTheSlashToo) {
  HttpRequest request = WatchBench::page_request("");
  request.head.path = "/_varve";
  const HttpResponse response = bench_.send(std::move(request));
  EXPECT_EQ(response.status, 308);
  EXPECT_EQ(header(response, "Location"), "/_varve/");
  EXPECT_FALSE(StatusPage::owns("/_varvex"));
  EXPECT_FALSE(StatusPage::owns("/devstoreaccount1/_varve/"));
}

TEST_F(Page, IsOnlyLookedAt) {
  for (const std::string verb : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    HttpRequest request = WatchBench::page_request(kEntities);
    request.head.verb = verb;
    EXPECT_EQ(outcome(bench_.send(std::move(request))), "405") << verb;
  }
  HttpRequest head = WatchBench::page_request("api/status");
  head.head.verb = "HEAD";
  EXPECT_EQ(bench_.send(std::move(head)).body, "");
}

/// A foreign site's name was pointed to this machine. The browser then takes its page for this server's, and names the
/// site in Host.
TEST_F(Page, IsNotServedUnderAForeignName) {
  for (const std::string_view name : {std::string_view("api/status"), kEntities, std::string_view("page.js")}) {
    SCOPED_TRACE(name);
    for (const std::string host :
         {"localhost", "localhost:10002", "LocalHost:1", "127.0.0.1:10002", "127.0.0.2", "[::1]:10002", "[::1]"}) {
      EXPECT_EQ(ask(name, with_host(host)), 200) << host;
    }
    for (const std::string host : {"evil.example",
                                   "evil.example:10002",
                                   "localhost.evil.example",
                                   "127.0.0.1.evil.example",
                                   "127.0.0.1x",
                                   "127.1",
                                   "127.0.0",
                                   "127.0.0.1.1",
                                   "1270.0.0.1",
                                   "evil.example:127.0.0.1",
                                   "localhost:evil",
                                   "localhost:",
                                   "localhost@evil.example",
                                   "[::1].evil.example",
                                   "[::2]",
                                   "[::1",
                                   "::1",
                                   "0.0.0.0",
                                   "10.0.0.1",
                                   ".localhost",
                                   "localhost.",
                                   ""}) {
      EXPECT_EQ(ask(name, with_host(host)), 403) << host;
    }
    EXPECT_EQ(ask(name, {}), 403);
    EXPECT_EQ(ask(name, {{"Host", "localhost"}, {"Host", "localhost"}}), 403);
    HttpRequest absolute = WatchBench::page_request(name);
    absolute.absolute_host = "evil.example";
    EXPECT_EQ(bench_.send(std::move(absolute)).status, 403);
  }
}

TEST_F(Page, TellsForeignPagesNothing) {
  for (const std::string_view name : {std::string_view("api/status"), kEntities}) {
    SCOPED_TRACE(name);
    const auto with = [&](Headers headers) { return ask(name, with_host("localhost:10002", std::move(headers))); };
    EXPECT_EQ(with({{"Sec-Fetch-Site", "same-origin"}}), 200);
    EXPECT_EQ(with({{"Sec-Fetch-Site", "none"}}), 200);
    EXPECT_EQ(with({{"Origin", "http://localhost:10002"}}), 200);
    EXPECT_EQ(with({{"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(with({{"Sec-Fetch-Site", "same-site"}}), 403);  // another port of this machine
    EXPECT_EQ(with({{"Origin", "http://localhost:3000"}}), 403);
    EXPECT_EQ(with({{"Origin", "https://localhost:10002"}}), 403);
    EXPECT_EQ(with({{"Origin", "null"}}), 403);
    EXPECT_EQ(with({{"Origin", "http://evil.example"}}), 403);
  }
  // A link on another site may lead here, because the files contain no data.
  EXPECT_EQ(ask("", with_host("localhost", {{"Sec-Fetch-Site", "cross-site"}})), 200);
}

TEST_F(Page, IsForThisMachineAlone) {
  for (const std::string client : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(ask_from(client, kEntities), 200) << client;
  }
  for (const std::string client : {"192.0.2.1", "10.0.0.1", "::", "::2", "::ffff:10.0.0.1", "fe80::1", ""}) {
    EXPECT_EQ(ask_from(client, kEntities), 403) << client;
    EXPECT_EQ(ask_from(client, "api/status"), 403) << client;
    EXPECT_EQ(ask_from(client, ""), 403) << client;
  }
  for (const std::string name : {"X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"}) {
    EXPECT_EQ(ask(kEntities, with_host("localhost", {{name, "127.0.0.1"}})), 403) << name;
  }
}

TEST(PageRights, FiguresMayBePublicAndTablesNeverAre) {
  WatchBench bench({true, true});
  ASSERT_TRUE(bench.service.bench.store->create_queue(kAccount, "orders").ok());
  ASSERT_TRUE(bench.service.bench.store->create_container(kAccount, "files").ok());
  HttpRequest request = WatchBench::page_request("api/status", with_host("tables.example"));
  request.arrival.client_ip = "192.0.2.1";
  EXPECT_EQ(bench.send(request).status, 200);
  for (const std::string_view name : kExplored) {
    HttpRequest exploring = WatchBench::page_request(name, with_host("tables.example"));
    exploring.arrival.client_ip = "192.0.2.1";
    EXPECT_EQ(bench.send(exploring).status, 403) << name;
    exploring.arrival.client_ip = "127.0.0.1";
    EXPECT_EQ(bench.send(exploring).status, 403) << name;
    exploring.head.headers = with_host("localhost");
    EXPECT_EQ(bench.send(exploring).status, 200) << name;
  }
}

TEST(PageRights, TablesAreShownWhereThatIsAllowed) {
  WatchBench bench({false, false});
  EXPECT_EQ(bench.look("api/status").status, 200);
  EXPECT_THAT(bench.look("api/status").body, HasSubstr("\"has_explorer\":false"));
  for (const std::string_view name : kExplored) {
    EXPECT_EQ(bench.look(name).status, 403) << name;
    EXPECT_THAT(bench.look(name).body, HasSubstr("--status-page explore"));
  }
}

TEST_F(Page, TellsWhatMonitorsAreTold) {
  EXPECT_EQ(bench_.insert("1"), "201");
  EXPECT_EQ(bench_.insert("1"), "409 EntityAlreadyExists");
  const std::string text = bench_.look("api/status").body;
  EXPECT_THAT(text, HasSubstr(R"({"name":"InsertEntity","requests":2,"failures":1,)"));
  EXPECT_THAT(text, HasSubstr(R"("connections_open":2,"connections_accepted":5,"connections_refused":3)"));
  EXPECT_THAT(text, HasSubstr(R"("health":{"accepts_writes":true,"state":"healthy","reason":""})"));
  EXPECT_THAT(text, HasSubstr("\"memtable_entries\":"));
  EXPECT_THAT(text, HasSubstr("\"latency_bounds\":[1E-04,"));
  EXPECT_EQ(bench_.figures.of(Operation::kUnresolved).requests(), 0U) << "looking is not counted";
}

TEST_F(Page, ListsTablesAndMeasuresThem) {
  ASSERT_TRUE(bench_.service.bench.store->create_table(kAccount, "Archive").ok());
  EXPECT_EQ(bench_.look("api/tables").body,
            R"({"accounts":["devstoreaccount1"],"account":"devstoreaccount1","tables":["Archive","Orders"],)"
            R"("continuation":null})");
  EXPECT_EQ(bench_.look("api/table?table=Orders").body, R"({"entities":0,"bytes":0,"complete":true})");
  EXPECT_EQ(bench_.insert("1"), "201");
  EXPECT_EQ(bench_.insert("2"), "201");
  const std::uint64_t bytes = 2 * accounted_size_bytes(Entity("p", "1"));
  EXPECT_EQ(bench_.look("api/table?table=Orders").body,
            R"({"entities":2,"bytes":)" + std::to_string(bytes) + R"(,"complete":true})");
  EXPECT_EQ(bench_.look("api/table?table=Nothing").status, 404);
  EXPECT_EQ(bench_.look("api/tables?account=stranger").status, 404);
}

TEST_F(Page, ListsQueuesWithTheirFigures) {
  Store& store = *bench_.service.bench.store;
  EXPECT_EQ(bench_.look("api/queues").body, R"({"account":"devstoreaccount1","queues":[],"continuation":null})");
  Result<Queue> mail = store.create_queue(kAccount, "mail");
  ASSERT_TRUE(mail.ok());
  ASSERT_TRUE(store.create_queue(kAccount, "orders").ok());
  ASSERT_TRUE(mail->put("four").ok());
  ASSERT_TRUE(mail->put("hidden", {.delay = std::chrono::hours(1)}).ok());
  EXPECT_EQ(bench_.look("api/queues").body,
            R"({"account":"devstoreaccount1","queues":[{"name":"mail","messages":2,"text_bytes":10},)"
            R"({"name":"orders","messages":0,"text_bytes":0}],"continuation":null})");
  EXPECT_EQ(bench_.look("api/queues?account=stranger").status, 404);
  EXPECT_EQ(bench_.look("api/queues?continuation=x").status, 400);
}

TEST_F(Page, PeeksMessagesAndChangesNothing) {
  Result<Queue> queue = bench_.service.bench.store->create_queue(kAccount, "orders");
  ASSERT_TRUE(queue.ok());
  ASSERT_TRUE(queue->put("<script>\"&", {.ttl = kNever}).ok());
  const std::string umlaut = "\xC3\xA4";
  std::string cut = "x";
  while (cut.size() + umlaut.size() <= 4096) cut += umlaut;
  ASSERT_TRUE(queue->put(cut + umlaut).ok());
  for (int round = 0; round < 2; ++round) {
    const std::string text = bench_.look(kMessages).body;
    EXPECT_THAT(text, HasSubstr(R"("expires":null,"deliveries":0,"origin":"","text":"<script>\"&","is_cut":false})"));
    EXPECT_THAT(text, HasSubstr("\"text\":\"" + cut + R"(","is_cut":true}],"count":2,)"));
  }
  EXPECT_EQ(bench_.look("api/messages?queue=none").status, 404);
  EXPECT_EQ(bench_.look("api/messages").status, 404);
  EXPECT_EQ(bench_.look("api/messages?account=stranger&queue=orders").status, 404);
}

TEST_F(Page, ListsContainers) {
  Store& store = *bench_.service.bench.store;
  EXPECT_EQ(bench_.look("api/containers").body,
            R"({"account":"devstoreaccount1","containers":[],"continuation":null})");
  ASSERT_TRUE(store.create_container(kAccount, "files").ok());
  ContainerOptions open;
  open.public_access = PublicAccess::kBlobs;
  ASSERT_TRUE(store.create_container(kAccount, "photos", open).ok());
  const std::string text = bench_.look("api/containers").body;
  EXPECT_THAT(text, StartsWith(R"({"account":"devstoreaccount1","containers":[{"name":"files","modified":"20)"));
  EXPECT_THAT(text, HasSubstr(R"(","public_access":"none"},{"name":"photos","modified":"20)"));
  EXPECT_THAT(text, HasSubstr(R"(","public_access":"blobs"}],"continuation":null})"));
  EXPECT_EQ(bench_.look("api/containers?account=stranger").status, 404);
  EXPECT_EQ(bench_.look("api/containers?continuation=x").status, 400);
}

TEST_F(Page, ListsBlobsByDirectories) {
  Result<Container> files = bench_.service.bench.store->create_container(kAccount, "files");
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(bench_.look(kBlobs).body, R"({"directories":[],"blobs":[],"continuation":null})");
  ASSERT_TRUE(files->put("a/b/one", "1").ok());
  ASSERT_TRUE(files->put("a/two", "22", {.properties = {.content_type = "text/plain"}}).ok());
  ASSERT_TRUE(files->create_append_blob("log").ok());
  const std::string top = bench_.look(kBlobs).body;
  EXPECT_THAT(top,
              StartsWith(R"({"directories":["a/"],"blobs":[{"name":"log","kind":"append","bytes":0,"modified":"20)"));
  const std::string below = bench_.look(std::string(kBlobs) + "&prefix=a/").body;
  EXPECT_THAT(below, StartsWith(R"({"directories":["a/b/"],"blobs":[{"name":"a/two","kind":"block","bytes":2,)"));
  EXPECT_THAT(below, HasSubstr(R"("content_type":"text/plain"}],"continuation":null})"));
  EXPECT_EQ(bench_.look("api/blobs?container=none").status, 404);
  EXPECT_EQ(bench_.look("api/blobs").status, 404);
  EXPECT_EQ(bench_.look("api/blobs?account=stranger&container=files").status, 404);
  EXPECT_EQ(bench_.look(std::string(kBlobs) + "&continuation=x").status, 400);
}

TEST_F(Page, ListsBlobsByPages) {
  Result<Container> files = bench_.service.bench.store->create_container(kAccount, "files");
  ASSERT_TRUE(files.ok());
  for (int i = 0; i < 103; ++i) ASSERT_TRUE(files->put("blob " + std::to_string(1000 + i), "").ok());
  const std::string first = bench_.look(kBlobs).body;
  EXPECT_THAT(first, HasSubstr("\"blob 1099\""));
  EXPECT_THAT(first, Not(HasSubstr("\"blob 1100\"")));
  const std::string mark = "\"continuation\":\"";
  const std::size_t begin = first.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const std::string token = first.substr(begin + mark.size(), first.size() - begin - mark.size() - 2);
  const std::string rest = bench_.look(std::string(kBlobs) + "&continuation=" + encoded(token)).body;
  EXPECT_THAT(rest, StartsWith(R"({"directories":[],"blobs":[{"name":"blob 1100",)"));
  EXPECT_THAT(rest, HasSubstr(R"("continuation":null)"));
}

TEST_F(Page, ShowsEntitiesByPagesWithTheirPlan) {
  for (const std::string row : {"1", "2", "3"}) EXPECT_EQ(bench_.insert(row), "201");
  const std::string first = bench_.look(std::string(kEntities) + "&top=2").body;
  EXPECT_THAT(first, HasSubstr(R"("PartitionKey":"p","RowKey":"1")"));
  EXPECT_THAT(first, HasSubstr(R"("RowKey":"2")"));
  EXPECT_THAT(first, Not(HasSubstr(R"("RowKey":"3")")));
  EXPECT_THAT(first, HasSubstr(R"("plan":{"path":"table","range_count":1,)"));
  const std::string mark = "\"continuation\":\"";
  const std::size_t begin = first.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const std::string token =
      first.substr(begin + mark.size(), first.find('"', begin + mark.size()) - begin - mark.size());
  const std::string rest = bench_.look(std::string(kEntities) + "&top=2&continuation=" + encoded(token)).body;
  EXPECT_THAT(rest, HasSubstr(R"("RowKey":"3")"));
  EXPECT_THAT(rest, HasSubstr(R"("continuation":null)"));
  const std::string backward = bench_.look(std::string(kEntities) + "&top=1&backward=1").body;
  EXPECT_THAT(backward, HasSubstr(R"("RowKey":"3")"));
}

TEST_F(Page, DescribesTheIndexesAndTheRuleOfATable) {
  constexpr std::string_view kDescription = "api/description?account=devstoreaccount1&table=Orders";
  Store& store = *bench_.service.bench.store;
  EXPECT_EQ(bench_.look(kDescription).body, R"({"indexes":[],"expiry":null})");
  ASSERT_TRUE(store.create_index(kAccount, "Orders", {"ByLines", {{"Lines"}, {"RowKey", true}}, {"Customer"}}).ok());
  ASSERT_TRUE(store.set_table_expiry(kAccount, "Orders", TableExpiry::after(std::chrono::minutes(30))).ok());
  EXPECT_EQ(bench_.look(kDescription).body,
            R"({"indexes":[{"name":"ByLines","components":["Lines","RowKey desc"],"carried":["Customer"],)"
            R"("unique":false,"state":"ready","failure":""}],"expiry":{"property":"","age_ms":1800000}})");
  ASSERT_TRUE(store.set_table_expiry(kAccount, "Orders", TableExpiry::at("KeepUntil")).ok());
  EXPECT_THAT(bench_.look(kDescription).body, HasSubstr(R"("expiry":{"property":"KeepUntil","age_ms":0})"));
  EXPECT_EQ(bench_.look("api/description?table=Nothing").status, 404);
  EXPECT_EQ(bench_.look("api/description?account=stranger&table=Orders").status, 404);
}

TEST_F(Page, DescribesAnIndexWhoseBuildFailed) {
  for (const std::string row : {"1", "2"}) {
    ASSERT_TRUE(bench_.service.orders.insert(Entity("p", row).set("Code", std::int32_t{7})).ok());
  }
  IndexDefinition unique{"ByCode", {{"Code"}}};
  unique.is_unique = true;
  ASSERT_FALSE(bench_.service.bench.store->create_index(kAccount, "Orders", unique).ok());
  const std::string text = bench_.look("api/description?table=Orders").body;
  EXPECT_THAT(text, HasSubstr(R"("unique":true,"state":"failed","failure":")"));
  EXPECT_THAT(text, Not(HasSubstr(R"("failure":"")"))) << "the reason is shown";
}

TEST_F(Page, ShowsTheIndexesOfAPlanAndAnOrder) {
  for (const std::string row : {"1", "2", "3"}) {
    ASSERT_TRUE(bench_.service.orders.insert(Entity("p", row).set("Lines", std::int32_t{row[0] == '2' ? 9 : 1})).ok());
  }
  const std::string plain = bench_.look(kEntities).body;
  EXPECT_THAT(plain, HasSubstr(R"("indexes":[],"order_index":null,"order_components":0})"));
  ASSERT_TRUE(bench_.service.bench.store->create_index(kAccount, "Orders", {"ByLines", {{"Lines"}}}).ok());
  const std::string filtered = bench_.look(std::string(kEntities) + "&filter=" + encoded("Lines eq 9")).body;
  EXPECT_THAT(filtered, HasSubstr(R"("indexes":[{"name":"ByLines","entities":1,"is_taken":true,"answers_counts":)"));
  EXPECT_THAT(filtered, HasSubstr(R"(,"answers_pages":false}],)"));
  EXPECT_THAT(filtered, HasSubstr(R"("examined":1,)"));
  const std::string order = std::string(kEntities) + "&top=1&order_by=" + encoded("Lines desc");
  const std::string ordered = bench_.look(order).body;
  EXPECT_THAT(ordered, HasSubstr(R"("RowKey":"2")")) << "the entity with the most lines";
  EXPECT_THAT(ordered, Not(HasSubstr(R"("RowKey":"1")")));
  EXPECT_EQ(bench_.look(std::string(kEntities) + "&order_by=" + encoded("Lines sideways")).status, 400);
}

TEST_F(Page, TellsThePlanOfAFilterAndWhatIsWrongWithOne) {
  EXPECT_EQ(bench_.insert("1"), "201");
  const std::string filter = "&filter=" + encoded("PartitionKey eq 'p' and RowKey eq '1' and Lines eq 3");
  const std::string found = bench_.look(std::string(kEntities) + filter).body;
  EXPECT_THAT(found, HasSubstr(R"("path":"point")"));
  EXPECT_THAT(found, HasSubstr(R"("residual":"Lines eq 3")"));
  EXPECT_THAT(found, HasSubstr(R"("examined":1)"));
  EXPECT_THAT(found, HasSubstr(R"("value":[])"));
  const HttpResponse wrong = bench_.look(std::string(kEntities) + "&filter=" + encoded("PartitionKey eq"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("\"code\":\"InvalidInput\""));
  for (const std::string top : {"0", "101", "x", "-1", "99999999999"}) {
    EXPECT_EQ(bench_.look(std::string(kEntities) + "&top=" + top).status, 400) << top;
  }
}

/// The page treats a table's content as text, which cannot leave its string.
TEST_F(Page, HoldsValuesAsTheyAre) {
  Entity entity("<script>alert(1)", "\"'&<img src=x onerror=alert(1)>");
  entity.set("V", "line\nbreak\\ </script>");
  ASSERT_TRUE(bench_.service.orders.insert(entity).ok());
  const std::string text = bench_.look(kEntities).body;
  EXPECT_THAT(text, HasSubstr(R"("RowKey":"\"'&<img src=x onerror=alert(1)>")"));
  EXPECT_THAT(text, HasSubstr(R"("V":"line\nbreak\\ </script>")"));
  EXPECT_EQ(header(bench_.look(kEntities), "Content-Type"), "application/json; charset=utf-8");
  EXPECT_EQ(header(bench_.look(kEntities), "X-Content-Type-Options"), "nosniff");
}

}  // namespace
}  // namespace varve::serve::status_page_test
