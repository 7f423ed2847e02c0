// Relationship: one to many. A department and its employees are in one partition: one query reads them together, and
// one transaction changes them together.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

// [shown]
/// Adds a new employee and updates the department's count together. kPreconditionFailed: another writer hires, so read
/// again.
Status hire(Table& table, const std::string& department, const std::string& number, const std::string& name) {
  Result<std::optional<Entity>> found = table.get(department, "department");
  if (!found.ok()) return found.status();
  Entity counted = Example::must(std::move(found));
  counted.set("Employees", *counted.get<std::int32_t>("Employees") + 1);
  EntityGroupTransaction both;
  both.replace(counted, counted.etag()).insert(Entity(department, "employee_" + number).set("Name", name));
  return table.execute(both).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("One to many: a department and its employees in one partition");
  Table company = example.table("Company");
  for (const std::string department : {"Sales", "Support"}) {
    Example::must(company.insert(Entity(department, "department").set("Employees", 0)));
  }
  Example::must(hire(company, "Sales", "000223", "Ann"));
  Example::must(hire(company, "Sales", "000224", "Bob"));
  Example::must(hire(company, "Support", "000225", "Cleo"));

  Cursor<Entity> together = Query<>().in(ScanRange::partition("Sales")).run(company);
  const std::vector<Entity> sales = Example::must(together.all());
  example.show(sales.size() == 3 && together.cost().entities_examined == 3,
               "a department with all of its employees: one range");
  example.reads(together.cost().entities_examined);
  example.show(*sales[0].get<std::int32_t>("Employees") == 2, "its count agrees, as one transaction changes both");
  const Status twice = hire(company, "Sales", "000224", "Bob");
  const Entity department = Example::must(company.get("Sales", "department"));
  example.show(twice.code() == Code::kExists && *department.get<std::int32_t>("Employees") == 2,
               "who is there already is not counted again");
  return example.end();
}
