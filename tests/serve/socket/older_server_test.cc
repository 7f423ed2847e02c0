// Goal: the program reads an entity beside a server of an earlier build, which lacks the request for that.
// Method: between the program and a server lies a relay that changes a word in the requests to one that no build knows.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"
#include "tools/serve/local/served_place.h"

namespace varve::serve::older_server_test {
namespace {

using test::Descriptor;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;

/// A word of requests, and the one of equal length that takes its place.
using Word = std::pair<std::string, std::string>;

/// Takes the place of a server's socket, and relays connections to it.
class Relay {
 public:
  Relay(const std::string& store, Word word)
      : word_(std::move(word)),
        directory_(::open((store + "/" + kServedName).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::renameat(directory_.number(), kSocketName, directory_.number(), kBeyond), 0);
    const sockaddr_un address = address_of(kSocketName);
    EXPECT_EQ(::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.number(), 8), 0);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~Relay() {
    (void)::shutdown(listener_.number(), SHUT_RDWR);
    accepting_.join();
    for (std::thread& each : relaying_) each.join();
    EXPECT_EQ(::renameat(directory_.number(), kBeyond, directory_.number(), kSocketName), 0);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  static constexpr const char* kBeyond = "BEYOND";

  /// A path through /proc is short, whatever the path of the store.
  sockaddr_un address_of(const char* name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (void)std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory_.number(), name);
    return address;
  }

  void accept_all() {
    for (;;) {
      Descriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) return;
      Descriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_un address = address_of(kBeyond);
      if (::connect(server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
      relaying_.emplace_back([this, from = std::move(client), to = std::move(server)] { relay(from, to); });
    }
  }

  void relay(const Descriptor& client, const Descriptor& server) const {
    std::array<pollfd, 2> both{{{client.number(), POLLIN, 0}, {server.number(), POLLIN, 0}}};
    while (::poll(both.data(), both.size(), -1) > 0) {
      for (std::size_t from = 0; from < both.size(); ++from) {
        if (both[from].revents != 0 && !pass(both[from].fd, both[1 - from].fd, from == 0)) return;
      }
    }
  }

  /// The program sends the first line of a request at once. Returns false at the end of the connection.
  bool pass(int from, int to, bool is_request) const {
    std::array<char, 65'536> bytes{};
    const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    std::string text(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t at = is_request ? text.find(word_.first) : std::string::npos;
    if (at != std::string::npos) text.replace(at, word_.first.size(), word_.second);
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t passed = ::send(to, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (passed <= 0) return false;
      sent += static_cast<std::size_t>(passed);
    }
    return true;
  }

  const Word word_;
  const Descriptor directory_;
  const Descriptor listener_;
  std::thread accepting_;
  std::vector<std::thread> relaying_;  // used by the accepting thread, and after its end
};

class OlderServer : public ::testing::TestWithParam<Word> {};

TEST_P(OlderServer, AnEntityIsReadByTheRequestThatItHas) {
  const ServedProgram server{ProgramOptions{}};
  ASSERT_TRUE(server.is_ready()) << server.err();
  const auto get = [&](const std::string& row) {
    return run_program({"get", server.data(), "Orders", "eu", row, "--json"});
  };
  ASSERT_EQ(run_program({"put", server.data(), "Orders", "eu", "1", "Lines=7"}).exit_code, 0);
  const ProgramResult there = get("1");
  const ProgramResult absent = get("2");
  ASSERT_EQ(there.exit_code, 0) << there.err;
  ASSERT_EQ(absent.exit_code, 1) << absent.out;

  const Relay relay(server.data(), GetParam());
  const ProgramResult older = get("1");
  EXPECT_EQ(older.exit_code, 0) << older.err;
  EXPECT_EQ(older.out, there.out);
  const ProgramResult still_absent = get("2");
  EXPECT_EQ(still_absent.exit_code, 1);
  EXPECT_EQ(still_absent.err, absent.err);
}

TEST(OlderServers, AChangeThatOneLacksIsRefused) {
  const ServedProgram server{ProgramOptions{}};
  ASSERT_TRUE(server.is_ready()) << server.err();
  ASSERT_EQ(run_program({"put", server.data(), "Orders", "eu", "1", "Lines=7"}).exit_code, 0);
  const Relay relay(server.data(), {"/_varve/tables?", "/_varve/tablez?"});
  const ProgramResult refused = run_program({"patch", server.data(), "Orders", "eu", "1", "--increment", "Lines=1"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the server has no route for POST /_varve/tablez"));
}

INSTANTIATE_TEST_SUITE_P(Builds, OlderServer,
                         ::testing::Values(Word{"?verb=get&", "?verb=gut&"},
                                           Word{"/_varve/tables?", "/_varve/tablez?"}));

}  // namespace
}  // namespace varve::serve::older_server_test
