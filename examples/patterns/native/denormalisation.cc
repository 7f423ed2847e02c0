// Native twin of the denormalisation: nothing is copied. One index has the department and its manager, so that the page
// is one query, which sees both at one state. A change of the address is written once.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Denormalisation, natively: an index by the page that shows the entities");
  Table company = example.table("Company");
  // [shown]
  Example::must(example.store().create_index("examples", "Company", {"ByPage", {{"ShownOn"}}}));
  Example::must(company.insert(Entity("Sales", "department").set("EmployeeCount", 128).set("ShownOn", "Sales")));
  Example::must(company.insert(Entity("Employees", "000223").set("Email", "ann@example.com").set("ShownOn", "Sales")));

  Cursor<Entity> page = Query<>().where(field("ShownOn") == "Sales").run(company);
  const std::vector<Entity> shown = Example::must(page.all());  // in the order of keys: the manager, the department
  // [/shown]
  example.show(shown.size() == 2 && *shown[0].get<std::string>("Email") == "ann@example.com" &&
                   *shown[1].get<std::int32_t>("EmployeeCount") == 128,
               "the page about Sales is one query of two entities");
  example.reads(page.cost().entities_examined);

  Example::must(company.patch(Patch("Employees", "000223").set("Email", "ann.jones@example.com"), ETag::any()));
  Cursor<Entity> again = Query<>().where(field("ShownOn") == "Sales").run(company);
  example.show(*Example::must(again.all()).front().get<std::string>("Email") == "ann.jones@example.com",
               "a new address is on the page from its only write on");
  Entity department = shown[1];
  example.show(company.replace(department.set("EmployeeCount", 127), department.etag()).ok(),
               "and does not conflict with a change of the department");
  return example.end();
}
