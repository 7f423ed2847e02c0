#include "tools/tour/killed_writer.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "api/store.h"

namespace varve::tour {

namespace {

constexpr const char* kAccount = "devstoreaccount1";
constexpr const char* kTable = "Ledger";
constexpr std::uint32_t kThreads = 16;
constexpr int kRowsEach = 3;

/// Small enough that a pipe takes it whole or not at all.
struct Acknowledgement {
  std::uint32_t thread = 0;
  std::uint32_t number = 0;
};

std::string name_of(Acknowledgement written) {
  return std::to_string(written.thread) + "-" + std::to_string(written.number);
}

void write_for_ever(Table table, std::uint32_t thread, int pipe) {
  WriteOptions options;
  options.durability = thread % 2 == 0 ? Durability::kSync : Durability::kBuffered;
  for (std::uint32_t number = 0;; ++number) {
    const Acknowledgement written{thread, number};
    EntityGroupTransaction transaction;
    for (int row = 0; row < kRowsEach; ++row) {
      transaction.insert(Entity("thread " + std::to_string(thread), name_of(written) + "." + std::to_string(row)));
    }
    if (!table.execute(transaction, options).ok()) return;
    if (::write(pipe, &written, sizeof written) != sizeof written) return;
  }
}

Result<pid_t> start_writer(const std::string& program, const std::string& store, const std::array<int, 2>& ends) {
  const pid_t writer = ::fork();
  if (writer < 0) return Status::io_error("fork failed");
  if (writer == 0) {
    ::close(ends[0]);
    const std::string pipe = std::to_string(ends[1]);
    ::execl(program.c_str(), program.c_str(), "--writer", store.c_str(), pipe.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return writer;
}

/// Kills the writer once enough has been acknowledged, and then reads what it had still said.
std::vector<Acknowledgement> listen_and_kill(int pipe, pid_t writer, std::uint64_t count) {
  std::vector<Acknowledgement> heard;
  Acknowledgement one;
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

Result<std::map<std::string, int>> rows_of_each(const Table& table) {
  std::map<std::string, int> rows;
  Scan scan;
  for (;;) {
    const Result<Page> page = table.scan(scan);
    if (!page.ok()) return page.status();
    for (const Entity& entity : page->entities) ++rows[entity.row_key().substr(0, entity.row_key().find('.'))];
    if (!page->continuation) return rows;
    scan.continuation = *page->continuation;
  }
}

Result<KillReport> count(const std::string& store_path, const std::vector<Acknowledgement>& heard) {
  const Result<std::unique_ptr<Store>> store = Store::open(store_path);
  if (!store.ok()) return store.status();
  const Result<Table> table = (*store)->open_table(kAccount, kTable);
  if (!table.ok()) return table.status();
  const Result<std::map<std::string, int>> rows = rows_of_each(*table);
  if (!rows.ok()) return rows.status();
  KillReport report;
  report.acknowledged = heard.size();
  report.recovered = rows->size();
  for (const Acknowledgement& one : heard) report.lost += rows->contains(name_of(one)) ? 0U : 1U;
  for (const auto& [name, number] : *rows) report.torn += number == kRowsEach ? 0U : 1U;
  if (Status dropped = (*store)->drop_table(kAccount, kTable); !dropped.ok()) return dropped;
  return report;
}

}  // namespace

int run_writer(const std::string& store_path, int pipe) {
  const Result<std::unique_ptr<Store>> store = Store::open(store_path);
  if (!store.ok()) return 1;
  const Result<Table> table = (*store)->create_table(kAccount, kTable);
  if (!table.ok()) return 1;
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(write_for_ever, *table, thread, pipe);
  return 0;
}

Result<KillReport> kill_a_writer(const std::string& program, const std::string& store, std::uint64_t acknowledgements) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return Status::io_error("pipe failed");
  const Result<pid_t> writer = start_writer(program, store, ends);
  ::close(ends[1]);
  if (!writer.ok()) {
    ::close(ends[0]);
    return writer.status();
  }
  const std::vector<Acknowledgement> heard = listen_and_kill(ends[0], *writer, acknowledgements);
  ::close(ends[0]);
  if (heard.size() < acknowledgements) return Status::io_error("the writer ended before it was killed");
  return count(store, heard);
}

Status kill_writers(const std::string& program, const std::string& store, std::uint64_t times) {
  StoreOptions options;
  options.create_if_missing = true;
  {
    const Result<std::unique_ptr<Store>> made = Store::open(store, options);
    if (!made.ok()) return made.status();
    const Status account = (*made)->create_account(kAccount);
    if (!account.ok() && account.code() != Code::kExists) return account;
  }
  KillReport sum;
  for (std::uint64_t time = 1; time <= times; ++time) {
    const std::uint64_t moment = 1 + (time * 7919) % 3001;  // early and late, in no regular order
    const Result<KillReport> report = kill_a_writer(program, store, moment);
    if (!report.ok()) return report.status();
    sum.acknowledged += report->acknowledged;
    sum.recovered += report->recovered;
    sum.lost += report->lost;
    sum.torn += report->torn;
    std::printf("kill %llu of %llu: %llu acknowledged, %llu recovered, %llu lost, %llu torn\n",
                static_cast<unsigned long long>(time), static_cast<unsigned long long>(times),
                static_cast<unsigned long long>(sum.acknowledged), static_cast<unsigned long long>(sum.recovered),
                static_cast<unsigned long long>(sum.lost), static_cast<unsigned long long>(sum.torn));
  }
  return sum.lost == 0 && sum.torn == 0 ? Status() : Status::corruption("the store broke its promise");
}

}  // namespace varve::tour
