// Goal: clients that withhold the end of bodies use no more memory than the limit. Other clients are served beside
// them, and beside clients that do not read answers.
// Method: crowds of such clients with a key and without one, from one address and from two.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"
#include "tools/serve/server.h"

namespace varve::serve::withheld_test {
namespace {

using namespace test;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
const Headers kJson = {{"Content-Type", "application/json"}};

std::string without_key(const std::string& body) {
  return to_bytes(unsigned_request("POST", "Orders", body));
}

/// Clients that send all but the last byte, each on a thread, until the server ends them.
class Crowd {
 public:
  Crowd(std::uint16_t port, int count, int addresses, const std::string& bytes) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, port, &bytes, from = "127.0.0." + std::to_string(1 + i % addresses)] {
        HttpClient client(port, false, from);
        (void)client.send(std::string_view(bytes).substr(0, bytes.size() - 1));
        ++sent_;
        const std::optional<HttpResponse> response = client.read();
        if (!response) ++cut_;
        if (response && response->status == 401) ++unknown_;
        if (response && response->status == 503) ++busy_;
      });
    }
  }
  ~Crowd() { join(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void await_sent(int count) const {
    while (sent_ < count) std::this_thread::yield();
  }
  int cut() const { return cut_; }
  int unknown() const { return unknown_; }
  int busy() const { return busy_; }

 private:
  std::atomic<int> sent_{0};
  std::atomic<int> cut_{0};
  std::atomic<int> unknown_{0};
  std::atomic<int> busy_{0};
  std::vector<std::thread> threads_;
};

std::string answer(std::uint16_t port, const std::string& bytes, const std::string& from) {
  HttpClient client(port, false, from);
  if (!client.send(bytes)) return "closed";
  const std::optional<HttpResponse> response = client.read();
  return response ? outcome(*response) : "closed";
}

struct Case {
  bool has_key;
  int addresses;
};

class WithheldBodies : public ::testing::TestWithParam<Case> {};

TEST_P(WithheldBodies, HoldLittleMemoryAndOthersAreServed) {
  constexpr int kClients = 60;
  const std::string body(3 * kMiB, ' ');
  const std::string bytes = GetParam().has_key ? signed_bytes("POST", "Orders", body) : without_key(body);
  ServedProgram program({{"--memory", "64MiB"}});  // bodies may use 16 MiB of it
  ASSERT_TRUE(program.is_ready()) << program.err();
  ASSERT_EQ(answer(program.port(), signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", kJson), "127.0.0.9"),
            "201");
  const std::uint64_t before = program.memory_peak();
  Crowd crowd(program.port(), kClients, GetParam().addresses, bytes);
  crowd.await_sent(GetParam().has_key ? kClients / 2 : kClients);
  // At first there may be no room for a large body. Stalled clients are cut off to make room.
  std::string large;
  do {
    large = answer(program.port(), signed_bytes("POST", "Orders", body), "127.0.0.9");
  } while (large == "503 ServerBusy");
  EXPECT_EQ(large, "400 InvalidInput") << "read whole, and found to be no JSON";
  std::string small;
  do {
    small = answer(program.port(), signed_bytes("GET", "Orders()"), "127.0.0.9");
  } while (small == "503 ServerBusy");
  EXPECT_EQ(small, "200");
  EXPECT_LT(program.memory_peak() - before, 64 * kMiB) << "of the 180 MiB that they would send";
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0) << program.err();
  crowd.join();
  EXPECT_EQ(crowd.unknown() > 0, !GetParam().has_key);
  EXPECT_EQ(crowd.cut() + crowd.busy() + crowd.unknown(), kClients);
}

INSTANTIATE_TEST_SUITE_P(Clients, WithheldBodies,
                         ::testing::Values(Case{false, 1}, Case{false, 2}, Case{true, 1}, Case{true, 2}),
                         [](const ::testing::TestParamInfo<Case>& shown) {
                           return std::string(shown.param.has_key ? "WithAKey" : "WithoutAKey") + "From" +
                                  std::to_string(shown.param.addresses);
                         });

}  // namespace
}  // namespace varve::serve::withheld_test
