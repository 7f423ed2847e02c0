#include "tools/tour/kills.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "tools/varve/terminal/progress.h"
#include "varve/store.h"

namespace varve::tour {

namespace {

constexpr std::uint64_t kFreshLedgerEvery = 25;

Result<pid_t> start_writer(const std::string& program, const std::string& store, const std::array<int, 2>& ends,
                           std::uint32_t round, Memory memory) {
  const std::array<std::string, 5> words = {"--writer", store, std::to_string(ends[1]), std::to_string(round),
                                            std::to_string(static_cast<std::uint32_t>(memory))};
  const pid_t writer = ::fork();
  if (writer < 0) return Status::io_error("fork failed");
  if (writer == 0) {
    ::close(ends[0]);
    ::execl(program.c_str(), program.c_str(), words[0].c_str(), words[1].c_str(), words[2].c_str(), words[3].c_str(),
            words[4].c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return writer;
}

/// Kills the writer after it sent enough promises, and then reads the remaining promises from the pipe.
std::vector<Promise> listen_and_kill(int pipe, pid_t writer, std::uint64_t count) {
  std::vector<Promise> heard;
  Promise one;
  for (;;) {
    const ssize_t bytes = ::read(pipe, &one, sizeof one);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes != sizeof one) break;
    heard.push_back(one);
    if (heard.size() == count) ::kill(writer, SIGKILL);
  }
  ::waitpid(writer, nullptr, 0);
  return heard;
}

Status make_store(const std::string& path) {
  StoreOptions options;
  options.create_if_absent = true;
  const Result<std::unique_ptr<Store>> made = Store::open(path, options);
  if (!made.ok()) return made.status();
  const Status account = (*made)->create_account(kAccount);
  if (!account.ok() && account.code() != Code::kExists) return account;
  return (*made)->close();
}

void print(std::uint64_t time, std::uint64_t times, const Account& sum, Memory memory) {
  const auto text = [](std::uint64_t number) { return tool::with_commas(number); };
  std::string line = "kill " + text(time) + " of " + text(times) + ": " + text(sum.acknowledged) + " acknowledged, " +
                     text(sum.recovered) + " recovered, " + text(sum.lost) + " lost, " + text(sum.torn) + " torn";
  if (memory == Memory::kScarce) {
    line += "; " + text(sum.dropped) + " tables dropped, " + text(sum.resurrected) + " back; " +
            text(sum.files_cleared) + " unfinished files cleared";
  }
  line += "; " + text(sum.strays) + " stray files, " + text(sum.findings) + " findings";
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace

Result<Account> kill_a_writer(const std::string& program, const std::string& store, std::uint64_t promises,
                              std::uint32_t round, Memory memory) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return Status::io_error("pipe failed");
  const Result<pid_t> writer = start_writer(program, store, ends, round, memory);
  ::close(ends[1]);
  if (!writer.ok()) {
    ::close(ends[0]);
    return writer.status();
  }
  const std::vector<Promise> heard = listen_and_kill(ends[0], *writer, promises);
  ::close(ends[0]);
  if (heard.size() < promises) return Status::io_error("the writer process ended before it was killed");
  return give_account(store, heard, round, memory);
}

Status kill_writers(const std::string& program, const std::string& store, std::uint64_t times, Memory memory) {
  if (Status made = make_store(store); !made.ok()) return made;
  Account sum;
  for (std::uint64_t time = 1; time <= times; ++time) {
    const std::uint64_t moment = 1 + (time * 7919) % 3001;  // early and late, in an irregular order
    const Result<Account> account = kill_a_writer(program, store, moment, static_cast<std::uint32_t>(time), memory);
    if (!account.ok()) return account.status();
    sum.add(*account);
    print(time, times, sum, memory);
    if (time % kFreshLedgerEvery != 0) continue;
    if (Status dropped = drop_ledger(store); !dropped.ok()) return dropped;
  }
  return sum.kept() ? Status()
                    : Status::corruption("the store lost or damaged acknowledged data; see the counts above");
}

}  // namespace varve::tour
