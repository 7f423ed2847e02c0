// Relationship: one to one. The frequently read and the rarely read data of one employee are two entities of one
// partition. Lists stay small, one query reads both entities, and one transaction writes both.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

}  // namespace

int main() {
  Example example("One to one: an employee's profile and file, side by side");
  Table employees = example.table("Employees");
  for (const std::string number : {"000223", "000224", "000225"}) {
    // [shown]
    EntityGroupTransaction both;
    both.insert(Entity("Sales", "profile_" + number).set("Name", "employee " + number));
    both.insert(Entity("Sales", "file_" + number).set("Contract", std::string(20'000, 'x')).set("Salary", 4000));
    Example::must(employees.execute(both));
    // [/shown]
  }

  // [shown]
  Query<> list;
  list.where(field("PartitionKey") == "Sales" && field("RowKey").starts_with("profile_"));
  // [/shown]
  std::size_t bytes = 0;
  std::size_t entities = 0;
  for (const Result<Entity>& profile : list.run(employees)) {
    bytes += accounted_size_bytes(Example::must(profile));
    ++entities;
  }
  example.show(entities == 3 && bytes < 1000,
               "the list of all is " + std::to_string(bytes) + " bytes: no contract is read for it");

  // [shown]
  const std::vector<EntityKey> keys = {{"Sales", "profile_000224"}, {"Sales", "file_000224"}};
  const auto both = Example::must(employees.get_many(keys));
  // [/shown]
  example.show(both[0] && both[1] && *both[1]->get<std::int32_t>("Salary") == 4000,
               "both halves of one employee: one call, one state of the store");
  example.reads(entities + keys.size());

  EntityGroupTransaction leaves;
  leaves.remove("Sales", "profile_000224", both[0]->etag()).remove("Sales", "file_000224", both[1]->etag());
  Example::must(employees.execute(leaves));
  example.show(!Example::must(employees.get_many(keys))[1].has_value(), "and they go together");
  return example.end();
}
