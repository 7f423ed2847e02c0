// Goal: requests and answers are counted and shown, to monitors and in the log, without secrets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/serve/watch_bench.h"
#include "tools/serve/watch/metrics_text.h"
#include "tools/serve/watch/store_health.h"

namespace varve::serve::watch_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Metrics, RequestsAreCountedByOperationAndStatus) {
  WatchBench bench;
  EXPECT_EQ(bench.insert("1"), "201");
  EXPECT_EQ(bench.insert("2"), "201");
  EXPECT_EQ(bench.insert("2"), "409 EntityAlreadyExists");
  EXPECT_EQ(outcome(bench.send("GET", "Orders()")), "200");
  EXPECT_EQ(outcome(bench.send("DELETE", "Tables('Nothing')")), "404 ResourceNotFound");
  const std::string text = bench.watch("/metrics").body;
  EXPECT_THAT(text, HasSubstr("varve_requests_total{operation=\"InsertEntity\",status=\"201\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("varve_requests_total{operation=\"InsertEntity\",status=\"409\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("varve_requests_total{operation=\"QueryEntities\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("varve_requests_total{operation=\"DeleteTable\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("varve_request_duration_seconds_count{operation=\"InsertEntity\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("varve_request_duration_seconds_bucket{operation=\"InsertEntity\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("varve_request_body_bytes_total{operation=\"InsertEntity\"} 99\n"));  // 3 of 33
}

TEST(Metrics, ConnectionsAndTheStoreAreTold) {
  WatchBench bench;
  EXPECT_EQ(bench.insert("1"), "201");
  ASSERT_TRUE(bench.service.bench.store->compact().ok());
  const std::string text = bench.watch("/metrics").body;
  for (const std::string_view line : {"varve_connections 2\n",
                                      "varve_connections_accepted_total 5\n",
                                      "varve_connections_refused_total 3\n",
                                      "varve_accepts_writes 1\n",
                                      "varve_health{state=\"healthy\"} 1\n",
                                      "varve_health{state=\"poisoned\"} 0\n",
                                      "varve_flushes_total 1\n",
                                      "varve_memtable_entries 0\n",
                                      "# TYPE varve_level_bytes gauge\n",
                                      "# TYPE varve_request_duration_seconds histogram\n",
                                      "# TYPE varve_commits_total counter\n",
                                      "varve_level_files{level=\"0\"}",
                                      "varve_cache_hits_total ",
                                      "varve_compaction_debt_bytes ",
                                      "varve_dead_log_bytes 0\n",
                                      "varve_dead_table_bytes 0\n",
                                      "varve_dead_value_bytes 0\n",
                                      "varve_ballast_bytes ",
                                      "varve_clock_ahead_seconds 0\n",
                                      "varve_log_bytes_total ",
                                      "varve_unreadable_requests_total 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

/// Clients cannot choose labels: neither their names nor their number.
TEST(Metrics, NothingThatAClientSentIsALabel) {
  WatchBench bench;
  EXPECT_EQ(bench.insert("secretrow"), "201");
  const auto refuse = [&](const std::string& name) {
    HttpRequest unsigned_request = ServiceBench::request("GET", "/" + name + "/" + name + "()");
    EXPECT_EQ(bench.send(std::move(unsigned_request)).status, 401);
  };
  refuse("someaccount");
  const std::string once = bench.watch("/metrics").body;
  for (int i = 0; i < 50; ++i) refuse("account" + std::to_string(i));
  const std::string text = bench.watch("/metrics").body;
  EXPECT_THAT(text, HasSubstr("varve_requests_total{operation=\"Unresolved\",status=\"401\"} 51\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(once.begin(), once.end(), '\n'));
  for (const std::string_view name : {"someaccount", "account7", "devstoreaccount1", "Orders", "secretrow"}) {
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
}

TEST(Metrics, LatenciesFallIntoTheirBuckets) {
  RequestFigures figures;
  const auto add = [&](std::int64_t nanoseconds) {
    figures.add({Operation::kBatch, 202, std::chrono::nanoseconds(nanoseconds), 10, 20});
  };
  add(0);
  add(100'000);  // the bound itself is included
  add(100'001);
  add(20'000'000'000);  // above all bounds
  const OperationFigures batch = figures.of(Operation::kBatch);
  EXPECT_EQ(batch.latencies.front(), 2U);
  EXPECT_EQ(batch.latencies[1], 1U);
  EXPECT_EQ(batch.latencies.back(), 1U);
  EXPECT_EQ(batch.requests(), 4U);
  EXPECT_EQ(batch.failures(), 0U);
  EXPECT_EQ(batch.nanoseconds, 20'000'200'001U);
  EXPECT_EQ(batch.bytes_in, 40U);
  EXPECT_EQ(batch.bytes_out, 80U);
  figures.add({Operation::kBatch, 418, std::chrono::nanoseconds(1), 0, 0});
  EXPECT_EQ(figures.of(Operation::kBatch).statuses.back(), 1U);
  EXPECT_EQ(figures.of(Operation::kGetTable).requests(), 0U);
}

TEST(Metrics, TheListenerAnswersTwoPathsAlone) {
  WatchBench bench;
  EXPECT_EQ(bench.watch("/").status, 404);
  EXPECT_EQ(bench.watch("/devstoreaccount1/Orders()").status, 404);
  EXPECT_EQ(bench.watch("/_varve/api/entities?table=Orders").status, 404);
  EXPECT_EQ(bench.watch("/metrics", "POST").status, 405);
  EXPECT_EQ(bench.watch("/metrics", "HEAD").body, "");
  EXPECT_EQ(header(bench.watch("/metrics"), "Content-Type"), kMetricsType);
}

TEST(Healthy, WhileTheStoreTakesWrites) {
  WatchBench bench;
  EXPECT_EQ(bench.watch("/health").status, 200);
  EXPECT_EQ(bench.watch("/health").body, "healthy\n");
  io::FaultRule failing;
  failing.kind = io::OperationKind::kLogWrite;
  failing.sync_point = "log group commit";  // excludes the header of a segment that is prepared meanwhile
  failing.fail_count = io::FaultRule::kFromThenOn;
  bench.service.bench.machine.files->faults().add(failing);
  EXPECT_EQ(bench.insert("1"), "500 InternalError");
  EXPECT_EQ(bench.watch("/health").status, 503);
  EXPECT_THAT(bench.watch("/health").body, StartsWith("poisoned: the log failed"));
  EXPECT_THAT(bench.watch("/metrics").body, HasSubstr("varve_accepts_writes 0\n"));
  EXPECT_THAT(bench.look("api/status").body, HasSubstr(R"("health":{"accepts_writes":false,"state":"poisoned")"));
}

TEST(Healthy, NotWithoutSpaceNorForReadingOnly) {
  Statistics figures;
  EXPECT_TRUE(health_of(figures).accepts_writes);
  figures.read_only = true;
  EXPECT_EQ(health_of(figures).state, "read only");
  figures.health = Health::kWritePaused;
  EXPECT_EQ(health_of(figures).state, "write paused");
  const StoreHealth unknown = health_of(Status(Code::kOutOfMemory));
  EXPECT_EQ(unknown.state, "unknown");
  EXPECT_FALSE(unknown.accepts_writes);
}

TEST(RequestLines, HaveWhoAskedForWhatAndHowItEnded) {
  WatchBench bench;
  const HttpResponse made = bench.send("POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})");
  (void)bench.send("GET", "Orders()?$filter=RowKey%20eq%20'1'&$top=5");
  (void)bench.send("DELETE", "Tables('Nothing')");
  ASSERT_EQ(bench.lines.size(), 3U);
  EXPECT_THAT(bench.lines[0], StartsWith("127.0.0.1 POST /devstoreaccount1/Orders InsertEntity 201 - 33 B in, "));
  EXPECT_THAT(bench.lines[0], EndsWith("id " + header(made, "x-ms-request-id")));
  EXPECT_THAT(bench.lines[1], HasSubstr(" GET /devstoreaccount1/Orders()?$filter=RowKey%20eq%20'1'&$top=5 "));
  EXPECT_THAT(bench.lines[2], HasSubstr(" DeleteTable 404 ResourceNotFound 0 B in, "));
}

TEST(RequestLines, AreOfFailuresAloneWhereThatIsAskedFor) {
  WatchBench bench({true, false}, RequestLogLevel::kFailures);
  EXPECT_EQ(bench.insert("1"), "201");
  EXPECT_TRUE(bench.lines.empty());
  EXPECT_EQ(bench.insert("1"), "409 EntityAlreadyExists");
  EXPECT_EQ(bench.lines.size(), 1U);
  (void)bench.front.refuse(refused("InvalidInput", "nonsense"), "192.0.2.1");
  ASSERT_EQ(bench.lines.size(), 2U);
  EXPECT_THAT(bench.lines[1], StartsWith("192.0.2.1 - - Unresolved 400 InvalidInput "));
  EXPECT_EQ(bench.figures.unreadable(), 1U);
  WatchBench silent({true, false}, RequestLogLevel::kOff);
  EXPECT_EQ(silent.insert("1"), "201");
  EXPECT_EQ(silent.insert("1"), "409 EntityAlreadyExists");
  EXPECT_TRUE(silent.lines.empty());
}

TEST(RequestLines, TellWhoLooksIntoTablesAndNotEachSecondOfThePage) {
  WatchBench bench;
  EXPECT_EQ(bench.look("api/status").status, 200);
  EXPECT_TRUE(bench.lines.empty());
  EXPECT_EQ(bench.look("api/entities?table=Orders").status, 200);
  ASSERT_EQ(bench.lines.size(), 1U);
  EXPECT_THAT(bench.lines[0], HasSubstr(" GET /_varve/api/entities?table=Orders StatusPage 200 - "));
  EXPECT_EQ(bench.send(WatchBench::page_request("api/status", {{"Host", "evil.example"}})).status, 403);
  EXPECT_EQ(bench.lines.size(), 2U);
}

std::string target(std::string path, std::string query = {}) {
  return logged_target({"GET", std::move(path), std::move(query), {}});
}

TEST(RequestLines, HideSignaturesInEverySpelling) {
  EXPECT_EQ(target("/a/T()", "sv=2019-02-02&sp=r&sig=c2VjcmV0"), "/a/T()?sv=2019-02-02&sp=r&sig=***");
  for (const std::string name : {"sig", "SIG", "Sig", "%73ig", "s%69g", "sig%20", "+sig", "secret", "code", "%zz"}) {
    EXPECT_THAT(target("/a/T()", name + "=c2VjcmV0"), Not(HasSubstr("c2VjcmV0"))) << name;
    EXPECT_THAT(target("/a/T()", "$top=1&" + name + "=c2VjcmV0&$top=2"), Not(HasSubstr("c2VjcmV0"))) << name;
  }
  EXPECT_EQ(target("/a/T()", "c2VjcmV0"), "/a/T()?***");
  EXPECT_EQ(target("/a/T()%3Fsig=c2VjcmV0"), "/a/T()***");
  EXPECT_EQ(target("/a/T()&sig=c2VjcmV0"), "/a/T()***");
  EXPECT_THAT(target("/a/T()", "$filter=x?sig=c2VjcmV0"), Not(HasSubstr("c2VjcmV0")));
}

TEST(RequestLines, AreOfATokenWithoutItsSignature) {
  WatchBench bench;
  security::TableSasTerms terms = SecurityBench::table_terms();
  const Result<security::TableSas> sas = security::sign_table_sas(terms, credentials());
  ASSERT_TRUE(sas.ok());
  const std::string token = security::to_query(*sas);
  const std::string signature = token.substr(token.find("sig=") + 4);
  EXPECT_EQ(bench.send(ServiceBench::request("GET", ServiceBench::path_of("Orders()?" + token))).status, 200);
  ASSERT_EQ(bench.lines.size(), 1U);
  EXPECT_THAT(bench.lines[0], HasSubstr("sig=***"));
  EXPECT_THAT(bench.lines[0], Not(HasSubstr(signature.substr(0, 12))));
  EXPECT_THAT(bench.lines[0], HasSubstr("sp=raud"));
}

TEST(RequestLines, AreOneLineEachHoweverTheRequestLooks) {
  EXPECT_EQ(target("/a\r\nb\x1b[31m\xff "), "/a%0D%0Ab%1B[31m%FF%20");
  EXPECT_EQ(target("/a", "$top=1\n"), "/a?$top=1%0A");
  EXPECT_EQ(target("/" + std::string(10'000, 'x')).size(), 515U);
  EXPECT_EQ(target("/a", "$filter=" + std::string(30'000, 'x')).size(), 515U);
  HttpRequest odd = ServiceBench::request("GET\nX", "/");
  odd.head.verb = std::string(100, '\n');
  EXPECT_EQ(logged_request(odd).verb.size(), 48U);
}

TEST(Operations, EveryRouteHasAName) {
  for (const auto& [resource, part, verb] : {std::tuple{Resource::kTables, Part::kContent, "GET"},
                                             {Resource::kEntity, Part::kContent, "MERGE"},
                                             {Resource::kEntity, Part::kContent, "PATCH"},
                                             {Resource::kBatch, Part::kContent, "POST"},
                                             {Resource::kEntities, Part::kPolicies, "HEAD"},
                                             {Resource::kService, Part::kProperties, "PUT"},
                                             {Resource::kService, Part::kStatistics, "GET"}}) {
    ASSERT_TRUE(find_route(resource, part, verb).ok());
    EXPECT_NE(operation_of(resource, part, verb), Operation::kUnresolved) << verb;
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOperations; ++i) names.insert(operation_name(static_cast<Operation>(i)));
  EXPECT_EQ(names.size(), kOperations);
}

/// Monitors are answered at once, whatever the store waits for: there is a thread for many of their requests.
class StuckDisk : public ::testing::TestWithParam<const io::SyncPoint*> {
 protected:
  io::MemoryFileSystem& files() { return *bench_.service.bench.machine.files; }
  WatchBench bench_;
};

TEST_P(StuckDisk, HoldsUpNobodyWhoWatches) {
  ASSERT_EQ(bench_.insert("1"), "201");
  io::FaultRule rule;
  rule.sync_point = GetParam()->name;
  rule.effect = io::FaultEffect::kNever;
  files().faults().add(rule);
  Status compacted;
  {
    const io::Thread stuck = *bench_.service.bench.env.scheduler.start("stuck", [&] {
      if (GetParam() == &engine::sync_points::kLogGroup) (void)bench_.insert("2");
      compacted = bench_.service.bench.store->compact();
    });
    files().await_stuck(1);
    EXPECT_EQ(bench_.watch("/metrics").status, 200);
    EXPECT_EQ(bench_.watch("/health").body, "healthy\n");
    EXPECT_EQ(bench_.look("api/status").status, 200);
    files().faults().clear();
    files().let_go();
  }
  EXPECT_EQ(compacted.to_string(), "Ok");
}

INSTANTIATE_TEST_SUITE_P(SyncPoints, StuckDisk,
                         ::testing::Values(&engine::sync_points::kLogGroup, &engine::sync_points::kTable,
                                           &engine::sync_points::kManifestAppend));

}  // namespace
}  // namespace varve::serve::watch_test
