// Goal: every TLS connection has forward secrecy and authenticated encryption. Other connections are refused.
// Method: a client that offers one suite, or one version, at a time: every one that OpenSSL knows.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tools/serve/server.h"

namespace varve::serve::tls_test {
namespace {

using namespace test;

using Context = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&::SSL_free)>;

/// Returns a client's context that also accepts weak suites.
Context make_context(int version) {
  Context context(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  ::SSL_CTX_set_security_level(context.get(), 0);
  ::SSL_CTX_set_min_proto_version(context.get(), version);
  ::SSL_CTX_set_max_proto_version(context.get(), version);
  return context;
}

/// Returns the negotiated suite, or an empty text if there is none.
std::string shake_hands(std::uint16_t port, const Context& context) {
  const Descriptor socket = connect_from("127.0.0.1", port);
  const Session session(::SSL_new(context.get()), &::SSL_free);
  ::SSL_set_fd(session.get(), socket.number());
  if (::SSL_connect(session.get()) != 1) return "";
  return ::SSL_get_cipher_name(session.get());
}

/// Returns the suites with which OpenSSL can speak TLS 1.2.
std::vector<std::string> suites_of_tls12() {
  const Context context = make_context(TLS1_2_VERSION);
  EXPECT_EQ(::SSL_CTX_set_cipher_list(context.get(), "ALL:COMPLEMENTOFALL:eNULL:@SECLEVEL=0"), 1);
  std::vector<std::string> names;
  const auto* const suites = ::SSL_CTX_get_ciphers(context.get());
  for (int i = 0; i < sk_SSL_CIPHER_num(suites); ++i) {
    const std::string name = ::SSL_CIPHER_get_name(sk_SSL_CIPHER_value(suites, i));
    if (!name.starts_with("TLS_")) names.push_back(name);
  }
  return names;
}

bool has(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

class Tls : public ::testing::TestWithParam<Certificate::Kind> {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the server has closed
    bench_.open();
    ListenOptions listening;
    listening.port = 0;
    listening.threads = 1;
    listening.tls_certificate = certificate_.certificate_path();
    listening.tls_key = certificate_.key_path();
    Result<std::unique_ptr<Server>> started = Server::start(*bench_.store, *Accounts::create(), listening);
    ASSERT_TRUE(started.ok()) << started.status().to_string();
    server_ = *std::move(started);
  }

  const Certificate certificate_{GetParam()};
  StoreBench bench_;
  std::unique_ptr<Server> server_;  // ends before the store
};

TEST_P(Tls, OfVersion12HasSuitesWithForwardSecrecyAndAuthenticatedEncryptionAlone) {
  const std::string exchange = GetParam() == Certificate::Kind::kRsa ? "ECDHE-RSA-" : "ECDHE-ECDSA-";
  int taken = 0;
  int refused = 0;
  for (const std::string& name : suites_of_tls12()) {
    const Context context = make_context(TLS1_2_VERSION);
    ASSERT_EQ(::SSL_CTX_set_cipher_list(context.get(), (name + ":@SECLEVEL=0").c_str()), 1) << name;
    const bool is_good = name.starts_with(exchange) && (has(name, "-GCM-") || has(name, "CHACHA20")) &&
                         !has(name, "ARIA");  // sound, but not in common use
    EXPECT_EQ(shake_hands(server_->port(), context), is_good ? name : "");
    ++(is_good ? taken : refused);
  }
  EXPECT_EQ(taken, 3);
  EXPECT_GT(refused, 20);
}

TEST_P(Tls, OfVersion13IsTakenAndOfOlderOnesRefused) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::string suite = shake_hands(server_->port(), make_context(version));
    EXPECT_EQ(suite.empty(), version < TLS1_2_VERSION) << version << " " << suite;
    EXPECT_EQ(suite.starts_with("TLS_"), version == TLS1_3_VERSION) << suite;
  }
}

INSTANTIATE_TEST_SUITE_P(Certificates, Tls,
                         ::testing::Values(Certificate::Kind::kEllipticCurve, Certificate::Kind::kRsa),
                         [](const ::testing::TestParamInfo<Certificate::Kind>& shown) {
                           return shown.param == Certificate::Kind::kRsa ? "Rsa" : "EllipticCurve";
                         });

}  // namespace
}  // namespace varve::serve::tls_test
