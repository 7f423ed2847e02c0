// Native twin of one to one: an employee is one entity. An index repeats what the list shows, so that the list reads no
// entity, however large the rest of each is.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("One to one, natively: an index that carries what the list shows");
  Table employees = example.table("Employees");
  // [shown]
  const IndexDefinition listed{"Listed", {{"Department"}, {"Timestamp"}}, {"Name"}};
  Example::must(example.store().create_index("examples", "Employees", listed));
  for (const std::string number : {"000223", "000224", "000225"}) {
    Entity employee("Staff", number);
    employee.set("Department", "Sales").set("Name", "employee " + number);
    Example::must(employees.insert(employee.set("Contract", std::string(20'000, 'x')).set("Salary", 4000)));
  }

  Query<> list;
  list.where(field("Department") == "Sales").select({"Name"});
  Cursor<Entity> names = list.run(employees);
  // [/shown]
  std::size_t bytes = 0;
  const std::vector<Entity> found = Example::must(names.all());
  for (const Entity& employee : found) bytes += accounted_size_bytes(employee);
  example.show(found.size() == 3 && *found[2].get<std::string>("Name") == "employee 000225" && bytes < 1000,
               "the list of all is " + std::to_string(bytes) + " bytes: no contract is read for it");
  const Entity whole = Example::must(employees.get("Staff", "000224"));
  example.show(*whole.get<std::int32_t>("Salary") == 4000, "all of one employee: one point read");
  example.reads(names.cost().entities_examined + 1);

  Example::must(employees.remove("Staff", "000224", whole.etag()));
  Cursor<Entity> left = list.run(employees);
  example.show(Example::must(left.all()).size() == 2, "a former employee is on no list");
  return example.end();
}
