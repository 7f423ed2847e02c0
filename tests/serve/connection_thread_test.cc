// Goal: for every request, the connection's thread never accesses the disk, because it serves other connections.
// Method: the test's own thread is the connection's, where tasks begin and return. Every step of the file system
// reports its thread. Nothing is cached: neither blocks nor the names of tables.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "tests/serve/watch_bench.h"

namespace varve::serve::connection_thread_test {
namespace {

using namespace test;

/// The thread that created it, as the home of one request.
class HomeOfOne final : public HomeThread {
 public:
  bool is_here() const noexcept override { return std::this_thread::get_id() == thread_; }
  void post(std::coroutine_handle<> coroutine) noexcept override {
    const std::lock_guard lock(mutex_);
    posted_ = coroutine;
    changed_.notify_all();
  }

  /// Begins the task on this thread, and runs returning coroutines until the task has ended.
  HttpResponse run(Task<Result<HttpResponse>> handling) {
    start(std::move(handling), [this](Result<HttpResponse> response) {
      EXPECT_TRUE(is_here());
      const std::lock_guard lock(mutex_);
      answer_ = std::move(response);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    while (!answer_) {
      changed_.wait(lock, [this] { return posted_ || answer_; });
      const std::coroutine_handle<> coroutine = std::exchange(posted_, nullptr);
      lock.unlock();
      if (coroutine) coroutine.resume();
      lock.lock();
    }
    return **std::exchange(answer_, std::nullopt);
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::coroutine_handle<> posted_;
  std::optional<Result<HttpResponse>> answer_;
};

ResourceOptions without_cache() {
  ResourceOptions resources;
  resources.block_cache_bytes = 0;
  return resources;
}

std::string batch_of(const std::string& type, const std::string& part) {
  return "--b\r\nContent-Type: " + type + "\r\n\r\n" + part + "--b--\r\n";
}
std::string http_part(const std::string& request_line, const std::string& body = "") {
  return "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + request_line +
         " HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" + body + "\r\n";
}

class ConnectionThread : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kTables; ++i) {
      Table table = service().bench.table(table_name(i));
      ASSERT_TRUE(table.insert(with_value("p", "1", "x")).ok());
      AccessPolicy policy;
      policy.id = "all";
      policy.permissions = *Permissions::parse("raud");
      policy.expiry = at("2026-03-04T00:00:00Z");
      ASSERT_TRUE(service().bench.store->set_access_policies(kAccount, table_name(i), std::vector{policy}).ok());
    }
    ASSERT_TRUE(service().bench.store->compact().ok());
    io::FaultRule rule;
    rule.predicate = [this, connection = std::this_thread::get_id()](const io::Operation& step) {
      if (std::this_thread::get_id() == connection) {
        ADD_FAILURE() << io::operation_name(step.kind) << " of " << step.name << " on the connection's thread";
      }
      ++steps_;
      return false;
    };
    service().bench.machine.files->faults().add(std::move(rule));
  }
  void TearDown() override { service().bench.machine.files->faults().clear(); }

  ServiceBench& service() { return bench_.service; }
  static std::string table_name(int number) { return "Table" + std::to_string(number); }
  /// Returns a table whose name was not used since its creation.
  std::string unused_table() {
    EXPECT_LT(used_, kTables);
    return table_name(used_++);
  }
  /// Returns the answer. Checks that the request accessed the disk, because otherwise nothing was tested.
  std::string send(HttpRequest request) {
    const int before = steps_;
    HttpResponse response = home_.run(bench_.front.handle(std::move(request), &home_));
    EXPECT_GT(steps_, before);
    body_ = response.body;
    return outcome(response);
  }
  std::string send(std::string_view verb, const std::string& resource, std::string body = {}, Headers headers = {}) {
    return send(service().signed_request(verb, resource, std::move(body), std::move(headers)));
  }
  /// Sends the request with a signature that names the table's policy.
  std::string send_by_policy(std::string_view verb, const std::string& resource, const std::string& table,
                             std::string body = {}, Headers headers = {}) {
    security::TableSasTerms terms;
    terms.table = table;
    terms.policy = "all";
    const std::string token = security::to_query(*security::sign_table_sas(terms, credentials()));
    return send(ServiceBench::request(verb, ServiceBench::path_of(resource) + "?" + token, std::move(body),
                                      std::move(headers)));
  }
  std::string look(const std::string& name) { return send(WatchBench::page_request(name)); }

  static constexpr int kTables = 20;
  WatchBench bench_{{true, false}, RequestLogLevel::kOff, without_cache()};
  HomeOfOne home_;
  std::atomic<int> steps_{0};
  int used_ = 0;
  std::string body_;
};

const Headers kJson = {{"Content-Type", "application/json"}};
const Headers kBatch = {{"Content-Type", "multipart/mixed; boundary=b"}};
const std::string kRow = "(PartitionKey='p',RowKey='1')";
const std::string kNew = R"({"PartitionKey":"p","RowKey":"2"})";

TEST_F(ConnectionThread, IsFreeWhileEntitiesAreReadAndWritten) {
  EXPECT_EQ(send("GET", unused_table() + kRow), "200");
  EXPECT_EQ(send("GET", unused_table() + "()"), "200");
  EXPECT_EQ(send("POST", unused_table(), kNew, kJson), "201");
  EXPECT_EQ(send("PUT", unused_table() + kRow, "{}", kJson), "204");
  EXPECT_EQ(send("DELETE", unused_table() + kRow, "", {{"If-Match", "*"}}), "204");
  EXPECT_EQ(send("GET", "NoSuchTable" + kRow), "404 TableNotFound");
}

TEST_F(ConnectionThread, IsFreeWhileBatchesAreCarriedOut) {
  const std::string root = "http://127.0.0.1:10002/" + std::string(kAccount) + "/";
  const std::string writes = "--c\r\n" + http_part("POST " + root + unused_table(), kNew) + "--c--\r\n";
  EXPECT_EQ(send("POST", "$batch", batch_of("multipart/mixed; boundary=c", writes), kBatch), "202");
  EXPECT_NE(body_.find("HTTP/1.1 201"), std::string::npos) << body_;
  const std::string read = http_part("GET " + root + unused_table() + kRow);
  EXPECT_EQ(send("POST", "$batch", "--b\r\n" + read + "--b--\r\n", kBatch), "202");
  EXPECT_NE(body_.find("HTTP/1.1 200"), std::string::npos) << body_;
}

TEST_F(ConnectionThread, IsFreeWhileAPolicyIsAsked) {
  std::string table = unused_table();
  EXPECT_EQ(send_by_policy("GET", table + kRow, table), "200");
  EXPECT_EQ(send_by_policy("GET", table + "()", table), "200");
  EXPECT_EQ(send_by_policy("POST", table, table, kNew, kJson), "201");
  EXPECT_EQ(send_by_policy("GET", "Tables", table), "403 AuthorizationFailure");
  EXPECT_EQ(send_by_policy("GET", table + kRow, "NoSuchTable"), "403 AuthenticationFailed");
}

TEST_F(ConnectionThread, IsFreeWhileTheAccountIsAsked) {
  EXPECT_EQ(send("GET", "?restype=service&comp=properties"), "200");
  EXPECT_EQ(send("GET", "Tables"), "200");
  EXPECT_EQ(send("POST", "Tables", R"({"TableName":"Made"})", kJson), "201");
  EXPECT_EQ(send("GET", "Tables('" + unused_table() + "')"), "200");
  EXPECT_EQ(send("DELETE", "Tables('" + unused_table() + "')"), "204");
  EXPECT_EQ(send("GET", unused_table() + "?comp=acl"), "200");
}

TEST_F(ConnectionThread, IsFreeWhileThePageLooksIntoTables) {
  EXPECT_EQ(look("api/tables"), "200");
  EXPECT_EQ(look("api/table?table=" + unused_table()), "200");
  EXPECT_EQ(look("api/entities?table=" + unused_table()), "200");
  EXPECT_EQ(look("api/entities?table=NoSuchTable"), "404");
}

}  // namespace
}  // namespace varve::serve::connection_thread_test
