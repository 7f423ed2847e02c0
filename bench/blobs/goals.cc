#include "bench/blobs/goals.h"

namespace varve::bench {

const std::vector<Goal>& all_goals() {
  static const std::vector<Goal> all{
      {"BO-01", one_stream},         {"BO-02", many_streams},    {"BO-03", sequential_reads}, {"BO-04", random_ranges},
      {"BO-05", puts_of_objects},    {"OBJECTS", small_objects}, {"BO-06", small_appends},    {"BO-08", first_pages},
      {"BO-09", dropped_containers}, {"BO-10", copies},          {"BO-11", entity_with_blob}, {"BO-12", checksums},
      {"BX-33", collection},
  };
  return all;
}

}  // namespace varve::bench
