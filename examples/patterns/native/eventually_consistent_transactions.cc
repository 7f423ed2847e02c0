// Native twin of the eventually consistent transactions: one transaction over both tables moves the employee. There are
// no steps, no work items and no worker.
#include "../example.h"

namespace {

using namespace varve;
using patterns::Example;

// [shown]
/// Moves an employee: others see the state before it or after it. If the employee was changed meanwhile, it begins again.
Status archive(Store& store, const Table& current, const Table& archived, const std::string& number) {
  const auto move_employee = [&](StoreTransaction& transaction) -> Status {
    const Result<std::optional<Entity>> employee = transaction.get(current, "Sales", number);
    if (!employee.ok()) return employee.status();
    if (!employee->has_value()) return Status();  // moved already
    transaction.insert(archived, **employee).remove(current, "Sales", number, (*employee)->etag());
    return Status();
  };
  return store.transact(move_employee).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("Eventually consistent transactions, natively: one transaction over two tables");
  Table current = example.table("Employees");
  const Table archived = example.table("Archive");
  Example::must(current.insert(Entity("Sales", "000223").set("Name", "Ann")));

  Example::must(archive(example.store(), current, archived, "000223"));
  example.reads(1);
  const auto left = current.get("Sales", "000223");
  example.show(left.ok() && !left->has_value() && Example::must(archived.get("Sales", "000223")).row_key() == "000223",
               "Ann is moved");
  Example::must(archive(example.store(), current, archived, "000223"));
  example.show(Example::must(archived.get("Sales", "000223")).row_key() == "000223",
               "and moving her again changes nothing");
  return example.end();
}
