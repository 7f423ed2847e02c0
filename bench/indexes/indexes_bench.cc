// Owns: the program of the race of indexes, ends and groups.
// Must never: choose a goal's sizes: bench/blobs/goals.h has them.
#include "bench/blobs/goals_main.h"
#include "bench/indexes/goals.h"

int main(int argc, char** argv) {
  using namespace varve::bench;
  return run_goals(argc, argv,
                   {"varve-indexes-bench",
                    "compares indexes, ends and groups with their goals and with peers.",
                    {{"IX-01", indexed_inserts},
                     {"IX-02", index_lookups},
                     {"IX-03", index_builds},
                     {"IX-04", expiry},
                     {"IX-05", groups},
                     {"IX-06", ordered_pages}}});
}
