// Goal: a connection finds its cluster as Ceph's own commands do, gives up no change, and says what to do where it fails.
// Method: a client library that is made up has options, a configuration file and a cluster that gives the answers of the test.
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/rados/librados_calls.h"
#include "io/rados/librados_connection.h"
#include "tests/io/io_test_support.h"

namespace varve::io::librados_connecting_test {
namespace {

using Options = std::map<std::string, std::string>;

/// What the library has, and what it was asked for.
struct Client {
  Options of_file{{"mon_host", "10.0.0.1"}};
  Options of_words;
  int read = 0;     // the answer to a reading of the file
  int connect = 0;  // the answers of the cluster
  int pool = 0;
  std::string user;
  std::string file;
  Options options;
  Options at_connect;
  int ends = 0;
};
Client* client = nullptr;

LibradosCalls calls_of(Client& made_up) {
  client = &made_up;
  LibradosCalls calls{};
  calls.create2 = [](RadosCluster* cluster, const char*, const char* user, std::uint64_t) {
    client->user = user;
    *cluster = client;
    return 0;
  };
  calls.conf_read_file = [](RadosCluster, const char* path) {
    client->file = path == nullptr ? "of Ceph" : path;
    if (client->read == 0) client->options = client->of_file;
    return client->read;
  };
  calls.conf_parse_env = [](RadosCluster, const char* variable) {
    EXPECT_EQ(variable, nullptr) << "CEPH_ARGS";
    for (const auto& [option, value] : client->of_words) client->options[option] = value;
    return 0;
  };
  calls.conf_set = [](RadosCluster, const char* option, const char* value) {
    client->options[option] = value;
    return 0;
  };
  calls.conf_get = [](RadosCluster, const char* option, char* buffer, std::size_t size) {
    const std::string value = client->options[option];
    if (value.size() >= size) return -ENAMETOOLONG;
    value.copy(buffer, value.size());
    buffer[value.size()] = '\0';
    return 0;
  };
  calls.connect = [](RadosCluster) {
    client->at_connect = client->options;
    return client->connect;
  };
  calls.shutdown = [](RadosCluster) { ++client->ends; };
  calls.getaddrs = [](RadosCluster, char**) { return -ENOTCONN; };
  calls.ioctx_create = [](RadosCluster, const char*, RadosContext* context) {
    *context = client;
    return client->pool;
  };
  calls.ioctx_destroy = [](RadosContext) {};
  calls.ioctx_set_namespace = [](RadosContext, const char*) {};
  return calls;
}

class LibradosConnecting : public testing::Test {
 protected:
  void SetUp() override { unsetenv("CEPH_ARGS"); }
  void TearDown() override { unsetenv("CEPH_ARGS"); }
  Result<std::unique_ptr<LibradosConnection>> open() { return LibradosConnection::open(calls_of(client_), "tables"); }

  Client client_;
};

TEST_F(LibradosConnecting, S6NoConfigurationLetsAChangeBeGivenUp) {
  client_.of_file["rados_osd_op_timeout"] = "30";
  client_.of_words = {{"rados_osd_op_timeout", "5"}, {"rados_mon_op_timeout", "0"}, {"client_mount_timeout", "300"}};
  ASSERT_TRUE(is_ok(open()));
  EXPECT_EQ(client_.at_connect["rados_osd_op_timeout"], "0");
  EXPECT_EQ(client_.at_connect["rados_mon_op_timeout"], "10");
  EXPECT_EQ(client_.at_connect["client_mount_timeout"], "15");
  EXPECT_EQ(client_.ends, 1);
}

TEST_F(LibradosConnecting, TheFileIsThatOfTheWordsOrTheOneThatCephLooksFor) {
  ASSERT_TRUE(is_ok(open()));
  EXPECT_EQ(client_.file, "of Ceph") << "CEPH_CONF, else /etc/ceph/ceph.conf";
  EXPECT_EQ(client_.user, "client.admin");
  setenv("CEPH_ARGS", "--id shop --conf /etc/shop.conf", 1);
  ASSERT_TRUE(is_ok(open()));
  EXPECT_EQ(client_.file, "/etc/shop.conf");
  EXPECT_EQ(client_.user, "client.shop");
}

TEST_F(LibradosConnecting, WithoutAFileTheWordsMustNameTheMonitors) {
  client_.read = -ENOENT;
  const auto refused = open();
  EXPECT_TRUE(fails_with(refused, Code::kInvalidArgument, "no configuration of Ceph was found"));
  EXPECT_NE(refused.status().hint().find("CEPH_CONF"), std::string::npos);
  EXPECT_NE(refused.status().hint().find("/etc/ceph/ceph.conf"), std::string::npos);
  EXPECT_TRUE(client_.at_connect.empty()) << "no cluster is looked for";
  client_.of_words = {{"mon_host", "10.0.0.1,10.0.0.2"}};
  EXPECT_TRUE(is_ok(open()));
}

TEST_F(LibradosConnecting, APoolThatDoesNotExistIsNamedWithTheCommandThatMakesIt) {
  client_.pool = -ENOENT;
  const auto refused = open();
  EXPECT_TRUE(fails_with(refused, Code::kNotFound, "no pool tables"));
  EXPECT_NE(refused.status().hint().find("ceph osd pool create tables"), std::string::npos);
  EXPECT_EQ(client_.ends, 1);
}

TEST_F(LibradosConnecting, AUserWithoutAKeyAndSilentMonitorsAreToldApart) {
  for (const int error : {EACCES, EPERM, ENOENT, EOPNOTSUPP}) {
    client_.connect = -error;
    const auto refused = open();
    EXPECT_TRUE(fails_with(refused, Code::kForbidden, "client.admin")) << error;
    EXPECT_NE(refused.status().hint().find("--keyring"), std::string::npos) << error;
  }
  client_.connect = -ETIMEDOUT;
  const auto silent = open();
  EXPECT_NE(silent.code(), Code::kForbidden);
  EXPECT_NE(silent.status().hint().find("ceph -s"), std::string::npos);
}

}  // namespace
}  // namespace varve::io::librados_connecting_test
