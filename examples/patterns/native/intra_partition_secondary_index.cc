// Native twin of the intra-partition secondary index: the store keeps the second key. There is one copy of an employee,
// and every write changes the entity and its entry of the index together.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Intra-partition secondary index, natively: an index on the address");
  Table employees = example.table("Employees");
  // [shown]
  Example::must(example.store().create_index("examples", "Employees", {"ByEmail", {{"PartitionKey"}, {"Email"}}}));
  Example::must(employees.insert(Entity("Sales", "000223").set("Email", "ann@example.com").set("Name", "Ann")));
  Example::must(employees.insert(Entity("Sales", "000224").set("Email", "bob@example.com").set("Name", "Bob")));

  const Entity by_number = Example::must(employees.get("Sales", "000223"));
  // [/shown]
  example.show(*by_number.get<std::string>("Name") == "Ann", "number 000223 is Ann, by one point read");
  // [shown]
  Cursor<Entity> by_email =
      Query<>().where(field("PartitionKey") == "Sales" && field("Email") == "bob@example.com").run(employees);
  // [/shown]
  example.show(Example::must(by_email.all()).front().row_key() == "000224", "bob@example.com has number 000224");
  example.reads(1 + by_email.cost().entities_examined);

  Example::must(employees.patch(Patch("Sales", "000223").set("Name", "Anne"), ETag::any()));
  Cursor<Entity> renamed =
      Query<>().where(field("Email") == "ann@example.com" && field("PartitionKey") == "Sales").run(employees);
  example.show(*Example::must(renamed.all()).front().get<std::string>("Name") == "Anne", "a change is written once");
  return example.end();
}
