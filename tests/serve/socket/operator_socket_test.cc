// Goal: the socket in a store's directory serves the owner of the store and no other user, within fixed limits.
// Method: raw bytes are sent to the socket of a server that runs as a process.
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"
#include "tools/serve/local/store_identity.h"

namespace varve::serve::operator_socket_test {
namespace {

namespace fs = std::filesystem;
using test::Descriptor;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using varve::test::run_program;

/// A client that sends any bytes to the socket of a server.
class RawClient {
 public:
  explicit RawClient(const std::string& store) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::string path = store + "/SERVED/SOCKET";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const timeval patience{30, 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    is_connected_ = ::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool is_connected() const noexcept { return is_connected_; }
  void send(const std::string& bytes) const {
    (void)::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Returns the bytes that arrive next. Empty if the connection ended.
  std::string read() const {
    std::array<char, 65536> bytes{};
    const ssize_t count = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
    return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
  }

 private:
  Descriptor socket_;
  bool is_connected_ = false;
};

std::string identity_of(const std::string& store) {
  const Descriptor directory(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Result<std::string> identity = store_identity(directory.number());
  EXPECT_TRUE(identity.ok());
  return identity.ok() ? *identity : std::string();
}

std::string request(const std::string& line, const std::string& identity) {
  return line + " HTTP/1.1\r\nHost: localhost\r\nx-varve-store: " + identity + "\r\nContent-Length: 0\r\n\r\n";
}

TEST(OperatorSocket, AnswersOnlyAboutTheStoreThatTheClientMeans) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string identity = identity_of(server.data());
  const RawClient client(server.data());
  client.send(request("GET /_varve/store", identity));
  const std::string answer = client.read();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\"store\":\"" + identity + "\""));
  EXPECT_THAT(answer, HasSubstr("\"process\":" + std::to_string(server.process())));
  for (const std::string line : {"GET /_varve/store", "POST /_varve/checkpoint", "GET /devstoreaccount1/Tables",
                                 "DELETE /_varve/accounts/devstoreaccount1"}) {
    const RawClient stranger(server.data());
    stranger.send(request(line, "0" + identity.substr(1) + "0"));
    EXPECT_THAT(stranger.read(), StartsWith("HTTP/1.1 404")) << line;
    const RawClient silent(server.data());
    silent.send(line + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    EXPECT_THAT(silent.read(), StartsWith("HTTP/1.1 404")) << line;
  }
  EXPECT_EQ(run_program({"account", "list", server.data()}).out, "devstoreaccount1\n");
}

TEST(OperatorSocket, RefusesMalformedRequestsOfQueues) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  ASSERT_EQ(run_program({"queue", "create", server.data(), "orders"}).exit_code, 0);
  const std::string identity = identity_of(server.data());
  const std::string root = "POST /_varve/queues?account=devstoreaccount1&queue=orders&verb=";
  const std::string message = "&id=01234567-89ab-cdef-0123-456789abcdef&receipt=" + std::string(32, 'A');
  for (const std::string& line : std::vector<std::string>{"POST /_varve/queues",
                                                          "POST /_varve/queues?verb=put",
                                                          root,
                                                          root + "none",
                                                          root + "peek&count=0",
                                                          root + "list&names=x",
                                                          root + "list&continuation=x",
                                                          root + "put&delay=x",
                                                          root + "put&delay=-1",
                                                          root + "put&delay=99999999999999999999",
                                                          root + "put&ttl=ever",
                                                          root + "put&durability=2",
                                                          root + "put&verb=put",
                                                          root + "get&count=0",
                                                          root + "get&count=4294967297",
                                                          root + "get&hold=0",
                                                          root + "get&wait=x",
                                                          root + "get&deliveries_max=1",
                                                          root + "get&dead_letter=%zz",
                                                          root + "remove",
                                                          root + "remove&id=1&receipt=2",
                                                          root + "remove" + message,
                                                          root + "update" + message + "&hold=604800001",
                                                          root + "update&id=x",
                                                          root + "create&message_bytes_max=x"}) {
    const RawClient client(server.data());
    client.send(request(line, identity));
    EXPECT_THAT(client.read(), StartsWith("HTTP/1.1 4")) << line;
  }
  const RawClient client(server.data());
  client.send(root + "metadata HTTP/1.1\r\nHost: localhost\r\nx-varve-store: " + identity +
              "\r\nContent-Length: 3\r\n\r\na=1");
  EXPECT_THAT(client.read(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(run_program({"queue", "show", server.data(), "orders", "--json"}).out, HasSubstr("\"messages\":0,"));
}

TEST(OperatorSocket, HasNoRouteThatTakesAPath) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string identity = identity_of(server.data());
  const varve::test::ScratchDirectory scratch;
  const std::vector<std::string> targets = {"/_varve/checkpoint?path=" + scratch.path("x"),
                                            "/_varve/checkpoint/../../x", "/_varve/accounts/../x", "/_varve/",
                                            "/_varve/../x"};
  for (const std::string& target : targets) {
    const RawClient client(server.data());
    client.send(request("POST " + target, identity));
    const std::string answer = client.read();
    const bool is_refused = answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5");
    EXPECT_TRUE(is_refused || target.starts_with("/_varve/checkpoint?")) << target << ": " << answer;
  }
  EXPECT_FALSE(fs::exists(scratch.path("x")));
}

TEST(OperatorSocket, RefusesAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "becoming another user needs the rights of root";
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string identity = identity_of(server.data());
  const auto try_as_nobody = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(9);
      const RawClient client(server.data());
      if (!client.is_connected()) ::_exit(1);
      client.send(request("GET /_varve/store", identity));
      ::_exit(client.read().empty() ? 2 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(try_as_nobody(), 1) << "the modes of directory and socket refuse the connection";
  // If an owner opens all of them, the server still asks who calls.
  ASSERT_EQ(::chmod(fs::path(server.data()).parent_path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(server.data().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((server.data() + "/SERVED").c_str(), 0777), 0);
  ASSERT_EQ(::chmod((server.data() + "/SERVED/SOCKET").c_str(), 0777), 0);
  EXPECT_EQ(try_as_nobody(), 2) << "the server ends the connection without an answer";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (server.err().empty() && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  EXPECT_THAT(server.err(), HasSubstr("another user"));
}

TEST(OperatorSocket, HasFewConnectionsApartFromThoseOfOtherClients) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string identity = identity_of(server.data());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.data()));
    clients.back()->send(request("GET /_varve/store", identity));
    EXPECT_THAT(clients.back()->read(), StartsWith("HTTP/1.1 200"));
  }
  const RawClient another(server.data());
  another.send(request("GET /_varve/store", identity));
  EXPECT_THAT(another.read(), IsEmpty());
  EXPECT_EQ(test::ask(server.port(), "/_varve/api/status").status, 200) << "other clients have their own connections";
  clients.clear();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string answer;
  while (answer.empty() && std::chrono::steady_clock::now() < deadline) {
    const RawClient next(server.data());
    next.send(request("GET /_varve/store", identity));
    answer = next.read();
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << "ended connections make room";
}

TEST(OperatorSocket, BoundsWhatAClientSends) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string identity = identity_of(server.data());
  const RawClient longs(server.data());
  longs.send("GET /" + std::string(60'000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(longs.read(), StartsWith("HTTP/1.1 4"));
  const RawClient large(server.data());
  large.send("POST /devstoreaccount1/Orders HTTP/1.1\r\nHost: l\r\nx-varve-store: " + identity +
             "\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_THAT(large.read(), StartsWith("HTTP/1.1 413"));
  const RawClient binary(server.data());
  binary.send(std::string(1000, '\0'));
  EXPECT_THAT(binary.read(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(run_program({"account", "list", server.data()}).exit_code, 0);
}

TEST(OperatorSocket, EndsInTimeBesideAClientThatSentHalfARequest) {
  ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const RawClient half(server.data());
  half.send("GET /_varve/sto");
  EXPECT_EQ(run_program({"account", "list", server.data()}).exit_code, 0) << "others are served meanwhile";
  server.signal(SIGTERM);
  EXPECT_EQ(server.finish(), 0);
  EXPECT_FALSE(fs::exists(server.data() + "/SERVED"));
}

TEST(OperatorSocketLong, EndsAConnectionWhoseRequestDoesNotArrive) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const RawClient half(server.data());
  half.send("GET /_varve/sto");
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THAT(half.read(), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(25));
}

}  // namespace
}  // namespace varve::serve::operator_socket_test
