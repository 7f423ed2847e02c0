// Goal: the service manager that starts the server learns when it is ready, reads its settings again, ends, and lives.
// Method: the program, with a datagram socket of the test in the manager's place; and the heartbeat over loops that the
// test runs by hand.
#include "tools/serve/transport/service_manager.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/env.h"
#include "tests/serve/socket/served_program.h"
#include "tools/serve/standby.h"
#include "tools/serve/transport/heartbeat.h"

namespace varve::serve::service_manager_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The manager's end of the messages.
class Manager {
 public:
  /// An address that begins with @ has no file.
  explicit Manager(std::string address = "")
      : address_(address.empty() ? scratch_.path("notify") : std::move(address)),
        socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, address_.data(), address_.size());
    if (address_[0] == '@') name.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    EXPECT_EQ(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&name), size), 0) << std::strerror(errno);
  }

  const std::string& address() const noexcept { return address_; }
  ProgramOptions options(std::vector<std::string> words = {}) const {
    ProgramOptions made{std::move(words)};
    made.environment["NOTIFY_SOCKET"] = address_;
    return made;
  }
  /// Returns the next message. Waits for it for 20 seconds at most; an empty text reports that none came.
  std::string next(int patience = 20'000) const {
    pollfd waiting{socket_.number(), POLLIN, 0};
    if (::poll(&waiting, 1, patience) != 1) return "";
    std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
    return size < 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(size));
  }
  /// Returns the next message that is no report of life.
  std::string next_state() const {
    for (;;) {
      std::string message = next();
      if (message != "WATCHDOG=1") return message;
    }
  }
  /// Returns the messages that have come already.
  std::vector<std::string> rest() const {
    std::vector<std::string> messages;
    for (std::string message = next(0); !message.empty(); message = next(0)) messages.push_back(message);
    return messages;
  }

 private:
  varve::test::ScratchDirectory scratch_;
  std::string address_;
  Descriptor socket_;
};

TEST(ServiceManager, LearnsOfTheStartAndTheEnd) {
  const Manager manager;
  ServedProgram program(manager.options());
  ASSERT_TRUE(program.is_ready());
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=Serving " + program.data() +
                                " at http://127.0.0.1:" + std::to_string(program.port()) + "/");
  EXPECT_EQ(ask(program.metrics_port(), "/health").status, 200);
  program.signal(SIGTERM);
  EXPECT_THAT(manager.next(), StartsWith("STOPPING=1\nSTATUS="));
  EXPECT_EQ(program.finish(), 0);
  EXPECT_THAT(manager.rest(), IsEmpty());
}

TEST(ServiceManager, MayHaveAnAddressWithoutAFile) {
  const Manager manager("@varve-test-" + std::to_string(::getpid()));
  ServedProgram program(manager.options());
  ASSERT_TRUE(program.is_ready());
  EXPECT_THAT(manager.next(), StartsWith("READY=1\n"));
}

TEST(ServiceManager, IsNotToldThatAServerIsReadyThatCannotStart) {
  const Manager manager;
  ServedProgram program(manager.options({"--tls-cert", "missing.pem", "--tls-key", "missing.key"}));
  EXPECT_FALSE(program.is_ready());
  EXPECT_NE(program.finish(), 0);
  EXPECT_THAT(manager.rest(), IsEmpty());
}

TEST(ServiceManager, LearnsOfAReloadAndOfTheReasonWhyOneFailed) {
  const Manager manager;
  const varve::test::ScratchDirectory files;
  const std::string config = files.file("varve.toml", "request-log = \"off\"\n");
  ServedProgram program(manager.options({"--config", config}));
  ASSERT_TRUE(program.is_ready());
  const std::string ready = manager.next();
  ASSERT_THAT(ready, StartsWith("READY=1\nSTATUS=Serving "));

  program.signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.next(), ready);

  std::ofstream(config) << "\nrequest-logg = \"off\"\n";
  program.signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\n"));
  EXPECT_THAT(manager.next(), AllOf(StartsWith(ready + "; the last reload failed and changed nothing: "),
                                    HasSubstr("varve.toml:2: there is no option \"request-logg\"")));

  std::ofstream(config) << "request-log = \"all\"\n";
  program.signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\n"));
  EXPECT_EQ(manager.next(), ready);
}

TEST(ServiceManager, IsToldAgainAndAgainThatTheServerLives) {
  const Manager manager;
  ProgramOptions options = manager.options();
  options.environment["WATCHDOG_USEC"] = "200000";
  ServedProgram program(options);
  ASSERT_TRUE(program.is_ready());
  int beats = 0;
  for (int i = 0; i < 6; ++i) beats += manager.next() == "WATCHDOG=1" ? 1 : 0;
  EXPECT_EQ(beats, 5);  // and READY=1
  program.signal(SIGTERM);
  EXPECT_THAT(manager.next_state(), StartsWith("STOPPING=1\n"));
  EXPECT_EQ(program.finish(), 0);
}

/// The files of this machine. The first open of a directory finds another owner. The second one takes until it is let go.
class SlowTakeover final : public io::FileSystem {
 public:
  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override {
    if (opens_++ == 0) return Status(Code::kLocked, "another process has it open");
    if (opens_ == 2) let_go_.get_future().wait();
    return files_.open_directory(path);
  }
  Status create_directory(std::string_view path, io::SyncPoint point) override {
    return files_.create_directory(path, point);
  }
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    return files_.make_read_queue(scheduler, depth);
  }
  void let_go() { let_go_.set_value(); }

 private:
  io::FileSystem& files_ = io::system_env().files;
  std::promise<void> let_go_;
  int opens_ = 0;  // by one thread
};

TEST(ServiceManager, IsToldThatAStandbyLivesDuringALongTakeover) {
  const Manager manager;
  const varve::test::ScratchDirectory scratch;
  // NOLINTBEGIN(concurrency-mt-unsafe): this test has one thread so far
  ::setenv("NOTIFY_SOCKET", manager.address().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "40000", 1);
  const ServiceManager service;
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  // NOLINTEND(concurrency-mt-unsafe)
  SlowTakeover files;
  const io::Env& machine = io::system_env();
  const io::Env env{files, machine.clock, machine.random, machine.scheduler};
  StorePlace place;
  place.path = scratch.path("store");
  place.env = &env;
  place.is_shared = true;
  StoreOptions options;
  options.create_if_absent = true;
  ASSERT_TRUE(Store::open(place.path, options).ok());  // A standby makes no store that it found owned.
  StandbyHooks hooks;
  hooks.on_standby = [&] { EXPECT_TRUE(service.ready("Standing by").ok()); };
  hooks.may_wait = [] { return true; };
  hooks.alive = [&] { service.alive(); };
  hooks.alive_every = service.watchdog() / 4;
  Status opened(Code::kUnknown);
  std::thread open([&] { opened = open_as_owner(place, options, hooks).status(); });
  EXPECT_THAT(manager.next(), StartsWith("READY=1\nSTATUS=Standing by"));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(manager.next(), "WATCHDOG=1");  // for longer than the manager waits
  files.let_go();
  open.join();
  EXPECT_TRUE(opened.ok()) << opened.to_string();
}

TEST(ServiceManager, ThatWatchesAnotherProcessIsNotTold) {
  const Manager manager;
  ProgramOptions options = manager.options();
  options.environment["WATCHDOG_USEC"] = "1000";
  options.environment["WATCHDOG_PID"] = "1";
  ServedProgram program(options);
  ASSERT_TRUE(program.is_ready());
  EXPECT_THAT(manager.next(), StartsWith("READY=1\n"));
  program.signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\n"));
  EXPECT_THAT(manager.next(), StartsWith("READY=1\n"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0);
  EXPECT_THAT(manager.rest(), ElementsAre(StartsWith("STOPPING=1\n")));
}

TEST(ServiceManager, ThatCannotBeReachedStopsNoServer) {
  for (const std::string& address : {std::string("/nowhere/notify"), std::string("relative"), std::string(200, '/')}) {
    ProgramOptions options;
    options.environment["NOTIFY_SOCKET"] = address;
    options.environment["WATCHDOG_USEC"] = "1000";
    ServedProgram program(options);
    ASSERT_TRUE(program.is_ready()) << address;
    EXPECT_EQ(ask(program.metrics_port(), "/health").status, 200);
    program.signal(SIGTERM);
    EXPECT_EQ(program.finish(), 0);
    EXPECT_THAT(program.err(), HasSubstr("cannot send to the service manager at NOTIFY_SOCKET=" + address + ": "));
  }
}

/// Two loops that the test runs by hand, and a heart over them.
struct Hearts {
  boost::asio::io_context first{1};
  boost::asio::io_context second{1};
  int beats = 0;
  Heartbeat heart{{&first, &second}, std::chrono::microseconds(4), [this] { ++beats; }};

  /// Runs the first loop until its timer has ticked once more.
  void tick() {
    first.restart();
    first.run_one();
  }
};

TEST(Heartbeat, BeatsOnlyWhileEachLoopRunsItsHandlers) {
  Hearts hearts;
  hearts.heart.resume();
  hearts.tick();
  EXPECT_EQ(hearts.beats, 1);
  for (int i = 0; i < 10; ++i) hearts.tick();
  EXPECT_EQ(hearts.beats, 1) << "the second loop has not run";
  for (int i = 0; i < 3; ++i) {
    hearts.second.restart();
    EXPECT_EQ(hearts.second.poll(), 1U) << "a stuck loop gets one question, not one for each tick";
    hearts.tick();
  }
  EXPECT_EQ(hearts.beats, 4);
}

TEST(Heartbeat, EndsAndLeavesNoHandler) {
  Hearts hearts;
  hearts.heart.resume();
  hearts.heart.end();
  hearts.heart.resume();
  hearts.first.restart();
  hearts.first.run();  // returns, since no timer is left
  EXPECT_EQ(hearts.beats, 0);
}

}  // namespace
}  // namespace varve::serve::service_manager_test
