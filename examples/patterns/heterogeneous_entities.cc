// Pattern: heterogeneous entities, and inheritance. Employees, managers and the department itself are in one partition,
// each with its own properties. A discriminator property names the type. A query of one type returns only that type,
// and a query of a variant returns all of them, in one read.
#include "example.h"

struct Department {
  std::string name;
  std::string key;
  std::int32_t budget = 0;
};
struct Employee {
  std::string department;
  std::string key;
  std::string name;
};
struct Manager : Employee {
  std::int32_t reports = 0;
  std::optional<std::string> car;
};

template <>
inline constexpr auto varve::mapping<Department> = varve::mapped::members(
    varve::mapped::partition_key(&Department::name), varve::mapped::row_key(&Department::key),
    varve::mapped::discriminator("Type", "department"), varve::mapped::property("Budget", &Department::budget));
template <>
inline constexpr auto varve::mapping<Employee> = varve::mapped::members(
    varve::mapped::partition_key(&Employee::department), varve::mapped::row_key(&Employee::key),
    varve::mapped::discriminator("Type", "employee"), varve::mapped::property("Name", &Employee::name));
template <>
inline constexpr auto varve::mapping<Manager> = varve::mapped::members(
    varve::mapped::inherits<Employee>(), varve::mapped::discriminator("Type", "manager"),
    varve::mapped::property("Reports", &Manager::reports), varve::mapped::property("Car", &Manager::car));

namespace {

using namespace varve;
using patterns::Example;

/// Describes each type.
struct Describe {
  std::string operator()(const Department& department) const { return "budget " + std::to_string(department.budget); }
  std::string operator()(const Manager& manager) const {
    return manager.name + " leads " + std::to_string(manager.reports) + (manager.car ? ", drives " + *manager.car : "");
  }
  std::string operator()(const Employee& employee) const { return employee.name; }
};

}  // namespace

int main() {
  Example example("Heterogeneous entities: three types in one partition, told apart by a property");
  Table table = example.table("Company");
  EntityGroupTransaction all_at_once;
  all_at_once.insert(Example::must(to_entity(Department{"Sales", "department", 9000})));
  all_at_once.insert(Example::must(to_entity(Employee{"Sales", "employee_1", "Ann"})));
  all_at_once.insert(Example::must(to_entity(Manager{{"Sales", "employee_2", "Bob"}, 2, "a bicycle"})));
  Example::must(table.execute(all_at_once));

  std::string seen;
  for (const auto& found : Query<std::variant<Department, Employee, Manager>>().run(table)) {
    seen += (seen.empty() ? "" : "; ") + std::visit(Describe{}, Example::must(found));
  }
  example.show(seen == "budget 9000; Ann; Bob leads 2, drives a bicycle", seen);

  const std::vector<Manager> managers = Example::must(Query<Manager>().run(table).all());
  example.show(managers.size() == 1 && managers[0].name == "Bob", "a query of managers returns no one else");
  const Result<Employee> wrong = from_entity<Employee>(Example::must(table.get("Sales", "department")));
  example.show(!wrong.ok(), "and a department is no employee: " + std::string(wrong.status().message()));
  return example.end();
}
