// Pattern: intra-partition secondary index. A table has one index, its keys. To find an employee by number and also by
// e-mail address, keep a copy for each, under RowKeys with different prefixes in the same partition. One transaction
// writes both, so that they never differ.
#include "example.h"

struct Employee {
  std::string department;
  std::string key;
  std::string number;
  std::string email;
  std::string name;
};

template <>
inline constexpr auto varve::mapping<Employee> = varve::mapped::members(
    varve::mapped::partition_key(&Employee::department), varve::mapped::row_key(&Employee::key),
    varve::mapped::property("Number", &Employee::number), varve::mapped::property("Email", &Employee::email),
    varve::mapped::property("Name", &Employee::name));

namespace {

using namespace varve;
using patterns::Example;

// [shown]
Entity under(Employee employee, const std::string& key) {
  employee.key = key;
  return Example::must(to_entity(employee));
}
// [/shown]

// [shown]
/// Writes both copies, or neither.
Status save(Table& table, const Employee& employee) {
  EntityGroupTransaction both;
  both.insert_or_replace(under(employee, "number_" + employee.number));
  both.insert_or_replace(under(employee, "email_" + employee.email));
  return table.execute(both).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("Intra-partition secondary index: two RowKeys for one employee, written together");
  TypedTable<Employee> employees(example.table("Employees"));
  Example::must(save(employees.table(), {"Sales", "", "000223", "ann@example.com", "Ann"}));
  Example::must(save(employees.table(), {"Sales", "", "000224", "bob@example.com", "Bob"}));

  // [shown]
  const Employee by_number = Example::must(employees.get("Sales", "number_000223"));
  const Employee by_email = Example::must(employees.get("Sales", "email_bob@example.com"));
  // [/shown]
  example.reads(2);
  example.show(by_number.name == "Ann", "number 000223 is Ann, by one point read");
  example.show(by_email.number == "000224", "bob@example.com has number 000224, by one point read");

  Cursor<Employee> numbers =
      employees.query(field<&Employee::department>() == "Sales" && field<&Employee::key>().starts_with("number_00022"));
  example.show(Example::must(numbers.all()).size() == 2, "a range of numbers is a range of RowKeys");
  example.show(numbers.cost().entities_examined == 2, "and reads nothing else");

  Employee renamed = by_number;
  renamed.name = "Anne";
  Example::must(save(employees.table(), renamed));
  example.show(Example::must(employees.get("Sales", "email_ann@example.com")).name == "Anne",
               "a change reaches both copies in one transaction");
  return example.end();
}
