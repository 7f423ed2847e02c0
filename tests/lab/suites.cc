#include "tests/lab/corrupt/corrupt.h"
#include "tests/lab/crash/crash.h"
#include "tests/lab/errors/errors.h"
#include "tests/lab/full_disk/full_disk.h"
#include "tests/lab/kill/kill.h"
#include "tests/lab/lies/lies.h"
#include "tests/lab/memory/memory.h"
#include "tests/lab/model/model.h"
#include "tests/lab/repair/repair_suite.h"
#include "tests/lab/schedules/schedules.h"
#include "tests/lab/suite.h"

namespace varve::lab {

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      {"allocations", "every scenario with its n-th request for memory refused", 56, false, allocation_points},
      {"corrupt", "damages stores in every way we know; nothing may go unnoticed", 1, false, run_corrupt},
      {"crash", "every scenario crashed at every step, in every way", 56, false, crash_points, true},
      {"errors", "every scenario with its n-th call of the file system failing", 56, false, error_points, true},
      {"full-disk", "fills a disk again and again; reads and drops go on, and writes resume", 1, false, run_full_disk,
       true},
      {"kill", "kills real processes at any moment and step, and refuses them resources", 2, true, run_kill},
      {"lies", "every scenario on a machine that loses writes and syncs and answers other bytes", 56, false, lies},
      {"model", "random operations, crashes and faults against a model", 1000, false, run_model, true},
      {"repair", "damaged stores are repaired, and what comes of it is judged row by row", 4, false, run_repair},
      {"schedules", "clients of a whole store, its threads one at a time, and what they saw", 200, false, run_schedules,
       true},
  };
  return all;
}

}  // namespace varve::lab
