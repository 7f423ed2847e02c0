// Pattern: inter-partition secondary index. The second copy is in another partition, so that each index can be spread
// and scanned separately. An entity group transaction cannot cross partitions, so the copies agree eventually. Each
// step can be repeated without harm, and the copy that lookups use is written last.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

Entity copy_of(const std::string& partition, const std::string& row, const std::string& number,
               const std::string& email, const std::string& name) {
  Entity entity(partition, row);
  entity.set("Number", number).set("Email", email).set("Name", name);
  return entity;
}

// [shown]
/// If `stop_early`, the process dies between the two steps.
Status save(Table& table, const std::string& number, const std::string& email, const std::string& name,
            bool stop_early = false) {
  const Result<ETag> by_number = table.insert_or_replace(copy_of("number_Sales", number, number, email, name));
  if (!by_number.ok() || stop_early) return by_number.status();
  return table.insert_or_replace(copy_of("email_Sales", email, number, email, name)).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("Inter-partition secondary index: one partition for each index");
  Table employees = example.table("Employees");
  Example::must(save(employees, "000223", "ann@example.com", "Ann"));
  Example::must(save(employees, "000224", "bob@example.com", "Bob", true));

  example.show(Example::must(employees.get("email_Sales", "ann@example.com")).row_key() == "ann@example.com",
               "Ann is found by her address");
  const auto missing = employees.get("email_Sales", "bob@example.com");
  example.show(missing.ok() && !missing->has_value(), "Bob is not in the second index: the writer stopped between");

  Example::must(save(employees, "000224", "bob@example.com", "Bob"));
  // [shown]
  const Entity bob = Example::must(employees.get("email_Sales", "bob@example.com"));
  // [/shown]
  example.show(*bob.get<std::string>("Number") == "000224", "the writer does it all again, and Bob is in both");

  // [shown]
  Query<> by_letter;
  by_letter.where(field("PartitionKey") == "email_Sales" && field("RowKey").starts_with("b"));
  Cursor<Entity> found = by_letter.run(employees);
  // [/shown]
  example.show(Example::must(found.all()).size() == 1 && found.cost().entities_examined == 1,
               "addresses that begin with b: a range of one partition");
  example.reads(1 + found.cost().entities_examined);
  return example.end();
}
