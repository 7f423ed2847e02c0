// Goal: clients that do not read answers use no more memory than the limit for all answers, and other clients are
// served.
// Method: crowds that send many requests ahead for each kind of large answer, with and without TLS.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::unread_test {
namespace {

using namespace test;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
/// The share of bodies and unread answers together, with --memory 64MiB.
constexpr std::uint64_t kAnswers = 16 * kMiB;
/// Further memory: the answers that each thread builds, as values and as text, and freed memory. Each arena of the
/// allocator keeps freed memory for ten seconds.
constexpr std::uint64_t kInTheMaking = 72 * kMiB;

std::string batch_with(const std::string& resource) {
  return "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET http://127.0.0.1" +
         ServiceBench::path_of(resource) + " HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b--\r\n";
}

struct Kind {
  const char* name;
  /// If JSON must escape all characters of a value, the answer is six times as long as the value.
  const char* letter;
  const char* resource;
  bool in_batch = false;
  bool with_tls = false;
};

std::string bytes_of(const Kind& kind) {
  if (!kind.in_batch) return signed_bytes("GET", kind.resource);
  return signed_bytes("POST", "$batch", batch_with(kind.resource), {{"Content-Type", "multipart/mixed; boundary=b"}});
}

class UnreadAnswers : public ::testing::TestWithParam<Kind> {
 protected:
  static constexpr int kClients = 40;
  static constexpr int kAhead = 12;

  static std::vector<std::string> words(const Certificate& certificate) {
    std::vector<std::string> words = {"--memory", "64MiB"};
    if (!GetParam().with_tls) return words;
    words.insert(words.end(), {"--tls-cert", certificate.certificate_path(), "--tls-key", certificate.key_path()});
    return words;
  }
  static std::string send(const ServedProgram& program, const std::string& bytes) {
    HttpClient client(program.port(), GetParam().with_tls, "127.0.0.9");
    if (!client.send(bytes)) return "closed";
    const std::optional<HttpResponse> response = client.read();
    return response ? outcome(*response) : "closed";
  }
  /// Fills a table with one small entity, and 20 entities of 120,000 letters.
  static void fill(const ServedProgram& program) {
    const Headers json = {{"Content-Type", "application/json"}, {"Prefer", "return-no-content"}};
    ASSERT_EQ(send(program, signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", json)), "204");
    ASSERT_EQ(send(program, signed_bytes("POST", "Orders", R"({"PartitionKey":"small","RowKey":"1"})", json)), "204");
    std::string text;
    for (int i = 0; i < 30'000; ++i) text += GetParam().letter;
    for (int row = 0; row < 20; ++row) {
      std::string body = R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + "\"";
      for (int i = 0; i < 4; ++i) body += ",\"P" + std::to_string(i) + "\":\"" + text + "\"";
      ASSERT_EQ(send(program, signed_bytes("POST", "Orders", body + "}", json)), "204");
    }
  }
  static std::uint64_t answered(const ServedProgram& program) {
    const std::string text = ask(program.metrics_port(), "/metrics", "127.0.0.7").body;
    const std::string name = "\nvarve_requests_total{";
    std::uint64_t sum = 0;
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      sum += std::stoull(text.substr(text.find("} ", at) + 2));
    }
    return sum;
  }
};

TEST_P(UnreadAnswers, HoldLittleMemoryAndOthersAreServed) {
  const Certificate certificate;
  ServedProgram program({words(certificate)});
  ASSERT_TRUE(program.is_ready()) << program.err();
  fill(program);
  const std::string bytes = bytes_of(GetParam());
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(send(program, bytes), GetParam().in_batch ? "202" : "200") << "who is alone has room";
  }
  const std::uint64_t peak_before = program.memory_peak();
  const std::uint64_t answered_before = answered(program);
  std::string ahead;
  for (int i = 0; i < kAhead; ++i) ahead += bytes;
  std::vector<std::unique_ptr<HttpClient>> crowd;
  for (int i = 0; i < kClients; ++i) {
    const std::string from = "127.0.0." + std::to_string(1 + i % 2);
    crowd.push_back(std::make_unique<HttpClient>(program.port(), GetParam().with_tls, from));
    (void)crowd.back()->send(ahead);
  }
  while (answered(program) < answered_before + kClients) {
  }
  EXPECT_EQ(send(program, signed_bytes("GET", "Orders(PartitionKey='small',RowKey='1')")), "200");
  EXPECT_EQ(send(program, signed_bytes("DELETE", "Orders(PartitionKey='p',RowKey='7')", "", {{"If-Match", "*"}})),
            "204");
  EXPECT_LT(program.memory_peak() - peak_before, kAnswers + kInTheMaking);
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0) << program.err();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, UnreadAnswers,
    ::testing::Values(Kind{"Pages", "x", "Orders()"}, Kind{"PagesOverTls", "x", "Orders()", false, true},
                      Kind{"EscapedPages", "\\u0001", "Orders()"},
                      Kind{"LargeEntities", "\\u0001", "Orders(PartitionKey='p',RowKey='3')"},
                      Kind{"LargeEntitiesInBatches", "\\u0001", "Orders(PartitionKey='p',RowKey='3')", true},
                      Kind{"PagesInBatches", "x", "Orders()", true}),
    [](const ::testing::TestParamInfo<Kind>& shown) { return shown.param.name; });

}  // namespace
}  // namespace varve::serve::unread_test
