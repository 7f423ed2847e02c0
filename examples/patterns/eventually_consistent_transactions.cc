// Pattern: eventually consistent transactions. An employee moves from one table to another, which an entity group
// transaction cannot do. By hand: a work item describes the move. A worker does idempotent steps, and removes the item
// after the last one. If it stops anywhere, repeating the steps reaches the same state. At no time is the employee
// missing from both tables.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

struct Tables {
  Table current;
  Table archive;
  Table work;
};

// [shown]
/// Does one work item. If `steps` is below three, the worker stops on its way.
Status archive_one(Tables& tables, const Entity& item, int steps) {
  const std::string department = *item.get<std::string>("Department");
  const std::string number = *item.get<std::string>("Number");

  const Result<std::optional<Entity>> employee = tables.current.get(department, number);
  if (!employee.ok()) return employee.status();
  if (employee->has_value()) {  // otherwise an earlier run has copied and deleted it
    if (const auto copied = tables.archive.insert_or_replace(**employee); !copied.ok()) return copied.status();
    if (steps < 2) return Status();
    if (const auto removed = remove_if_exists(tables.current, department, number); !removed.ok()) {
      return removed.status();
    }
  }
  if (steps < 3) return Status();
  return remove_if_exists(tables.work, item.partition_key(), item.row_key()).status();
}
// [/shown]

// [shown]
Status run_worker(Tables& tables, int steps) {
  for (const Result<Entity>& item : Query<>().run(tables.work)) {
    if (!item.ok()) return item.status();
    if (Status done = archive_one(tables, *item, steps); !done.ok()) return done;
  }
  return Status();
}
// [/shown]

bool has(const Table& table, std::string_view number) {
  const auto found = table.get("Sales", number);
  return found.ok() && found->has_value();
}

}  // namespace

int main() {
  Example example("Eventually consistent transactions: archive an employee, step by idempotent step");
  Tables tables{example.table("Employees"), example.table("Archive"), example.table("Work")};
  Example::must(tables.current.insert(Entity("Sales", "000223").set("Name", "Ann")));
  Example::must(tables.work.insert(Entity("archive", "1").set("Department", "Sales").set("Number", "000223")));

  Example::must(run_worker(tables, 1));
  example.show(has(tables.current, "000223") && has(tables.archive, "000223"),
               "stopped after the copy: Ann is in both tables, in neither never");
  Example::must(run_worker(tables, 2));
  example.show(!has(tables.current, "000223") && has(tables.archive, "000223"),
               "stopped after the delete: Ann is moved, the work item is still there");
  Example::must(run_worker(tables, 3));
  example.reads(2);  // a run without a stop reads the work item and the employee
  example.show(Example::must(Query<>().run(tables.work).all()).empty(), "the next run finds nothing but its end");

  Example::must(run_worker(tables, 3));
  example.show(has(tables.archive, "000223"), "and running once more changes nothing");
  return example.end();
}
