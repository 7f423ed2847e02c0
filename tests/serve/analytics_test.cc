// Goal: the metrics of an account say what its clients did, hour by hour and minute by minute, and only when asked.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/analytics_bench.h"
#include "tools/serve/analytics/analytics_worker.h"
#include "tools/serve/analytics/metrics_row.h"
#include "tools/serve/analytics/request_sizes.h"

namespace varve::serve::analytics_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const MetricsProperties kOffMetrics{};
const MetricsProperties kOnMetrics{true, false, std::nullopt};
const MetricsProperties kByType{true, true, std::nullopt};

TEST(AccountMetrics, AM01_AM02_AMinuteAndAnHourGetTheirRowsWhenTheyAreOver) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOnMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  EXPECT_EQ(bench.insert("1"), "409 EntityAlreadyExists");
  bench.analytics->update(clock("10:20:59"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), -1) << "the minute is not over";

  bench.analytics->update(clock("10:21:00"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 2);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020", "Success"), 1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020", "ClientOtherError"), 1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020", "TotalRequests", "system;All"), 0);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020", "TotalRequests", "user;InsertEntity"), -1) << "not asked for";
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), -1) << "the hour is not over";

  EXPECT_EQ(bench.insert("2"), "201");
  bench.analytics->update(clock("11:00:00.5"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1021"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 3);
}

TEST(AccountMetrics, AM01_EveryCountedRequestIsInAnInterval) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOnMetrics);
  std::atomic<bool> has_counted = false;
  std::thread client([&] {
    ServiceMetrics* metrics = nullptr;
    while (metrics == nullptr) metrics = bench.analytics->counted(kAccount, StorageService::kTables);
    metrics->count({OperationType::kInsertEntity});
    has_counted = true;
  });
  while (!has_counted) bench.analytics->update(clock("10:20:30"));
  client.join();
  bench.analytics->update(clock("11:00:00"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
}

TEST(AccountMetrics, AM01_AM02_EachOperationTypeHasARowIfItIsAskedFor) {
  AnalyticsBench bench;
  bench.want(kByType, kByType);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  EXPECT_EQ(bench.insert("2"), "201");
  EXPECT_EQ(bench.told("GET", "Orders()"), "200");
  EXPECT_EQ(bench.told("PUT", "Orders(PartitionKey='p',RowKey='1')", "{}", {{"If-Match", "*"}}), "204");
  EXPECT_EQ(bench.told("PUT", "Orders(PartitionKey='p',RowKey='1')", "{}"), "204");
  bench.analytics->update(clock("10:21:10"));
  const auto of = [&](std::string_view type) {
    return bench.count(kMinuteTable, "20260303T1020", "TotalRequests", "user;" + std::string(type));
  };
  EXPECT_EQ(of("All"), 5);
  EXPECT_EQ(of("InsertEntity"), 2);
  EXPECT_EQ(of("QueryEntities"), 1);
  EXPECT_EQ(of("UpdateEntity"), 1);
  EXPECT_EQ(of("InsertOrReplaceEntity"), 1);
  EXPECT_EQ(of("DeleteEntity"), -1) << "there was none";
}

TEST(AccountMetrics, AM01_AServiceHasTablesOfItsOwn) {
  AnalyticsBench bench;
  ASSERT_TRUE(bench.store().create_queue(kAccount, "orders").ok());
  bench.want(kOffMetrics, kByType, StorageService::kQueues);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  EXPECT_EQ(bench.put_message("orders"), "201");
  bench.analytics->update(clock("10:21:00"));
  EXPECT_EQ(bench.count(kMinuteQueue, "20260303T1020"), 1);
  EXPECT_EQ(bench.count(kMinuteQueue, "20260303T1020", "Success", "user;PutMessage"), 1);
  EXPECT_FALSE(bench.store().open_table(kAccount, kMinuteTable).ok()) << "tables did not ask for metrics";
}

TEST(AccountMetrics, AM03_AnHourWithoutRequestsIsARowOfZerosWithFullAvailability) {
  AnalyticsBench bench;
  bench.want(kByType, kOffMetrics);
  bench.analytics->update(clock("10:20:30"));
  bench.analytics->update(clock("11:00:00"));
  const std::optional<Entity> row = bench.row(kHourTable, "20260303T1000");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->properties().size(), 38U);
  for (const Property& property : row->properties()) {
    if (const auto* const count = property.value.get_if<std::int64_t>()) {
      EXPECT_EQ(*count, 0) << property.name;
      continue;
    }
    ASSERT_NE(property.value.get_if<double>(), nullptr) << property.name;
    EXPECT_EQ(*property.value.get_if<double>(), property.name == "Availability" ? 100.0 : 0.0) << property.name;
  }
}

TEST(MetricsRow, AM03_HasEachCountWithEachKindOfCallerAndTheSharesOfTheWhole) {
  RequestSums sums;
  for (std::size_t i = 0; i < sums.counts.size(); ++i) sums.counts[i] = i + 1;
  sums.bytes_in = 1000;
  sums.bytes_out = 2000;
  sums.end_to_end = 12'000'000;
  sums.server = 6'000'000;
  const Entity row = metrics_row("20260303T1000", "user;All", sums);
  EXPECT_EQ(row.partition_key(), "20260303T1000");
  EXPECT_EQ(row.row_key(), "user;All");
  const auto count = [&](std::string_view name) { return *row.get<std::int64_t>(name); };
  const auto share = [&](std::string_view name) { return *row.get<double>(name); };
  EXPECT_EQ(count("TotalIngress"), 1000);
  EXPECT_EQ(count("TotalEgress"), 2000);
  EXPECT_EQ(count("TotalRequests"), 300);
  std::int64_t counted = 0;
  for (const std::string kind : {"Success", "ThrottlingError", "ClientTimeoutError", "ServerTimeoutError",
                                 "ClientOtherError", "ServerOtherError", "AuthorizationError", "NetworkError"}) {
    for (const std::string caller : {"", "Anonymous", "SAS"}) counted += count(caller + kind);
  }
  EXPECT_EQ(counted, 300);
  EXPECT_EQ(count("Success"), 1);
  EXPECT_EQ(count("AnonymousSuccess"), 2);
  EXPECT_EQ(count("SASSuccess"), 3);
  EXPECT_EQ(count("SASNetworkError"), 24);
  EXPECT_DOUBLE_EQ(share("PercentSuccess"), 2.0);
  EXPECT_DOUBLE_EQ(share("PercentThrottlingError"), 5.0);
  EXPECT_DOUBLE_EQ(share("PercentTimeoutError"), 19.0);
  EXPECT_DOUBLE_EQ(share("PercentClientOtherError"), 14.0);
  EXPECT_DOUBLE_EQ(share("PercentServerOtherError"), 17.0);
  EXPECT_DOUBLE_EQ(share("PercentAuthorizationError"), 20.0);
  EXPECT_DOUBLE_EQ(share("PercentNetworkError"), 23.0);
  EXPECT_DOUBLE_EQ(share("AverageE2ELatency"), 2.0) << "12 ms of 6 successful requests";
  EXPECT_DOUBLE_EQ(share("AverageServerLatency"), 1.0);
  EXPECT_EQ(sums_of_row(row), sums);
}

/// One client's own counts.
struct Tally {
  std::int64_t requests = 0;
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
  std::map<std::string, std::int64_t> statuses;
  std::map<std::string, std::int64_t> types;
};

/// Sends random requests with random callers, and counts them like a client.
class RandomClient {
 public:
  RandomClient(AnalyticsBench& bench, std::mt19937_64& random) : bench_(bench), random_(random) {}

  void send_one() {
    static const std::vector<Choice> kChoices = {
        {"GET", "Orders()", "", "QueryEntities"},
        {"GET", "Orders(PartitionKey='p',RowKey='1')", "", "QueryEntity"},
        {"POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})", "InsertEntity"},
        {"PUT", "Orders(PartitionKey='p',RowKey='2')", R"({"A":"some text"})", "InsertOrReplaceEntity"},
        {"MERGE", "Orders(PartitionKey='p',RowKey='2')", "{}", "InsertOrMergeEntity"},
        {"GET", "Tables", "", "QueryTables"},
        {"GET", "Missing()", "", "QueryEntities"},
        {"POST", "Tables", R"({"TableName":"Orders"})", "CreateTable"},
    };
    const Choice& choice = kChoices[random_() % kChoices.size()];
    const int caller = static_cast<int>(random_() % 3);
    HttpRequest request = caller == 0 ? bench_.service.signed_request(choice.verb, choice.resource, choice.body)
                                      : ServiceBench::request(choice.verb, path(choice, caller), choice.body);
    tally.bytes_in += static_cast<std::int64_t>(header_bytes(request) + request.body.size());
    const HttpResponse response = bench_.send(std::move(request));
    tally.bytes_out += static_cast<std::int64_t>(header_bytes(response) + response.body.size());
    ++tally.requests;
    ++tally.types[std::string(choice.type)];
    ++tally.statuses[status_of(caller, response.status)];
  }

  Tally tally;

 private:
  struct Choice {
    std::string_view verb;
    std::string_view resource;
    std::string body;
    std::string_view type;
  };
  std::string path(const Choice& choice, int caller) {
    const std::string path = ServiceBench::path_of(choice.resource);
    return caller == 1 ? path : path + "?" + token_;
  }
  static std::string status_of(int caller, std::uint16_t status) {
    const std::string who = caller == 0 ? "" : caller == 1 ? "Anonymous" : "SAS";
    if (status < 400) return who + "Success";
    return who + (status == 401 || status == 403 ? "AuthorizationError" : "ClientOtherError");
  }

  AnalyticsBench& bench_;
  std::mt19937_64& random_;
  const std::string token_ =
      security::to_query(*security::sign_account_sas(SecurityBench::account_terms("o", "raud"), credentials()));
};

/// Adds up a property over all rows with a RowKey.
std::int64_t sum_over(AnalyticsBench& bench, std::string_view table, std::string_view row_key,
                      const std::string& property) {
  const Result<Page> page = (*bench.store().open_table(kAccount, table)).scan({});
  EXPECT_TRUE(page.ok());
  std::int64_t sum = 0;
  for (const Entity& row : page->entities) {
    if (row.row_key() == row_key) sum += *row.get<std::int64_t>(property);
  }
  return sum;
}

class MetricsOfARun : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(MetricsOfARun, AM01_AM03_AM06_SumsEqualTheCountsOfTheClient) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  std::mt19937_64 random(GetParam());
  AnalyticsBench bench;
  bench.want(kByType, kByType);
  DateTime now = clock("10:20:30");
  bench.analytics->update(now);
  RandomClient client(bench, random);
  for (int i = 0; i < 400; ++i) {
    client.send_one();
    if (random() % 8 != 0) continue;
    now.ticks += random() % (20 * kTicksOfMinute);
    if (random() % 4 != 0) {
      bench.analytics->update(now);
      continue;
    }
    bench.analytics->finish();  // a clean stop, and a start within the same minute
    bench.begin();
    bench.analytics->update(now);
  }
  bench.analytics->finish();
  const Tally& tally = client.tally;
  for (const std::string_view table : {kHourTable, kMinuteTable}) {
    EXPECT_EQ(sum_over(bench, table, "user;All", "TotalRequests"), tally.requests);
    EXPECT_EQ(sum_over(bench, table, "user;All", "TotalIngress"), tally.bytes_in);
    EXPECT_EQ(sum_over(bench, table, "user;All", "TotalEgress"), tally.bytes_out);
    for (const auto& [status, count] : tally.statuses) {
      EXPECT_EQ(sum_over(bench, table, "user;All", status), count) << status;
    }
    for (const auto& [type, count] : tally.types) {
      EXPECT_EQ(sum_over(bench, table, "user;" + type, "TotalRequests"), count) << type;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MetricsOfARun, ::testing::Range<std::uint64_t>(1, 5));

TEST(AccountMetrics, AM06_ACleanStopWritesTheUnfinishedIntervalsAndTheNextStartAddsToThem) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOnMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  bench.analytics->finish();
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);

  bench.begin();
  bench.analytics->update(clock("10:20:40"));
  EXPECT_EQ(bench.insert("2"), "201");
  EXPECT_EQ(bench.insert("3"), "201");
  bench.analytics->update(clock("11:00:01"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 3);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 3);
}

TEST(AccountMetrics, AM06_AfterACrashTheUnfinishedHourIsLowAndFinishedOnesAreWhole) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOffMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  bench.analytics->update(clock("11:00:00"));
  EXPECT_EQ(bench.insert("2"), "201");
  EXPECT_EQ(bench.insert("3"), "201");
  bench.begin();  // the counts of the present hour are gone
  bench.analytics->update(clock("11:30:00"));
  EXPECT_EQ(bench.insert("4"), "201");
  bench.analytics->update(clock("12:00:00"));
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1100"), 1) << "low, but no request twice";
}

TEST(AccountMetrics, AM06_AClockThatIsSetBackEndsNoInterval) {
  AnalyticsBench bench;
  bench.want(kOffMetrics, kOnMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  bench.analytics->update(clock("10:10:30"));
  EXPECT_EQ(bench.insert("2"), "201");
  bench.analytics->update(clock("10:21:00"));
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1010"), -1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 2);
}

TEST(AccountMetrics, AM07_RowsOlderThanTheRetentionAreDeletedWithinAnHour) {
  AnalyticsBench bench;
  MetricsProperties kept = kByType;
  kept.retention_days = 2;
  bench.want(kept, kept);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  bench.analytics->update(clock("11:00:00"));
  ASSERT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
  bench.analytics->update(at("2026-03-05T10:00:00Z"));
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1) << "it is two days old, and not older";
  bench.analytics->update(at("2026-03-05T11:59:00Z"));
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), -1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000", "TotalRequests", "user;InsertEntity"), -1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), -1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1100"), 0) << "a row of the retained time stays";
}

TEST(AccountMetrics, AM07_WithoutRetentionRowsStay) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOffMetrics);
  bench.analytics->update(clock("10:20:30"));
  bench.analytics->update(clock("11:00:00"));
  bench.analytics->update(at("2036-03-05T11:59:00Z"));
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 0);
}

TEST(AccountMetrics, AM01_MetricsThatAreSwitchedOffEndWithARow) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOffMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  bench.want(kOffMetrics, kOffMetrics);
  bench.analytics->update(clock("10:21:30"));
  EXPECT_EQ(bench.insert("2"), "201");
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
  bench.want(kOnMetrics, kOffMetrics);
  bench.analytics->update(clock("10:30:00"));
  EXPECT_EQ(bench.insert("3"), "201");
  bench.analytics->update(clock("11:30:00"));
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 2) << "the request between is not counted";
}

TEST(AccountMetrics, AM01_AChangeOfThePropertiesIsReportedAtOnce) {
  AnalyticsBench bench;
  EXPECT_EQ(bench.told("PUT", "?restype=service&comp=properties",
                       "<StorageServiceProperties><Cors/></StorageServiceProperties>"),
            "202");
  EXPECT_EQ(bench.changes, 1);
  EXPECT_EQ(bench.told("PUT", "?restype=service&comp=properties", "<"), "400 InvalidXmlDocument");
  EXPECT_EQ(bench.told("GET", "?restype=service&comp=properties"), "200");
  EXPECT_EQ(bench.changes, 1);
}

TEST(AccountMetrics, AM06_RowsWaitWhileTheDiskIsFullAndRequestsGoOn) {
  AnalyticsBench bench;
  bench.want(kOffMetrics, kOnMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  io::MemoryFileSystem& files = *bench.service.bench.machine.files;
  files.set_capacity_bytes(files.used_bytes());
  // Fills the log's segment, which has its space already, until it has no room for a row of metrics.
  int rows = 0;
  for (const std::size_t size : {30'000U, 1'000U, 10U}) {
    std::string ended = "201";
    while (ended == "201" && rows < 10'000) {
      ended = bench.told("POST", "Orders",
                         R"({"PartitionKey":"q","RowKey":")" + std::to_string(++rows) + R"(","Text":")" +
                             std::string(size, 'x') + "\"}");
    }
    EXPECT_EQ(ended, "503 ServerBusy");
  }
  bench.analytics->update(clock("10:21:00"));
  EXPECT_EQ(bench.told("GET", "Orders(PartitionKey='p',RowKey='1')"), "200");
  bench.analytics->update(clock("10:22:00"));
  EXPECT_EQ(bench.row(kMinuteTable, "20260303T1020"), std::nullopt);
  files.set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  while (bench.insert("2") == "503 ServerBusy") std::this_thread::yield();
  bench.analytics->update(clock("10:22:01"));
  EXPECT_EQ(bench.analytics->lost_rows(), 0U);
  EXPECT_GE(bench.count(kMinuteTable, "20260303T1020", "ThrottlingError"), 1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1021"), 1) << "the read";
}

TEST(AccountMetrics, AM01_ANewAccountOfTheNameOfADroppedOneHasNotAsked) {
  AnalyticsBench bench;
  bench.want(kOffMetrics, kOnMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(bench.insert("1"), "201");
  ASSERT_TRUE(bench.store().drop_account(kAccount).ok());
  bench.analytics->update(clock("10:21:00"));
  ASSERT_TRUE(bench.store().create_account(kAccount).ok());
  bench.analytics->update(clock("10:22:00"));
  EXPECT_EQ(bench.analytics->counted(kAccount, StorageService::kTables), nullptr);
  EXPECT_FALSE(bench.store().open_table(kAccount, kMinuteTable).ok());
}

TEST(AccountMetrics, AM01_RequestsWithoutAKnownAccountAreNotCounted) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOffMetrics);
  bench.analytics->update(clock("10:20:30"));
  EXPECT_EQ(outcome(bench.send(ServiceBench::request("GET", "/nobody/Orders()"))), "401 NoAuthenticationInformation");
  EXPECT_EQ(outcome(bench.send(ServiceBench::request("GET", ServiceBench::path_of("Orders()")))),
            "401 NoAuthenticationInformation");
  bench.analytics->finish();
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000", "AnonymousAuthorizationError"), 1);
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000", "TotalBillableRequests"), 0);
}

TEST(AnalyticsWorker, AM06_WritesTheLastRowsBeforeItEnds) {
  AnalyticsBench bench;
  bench.want(kOnMetrics, kOnMetrics);
  AnalyticsWorker worker(*bench.analytics, [] { return kPresent; });
  EXPECT_EQ(bench.insert("1"), "201");
  worker.wake();
  worker.finish();
  worker.finish();
  EXPECT_EQ(bench.count(kHourTable, "20260303T1000"), 1);
  EXPECT_EQ(bench.count(kMinuteTable, "20260303T1020"), 1);
}

TEST(ServiceCounters, CountsOfManyThreadsAreComplete) {
  constexpr int kThreads = 12;
  constexpr int kEach = 5'000;
  ServiceCounters counters;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counters] {
      CountedRequest request;
      request.type = OperationType::kQueryEntity;
      request.bytes_in = 2;
      request.server = std::chrono::nanoseconds(3);
      for (int n = 0; n < kEach; ++n) counters.add(request);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RequestSums sums = counters.sums()[static_cast<std::size_t>(OperationType::kQueryEntity)];
  EXPECT_EQ(sums.requests(), std::uint64_t{kThreads} * kEach);
  EXPECT_EQ(sums.bytes_in, std::uint64_t{2} * kThreads * kEach);
  EXPECT_EQ(sums.server, std::uint64_t{3} * kThreads * kEach);
}

}  // namespace
}  // namespace varve::serve::analytics_test
