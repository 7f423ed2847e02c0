// Pattern: compound key. Reviews of all years are stored beside their employee: the RowKey consists of the employee's
// number and the year. One prefix reads the employee with all reviews, and one range reads the reviews of some years.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

// [shown]
std::string review_key(std::string_view number, std::uint64_t year) {
  return Example::must(composite_key({number, Example::must(zero_padded(year, 4))}));
}
// [/shown]

}  // namespace

int main() {
  Example example("Compound key: employee and year make one RowKey");
  Table employees = example.table("Employees");
  for (const std::string number : {"000223", "0002231"}) {  // one number is a prefix of the other
    Example::must(employees.insert(Entity("Sales", number).set("Name", "Ann")));
    for (std::uint64_t year = 2019; year <= 2026; ++year) {
      Entity review("Sales", review_key(number, year));
      Example::must(employees.insert(review.set("Rating", static_cast<std::int32_t>(year % 5))));
    }
  }

  // [shown]
  Query<> some_years;
  some_years.where(field("PartitionKey") == "Sales" && field("RowKey") >= review_key("000223", 2022) &&
                   field("RowKey") <= review_key("000223", 2024));
  Cursor<Entity> three = some_years.run(employees);
  // [/shown]
  example.show(Example::must(three.all()).size() == 3 && three.cost().entities_examined == 3,
               "three years of reviews: three entities read");

  // [shown]
  Query<> all_years;
  all_years.in(ScanRange::rows_with_prefix("Sales", Example::must(composite_prefix({"000223"}))));
  const std::vector<Entity> reviews = Example::must(all_years.run(employees).all());
  // [/shown]
  example.show(reviews.size() == 8, "all reviews of 000223, and none of 0002231, are one prefix");
  example.show(Example::must(split_composite_key(reviews.back().row_key()))[1] == "2026", "in the order of years");

  // [shown]
  Query<> with_employee;
  with_employee.where(field("PartitionKey") == "Sales" &&
                      (field("RowKey") == "000223" || field("RowKey") == review_key("000223", 2026)));
  Cursor<Entity> two = with_employee.run(employees);
  // [/shown]
  example.show(Example::must(two.all()).size() == 2 && two.cost().key_ranges == 2,
               "the employee with the last review: one query, two lookups");
  example.reads(three.cost().entities_examined + reviews.size() + two.cost().entities_examined);
  return example.end();
}
