// Pattern: eventually consistent transactions with a queue. Employees move from one table to another. A message names
// each move, and is committed together with the mark on the employee (the outbox). A worker takes a message, copies the
// employee, deletes the old entity, and deletes the message last. Each step may be repeated.
//
// The worker is a process of its own that is killed (SIGKILL) between any two of its steps, again and again. In the end
// each employee is in exactly one table, and the queue is empty.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/queue.h>
#include <varve/store_transaction.h>

#include "example.h"

extern char** environ;

namespace {

using namespace varve;
using patterns::Example;
using namespace std::chrono_literals;

constexpr int kEmployees = 20;
/// A worker has this time for a message. If it dies, the message is visible again after it.
constexpr auto kHold = 100ms;

/// Ends the process after the given number of steps, as a power button would.
class Fuse {
 public:
  explicit Fuse(int steps) : steps_(steps) {}
  void step() {
    if (steps_-- == 0) (void)::kill(::getpid(), SIGKILL);
  }

 private:
  int steps_;
};

struct Company {
  explicit Company(const std::string& directory)
      : store(Example::must(Store::open(directory, {.create_if_absent = true}))) {
    if (const Status made = store->create_account("company"); made.code() != Code::kExists) Example::must(made);
    current = Example::must(create_table_if_absent(*store, "company", "Current"));
    archive = Example::must(create_table_if_absent(*store, "company", "Archive"));
    Result<Queue> made = store->create_queue("company", "moves");
    moves = made.ok() ? *std::move(made) : Example::must(store->open_queue("company", "moves"));
  }
  std::unique_ptr<Store> store;
  std::optional<Table> current;
  std::optional<Table> archive;
  std::optional<Queue> moves;
};

/// Marks each employee as leaving, and puts the order to move it, in one commit.
void order_moves(Company& company) {
  for (int i = 0; i < kEmployees; ++i) {
    const std::string number = std::to_string(1000 + i);
    StoreTransaction transaction = Example::must(company.store->begin_transaction());
    transaction.insert(*company.current, Entity("Sales", number).set("Leaves", true));
    transaction.put(*company.moves, number);
    Example::must(transaction.commit());
  }
}

// [shown]
/// Moves one employee by steps that may be repeated. The message is deleted last.
void move(Company& company, const ReceivedMessage& message, Fuse& fuse) {
  fuse.step();
  const Result<std::optional<Entity>> employee = company.current->get("Sales", message.text);
  if (!employee.ok()) Example::must(employee.status());
  if (employee->has_value()) {  // otherwise an earlier worker came this far
    fuse.step();
    Example::must(company.archive->insert_or_replace(**employee));
    fuse.step();
    Example::must(remove_if_exists(*company.current, "Sales", message.text));
  }
  fuse.step();
  Example::must(company.moves->remove(message));
  fuse.step();
}
// [/shown]

int work(const std::string& directory, int steps) {
  Company company(directory);
  Fuse fuse(steps);
  // [shown]
  while (Example::must(company.moves->figures()).messages > 0) {
    for (const ReceivedMessage& message : Example::must(company.moves->get({.hold = kHold, .wait = 2 * kHold}))) {
      move(company, message, fuse);
    }
  }
  // [/shown]
  return 0;
}

/// Starts this program as a worker, and returns whether it was killed.
bool worker_is_killed(const char* program, const std::string& directory, int steps) {
  std::string count = std::to_string(steps);
  std::string place = directory;
  std::string name = program;
  std::string verb = "work";
  const std::vector<char*> words{name.data(), verb.data(), place.data(), count.data(), nullptr};
  pid_t worker = 0;
  if (::posix_spawn(&worker, program, nullptr, nullptr, words.data(), environ) != 0)
    Example::must(Status::io_error("no worker"));
  int end = 0;
  while (::waitpid(worker, &end, 0) < 0) {
  }
  return WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL;
}

bool has(const Table& table, const std::string& number) {
  const Result<std::optional<Entity>> employee = table.get("Sales", number);
  if (!employee.ok()) Example::must(employee.status());
  return employee->has_value();
}

bool each_is_in_one_table(const Company& company, int& moved) {
  bool is_so = true;
  for (int i = 0; i < kEmployees; ++i) {
    const std::string number = std::to_string(1000 + i);
    const bool is_current = has(*company.current, number);
    const bool is_archived = has(*company.archive, number);
    is_so = is_so && is_current != is_archived;
    if (is_archived) ++moved;
  }
  return is_so;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "work") return work(argv[2], std::atoi(argv[3]));

  Example example("Archive employees by a queue, with a worker that is killed between any two steps");
  const std::string directory = example.directory() + "/company";
  {
    Company company(directory);
    order_moves(company);
  }
  int kills = 0;
  while (worker_is_killed("/proc/self/exe", directory, kills % 12)) ++kills;
  Company company(directory);
  int moved = 0;
  const bool is_so = each_is_in_one_table(company, moved);
  example.show(kills >= 12, "the worker was killed " + std::to_string(kills) + " times, between each two of its steps");
  example.reads(kEmployees);  // a worker that is not killed reads each employee once
  example.show(is_so && moved == kEmployees, "each employee is in exactly one table: the archive");
  example.show(Example::must(company.moves->figures()).messages == 0, "no order is left");
  return example.end();
}
