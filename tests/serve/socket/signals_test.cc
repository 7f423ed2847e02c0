// Goal: for any signals and any readers of its output, the server ends only by SIGTERM or SIGINT, with code 0. Every
// request that was begun gets a true answer.
// Method: the program, with every pair of states of its two streams, and with sequences of signals, some of which
// arrive while it is ending.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::signals_test {
namespace {

using namespace test;
using Signals = std::vector<int>;

const Headers kJson = {{"Content-Type", "application/json"}};

/// A request that waits for the server to ask for its body.
class BegunInsert {
 public:
  BegunInsert(std::uint16_t port, const std::string& row) : client_(port) {
    Headers headers = kJson;
    headers.emplace_back("Expect", "100-continue");
    const std::string padding(20'000, 'x');  // too large to be read together with the headers
    bytes_ = signed_bytes("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row + R"(","V":")" + padding + "\"}",
                          headers);
    body_ = bytes_.find("\r\n\r\n") + 4;
  }
  bool begin() {
    if (!client_.send(bytes_.substr(0, body_))) return false;
    const std::optional<HttpResponse> response = client_.read();
    return response && response->status == 100;
  }
  void send_body() { (void)client_.send(bytes_.substr(body_)); }
  /// Returns the status, or 0 if there is none.
  int status() {
    const std::optional<HttpResponse> response = client_.read();
    return response ? response->status : 0;
  }

 private:
  HttpClient client_;
  std::string bytes_;
  std::size_t body_ = 0;
};

/// Causes lines of the log that no process may read.
void be_refused_often(std::uint16_t port) {
  constexpr int kTimes = 40;
  HttpClient client(port);
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(client.send("GET /devstoreaccount1/Tables?x=" + std::string(3'000, 'x') +
                            " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
    const std::optional<HttpResponse> response = client.read();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 401);
  }
}

bool holds(const std::string& data, const std::string& row) {
  const Result<std::unique_ptr<Store>> store = Store::open(data, {});
  EXPECT_TRUE(store.ok()) << store.status().to_string();
  return store.ok() && (*(*(*store)->open_table(kAccount, "Orders")).get("p", row)).has_value();
}

void end_by(const Signals& signals, StreamState out, StreamState err) {
  ServedProgram program({{"--request-log", "all"}, out, err, std::nullopt});
  ASSERT_TRUE(program.is_ready());
  HttpClient client(program.port());
  ASSERT_TRUE(client.send(signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", kJson)));
  ASSERT_EQ(client.read()->status, 201);
  be_refused_often(program.port());
  BegunInsert begun(program.port(), "begun");
  BegunInsert withheld(program.port(), "withheld");
  ASSERT_TRUE(begun.begin());
  ASSERT_TRUE(withheld.begin());
  program.signal(signals.front());
  begun.send_body();
  const int status = begun.status();
  for (std::size_t i = 1; i < signals.size(); ++i) program.signal(signals[i]);
  // If a request was slower than the server's patience, as on a busy machine, the answer reports that nothing was done.
  EXPECT_TRUE(status == 201 || status == 503) << status;
  EXPECT_EQ(withheld.status(), 503);
  EXPECT_EQ(program.finish(), 0);
  EXPECT_EQ(holds(program.data(), "begun"), status == 201);
  EXPECT_FALSE(holds(program.data(), "withheld"));
}

const std::vector<Signals> kSequences = {
    {SIGTERM},
    {SIGINT},
    {SIGTERM, SIGTERM},
    {SIGTERM, SIGINT, SIGHUP},
    {SIGINT, SIGHUP, SIGUSR1, SIGPIPE},
    {SIGHUP, SIGUSR1, SIGUSR2, SIGTERM},
    {SIGPIPE, SIGXFSZ, SIGINT, SIGINT},
};

TEST(ServerSignals, EndItByTheirOwnMeaningWhoeverReadsItsStreams) {
  std::vector<std::thread> threads;
  std::size_t turn = 0;
  for (const StreamState out : kStreamStates) {
    threads.emplace_back([out, first = turn++] {
      std::size_t place = first;
      for (const StreamState err : kStreamStates) end_by(kSequences[place++ % kSequences.size()], out, err);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ServerSignals, OfEverySequenceAreAnsweredWithFullStreams) {
  std::vector<std::thread> threads;
  for (const Signals& signals : kSequences) {
    threads.emplace_back([&signals] { end_by(signals, StreamState::kFullPipe, StreamState::kFullPipe); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ServerSignals, ThatChangeNothingAreLogged) {
  ServedProgram program({});
  ASSERT_TRUE(program.is_ready());
  program.signal(SIGUSR1);
  EXPECT_EQ(ask(program.metrics_port(), "/health").status, 200);
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0);
  EXPECT_NE(program.err().find("SIGUSR1 was ignored"), std::string::npos) << program.err();
  EXPECT_NE(program.out().find("varve: serving"), std::string::npos) << program.out();
}

}  // namespace
}  // namespace varve::serve::signals_test
