// Goal: a running server takes new keys, certificates and settings over at one moment, without a failed request. If
// anything is wrong with them, everything old stays.
// Method: the program with a configuration file, clients that send requests without a pause, and SIGHUP.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::reload_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDone = "varve_config_reloads_total{result=\"success\"}";
constexpr const char* kFailed = "varve_config_reloads_total{result=\"failure\"}";
const std::string kFirst(kKeyText);
const std::string kSecond(kSecondKeyText);
const std::string kThird(kOtherKeyText);

/// Returns a request for the list of tables, signed with `key`.
std::string signed_by(const std::string& key, const std::string& resource = "Tables") {
  HttpRequest request = unsigned_request("GET", resource);
  request.head.headers.emplace_back(
      "Authorization", *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, request.head,
                                                           credentials(key, {})));
  return to_bytes(request);
}

/// Returns a request for the entities of Orders with a SAS that `key` signed.
std::string sas_request(const std::string& key) {
  security::TableSasTerms terms;
  terms.table = "Orders";
  terms.permissions = *Permissions::parse("r");
  terms.expiry = at("2100-01-01T00:00:00Z");
  const std::string query = security::to_query(*security::sign_table_sas(terms, credentials(key, {})));
  return to_bytes(unsigned_request("GET", "Orders()?" + query));
}

std::string answer_of(HttpClient& client, const std::string& bytes) {
  if (!client.send(bytes)) return "closed";
  const std::optional<HttpResponse> response = client.read();
  return response ? outcome(*response) : "closed";
}

std::string answer_to(std::uint16_t port, const std::string& bytes, bool with_tls = true) {
  HttpClient client(port, with_tls);
  return answer_of(client, bytes);
}

/// Returns the certificate that the server presents, as PEM.
std::string presented(std::uint16_t port) {
  const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context(::SSL_CTX_new(::TLS_client_method()),
                                                                    &::SSL_CTX_free);
  const Descriptor socket = connect_from("127.0.0.1", port);
  const std::unique_ptr<SSL, decltype(&::SSL_free)> session(::SSL_new(context.get()), &::SSL_free);
  ::SSL_set_fd(session.get(), socket.number());
  if (::SSL_connect(session.get()) != 1) return "";
  X509* const certificate = ::SSL_get1_peer_certificate(session.get());
  BIO* const bytes = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509(bytes, certificate);
  char* text = nullptr;
  const long size = ::BIO_get_mem_data(bytes, &text);
  std::string made(text, static_cast<std::size_t>(size));
  ::BIO_free(bytes);
  ::X509_free(certificate);
  return made;
}

/// A server with TLS, a configuration file, and one account whose keys are in a file.
class ReloadedServer {
 public:
  explicit ReloadedServer(const std::vector<std::string>& words = {}) {
    write_keys(kFirst + ":" + kSecond);
    use(first_);
    write_config(config());
    std::vector<std::string> all = {"--config", config_path()};
    all.insert(all.end(), words.begin(), words.end());
    program_.emplace(ProgramOptions{std::move(all)});
    EXPECT_TRUE(program_->is_ready()) << program_->err();
  }

  ServedProgram& program() { return *program_; }
  std::uint16_t port() { return program_->port(); }
  std::string config_path() const { return files_.path("serve.toml"); }
  std::string path(const std::string& name) const { return files_.path(name); }
  /// Returns the valid configuration: the account on line 2, the certificate on line 3, its key on line 4.
  std::string config() const {
    return "request-log = \"off\"\naccount = [\"" + std::string(kAccount) + ":@" + path("keys") + "\"]\ntls-cert = \"" +
           path("chain.pem") + "\"\ntls-key = \"" + path("key.pem") + "\"\n";
  }
  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    // A new file replaces the old one, as tools for certificates do it.
    const std::string made = files_.file(name + ".new", text);
    EXPECT_EQ(::chmod(made.c_str(), mode), 0);
    std::filesystem::rename(made, path(name));
  }
  void write_config(const std::string& text) const { write("serve.toml", text, 0644); }
  void write_keys(const std::string& keys) const { write("keys", keys + "\n"); }
  void use(const Certificate& certificate) const {
    write("chain.pem", varve::test::content_of(certificate.certificate_path()), 0644);
    write("key.pem", varve::test::content_of(certificate.key_path()));
  }
  void restore() const {
    write_config(config());
    write_keys(kFirst + ":" + kSecond);
    use(first_);
  }

  std::uint64_t count(const char* name) { return metric(ask(program_->metrics_port(), "/metrics").body, name); }
  /// Sends SIGHUP and waits until it has had its effect. Returns whether the reload succeeded.
  bool reload() {
    const std::uint64_t done = count(kDone);
    const std::uint64_t failed = count(kFailed);
    program_->signal(SIGHUP);
    for (;;) {
      const Asked metrics = ask(program_->metrics_port(), "/metrics");
      if (metric(metrics.body, kDone) > done) return true;
      if (metric(metrics.body, kFailed) > failed || metrics.status != 200) return false;
    }
  }

  /// Returns the log after `begin`, as soon as it has the text. A thread of the server writes the log. If the text does
  /// not come, returns the log at the end of the program.
  std::string log_with(const std::string& text, std::size_t begin = 0) {
    for (;;) {
      const bool is_alive = ask(program_->metrics_port(), "/health").status == 200;
      const std::string log = program_->err().substr(begin);
      if (log.find(text) != std::string::npos || !is_alive) return log;
    }
  }

  const Certificate first_;
  const Certificate second_;

 private:
  varve::test::ScratchDirectory files_;
  std::optional<ServedProgram> program_;
};

void make_orders(ReloadedServer& server) {
  HttpRequest request =
      unsigned_request("POST", "Tables", R"({"TableName":"Orders"})", {{"Content-Type", "application/json"}});
  request.head.headers.emplace_back(
      "Authorization", *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, request.head,
                                                           credentials(kFirst, {})));
  ASSERT_EQ(answer_to(server.port(), to_bytes(request)), "201");
}

/// Rotates the certificate and a key `reloads` times while two clients send requests without a pause.
void reload_under_load(int reloads) {
  ReloadedServer server;
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> failed{0};
  std::vector<std::thread> clients;
  const auto expect_answer = [&](HttpClient& client) {
    ++(answer_of(client, signed_by(kSecond)) == "200" ? answered : failed);
  };
  clients.emplace_back([&] {
    HttpClient client(server.port(), true);
    while (!ends) expect_answer(client);
  });
  clients.emplace_back([&] {
    while (!ends) {
      HttpClient client(server.port(), true);
      expect_answer(client);
      expect_answer(client);
    }
  });
  for (int i = 0; i < reloads; ++i) {
    const bool is_odd = i % 2 == 1;
    server.use(is_odd ? server.first_ : server.second_);
    server.write_keys((is_odd ? kFirst : kThird) + ":" + kSecond);
    EXPECT_TRUE(server.reload()) << server.program().err();
    EXPECT_EQ(presented(server.port()),
              varve::test::content_of((is_odd ? server.first_ : server.second_).certificate_path()));
    EXPECT_EQ(answer_to(server.port(), signed_by(is_odd ? kThird : kFirst)), "403 AuthenticationFailed");
  }
  ends = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0U);
  EXPECT_GT(answered, static_cast<std::uint64_t>(reloads));
  EXPECT_EQ(server.count(kDone), static_cast<std::uint64_t>(reloads));
  EXPECT_EQ(server.count(kFailed), 0U);
  std::cout << reloads << " reloads of certificate and keys: " << answered << " requests answered, " << failed
            << " failed\n";
}

TEST(Reload, UnderLoadFailsNoRequest) {
  reload_under_load(12);
}

TEST(ReloadLong, UnderLoadFailsNoRequest) {
  reload_under_load(150);
}

TEST(Reload, RefusesARemovedKeyAndItsSignaturesOnOpenConnections) {
  ReloadedServer server;
  make_orders(server);
  HttpClient open(server.port(), true);
  const std::string sas = sas_request(kFirst);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answer_of(open, signed_by(kFirst)), "200");
    EXPECT_EQ(answer_of(open, sas), "200") << "verified once, and known afterwards";
  }
  server.write_keys(kSecond);
  ASSERT_TRUE(server.reload());
  EXPECT_EQ(answer_of(open, signed_by(kFirst)), "403 AuthenticationFailed");
  EXPECT_EQ(answer_of(open, sas), "403 AuthenticationFailed");
  EXPECT_EQ(answer_of(open, signed_by(kSecond)), "200");
  EXPECT_EQ(answer_of(open, sas_request(kSecond)), "200");
}

TEST(Reload, TakesOverWhetherFiltersMayHaveExtensions) {
  ReloadedServer server;
  HttpClient open(server.port(), true);
  const std::string request = signed_by(kFirst, "Tables?$filter=startswith(TableName,'a')");
  EXPECT_EQ(answer_of(open, request), "501 NotImplemented");
  server.write_config(server.config() + "extensions = \"allow\"\n");
  ASSERT_TRUE(server.reload()) << server.program().err();
  EXPECT_EQ(answer_of(open, request), "200");
  server.write_config(server.config() + "extensions = \"maybe\"\n");
  EXPECT_FALSE(server.reload());
  EXPECT_EQ(answer_of(open, request), "200");
  server.write_config(server.config());
  ASSERT_TRUE(server.reload()) << server.program().err();
  EXPECT_EQ(answer_of(open, request), "501 NotImplemented");
}

TEST(Reload, AddsAndRemovesAccounts) {
  ReloadedServer server;
  const std::string both =
      "account = [\"" + std::string(kAccount) + ":@" + server.path("keys") + "\", \"other:env=HOME\"]\n";
  const std::string config = server.config();
  const std::string rest = config.substr(config.find("tls-cert"));
  server.write_config(both + rest);
  EXPECT_FALSE(server.reload()) << "HOME is no key";
  server.write("other", kThird + "\n");
  server.write_config("account = [\"other:@" + server.path("other") + "\"]\n" + rest);
  HttpClient open(server.port(), true);
  EXPECT_EQ(answer_of(open, signed_by(kFirst)), "200");
  ASSERT_TRUE(server.reload()) << server.program().err();
  EXPECT_EQ(answer_of(open, signed_by(kFirst)), "404 ResourceNotFound") << "the account is gone";
  server.restore();
  ASSERT_TRUE(server.reload());
  EXPECT_EQ(answer_of(open, signed_by(kFirst)), "200");
}

struct BadReload {
  const char* name;
  std::function<void(const ReloadedServer& server)> spoil;
  /// A part of the line in the log, after the name of the configuration file.
  std::string reason;
};

std::string encrypted_key() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  BIO* const bytes = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_PrivateKey(bytes, key, ::EVP_aes_128_cbc(), reinterpret_cast<const unsigned char*>("pass"), 4,
                             nullptr, nullptr);
  char* text = nullptr;
  const long size = ::BIO_get_mem_data(bytes, &text);
  std::string made(text, static_cast<std::size_t>(size));
  ::BIO_free(bytes);
  ::EVP_PKEY_free(key);
  return made;
}

std::vector<BadReload> bad_reloads() {
  const auto append = [](const char* line) {
    return [line](const ReloadedServer& server) { server.write_config(server.config() + line + "\n"); };
  };
  return {
      {"not TOML", append("metrics = "), ":5: "},
      {"an unknown option", append("lisen = \"x\""), ":5: there is no option \"lisen\"; did you mean \"listen\"?"},
      {"a wrong type", append("memory = 5"), ":5: memory must be a text"},
      {"a wrong value", append("drain-seconds = 1"), ":5: drain-seconds: "},
      {"an option twice", append("request-log = \"all\""), ":5: "},
      {"no file", [](const ReloadedServer& server) { std::filesystem::remove(server.config_path()); },
       "does not exist"},
      {"no accounts",
       [](const ReloadedServer& server) {
         const std::string config = server.config();
         server.write_config(config.substr(config.find("tls-cert")));
       },
       "development account"},
      {"no TLS",
       [](const ReloadedServer& server) {
         const std::string config = server.config();
         server.write_config(config.substr(0, config.find("tls-cert")));
       },
       "TLS begins and ends"},
      {"a certificate without its key",
       [](const ReloadedServer& server) {
         const std::string config = server.config();
         server.write_config(config.substr(0, config.find("tls-key")));
       },
       ":3: --tls-cert requires --tls-key"},
      {"a certificate that does not parse",
       [](const ReloadedServer& server) { server.write("chain.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n", 0644); },
       ":3: the certificate "},
      {"a missing certificate", [](const ReloadedServer& server) { std::filesystem::remove(server.path("chain.pem")); },
       ":3: the certificate "},
      {"a private key of another certificate",
       [](const ReloadedServer& server) { server.write("key.pem", varve::test::content_of(server.first_.key_path())); },
       ":4: the private key "},
      {"a private key of another kind",
       [](const ReloadedServer& server) {
         server.write("key.pem", varve::test::content_of(Certificate(Certificate::Kind::kRsa).key_path()));
       },
       ":4: the private key "},
      {"a private key with a pass phrase",
       [](const ReloadedServer& server) { server.write("key.pem", encrypted_key()); }, ":4: the private key "},
      {"an open private key",
       [](const ReloadedServer& server) {
         server.write("key.pem", varve::test::content_of(server.first_.key_path()), 0644);
       },
       ":4: the private key "},
      {"a missing key file", [](const ReloadedServer& server) { std::filesystem::remove(server.path("keys")); },
       ":2: the account's key file "},
      {"an open key file", [](const ReloadedServer& server) { server.write("keys", kThird, 0644); },
       ":2: the account's key file "},
      {"no key in the key file", [](const ReloadedServer& server) { server.write_keys("no key"); }, ":2: "},
  };
}

TEST(Reload, ChangesNothingIfAnythingIsWrong) {
  ReloadedServer server;
  std::uint64_t failures = 0;
  for (const BadReload& bad : bad_reloads()) {
    SCOPED_TRACE(bad.name);
    // Valid files beside the faulty one must not be taken over either.
    server.write_keys(kThird);
    server.use(server.second_);
    bad.spoil(server);
    const std::size_t before = server.program().err().size();
    ASSERT_FALSE(server.reload());
    EXPECT_EQ(server.count(kFailed), ++failures);
    EXPECT_EQ(server.count("varve_config_last_reload_successful"), 0U);
    const std::string log = server.log_with("keeps its settings", before);
    const std::string reason = bad.reason.starts_with(':') ? server.config_path() + bad.reason : bad.reason;
    EXPECT_THAT(log, AllOf(HasSubstr("keeps its settings"), HasSubstr(reason)));
    EXPECT_THAT(log, Not(HasSubstr(kThird.substr(0, 10))));
    EXPECT_EQ(answer_to(server.port(), signed_by(kFirst)), "200");
    EXPECT_EQ(answer_to(server.port(), signed_by(kThird)), "403 AuthenticationFailed");
    EXPECT_EQ(presented(server.port()), varve::test::content_of(server.first_.certificate_path()));
    server.restore();
  }
  EXPECT_TRUE(server.reload());
  EXPECT_EQ(server.count("varve_config_last_reload_successful"), 1U);
}

TEST(Reload, NamesTheOptionsThatNeedARestartAndLeavesThem) {
  ReloadedServer server;
  server.write_config(server.config() + "memory = \"512MiB\"\nstatus-page = \"off\"\nlisten = \"127.0.0.1:1\"\n");
  ASSERT_TRUE(server.reload());
  const std::string log = server.log_with("read again");
  EXPECT_THAT(log, HasSubstr("--memory (" + server.config_path() + ":5) needs a restart"));
  EXPECT_THAT(log,
              HasSubstr("--status-page (" + server.config_path() + ":6) needs a restart; the server keeps \"auto\""));
  EXPECT_THAT(log, Not(HasSubstr("--listen"))) << "the command line wins, so nothing has changed";
  EXPECT_EQ(answer_to(server.port(), signed_by(kFirst)), "200");
  server.restore();
  ASSERT_TRUE(server.reload());
  EXPECT_THAT(server.log_with("read again", log.size()), Not(HasSubstr("restart"))) << "the values of the start";
}

TEST(Reload, ChangesTheLogWhileTheServerRuns) {
  ReloadedServer server;
  EXPECT_EQ(answer_to(server.port(), signed_by(kFirst)), "200");
  std::string config = server.config();
  config.replace(config.find("\"off\""), 5, "\"all\"");
  server.write_config(config + "log-format = \"json\"\n");
  ASSERT_TRUE(server.reload());
  EXPECT_EQ(answer_to(server.port(), signed_by(kSecond)), "200");
  server.program().signal(SIGTERM);
  EXPECT_EQ(server.program().finish(), 0);
  const std::string log = server.program().err();
  const std::string line = log.substr(log.find("{\"time\""));
  EXPECT_THAT(line, HasSubstr("\"event\":\"request\",\"client\":\"127.0.0.1\",\"method\":\"GET\""));
  EXPECT_EQ(log.find("QueryTables"), log.rfind("QueryTables")) << "the first request was not logged\n" << log;
}

TEST(Reload, WithoutAConfigurationFileReadsKeysAndCertificateAgain) {
  const varve::test::ScratchDirectory files;
  const std::string keys = files.file("keys", kFirst);
  ASSERT_EQ(::chmod(keys.c_str(), 0600), 0);
  ServedProgram program({{"--account", std::string(kAccount) + ":@" + keys}});
  ASSERT_TRUE(program.is_ready()) << program.err();
  EXPECT_EQ(answer_to(program.port(), signed_by(kFirst), false), "200");
  std::ofstream(keys) << kSecond;
  program.signal(SIGHUP);
  Asked metrics;
  do {
    metrics = ask(program.metrics_port(), "/metrics");
  } while (metrics.status == 200 && metric(metrics.body, kDone) == 0);
  EXPECT_EQ(answer_to(program.port(), signed_by(kFirst), false), "403 AuthenticationFailed");
  EXPECT_EQ(answer_to(program.port(), signed_by(kSecond), false), "200");
}

/// Begins an insert whose body does not come, and sends the signals. Returns the time until its answer.
std::chrono::steady_clock::duration drain(const std::string& seconds, const std::vector<int>& signals) {
  ServedProgram program({{"--drain-seconds", seconds}});
  EXPECT_TRUE(program.is_ready()) << program.err();
  HttpClient client(program.port());
  Headers headers = {{"Content-Type", "application/json"}, {"Expect", "100-continue"}};
  const std::string bytes = signed_bytes("POST", "Tables", std::string(20'000, ' '), std::move(headers));
  EXPECT_TRUE(client.send(bytes.substr(0, bytes.find("\r\n\r\n") + 4)));
  EXPECT_EQ(client.read()->status, 100);
  const auto begun = std::chrono::steady_clock::now();
  for (const int signal : signals) program.signal(signal);
  const std::optional<HttpResponse> response = client.read();
  EXPECT_TRUE(response && response->status == 503);
  const auto waited = std::chrono::steady_clock::now() - begun;
  EXPECT_EQ(program.finish(), 0);
  return waited;
}

TEST(Drain, GivesBegunRequestsTheTimeThatItsOptionSays) {
  EXPECT_GE(drain("5", {SIGTERM}), std::chrono::milliseconds(2'500)) << "a second of the shortest drain, and two more";
}

TEST(Drain, IsCutShortByASecondSignal) {
  // The program would be killed after a minute.
  EXPECT_LT(drain("3600", {SIGTERM, SIGINT}), std::chrono::seconds(50));
}

}  // namespace
}  // namespace varve::serve::reload_test
