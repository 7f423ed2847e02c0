// Pattern: denormalisation. A page about a department shows its manager's name and address. They are copied into the
// department's entity, so that the page costs one point read. A writer that changes them also updates the copy.
#include "example.h"

struct Contact {
  std::string name;
  std::string email;
};
struct Department {
  std::string name;
  std::string row;  // always the same: a department is a partition
  std::int32_t employees = 0;
  Contact manager;
  varve::ETag etag;
};

template <>
inline constexpr auto varve::mapping<Contact> = varve::mapped::members(varve::mapped::property("Name", &Contact::name),
                                                                       varve::mapped::property("Email",
                                                                                               &Contact::email));
template <>
inline constexpr auto varve::mapping<Department> = varve::mapped::members(
    varve::mapped::partition_key(&Department::name), varve::mapped::row_key(&Department::row),
    varve::mapped::property("EmployeeCount", &Department::employees),
    varve::mapped::flattened("Manager", &Department::manager), varve::mapped::etag(&Department::etag));

namespace {

using namespace varve;
using patterns::Example;

}  // namespace

int main() {
  Example example("Denormalisation: the manager's contact stands in the department");
  TypedTable<Department> departments(example.table("Departments"));
  // [shown]
  Department sales{"Sales", "department", 128, {"Ann", "ann@example.com"}, {}};
  Example::must(departments.insert(sales));
  // [/shown]

  // [shown]
  const Department shown = Example::must(departments.get("Sales", "department"));
  // [/shown]
  example.show(shown.employees == 128 && shown.manager.email == "ann@example.com",
               "the page about Sales is one point read");
  example.reads(1);

  // [shown]
  sales.manager.email = "ann.jones@example.com";
  Example::must(departments.merge(sales));
  // [/shown]
  const Entity stored = Example::must(departments.table().get("Sales", "department"));
  example.show(*stored.get<std::string>("ManagerEmail") == "ann.jones@example.com",
               "who changes the address changes the copy, by a merge under its ETag");

  Department stale = shown;
  stale.employees = 127;
  example.show(departments.merge(stale).code() == Code::kPreconditionFailed,
               "a merge of what was read before that is refused");
  return example.end();
}
