// Goal: the program trusts a server by its certificate, shows only what its signature permits, and leaves nothing half
// done if a key is wrong or a server dies.
// Method: server and program run as processes. Certificates and signatures are made by the test.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/security/security_bench.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/variable.h"
#include "tests/tools/run_program.h"

namespace varve::serve::remote_access_test {
namespace {

namespace fs = std::filesystem;
using namespace varve::test;
using test::Certificate;
using test::ProgramOptions;
using test::ServedProgram;
using test::Variable;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

std::string address_of(const ServedProgram& server, const std::string& scheme = "http") {
  return scheme + "://127.0.0.1:" + std::to_string(server.port()) + "/" + std::string(kAccount);
}

ProgramOptions with_tls(const Certificate& certificate) {
  return {{"--tls-cert", certificate.certificate_path(), "--tls-key", certificate.key_path()}};
}

std::string rows(int count) {
  std::string text;
  for (int row = 0; row < count; ++row)
    text += R"({"PartitionKey":"p)" + std::to_string(row % 3) + R"(","RowKey":")" + std::to_string(100'000 + row) +
            R"(","N":)" + std::to_string(row) + "}\n";
  return text;
}

TEST(RemoteAccess, ByHttpsTrustsTheAuthoritiesOfItsFileAlone) {
  const Certificate certificate;
  const Certificate other;
  const ServedProgram server(with_tls(certificate));
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string address = address_of(server, "https");
  const auto with = [](Words words, const std::string& authorities) {
    words.insert(words.end(), {"--ca-file", authorities});
    return run_program(words);
  };
  const std::string trusted = certificate.certificate_path();
  EXPECT_EQ(with({"put", address, "Orders", "eu", "0001", "Lines=3"}, trusted).exit_code, 0);
  EXPECT_THAT(with({"get", address, "Orders", "eu", "0001"}, trusted).out, HasSubstr("Lines"));
  EXPECT_EQ(with({"count", address, "Orders"}, trusted).out, "1\n");
  EXPECT_EQ(with({"table", "list", address}, trusted).out, "Orders\n");
  const ScratchDirectory scratch;
  EXPECT_THAT(with({"pull", address, scratch.path("copy")}, trusted).out, HasSubstr("1 written; compared, equal"));
  EXPECT_THAT(with({"push", scratch.path("copy"), address}, trusted).out, HasSubstr("0 written; compared, equal"));

  const Words get = {"get", address, "Orders", "eu", "0001"};
  const ProgramResult untrusted = run_program(get);
  EXPECT_EQ(untrusted.exit_code, 4);
  EXPECT_THAT(untrusted.err, HasSubstr("no answer from https://127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(untrusted.err, HasSubstr("certificate"));
  EXPECT_EQ(with(get, other.certificate_path()).exit_code, 4);
  EXPECT_EQ(with(get, scratch.path("absent.pem")).exit_code, 4);
  EXPECT_EQ(with(get, scratch.file("text.pem", "no certificate")).exit_code, 4);
  EXPECT_NE(with({"get", address_of(server), "Orders", "eu", "0001"}, trusted).exit_code, 0) << "plain HTTP";
}

TEST(RemoteAccess, ByHttpsRefusesACertificateOfAnotherHost) {
  const Certificate elsewhere(Certificate::Kind::kEllipticCurve, "DNS:elsewhere.example,IP:127.0.0.2");
  const ServedProgram server(with_tls(elsewhere));
  ASSERT_TRUE(server.is_ready()) << server.err();
  const ProgramResult refused =
      run_program({"table", "list", address_of(server, "https"), "--ca-file", elsewhere.certificate_path()});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("no answer from https://"));
}

TEST(RemoteAccess, ByHttpsToAServerWithoutTlsFails) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  EXPECT_EQ(run_program({"table", "list", address_of(server, "https")}).exit_code, 4);
}

/// A served table with one entity, and signatures for it.
class Signed : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    ASSERT_EQ(run_program({"put", server_.data(), "Orders", "eu", "0001", "Lines=3"}).exit_code, 0);
  }
  /// Returns a signature to read Orders.
  static std::string reading(const std::string& until = "2100-01-01T00:00:00Z", std::string_view key = kKeyText) {
    security::TableSasTerms terms;
    terms.table = "Orders";
    terms.permissions = *Permissions::parse("r");
    terms.expiry = at(until);
    return security::to_query(*security::sign_table_sas(terms, credentials(key, {})));
  }
  std::string secret_file(const std::string& content) const {
    const std::string path = scratch_.file("secret", content + "\n");
    EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
    return path;
  }
  /// The signature permits reading and nothing else, so it was used.
  void expect_reads_alone(const std::string& address, const Words& more = {}) const {
    const auto with = [&more](Words words) {
      words.insert(words.end(), more.begin(), more.end());
      return run_program(words);
    };
    EXPECT_EQ(with({"count", address, "Orders"}).out, "1\n");
    EXPECT_THAT(with({"get", address, "Orders", "eu", "0001"}).out, HasSubstr("Lines"));
    EXPECT_THAT(with({"export", address, "Orders"}).out, HasSubstr("\"Lines\":3"));
    const ProgramResult refused = with({"put", address, "Orders", "eu", "0002", "Lines=3"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("AuthorizationPermissionMismatch"));
    EXPECT_THAT(refused.err, Not(HasSubstr("sig="))) << "no message shows a signature";
  }

  const ServedProgram server_{ProgramOptions{}};
  const std::string address_ = address_of(server_);
  ScratchDirectory scratch_;
};

TEST_F(Signed, AccessTakesTheSignatureFromAFileTheEnvironmentAConnectionStringOrTheAddress) {
  const std::string signature = reading();
  expect_reads_alone(address_, {"--key-file", secret_file(signature)});
  expect_reads_alone(address_, {"--key-file", secret_file("?" + signature)});
  expect_reads_alone(address_ + "?" + signature);
  const std::string connection = "TableEndpoint=" + address_ + ";SharedAccessSignature=" + signature;
  expect_reads_alone(address_, {"--key-file", secret_file(connection)});
  {
    const Variable by_signature("AZURE_STORAGE_SAS_TOKEN", signature);
    expect_reads_alone(address_);
  }
  const Variable by_connection("AZURE_STORAGE_CONNECTION_STRING", connection);
  expect_reads_alone(address_);
}

TEST_F(Signed, AccessWithAFilterThatTheServerDeniesNamesTheOption) {
  const std::string address = address_ + "?" + reading();
  EXPECT_EQ(run_program({"count", address, "Orders", "--filter", "Lines eq 3"}).out, "1\n");
  for (const char* const filter : {"startswith(RowKey,'0')", "Lines in (1,3)"}) {
    const ProgramResult refused = run_program({"count", address, "Orders", "--filter", filter});
    EXPECT_NE(refused.exit_code, 0) << filter;
    EXPECT_THAT(refused.err, HasSubstr("--extensions allow")) << filter;
    EXPECT_EQ(run_program({"count", server_.data(), "Orders", "--filter", filter}).out, "1\n") << "its owner may";
  }
  EXPECT_THAT(run_program({"count", address, "Orders", "--filter", "Lines eq"}).err, Not(HasSubstr("--extensions")));
}

TEST_F(Signed, AccessToIndexesAndAnOrderNeedsAServerThatAllowsExtensions) {
  security::AccountSasTerms terms;
  terms.resource_types = "sco";
  terms.permissions = "rwdlac";
  terms.expiry = at("2100-01-01T00:00:00Z");
  const std::string signature = security::to_query(*security::sign_account_sas(terms, credentials()));
  const std::string address = address_ + "?" + signature;
  const Words ordered = {"--order-by", "Lines desc", "--top", "1", "--select", "Lines", "--json"};
  const auto queried = [&ordered](const std::string& place, const Words& more = {}) {
    Words words = {"query", place, "Orders"};
    words.insert(words.end(), ordered.begin(), ordered.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const std::string key = secret_file(std::string(kKeyText));
  const auto by_key = [&key](Words words) {
    words.insert(words.end(), {"--key-file", key});
    return run_program(words);
  };
  for (const char* const verb : {"list", "create", "drop"}) {
    const auto words_at = [verb](const std::string& place) {
      Words words{"index", verb, place, "Orders"};
      if (verb != std::string("list")) words.emplace_back("ByLines");
      if (verb == std::string("create")) words.insert(words.end(), {"--on", "Lines"});
      return words;
    };
    const ProgramResult refused = by_key(words_at(address_));
    EXPECT_NE(refused.exit_code, 0) << verb;
    EXPECT_THAT(refused.err, HasSubstr("--extensions allow")) << verb;
    EXPECT_THAT(run_program(words_at(address)).err, HasSubstr("with the account key")) << verb;
  }
  EXPECT_THAT(queried(address).err, HasSubstr("--extensions allow"));
  EXPECT_EQ(run_program({"index", "create", server_.data(), "Orders", "ByRow", "--on", "RowKey"}).exit_code, 0)
      << "its owner may";
  EXPECT_THAT(run_program({"index", "list", server_.data(), "Orders"}).out, HasSubstr("ByRow  ready  RowKey"));

  const ServedProgram allowing(ProgramOptions{.words = {"--extensions", "allow"}});
  ASSERT_TRUE(allowing.is_ready()) << allowing.err();
  for (const char* const row : {"1", "2", "3"}) {
    ASSERT_EQ(run_program({"put", allowing.data(), "Orders", "eu", row, "Lines=" + std::string(row)}).exit_code, 0);
  }
  const std::string other = address_of(allowing) + "?" + signature;
  const std::string allowed = address_of(allowing);
  const ProgramResult made =
      by_key({"index", "create", allowed, "Orders", "ByLines", "--on", "Lines:desc,Timestamp", "--carry", "Paid"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(by_key({"index", "list", allowed, "Orders", "--json"}).out,
            R"({"name":"ByLines","state":"ready","components":["Lines:desc","Timestamp"],"carried":["Paid"],)"
            R"("unique":false,"failure":""})"
            "\n");
  const ProgramResult first = queried(other);
  EXPECT_THAT(first.out, HasSubstr(R"("Lines":3)")) << first.err;
  const std::size_t token = first.err.find("3!");
  ASSERT_NE(token, std::string::npos) << first.err;
  const std::string continuation = first.err.substr(token, first.err.find('\'', token) - token);
  EXPECT_THAT(queried(other, {"--continuation", continuation}).out, HasSubstr(R"("Lines":2)"));
  EXPECT_EQ(by_key({"index", "drop", allowed, "Orders", "ByLines"}).exit_code, 0);
  const ProgramResult absent = by_key({"index", "drop", allowed, "Orders", "ByLines"});
  EXPECT_THAT(absent.err, HasSubstr("ResourceNotFound"));
}

TEST_F(Signed, AccessOfAnAccountsSignatureCopiesTheAccount) {
  security::AccountSasTerms terms;
  terms.resource_types = "co";
  terms.permissions = "rl";
  terms.expiry = at("2100-01-01T00:00:00Z");
  const std::string address = address_ + "?" + security::to_query(*security::sign_account_sas(terms, credentials()));
  EXPECT_EQ(run_program({"table", "list", address}).out, "Orders\n");
  const ProgramResult pulled = run_program({"pull", address, scratch_.path("copy")});
  EXPECT_EQ(pulled.exit_code, 0) << pulled.err;
  EXPECT_THAT(pulled.out, HasSubstr("1 written; compared, equal"));
}

TEST_F(Signed, AccessThatIsRefusedChangesAndMakesNothing) {
  const std::string copy = scratch_.path("copy");
  const std::string wrong_key = secret_file("d3Jvbmcga2V5");
  const struct {
    std::string address;
    Words more;
  } refusals[] = {{address_, {"--key-file", wrong_key}},
                  {address_ + "?" + reading("2020-01-01T00:00:00Z"), {}},
                  {address_ + "?" + reading("2100-01-01T00:00:00Z", kOtherKeyText), {}},
                  {address_ + "?" + reading() + "x", {}}};
  const Words verbs[] = {{"get", "", "Orders", "eu", "0001"},
                         {"count", "", "Orders"},
                         {"put", "", "Orders", "eu", "0001", "Lines=4"},
                         {"delete", "", "Orders", "eu", "0001"},
                         {"export", "", "Orders"},
                         {"table", "drop", "", "Orders"},
                         {"pull", "", copy},
                         {"pull", "", copy, "--table", "Orders"}};
  for (const auto& refusal : refusals) {
    for (Words words : verbs) {
      std::find(words.begin(), words.end(), "")->assign(refusal.address);
      words.insert(words.end(), refusal.more.begin(), refusal.more.end());
      const ProgramResult refused = run_program(words);
      EXPECT_EQ(refused.exit_code, 1) << words.front() << " " << refusal.address << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("AuthenticationFailed")) << words.front();
      EXPECT_THAT(refused.err, Not(HasSubstr("sig=")));
    }
  }
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_THAT(run_program({"get", address_, "Orders", "eu", "0001"}).out, HasSubstr("3"));
}

TEST(RemoteAccess, ToAServerThatDiesInAPullIsAnErrorAndTheNextRunContinues) {
  constexpr int kRows = 60'000;
  const ScratchDirectory scratch;
  const std::string copy = scratch.path("copy");
  ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  ASSERT_EQ(run_program({"import", server.data(), "Rows", "-", "--format", "jsonl"}, rows(kRows)).exit_code, 0);
  RunningProgram pull({"pull", address_of(server), copy});
  constexpr std::uint64_t kPagesBefore = 8;
  constexpr const char* kPages = "varve_requests_total{operation=\"QueryEntities\",status=\"200\"}";
  while (test::metric(test::ask(server.metrics_port(), "/metrics").body, kPages) < kPagesBefore) {
  }
  server.signal(SIGKILL);
  const ProgramResult died = pull.finish();
  server.finish();
  EXPECT_EQ(died.exit_code, 4);
  EXPECT_THAT(died.err, HasSubstr("run it again to continue"));
  EXPECT_THAT(died.err, HasSubstr("no answer from http://"));
  EXPECT_EQ(run_program({"verify", copy}).exit_code, 0);
  EXPECT_LT(std::stoi(run_program({"count", copy, "Rows"}).out), kRows);
  const ProgramResult again = run_program({"pull", server.data(), copy});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("compared, equal"));
  EXPECT_EQ(run_program({"count", copy, "Rows"}).out, std::to_string(kRows) + "\n");
}

}  // namespace
}  // namespace varve::serve::remote_access_test
