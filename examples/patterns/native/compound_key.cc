// Native twin of the compound key: employee and year are properties with types of their own, and an index has both. Keys
// need no padding and no separator. The last review is found without its year.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Compound key, natively: an index on employee and year");
  Table reviews = example.table("Reviews");
  // [shown]
  Example::must(example.store().create_index("examples", "Reviews", {"ByYear", {{"Employee"}, {"Year"}}}));
  for (const std::string number : {"000223", "0002231"}) {
    for (std::int32_t year = 2019; year <= 2026; ++year) {
      Entity review("Sales", number + "-" + std::to_string(year));  // any unique key
      Example::must(reviews.insert(review.set("Employee", number).set("Year", year).set("Rating", year % 5)));
    }
  }

  const Condition of_employee = field("Employee") == "000223";
  Cursor<Entity> three = Query<>().where(of_employee && field("Year") >= 2022 && field("Year") <= 2024).run(reviews);
  const bool has_three = Example::must(three.all()).size() == 3;
  Cursor<Entity> eight = Query<>().where(of_employee && field("Year").exists()).order_by("Year").run(reviews);
  const std::vector<Entity> all = Example::must(eight.all());
  Query<> newest;
  newest.where(of_employee && field("Year").exists()).order_by("Year", SortDirection::kDescending).take(1);
  Cursor<Entity> last = newest.run(reviews);
  const Entity found = Example::must(last.first());
  // [/shown]
  example.show(has_three && three.cost().entities_examined == 3, "three years of reviews: three entities read");
  example.show(all.size() == 8 && *all[7].get<std::int32_t>("Year") == 2026,
               "all reviews of 000223, and none of 0002231, in the order of years");
  example.show(*found.get<std::int32_t>("Year") == 2026,
               "the last review: " + std::to_string(last.cost().entities_examined) + " entity read, whatever its year");
  example.reads(three.cost().entities_examined + eight.cost().entities_examined + last.cost().entities_examined);
  return example.end();
}
