// Owns: reads under a memory limit that holds a part of the data. Stores that read only through the page cache can take
// part.
// Must never: begin with data in the page cache.
#include <algorithm>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/memory_limit.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

/// Returns about a quarter of the stored data if it is compressed, and less if it is not.
std::uint64_t memory_bytes(const Choice& choice) {
  return std::max(std::uint64_t{128} << 20, choice.entities * kEntityBytes / 8);
}

/// Uses a quarter for the cache. The rest is for other memory of the contender, and for the page cache if it is used.
Settings bounded_settings(const Choice& choice) {
  Settings settings;
  settings.cache_bytes = memory_bytes(choice) / 4;
  settings.write_buffer_bytes = std::uint64_t{16} << 20;
  return settings;
}

Settings settings_of_gets(const Choice& choice) {
  Settings settings = bounded_settings(choice);
  settings.scattered_reads = true;
  return settings;
}

/// Scans after the gets, whose settings disable read-ahead. So the store is reopened.
Result<Outcome> scan_reading_ahead(Session& session) {
  const Status opened = session.reopen(bounded_settings(session.choice()));
  return opened.ok() ? scan_everything(session, Scanned::kMade) : opened;
}

}  // namespace

Workload page_cache_workload() {
  auto limit = std::make_shared<std::uint64_t>(0);
  Workload workload{
      "page-cache",
      "reads of a table that is several times the memory, which a control group bounds, page cache included",
      settings_of_gets,
      in_both_forms({telling_memory(get_row("get under a memory limit, 1 thread", 1, true, false, {}), limit),
                     telling_memory(get_row("get under a memory limit, 16 threads", 16, true, false, {}), limit),
                     telling_memory({"full scan under a memory limit", scan_reading_ahead}, limit)}),
      "loaded",
      load_and_compact};
  workload.begin = [limit](Session& session) {
    begin_under_limit(session, memory_bytes(session.choice()), *limit);
    return session.reopen(settings_of_gets(session.choice()));
  };
  return workload;
}

}  // namespace varve::bench
