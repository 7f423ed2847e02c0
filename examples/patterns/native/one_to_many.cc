// Native twin of one to many: the department's count is incremented in the commit that adds the employee. No writer reads
// the count, and two that hire at once do not conflict.
#include "../example.h"

namespace {

using namespace varve;
using patterns::Example;

// [shown]
Status hire(Table& table, const std::string& department, const std::string& number, const std::string& name) {
  EntityGroupTransaction both;
  both.patch(Patch(department, "department").increment("Employees", 1), ETag::any());
  both.insert(Entity(department, "employee_" + number).set("Name", name));
  return table.execute(both).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("One to many, natively: an increment beside the insert");
  Table company = example.table("Company");
  for (const std::string department : {"Sales", "Support"}) {
    Example::must(company.insert(Entity(department, "department").set("Employees", 0)));
  }
  Example::must(hire(company, "Sales", "000223", "Ann"));
  Example::must(hire(company, "Sales", "000224", "Bob"));
  Example::must(hire(company, "Support", "000225", "Cleo"));

  Cursor<Entity> together = Query<>().in(ScanRange::partition("Sales")).run(company);
  const std::vector<Entity> sales = Example::must(together.all());
  example.reads(together.cost().entities_examined);
  example.show(sales.size() == 3 && *sales[0].get<std::int32_t>("Employees") == 2,
               "a department with all of its employees: one range, and its count agrees");
  const Status twice = hire(company, "Sales", "000224", "Bob");
  const Entity department = Example::must(company.get("Sales", "department"));
  example.show(twice.code() == Code::kExists && *department.get<std::int32_t>("Employees") == 2,
               "who is there already is not counted again");
  return example.end();
}
