// Goal: clients that open connections and leave them idle take neither the store's descriptors nor those of /health,
// for any limit of open files.
// Method: the program with that limit, with clients at one address and at two.
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::descriptor_flood_test {
namespace {

using namespace test;

/// Raises this process's limit of descriptors as far as possible while the object lives.
class ManyDescriptors {
 public:
  ManyDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit most{before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &most);
  }
  ~ManyDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  ManyDescriptors(const ManyDescriptors&) = delete;
  ManyDescriptors& operator=(const ManyDescriptors&) = delete;

 private:
  rlimit before_{};
};

std::string answer(HttpClient& client, const std::string& bytes) {
  if (!client.send(bytes)) return "closed";
  const std::optional<HttpResponse> response = client.read();
  return response ? outcome(*response) : "closed";
}

/// Returns an insert of an entity of about 450,000 bytes.
std::string large_insert(int row) {
  std::string body = R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + "\"";
  for (int i = 0; i < 15; ++i) body += ",\"P" + std::to_string(i) + "\":\"" + std::string(30'000, 'x') + "\"";
  return signed_bytes("POST", "Orders", body + "}",
                      {{"Content-Type", "application/json"}, {"Prefer", "return-no-content"}});
}

std::set<std::string> logs_of(const std::string& store) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(store)) {
    if (entry.path().extension() == ".wal") names.insert(entry.path().filename().string());
  }
  return names;
}

struct Flood {
  std::uint64_t limit;
  int addresses;
};

class DescriptorFlood : public ::testing::TestWithParam<Flood> {
 protected:
  static constexpr std::uint64_t kMore = 100;

  /// Opens more connections than there are descriptors, in turn from each address. Returns when the server has seen
  /// them all.
  void flood(const ServedProgram& program, std::uint64_t seen_before) {
    const std::uint64_t count = GetParam().limit + kMore;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string from = "127.0.0." + std::to_string(1 + i % static_cast<std::uint64_t>(GetParam().addresses));
      idle_.push_back(connect_from(from, program.port()));
    }
    for (std::uint64_t i = 0; i < kMore; ++i) idle_.push_back(connect_from("127.0.0.1", program.metrics_port()));
    std::uint64_t seen = 0;
    do {
      const std::string text = ask(program.metrics_port(), "/metrics", "127.0.0.7").body;
      ASSERT_NE(text, "") << "the door for those who watch is shut";
      seen = metric(text, "varve_connections_accepted_total") + metric(text, "varve_connections_refused_total");
      open_ = metric(text, "varve_connections");
    } while (seen < seen_before + count);
  }

  const ManyDescriptors many_;
  std::vector<Descriptor> idle_;
  std::uint64_t open_ = 0;
};

TEST_P(DescriptorFlood, TakesNothingOfTheStoreAndOfThoseWhoWatch) {
  constexpr int kRows = 100;  // more than the write buffer and a log can hold
  ServedProgram program({{"--memory", "128MiB"}, StreamState::kWritten, StreamState::kWritten, GetParam().limit});
  ASSERT_TRUE(program.is_ready()) << program.err();
  HttpClient kept(program.port(), false, "127.0.0.9");
  ASSERT_EQ(
      answer(kept, signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", {{"Content-Type", "application/json"}})),
      "201");
  const std::set<std::string> logs = logs_of(program.data());
  flood(program, 1);
  EXPECT_LE(open_, GetParam().limit);
  EXPECT_GE(open_, 2U);

  if (GetParam().addresses == 1) {  // two halves are the whole
    HttpClient late(program.port(), false, "127.0.0.8");
    EXPECT_EQ(answer(late, signed_bytes("GET", "Tables")), "200");
  }
  for (int row = 0; row < kRows; ++row) ASSERT_EQ(answer(kept, large_insert(row)), "204") << row;
  EXPECT_NE(logs_of(program.data()), logs) << "the log never rolled: the test shows nothing";
  const Asked health = ask(program.metrics_port(), "/health", "127.0.0.7");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body, "healthy\n");
  program.signal(SIGTERM);
  const std::string data = program.data();
  EXPECT_EQ(program.finish(), 0) << program.err();
  const Result<std::unique_ptr<Store>> store = Store::open(data, {});
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ((*(*(*store)->open_table(kAccount, "Orders")).count({})).entities, static_cast<std::uint64_t>(kRows));
}

INSTANTIATE_TEST_SUITE_P(Limits, DescriptorFlood,
                         ::testing::Values(Flood{64, 1}, Flood{64, 2}, Flood{128, 1}, Flood{128, 2}, Flood{256, 1},
                                           Flood{256, 2}, Flood{1024, 1}, Flood{1024, 2}),
                         [](const ::testing::TestParamInfo<Flood>& shown) {
                           return std::to_string(shown.param.limit) + "From" + std::to_string(shown.param.addresses);
                         });

TEST(DescriptorLimits, ThatAreTooLowAreRefusedWithTheNumberThatIsEnough) {
  for (const std::uint64_t limit : {24U, 40U}) {
    ServedProgram program({{}, StreamState::kWritten, StreamState::kWritten, limit});
    EXPECT_FALSE(program.is_ready());
    EXPECT_EQ(program.finish(), 4);
    EXPECT_THAT(program.err(), ::testing::HasSubstr("open")) << limit;
  }
}

}  // namespace
}  // namespace varve::serve::descriptor_flood_test
