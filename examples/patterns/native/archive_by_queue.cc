// Native twin of the archive by a queue: a worker reads the employee, moves it and deletes the message in one commit.
// There are no steps to repeat. A worker that dies before the commit has changed nothing, and one that comes too late is
// refused.
#include <chrono>

#include "../example.h"

namespace {

using namespace varve;
using patterns::Example;
using namespace std::chrono_literals;

constexpr int kEmployees = 20;

struct Company {
  Store& store;
  Table current;
  Table archive;
  Queue moves;
};

// [shown]
/// Reads the employee of a message, and collects the whole move.
StoreTransaction begin_move(const Company& company, const ReceivedMessage& message) {
  StoreTransaction move = Example::must(company.store.begin_transaction());
  const Entity employee = Example::must(move.get(company.current, "Sales", message.text));
  move.insert(company.archive, employee).remove(company.current, "Sales", message.text, employee.etag());
  move.remove(company.moves, message);
  return move;
}
// [/shown]

std::vector<ReceivedMessage> next_order(Company& company, std::chrono::milliseconds hold) {
  return Example::must(company.moves.get({.hold = hold, .wait = 10s}));
}

}  // namespace

int main() {
  Example example("Archive employees by a queue, natively: the message ends in the commit that does its work");
  Company company{example.store(), example.table("Current"), example.table("Archive"),
                  Example::must(example.store().create_queue("examples", "moves"))};
  for (int i = 0; i < kEmployees; ++i) {
    const std::string number = std::to_string(1000 + i);
    StoreTransaction order = Example::must(company.store.begin_transaction());
    order.insert(company.current, Entity("Sales", number).set("Leaves", true)).put(company.moves, number);
    Example::must(order.commit());
  }

  StoreTransaction late =
      begin_move(company, next_order(company, 1ms).front());  // a worker that stops before its commit

  // [shown]
  while (Example::must(company.moves.figures()).messages > 0) {
    for (const ReceivedMessage& message : next_order(company, 30s)) {
      Example::must(begin_move(company, message).commit());
      example.reads(1);
    }
  }
  // [/shown]
  example.show(late.commit().code() == Code::kConflict, "a worker whose message another one did is refused");
  example.show(Example::must(company.archive.count({})).entities == kEmployees &&
                   Example::must(company.current.count({})).entities == 0,
               "each employee is in exactly one table: the archive");
  example.show(Example::must(company.moves.figures()).messages == 0, "no order is left");
  return example.end();
}
