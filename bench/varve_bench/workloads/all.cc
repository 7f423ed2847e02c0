// Owns: the list of workloads, in the order in which they run.
// Must never: do the work of a workload.
#include "bench/varve_bench/workload.h"

namespace varve::bench {

std::vector<Workload> all_workloads() {
  return {durable_workload(),        checked_workload(),     load_workload(),         small_buffer_load_workload(),
          random_put_workload(),     read_workload(),        cold_workload(),         merge_workload(),
          pages_workload(),          two_threads_workload(), log_space_workload(),    drop_workload(),
          delete_workload(),         queue_workload(),       warm_restart_workload(), tables_workload(),
          recovery_workload(1),      recovery_workload(50),  recovery_workload(200),  ycsb_workload(),
          ycsb_in_memory_workload(), mixed_workload(),       large_workload(),        cold_insert_workload(),
          space_workload(),          bag_space_workload(),   settled_workload(),      selective_workload(),
          page_cache_workload(),     memory_workload(),      curve_workload(),        endurance_workload(),
          smooth_workload()};
}

}  // namespace varve::bench
