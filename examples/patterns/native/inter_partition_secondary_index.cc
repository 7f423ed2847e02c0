// Native twin of the inter-partition secondary index: the index is of the whole table, and agrees with it at each moment.
// A writer that dies leaves both or neither, so nothing is done again.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Inter-partition secondary index, natively: an index over all partitions");
  Table employees = example.table("Employees");
  // [shown]
  Example::must(example.store().create_index("examples", "Employees", {"ByEmail", {{"Email"}}}));
  Example::must(employees.insert(Entity("Sales", "000223").set("Email", "ann@example.com").set("Name", "Ann")));
  Example::must(employees.insert(Entity("Support", "000224").set("Email", "bob@example.com").set("Name", "Bob")));

  Cursor<Entity> bob = Query<>().where(field("Email") == "bob@example.com").run(employees);
  // [/shown]
  example.show(Example::must(bob.all()).front().row_key() == "000224", "Bob is found by his address, in any partition");

  // [shown]
  Cursor<Entity> by_letter = Query<>().where(field("Email") >= "b" && field("Email") < "c").run(employees);
  // [/shown]
  example.show(Example::must(by_letter.all()).size() == 1, "addresses that begin with b: a range of the index");
  example.reads(bob.cost().entities_examined + by_letter.cost().entities_examined);
  return example.end();
}
