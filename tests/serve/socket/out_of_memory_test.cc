// Goal: if memory ends anywhere in a request, the request is refused, or its connection is closed. The process, other
// requests and the store's content are not affected, and no answer is false.
// Method: a server runs in this process. A request is sent repeatedly. Each time one more allocation of the server's
// and the store's threads succeeds before one is refused, until none is. The test uses this machine's own files.
#include <functional>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "tests/io/temporary_directory.h"
#include "tests/serve/service_bench.h"
#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/signed_bytes.h"
#include "tests/support/allocation_counter.h"
#include "tools/serve/server.h"

namespace varve::serve::out_of_memory_test {
namespace {

using namespace test;

/// The part of a write's data that exists: all of it, none, or only some, which must never be.
enum class Held { kNothing, kAll, kPart };

class ServerOutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.create_if_absent = true;
    options.default_durability = Durability::kBuffered;
    Result<std::unique_ptr<Store>> opened = Store::open(directory_.path() + "/store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    table_.emplace(*store_->create_table(kAccount, "Orders"));
    for (const std::string row : {"1", "2", "3"}) ASSERT_TRUE(table_->insert(with_value("p", row, "x")).ok());
    AccessPolicy policy;
    policy.id = "readers";
    policy.permissions = *Permissions::parse("r");
    policy.expiry = at("2999-01-01T00:00:00Z");
    ASSERT_TRUE(store_->set_access_policies(kAccount, "Orders", std::vector{policy}).ok());
    ASSERT_TRUE(store_->compact().ok());  // So that reads use a table file.
    ListenOptions listening;
    listening.port = 0;
    listening.threads = 2;
    listening.metrics = FurtherAddress{};
    Result<std::unique_ptr<Server>> started = Server::start(*store_, *Accounts::create(), listening);
    ASSERT_TRUE(started.ok()) << started.status().to_string();
    server_ = *std::move(started);
    warm_up();
  }
  /// Creates the threads and tables that the first request needs.
  void warm_up() { ASSERT_EQ(ask(signed_bytes("GET", "Orders()")), "200"); }

  /// Sends on a separate connection. Returns "201", or "closed" if there was no answer. `port` is the service's unless
  /// given.
  std::string ask(const std::string& bytes, std::uint16_t port = 0) {
    HttpClient client(port != 0 ? port : server_->port());
    (void)client.send(bytes);
    const std::optional<HttpResponse> response = client.read();
    EXPECT_EQ(client.fault(), "");
    body_ = response ? response->body : std::string();
    return response ? outcome(*response) : "closed";
  }
  static bool is_of_the_server(const std::string& answer) {
    return answer == "closed" || answer == "503 ServerBusy" || answer == "500 InternalError";
  }

  /// Sends the request until none of its allocations is refused, and checks each answer with `judge`.
  void sweep(const std::string& bytes, const std::function<void(const std::string& answer)>& judge,
             std::uint16_t port = 0) {
    for (std::uint64_t nth = 1; nth < 5'000; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      std::string answer;
      bool happened = false;
      {
        const OtherThreadsAllocationFailure failure(nth, false);
        answer = ask(bytes, port);
        happened = failure.happened();
      }
      judge(answer);
      EXPECT_EQ(ask(signed_bytes("GET", "Orders(PartitionKey='p',RowKey='1')")), "200");
      if (HasFailure()) return;
      if (!happened) {
        EXPECT_GT(nth, 20u);
        EXPECT_FALSE(is_of_the_server(answer)) << answer;
        return;
      }
    }
    FAIL() << "the request needs more than 5,000 allocations";
  }
  void sweep_read(const std::string& bytes, const std::string& fine, const std::string& holds, std::uint16_t port = 0) {
    sweep(
        bytes,
        [&](const std::string& answer) {
          if (is_of_the_server(answer)) return;
          EXPECT_EQ(answer, fine);
          EXPECT_NE(body_.find(holds), std::string::npos) << body_;
        },
        port);
  }
  /// `undo` makes the write possible again. `held` returns the part of its data that exists.
  void sweep_write(const std::string& bytes, const std::string& fine, const std::function<Held()>& held,
                   const std::function<void()>& undo) {
    sweep(bytes, [&](const std::string& answer) {
      const Held now = held();
      EXPECT_NE(now, Held::kPart) << answer;
      const bool is_refused_part = body_.find("HTTP/1.1 503") != std::string::npos;  // in a batch
      if (answer == "503 ServerBusy" || is_refused_part) {
        EXPECT_EQ(now, Held::kNothing) << answer;
      } else if (!is_of_the_server(answer)) {
        EXPECT_EQ(answer, fine);
        EXPECT_EQ(now, Held::kAll) << body_;
      }
      if (now != Held::kNothing) undo();
    });
  }
  Held held_of(const std::vector<std::string>& rows) const {
    std::size_t found = 0;
    for (const std::string& row : rows) found += value_in(*table_, "p", row) == "new" ? 1U : 0U;
    if (found == 0) return Held::kNothing;
    return found == rows.size() ? Held::kAll : Held::kPart;
  }
  void remove(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) EXPECT_EQ(said(table_->remove("p", row, ETag::any())), kFine);
  }

  io::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::unique_ptr<Server> server_;  // ends before the store
  std::string body_;
};

const Headers kJson = {{"Content-Type", "application/json"}};
constexpr const char* kNewRow = R"({"PartitionKey":"p","RowKey":"new","V":"new","Other":"some text of some length"})";

TEST_F(ServerOutOfMemory, InAReadIsTold) {
  sweep_read(signed_bytes("GET", "Orders(PartitionKey='p',RowKey='2')"), "200", R"("RowKey":"2")");
}

TEST_F(ServerOutOfMemory, InAPageIsTold) {
  sweep_read(signed_bytes("GET", "Orders()?$filter=V%20eq%20'x'&$top=2"), "200", R"("RowKey":"2")");
}

TEST_F(ServerOutOfMemory, InAReadByAPolicyIsTold) {
  security::TableSasTerms terms;
  terms.table = "Orders";
  terms.policy = "readers";
  const std::string token = security::to_query(*security::sign_table_sas(terms, credentials()));
  sweep_read(to_bytes(unsigned_request("GET", "Orders()?" + token, "", {})), "200", R"("RowKey":"3")");
}

TEST_F(ServerOutOfMemory, InAMalformedRequestIsTold) {
  sweep_read(signed_bytes("POST", "Orders", R"({"PartitionKey":"p",)", kJson), "400 InvalidInput", "InvalidInput");
  sweep_read("GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "400 InvalidUri", "InvalidUri");
}

TEST_F(ServerOutOfMemory, InAnAnswerInXmlIsTold) {
  sweep_read(signed_bytes("GET", "Orders?comp=acl"), "200", "</SignedIdentifiers>");
  sweep_read(signed_bytes("GET", "Nothing?comp=acl"), "404 TableNotFound", "</m:error>");
}

TEST_F(ServerOutOfMemory, InAPreflightIsTold) {
  sweep_read("OPTIONS /" + std::string(kAccount) +
                 "/Orders HTTP/1.1\r\nHost: x\r\nOrigin: http://shop.example\r\n"
                 "Access-Control-Request-Method: GET\r\n\r\n",
             "403 CorsPreflightFailure", "CorsPreflightFailure");
}

TEST_F(ServerOutOfMemory, InAnInsertIsToldAsItEnded) {
  sweep_write(
      signed_bytes("POST", "Orders", kNewRow, kJson), "201", [&] { return held_of({"new"}); },
      [&] { remove({"new"}); });
}

TEST_F(ServerOutOfMemory, InAMergeIsToldAsItEnded) {
  const auto undo = [&] { EXPECT_EQ(said(table_->insert_or_replace(with_value("p", "1", "x"))), kFine); };
  sweep_write(
      signed_bytes("MERGE", "Orders(PartitionKey='p',RowKey='1')", R"({"V":"new"})", kJson), "204",
      [&] { return held_of({"1"}); }, undo);
}

TEST_F(ServerOutOfMemory, InAChangeSetIsToldAsItEnded) {
  std::string body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n";
  for (const std::string row : {"new1", "new2"}) {
    body += "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPOST http://127.0.0.1/" +
            std::string(kAccount) + "/Orders HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" +
            R"({"PartitionKey":"p","RowKey":")" + row + R"(","V":"new"})" + "\r\n";
  }
  body += "--c--\r\n--b--\r\n";
  sweep_write(
      signed_bytes("POST", "$batch", body, {{"Content-Type", "multipart/mixed; boundary=b"}}), "202",
      [&] {
        return held_of({"new1", "new2"});
      },
      [&] {
        remove({"new1", "new2"});
      });
}

TEST_F(ServerOutOfMemory, InACreationOfATableIsToldAsItEnded) {
  sweep_write(
      signed_bytes("POST", "Tables", R"({"TableName":"Made"})", kJson), "201",
      [&] { return store_->open_table(kAccount, "Made").ok() ? Held::kAll : Held::kNothing; },
      [&] { EXPECT_EQ(said(store_->drop_table(kAccount, "Made")), kFine); });
}

TEST_F(ServerOutOfMemory, WhereSomebodyWatchesIsTold) {
  const std::uint16_t metrics = server_->metrics_port();
  sweep_read("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200", "\nvarve_uptime_seconds ", metrics);
  sweep_read("GET /_varve/api/status HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", "\"uptime_seconds\":");
}

TEST_F(ServerOutOfMemory, LeavesNoConnectionBehind) {
  sweep_read(signed_bytes("GET", "Orders()"), "200", R"("RowKey":"2")");
  server_->stop();  // waits for all of them
  EXPECT_EQ(store_->close().code(), Code::kOk);
}

}  // namespace
}  // namespace varve::serve::out_of_memory_test
