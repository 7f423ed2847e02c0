// Native twin of the index entities: an index on the last name. Writers of one name do not conflict, because there is no
// list that each of them must change.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Index entities, natively: an index on the last name");
  Table employees = example.table("Employees");
  // [shown]
  Example::must(example.store().create_index("examples", "Employees", {"ByName", {{"PartitionKey"}, {"LastName"}}}));
  Example::must(employees.insert(Entity("Sales", "000223").set("LastName", "Jones")));
  Example::must(employees.insert(Entity("Sales", "000224").set("LastName", "Smith")));
  Example::must(employees.insert(Entity("Sales", "000225").set("LastName", "Jones")));

  Cursor<Entity> joneses =
      Query<>().where(field("PartitionKey") == "Sales" && field("LastName") == "Jones").run(employees);
  const std::vector<Entity> found = Example::must(joneses.all());
  // [/shown]
  example.show(found.size() == 2 && found[1].row_key() == "000225", "two are called Jones");
  example.reads(joneses.cost().entities_examined);
  return example.end();
}
