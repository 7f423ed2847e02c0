// Goal: the log of an account has its requests, in blobs that are named, described and deleted as the specification says.
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/analytics_bench.h"
#include "tests/serve/log_reader.h"
#include "tools/serve/analytics/analytics_worker.h"

namespace varve::serve::account_log_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const LoggingProperties kAllClasses{true, true, true, std::nullopt};
const LoggingProperties kWritesAlone{false, true, false, std::nullopt};
const LoggingProperties kDeletionsAlone{false, false, true, std::nullopt};
constexpr std::string_view kFirstLog = "table/2026/03/03/1000/000000.log";

/// Returns the types and outcomes of the entries of a log.
std::vector<std::string> told_entries(const std::string& text) {
  std::vector<std::string> told;
  const std::optional<std::vector<std::vector<std::string>>> entries = read_log(text);
  EXPECT_TRUE(entries) << text;
  if (!entries) return told;
  for (const std::vector<std::string>& entry : *entries) told.push_back(entry[kTypeField] + " " + entry[kHttpField]);
  return told;
}

/// Returns a request of a batch that deletes a blob. Its signature is false unless `is_signed`.
std::string deletion(const std::string& blob, bool is_signed = true) {
  HttpRequest made = ServiceBench::request("DELETE", ServiceBench::path_of("photos/" + blob));
  made.head.headers.emplace_back("Content-Length", "0");
  const std::string good =
      *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                          security::KeyChoice::kPrimary, StorageService::kBlobs);
  made.head.headers.emplace_back("Authorization", is_signed ? good : "SharedKey " + std::string(kAccount) + ":AAAA");
  std::string text = "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nDELETE ";
  text += made.head.path + " HTTP/1.1\r\n";
  for (const auto& [name, value] : made.head.headers) {
    if (name != "Host") text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "\r\n";
}

class AccountLog : public ::testing::Test {
 protected:
  std::vector<MetadataPair> metadata_of_log(std::string_view name) {
    const Container container = *bench_.store().open_container(kAccount, "$logs");
    const Result<BlobState> state = container.state(name);
    EXPECT_TRUE(state.ok());
    return state->metadata;
  }
  void want(const LoggingProperties& logging) {
    bench_.want_log(logging);
    bench_.analytics->update(clock("10:20:00"));
  }

  AnalyticsBench bench_;
};

TEST_F(AccountLog, AL01_AL03_EachRequestOfItsClassHasAnEntry) {
  want(kAllClasses);
  EXPECT_EQ(bench_.insert("1"), "201");
  EXPECT_EQ(bench_.insert("1"), "409 EntityAlreadyExists");
  EXPECT_EQ(bench_.told("GET", "Orders()"), "200");
  EXPECT_EQ(bench_.told("DELETE", "Orders(PartitionKey='p',RowKey='1')", {}, {{"If-Match", "*"}}), "204");
  EXPECT_THAT(bench_.logs(), IsEmpty()) << "no request waits for a log";
  bench_.analytics->write(bench_.now);
  ASSERT_THAT(bench_.logs(), ElementsAre(kFirstLog));
  const std::string text = bench_.log(kFirstLog);
  EXPECT_THAT(told_entries(text),
              ElementsAre("InsertEntity 201", "InsertEntity 409", "QueryEntities 200", "DeleteEntity 204"));
  EXPECT_EQ((*read_log(text))[0][kOwnerField], kAccount);
  EXPECT_EQ((*read_log(text))[0][kServiceField], "table");
}

TEST_F(AccountLog, AL01_OtherClassesAndServicesAreLeftOut) {
  want(kWritesAlone);
  EXPECT_EQ(bench_.insert("1"), "201");
  EXPECT_EQ(bench_.told("GET", "Orders()"), "200");
  EXPECT_EQ(bench_.told("DELETE", "Orders(PartitionKey='p',RowKey='1')", {}, {{"If-Match", "*"}}), "204");
  EXPECT_EQ(bench_.put_message("orders"), "404 QueueNotFound");
  EXPECT_EQ(outcome(bench_.send(ServiceBench::request("POST", ServiceBench::path_of("Orders")))),
            "401 NoAuthenticationInformation");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(told_entries(bench_.log(kFirstLog)), ElementsAre("InsertEntity 201"));
  want({});
  EXPECT_EQ(bench_.insert("2"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(told_entries(bench_.log(kFirstLog)), ElementsAre("InsertEntity 201"));
}

TEST_F(AccountLog, AL01_AL06_QueuesAndBlobsHaveLogsOfTheirOwn) {
  bench_.want_log(kAllClasses, StorageService::kQueues);
  bench_.want_log(kAllClasses, StorageService::kBlobs);
  bench_.analytics->update(clock("10:20:00"));
  EXPECT_EQ(bench_.put_message("orders"), "404 QueueNotFound");
  EXPECT_EQ(outcome(bench_.to_blobs("PUT", "photos?restype=container")), "201");
  EXPECT_EQ(outcome(bench_.to_blobs("PUT", "photos/a", "x", {{"x-ms-blob-type", "BlockBlob"}})), "201");
  EXPECT_EQ(outcome(bench_.to_blobs("GET", "photos/a")), "200");
  EXPECT_EQ(outcome(bench_.to_blobs("DELETE", "photos/a")), "202");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(bench_.logs(), ElementsAre("blob/2026/03/03/1000/000000.log", "queue/2026/03/03/1000/000000.log"));
  EXPECT_THAT(told_entries(bench_.log("blob/2026/03/03/1000/000000.log")),
              ElementsAre("CreateContainer 201", "PutBlob 201", "GetBlob 200", "DeleteBlob 202"));
  EXPECT_THAT(told_entries(bench_.log("queue/2026/03/03/1000/000000.log")), ElementsAre("PutMessage 404"));
}

TEST_F(AccountLog, AL01_AL05_EachRequestOfABatchHasAnEntry) {
  EXPECT_EQ(outcome(bench_.to_blobs("PUT", "photos?restype=container")), "201");
  EXPECT_EQ(outcome(bench_.to_blobs("PUT", "photos/a", "x", {{"x-ms-blob-type", "BlockBlob"}})), "201");
  bench_.want_log(kDeletionsAlone, StorageService::kBlobs);
  bench_.analytics->update(clock("10:20:00"));
  const std::string body = deletion("a") + deletion("absent") + deletion("b", false) + "--b--\r\n";
  EXPECT_EQ(outcome(bench_.to_blobs(
                "POST", "?comp=batch", body,
                {{"Content-Type", "multipart/mixed; boundary=b"}, {"Content-Length", std::to_string(body.size())}})),
            "202");
  bench_.analytics->write(bench_.now);
  const std::string text = bench_.log("blob/2026/03/03/1000/000000.log");
  EXPECT_THAT(told_entries(text), ElementsAre("DeleteBlob 202", "DeleteBlob 404", "DeleteBlob 403"));
  const std::vector<std::vector<std::string>> entries = *read_log(text);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0][kKeyField], "/" + std::string(kAccount) + "/photos/a");
  EXPECT_EQ(entries[2][kStatusField], "AuthorizationError");
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i][kCountField], std::to_string(i));
}

TEST_F(AccountLog, AL03_EntriesOfTwoHoursInTurnGoToOneLogEach) {
  want(kAllClasses);
  for (int i = 0; i < 6; ++i) {
    bench_.now = clock(i % 2 == 0 ? "11:00:01" : "10:59:01");
    EXPECT_EQ(bench_.insert(std::to_string(i)), "201");
    bench_.analytics->write(bench_.now);
  }
  EXPECT_THAT(bench_.logs(), ElementsAre(kFirstLog, "table/2026/03/03/1100/000000.log"));
  EXPECT_EQ(told_entries(bench_.log(kFirstLog)).size(), 3U);
}

TEST_F(AccountLog, AL02_AL03_ALogGrowsWithinItsHourAndANewServerBeginsAnother) {
  want(kAllClasses);
  EXPECT_EQ(bench_.insert("1"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_EQ(bench_.insert("2"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_EQ(told_entries(bench_.log(kFirstLog)).size(), 2U);
  bench_.now = clock("11:00:01");
  EXPECT_EQ(bench_.insert("3"), "201");
  bench_.analytics->finish();
  bench_.begin();
  want(kAllClasses);
  EXPECT_EQ(bench_.insert("4"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(bench_.logs(),
              ElementsAre(kFirstLog, "table/2026/03/03/1100/000000.log", "table/2026/03/03/1100/000001.log"));
  EXPECT_EQ(told_entries(bench_.log("table/2026/03/03/1100/000001.log")).size(), 1U);
}

TEST_F(AccountLog, AL02_AL03_ALogThatAClientDeletedIsFollowedByAnother) {
  want(kAllClasses);
  EXPECT_EQ(bench_.insert("1"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_EQ(outcome(bench_.to_blobs("DELETE", "$logs/" + std::string(kFirstLog))), "202");
  EXPECT_EQ(bench_.insert("2"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(bench_.logs(), ElementsAre("table/2026/03/03/1000/000001.log"));
  EXPECT_TRUE(bench_.store().drop_container(kAccount, "$logs").ok()) << "the library may do so";
  EXPECT_EQ(bench_.insert("3"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(told_entries(bench_.log("table/2026/03/03/1000/000002.log")), ElementsAre("InsertEntity 201"));
}

TEST_F(AccountLog, AL04_TheMetadataSaysWhatIsInTheLog) {
  want(kAllClasses);
  bench_.now = at("2026-03-03T10:21:05.7Z");
  EXPECT_EQ(bench_.insert("1"), "201");
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(metadata_of_log(kFirstLog),
              ElementsAre(MetadataPair{"LogType", "write"}, MetadataPair{"StartTime", "2026-03-03T10:21:05Z"},
                          MetadataPair{"EndTime", "2026-03-03T10:21:05Z"}, MetadataPair{"LogVersion", "1.0"}));
  bench_.now = clock("10:59:59");
  EXPECT_EQ(bench_.told("GET", "Orders()"), "200");
  EXPECT_EQ(bench_.told("DELETE", "Orders(PartitionKey='p',RowKey='1')", {}, {{"If-Match", "*"}}), "204");
  bench_.analytics->write(bench_.now);
  const std::vector<MetadataPair> grown = metadata_of_log(kFirstLog);
  EXPECT_EQ(grown[0].value, "read,write,delete");
  EXPECT_EQ(grown[1].value, "2026-03-03T10:21:05Z");
  EXPECT_GE(grown[2].value, "2026-03-03T10:59:58Z");  // the request began shortly before it was answered
}

TEST_F(AccountLog, AL07_AFullQueueDropsAndCountsAndRequestsGoOn) {
  want(kAllClasses);
  const std::string agent(6'000, 'a');
  int sent = 0;
  while (bench_.analytics->lost_entries() == 0 && sent < 2'000) {
    EXPECT_EQ(bench_.told("GET", "Orders()", {}, {{"User-Agent", agent}}), "200");
    ++sent;
  }
  EXPECT_GT(sent, 500) << "about 4 MiB wait";
  const std::uint64_t lost = bench_.analytics->lost_entries();
  EXPECT_EQ(lost, 1U);
  bench_.analytics->write(bench_.now);
  EXPECT_EQ(told_entries(bench_.log(kFirstLog)).size(), static_cast<std::size_t>(sent) - lost);
  EXPECT_EQ(bench_.told("GET", "Orders()", {}, {{"User-Agent", agent}}), "200");
  EXPECT_EQ(bench_.analytics->lost_entries(), lost) << "there is room again";
}

TEST_F(AccountLog, AL07_ACleanStopWritesAllEntries) {
  want(kAllClasses);
  AnalyticsWorker worker(*bench_.analytics, [] { return clock("10:20:00"); });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bench_.insert(std::to_string(i)), "201");
  worker.finish();
  std::size_t entries = 0;
  for (const std::string& name : bench_.logs()) entries += told_entries(bench_.log(name)).size();
  EXPECT_EQ(entries, 100U);
  EXPECT_EQ(bench_.analytics->lost_entries(), 0U);
  EXPECT_EQ(bench_.insert("last"), "201") << "nothing is logged any more";
}

TEST_F(AccountLog, AL07_AWorkerWritesWhenItIsAsked) {
  want(kAllClasses);
  AnalyticsWorker worker(*bench_.analytics, [] { return clock("10:20:00"); });
  EXPECT_EQ(bench_.insert("1"), "201");
  worker.write_soon();
  while (bench_.logs().empty() || told_entries(bench_.log(kFirstLog)).empty()) std::this_thread::yield();
  EXPECT_THAT(told_entries(bench_.log(kFirstLog)), ElementsAre("InsertEntity 201"));
}

TEST_F(AccountLog, AL07_AFullDiskStopsTheLogAndNotTheService) {
  want(kAllClasses);
  EXPECT_EQ(bench_.insert("1"), "201");
  io::MemoryFileSystem& files = *bench_.service.bench.machine.files;
  files.set_capacity_bytes(files.used_bytes());
  int rows = 0;
  for (const std::size_t size : {30'000U, 1'000U, 10U}) {
    std::string ended = "201";
    while (ended == "201" && rows < 10'000) {
      ended = bench_.told("POST", "Orders",
                          R"({"PartitionKey":"q","RowKey":")" + std::to_string(++rows) + R"(","Text":")" +
                              std::string(size, 'x') + "\"}");
    }
    EXPECT_EQ(ended, "503 ServerBusy");
  }
  bench_.analytics->write(bench_.now);
  EXPECT_THAT(bench_.logs(), IsEmpty());
  EXPECT_EQ(bench_.told("GET", "Orders(PartitionKey='p',RowKey='1')"), "200");
  files.set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  while (bench_.insert("2") == "503 ServerBusy") std::this_thread::yield();
  bench_.analytics->write(bench_.now);
  ASSERT_THAT(bench_.logs(), ElementsAre(kFirstLog));
  const std::vector<std::string> entries = told_entries(bench_.log(kFirstLog));
  ASSERT_GT(entries.size(), static_cast<std::size_t>(rows));
  EXPECT_EQ(entries.front(), "InsertEntity 201") << "the first entry waited";
}

TEST_F(AccountLog, AL08_LogsOlderThanTheRetentionAreDeleted) {
  want(kAllClasses);
  for (const std::string_view hour : {"08", "09", "10"}) {
    bench_.now = clock(std::string(hour) + ":30:00");
    EXPECT_EQ(bench_.insert(std::string(hour)), "201");
    bench_.analytics->write(bench_.now);
  }
  EXPECT_EQ(bench_.logs().size(), 3U);
  bench_.want_log({true, true, true, 2});
  bench_.analytics->update(at("2026-03-05T09:59:59Z"));
  EXPECT_THAT(bench_.logs(), ElementsAre("table/2026/03/03/0900/000000.log", "table/2026/03/03/1000/000000.log"));
  bench_.analytics->update(at("2026-03-05T10:29:59Z"));
  EXPECT_THAT(bench_.logs(), ElementsAre("table/2026/03/03/1000/000000.log"));
  bench_.want_log({false, false, false, std::nullopt});
  bench_.analytics->update(at("2027-03-05T10:30:00Z"));
  EXPECT_EQ(bench_.logs().size(), 1U) << "without retention they stay";
}

}  // namespace
}  // namespace varve::serve::account_log_test
