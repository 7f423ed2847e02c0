// Pattern: index entities. To find employees by last name, an entity for each name lists the RowKeys of its employees.
// It is in the partition of the employees, so that one transaction writes both. Its ETag ensures that no concurrent
// change of the list is lost.
#include <sstream>

#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

std::string index_key(const std::string& last_name) {
  return "index_" + last_name;
}

// [shown]
/// Writes the employee and the list together. kPreconditionFailed: the list was changed meanwhile, so read it again.
Status hire(Table& table, const std::string& department, const std::string& number, const std::string& last_name) {
  const Result<std::optional<Entity>> list = table.get(department, index_key(last_name));
  if (!list.ok()) return list.status();
  EntityGroupTransaction both;
  both.insert(Entity(department, number).set("LastName", last_name));
  if (list->has_value()) {
    Entity changed = **list;
    changed.set("Numbers", *changed.get<std::string>("Numbers") + " " + number);
    both.replace(changed, changed.etag());
  } else {
    both.insert(Entity(department, index_key(last_name)).set("Numbers", number));
  }
  return table.execute(both).status();
}
// [/shown]

// [shown]
/// Reads the list, and then each listed employee.
std::vector<Entity> by_last_name(const Table& table, const std::string& department, const std::string& last_name) {
  const Entity list = Example::must(table.get(department, index_key(last_name)));
  std::istringstream numbers(*list.get<std::string>("Numbers"));
  std::vector<EntityKey> keys;
  for (std::string number; numbers >> number;) keys.push_back({department, number});
  std::vector<Entity> found;
  for (std::optional<Entity>& employee : Example::must(table.get_many(keys))) {
    if (employee) found.push_back(*std::move(employee));
  }
  return found;
}
// [/shown]

}  // namespace

int main() {
  Example example("Index entities: lists of keys by last name, kept by the same transaction");
  Table employees = example.table("Employees");
  Example::must(hire(employees, "Sales", "000223", "Jones"));
  Example::must(hire(employees, "Sales", "000224", "Smith"));
  Example::must(hire(employees, "Sales", "000225", "Jones"));

  const std::vector<Entity> joneses = by_last_name(employees, "Sales", "Jones");
  example.reads(1 + joneses.size());
  example.show(joneses.size() == 2 && joneses[1].row_key() == "000225",
               "two are called Jones: one read of the list, one of both employees");

  // Two writers read the same list. The second one's transaction is refused as a whole.
  Entity list = Example::must(employees.get("Sales", index_key("Jones")));
  Example::must(hire(employees, "Sales", "000226", "Jones"));
  EntityGroupTransaction late;
  late.insert(Entity("Sales", "000227").set("LastName", "Jones"));
  late.replace(list.set("Numbers", "000223 000225 000227"), list.etag());
  const Status refused = employees.execute(late).status();
  example.show(refused.code() == Code::kPreconditionFailed && refused.operation_index() == 1,
               "a list that was changed meanwhile is not overwritten");
  const auto not_hired = employees.get("Sales", "000227");
  example.show(not_hired.ok() && !not_hired->has_value(), "and the employee of that transaction is not there");
  example.show(by_last_name(employees, "Sales", "Jones").size() == 3, "nobody is lost from the list");
  return example.end();
}
