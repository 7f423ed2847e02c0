#include "tools/serve/watch/metrics_text.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "api/rest/encoding/text_stream.h"
#include "tools/serve/watch/process_figures.h"
#include "tools/serve/watch/store_health.h"
#include "varve/version.h"

namespace varve::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double seconds_of(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}

/// The metric families. Each family is filled before the next one begins.
class Families {
 public:
  void begin(MetricType type, std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }
  ClientMetric& sample(std::vector<ClientMetric::Label> labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    return families_.back().metric.emplace_back(std::move(metric));
  }
  void value(double value, std::vector<ClientMetric::Label> labels = {}) {
    ClientMetric& metric = sample(std::move(labels));
    (families_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }
  void value(std::uint64_t number, std::vector<ClientMetric::Label> labels = {}) {
    value(static_cast<double>(number), std::move(labels));
  }
  template <typename Value>
  void counter(std::string name, std::string help, Value number) {
    begin(MetricType::Counter, std::move(name), std::move(help));
    value(number);
  }
  template <typename Value>
  void gauge(std::string name, std::string help, Value number) {
    begin(MetricType::Gauge, std::move(name), std::move(help));
    value(number);
  }
  std::string text() const {
    TextStream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  std::vector<MetricFamily> families_;
};

struct NamedFigures {
  std::string name;
  OperationFigures figures;
};

/// Returns the operations that were requested at least once.
std::vector<NamedFigures> operations_of(const RequestFigures& requests) {
  std::vector<NamedFigures> all;
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    NamedFigures named{std::string(operation_name(operation)), requests.of(operation)};
    if (named.figures.requests() > 0) all.push_back(std::move(named));
  }
  return all;
}

void add_statuses(Families& families, const std::vector<NamedFigures>& operations) {
  families.begin(MetricType::Counter, "varve_requests_total", "Answered requests, by operation and HTTP status.");
  for (const NamedFigures& operation : operations) {
    for (std::size_t i = 0; i < kCountedStatuses.size(); ++i) {
      const std::uint64_t count = operation.figures.statuses[i];
      const std::string status = kCountedStatuses[i] == 0 ? "other" : std::to_string(kCountedStatuses[i]);
      if (count > 0) families.value(count, {{"operation", operation.name}, {"status", status}});
    }
  }
}

void add_latencies(Families& families, const std::vector<NamedFigures>& operations) {
  families.begin(MetricType::Histogram, "varve_request_duration_seconds",
                 "Seconds from the end of reading a request until its answer is ready to send.");
  for (const NamedFigures& operation : operations) {
    ClientMetric::Histogram& histogram = families.sample({{"operation", operation.name}}).histogram;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kLatencyBounds.size(); ++i) {
      below += operation.figures.latencies[i];
      histogram.bucket.push_back({below, seconds_of(kLatencyBounds[i])});
    }
    histogram.sample_count = operation.figures.requests();  // the serializer adds the bucket without a bound
    histogram.sample_sum = seconds_of(operation.figures.nanoseconds);
  }
}

void add_requests(Families& families, const RequestFigures& requests) {
  const std::vector<NamedFigures> operations = operations_of(requests);
  add_statuses(families, operations);
  add_latencies(families, operations);
  families.begin(MetricType::Counter, "varve_request_body_bytes_total", "Bytes of request bodies received.");
  for (const NamedFigures& operation : operations) {
    families.value(operation.figures.bytes_in, {{"operation", operation.name}});
  }
  families.begin(MetricType::Counter, "varve_response_body_bytes_total", "Bytes of response bodies sent.");
  for (const NamedFigures& operation : operations) {
    families.value(operation.figures.bytes_out, {{"operation", operation.name}});
  }
  families.counter("varve_unreadable_requests_total", "Refused input that was not an HTTP request, or was too large.",
                   requests.unreadable());
}

void add_server(Families& families, const Observed& observed) {
  const ConnectionFigures connections = observed.connections();
  families.gauge("varve_connections", "Open connections.", connections.open);
  families.counter("varve_connections_accepted_total", "Accepted connections.", connections.accepted);
  families.counter("varve_connections_refused_total", "Connections closed at once because too many were open.",
                   connections.refused);
  families.counter("varve_request_log_lost_lines_total", "Lines that the request log dropped for lack of room.",
                   observed.lost_log_lines());
  const AnalyticsFigures analytics = observed.analytics();
  families.counter(
      "varve_analytics_lost_log_entries_total",
      "Entries of the accounts' logs that were dropped for lack of room, or because the store refused them.",
      analytics.lost_entries);
  families.counter("varve_analytics_lost_rows_total",
                   "Rows of the accounts' metrics that were given up because the store refused them.",
                   analytics.lost_rows);
  families.gauge("varve_uptime_seconds", "Seconds since the start of the server.", observed.uptime().count());
}

void add_reloads(Families& families, const ReloadFigures& reloads) {
  families.begin(MetricType::Counter, "varve_config_reloads_total", "Reloads of the settings, by result.");
  families.value(reloads.done(), {{"result", "success"}});
  families.value(reloads.refused(), {{"result", "failure"}});
  families.gauge("varve_config_last_reload_successful", "1 if the last load of the settings succeeded, else 0.",
                 std::uint64_t{reloads.is_last_successful()});
  families.gauge("varve_config_last_reload_success_timestamp_seconds",
                 "Time of the last successful load of the settings, in seconds since 1970.",
                 static_cast<double>(reloads.last_success()));
}

/// Adds the figures of the process under the names that all exporters of Prometheus share.
void add_process(Families& families, const ProcessFigures& process) {
  const auto gauge = [&](const char* name, const char* help, const auto& figure) {
    if (figure) families.gauge(name, help, *figure);
  };
  if (process.cpu_seconds) {
    families.counter("process_cpu_seconds_total", "Seconds of processor time, user and system.", *process.cpu_seconds);
  }
  gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.", process.start_time_seconds);
  gauge("process_resident_memory_bytes", "Resident memory in bytes.", process.resident_bytes);
  gauge("process_virtual_memory_bytes", "Virtual memory in bytes.", process.virtual_bytes);
  gauge("process_open_fds", "Open file descriptors.", process.open_descriptors);
  gauge("process_max_fds", "Most file descriptors that may be open.", process.descriptors_max);
  gauge("process_threads", "Threads of the process.", process.threads);
}

void add_build(Families& families) {
  families.begin(MetricType::Gauge, "varve_build_info", "1, with the version of the server as its label.");
  families.value(std::uint64_t{1}, {{"version", VARVE_VERSION}});
}

void add_levels(Families& families, const Statistics& store) {
  const auto of_levels = [&](const char* name, const char* help, std::uint64_t LevelStatistics::*figure) {
    families.begin(MetricType::Gauge, name, help);
    for (std::size_t level = 0; level < store.levels.size(); ++level) {
      families.value(store.levels[level].*figure, {{"level", std::to_string(level)}});
    }
  };
  of_levels("varve_level_files", "Table files in a level.", &LevelStatistics::files);
  of_levels("varve_level_bytes", "Bytes of the table files in a level.", &LevelStatistics::bytes);
  of_levels("varve_level_entries", "Entries in a level: entities, older versions, deletions and catalog rows.",
            &LevelStatistics::entries);
  of_levels("varve_level_deletions", "Deletions among the entries in a level.", &LevelStatistics::deletions);
}

void add_log(Families& families, const Statistics& store) {
  families.counter("varve_commits_total", "Commits.", store.commits);
  families.counter("varve_commits_refused_total", "Commits refused for lack of space or because a table was dropped.",
                   store.commits_refused);
  families.counter("varve_commit_groups_total", "Groups of commits written to the log together.", store.groups);
  families.counter("varve_log_writes_total", "Writes to the log.", store.log_writes);
  families.gauge("varve_log_writes_in_flight_max", "Writes to the log that may be in flight at once.",
                 store.log_writes_in_flight_max);
  families.counter("varve_batch_bytes_total", "Encoded bytes that callers wrote.", store.batch_bytes);
  families.counter("varve_log_bytes_total", "Bytes written to the log for commits.", store.log_bytes);
  families.counter("varve_log_fill_bytes_total", "Bytes of zeros written to prepare log space.", store.fill_bytes);
  families.gauge("varve_log_segments", "Log segments.", store.log_segments);
  families.gauge("varve_live_log_bytes", "Bytes of log that a recovery would read now.", store.live_log_bytes);
  families.gauge("varve_value_files", "Log segments kept as value files for their large values.", store.value_files);
  families.gauge("varve_value_file_bytes", "Bytes of value files.", store.value_file_bytes);
  families.gauge("varve_value_file_live_bytes", "Bytes of value files that entities still use.",
                 store.value_file_live_bytes);
  families.gauge("varve_manifest_bytes", "Bytes of the manifest.", store.manifest_bytes);
  families.counter("varve_partition_waits_total", "Writes that waited for another write of the same partition.",
                   store.partition_waits);
  families.counter("varve_write_wait_seconds_total", "Seconds that writes waited for flushes and compactions.",
                   seconds_of(static_cast<std::uint64_t>(store.write_wait.count())));
}

void add_memory(Families& families, const Statistics& store) {
  families.gauge("varve_memtable_entries", "Entries in memtables.", store.memtable_entries);
  families.gauge("varve_memtable_bytes", "Bytes of memtables.", store.memtable_bytes);
  families.gauge("varve_memtable_limit_bytes", "Most bytes that memtables may take.", store.memtable_bytes_max);
  families.gauge("varve_cache_bytes", "Bytes of blocks in the cache.", store.cache.bytes);
  families.gauge("varve_cache_limit_bytes", "Most bytes that the cache may take.", store.cache.bytes_max);
  families.gauge("varve_cache_blocks", "Blocks in the cache.", store.cache.blocks);
  families.counter("varve_cache_hits_total", "Blocks found in the cache.", store.cache.hits);
  families.counter("varve_cache_misses_total", "Blocks not found in the cache.", store.cache.misses);
  families.counter("varve_block_reads_total", "Blocks read from table files for readers.", store.block_reads);
  families.counter("varve_block_read_bytes_total", "Stored bytes of blocks read from table files for readers.",
                   store.block_read_bytes);
  families.gauge("varve_ballast_bytes",
                 "Bytes of disk space reserved so that drops and the close succeed on a full disk.",
                 store.ballast_bytes);
  families.gauge("varve_clock_ahead_seconds", "Seconds by which the store's clock is ahead of the machine's.",
                 static_cast<std::uint64_t>(store.clock_ahead.count()));
  families.gauge("varve_open_snapshots", "Open snapshots.", store.open_snapshots);
}

void add_compaction(Families& families, const Statistics& store) {
  families.counter("varve_flushes_total", "Memtables written to table files.", store.flushes);
  families.counter("varve_flushed_bytes_total", "Bytes written by flushes.", store.flushed_bytes);
  families.counter("varve_compactions_total", "Compactions.", store.compactions);
  families.counter("varve_compaction_read_bytes_total", "Bytes that compactions read.", store.compaction_read_bytes);
  families.counter("varve_compaction_written_bytes_total", "Bytes that compactions wrote.",
                   store.compaction_written_bytes);
  families.counter("varve_compaction_copied_bytes_total",
                   "Bytes that compactions copied as whole runs; part of the written bytes.",
                   store.compaction_copied_bytes);
  families.counter("varve_moved_files_total", "Files moved to another level without reading them.", store.moved_files);
  families.counter("varve_unlinked_files_total", "Files removed without reading them.", store.unlinked_files);
  families.counter("varve_warm_blocks_total", "Blocks read back into the cache after the open.", store.warm_blocks);
  families.counter("varve_warm_bytes_total", "Bytes of these blocks, as stored.", store.warm_bytes);
  families.counter("varve_warm_lists_total", "Written lists of the cached blocks.", store.warm_lists);
  families.counter("varve_warm_list_failures_total", "Lists that were not written or not usable.",
                   store.warm_list_failures);
  families.gauge("varve_compaction_debt_bytes",
                 "Bytes that compaction still has to rewrite, and bytes of dropped tables to free.",
                 store.compaction_debt_bytes);
  families.gauge("varve_dead_log_bytes", "Bytes of dropped tables in the log; part of the debt.", store.dead_log_bytes);
  families.gauge("varve_dead_table_bytes", "Bytes of dropped tables in table files; part of the debt.",
                 store.dead_table_bytes);
  families.gauge("varve_dead_value_bytes", "Bytes in value files that no entity uses; part of the debt.",
                 store.dead_value_bytes);
  families.counter("varve_loads_total", "Tables loaded by loaders.", store.loads);
  families.counter("varve_loaded_entities_total", "Entities loaded by loaders.", store.loaded_entities);
  families.counter("varve_load_written_bytes_total", "Bytes that loaders wrote.", store.load_written_bytes);
  families.gauge("varve_retired_ids", "Dropped tables and accounts whose bytes are not all freed.", store.retired_ids);
}

void add_health(Families& families, const StoreHealth& health) {
  families.gauge("varve_accepts_writes", "1 if the store accepts writes, else 0.",
                 std::uint64_t{health.accepts_writes});
  families.begin(MetricType::Gauge, "varve_health", "1 for the present state of the store, 0 for the others.");
  for (const std::string_view state :
       {"healthy", "write paused", "poisoned", "read only", "standby", "waiting", "fenced", "unknown"}) {
    families.value(std::uint64_t{state == health.state}, {{"state", std::string(state)}});
  }
}

/// Adds the figures of one kind of operations for each kind.
template <typename Figure>
void add_by_kind(Families& families, MetricType type, const char* name, const char* help, const RadosFigures& cluster,
                 const Figure& figure) {
  families.begin(type, name, help);
  families.value(figure(cluster.reads), {{"kind", "read"}});
  families.value(figure(cluster.changes), {{"kind", "change"}});
}

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Adds a figure of each class of objects with each kind of operations.
template <typename Figure>
void add_by_objects(Families& families, const char* name, const char* help, const RadosFigures& cluster,
                    const Figure& figure) {
  families.begin(MetricType::Counter, name, help);
  for (const RadosLatency& of : cluster.latencies) {
    families.value(figure(of), {{"objects", of.objects}, {"kind", of.kind}});
  }
}

void add_cluster_latencies(Families& families, const RadosFigures& cluster) {
  add_by_objects(families, "varve_cluster_object_operations_total",
                 "Answered operations by the objects that they were for.", cluster,
                 [](const RadosLatency& of) { return of.answered; });
  add_by_objects(families, "varve_cluster_object_operation_seconds_total", "Seconds that these took.", cluster,
                 [](const RadosLatency& of) { return seconds_of(of.time); });
  add_by_objects(families, "varve_cluster_object_slow_operations_total",
                 "Those of them that took longer than a second.", cluster,
                 [](const RadosLatency& of) { return of.slow; });
}

void add_cluster_operations(Families& families, const RadosFigures& cluster) {
  add_by_kind(families, MetricType::Counter, "varve_cluster_operations_total",
              "Operations on objects that the cluster answered.", cluster,
              [](const RadosOperations& of) { return of.answered; });
  add_by_kind(families, MetricType::Counter, "varve_cluster_operation_seconds_total", "Seconds that these took.",
              cluster, [](const RadosOperations& of) { return seconds_of(of.time); });
  add_by_kind(families, MetricType::Counter, "varve_cluster_slow_operations_total",
              "Answered operations that took longer than a second.", cluster,
              [](const RadosOperations& of) { return of.slow; });
  add_by_kind(families, MetricType::Gauge, "varve_cluster_waiting_operations", "Operations that wait now.", cluster,
              [](const RadosOperations& of) { return of.waiting; });
  add_by_kind(families, MetricType::Gauge, "varve_cluster_longest_wait_seconds",
              "Seconds that the oldest waiting operation has waited; 0 if none waits.", cluster,
              [](const RadosOperations& of) { return seconds_of(of.longest_wait); });
  families.counter("varve_cluster_reads_given_up_total", "Reads given up because the cluster did not answer in time.",
                   cluster.reads_given_up);
  families.counter("varve_cluster_refused_full_total", "Changes that the pool refused because it was full.",
                   cluster.changes_refused_full);
}

void add_local_cache(Families& families, const RadosLocalCache& cache) {
  families.gauge("varve_cluster_local_cache_bytes", "Size of the local cache.", cache.size_bytes);
  families.counter("varve_cluster_local_cache_hits_total", "Reads that the local cache answered.", cache.hits);
  families.counter("varve_cluster_local_cache_misses_total", "Reads that it might have answered.", cache.misses);
  families.counter("varve_cluster_local_cache_taken_bytes_total", "Bytes written into it.", cache.taken_bytes);
  families.counter("varve_cluster_local_cache_fresh_bytes_total", "Of these, bytes of new files.", cache.fresh_bytes);
  families.counter("varve_cluster_local_cache_damaged_total", "Damaged entries, read from the cluster instead.",
                   cache.damaged);
  families.counter("varve_cluster_local_cache_failed_writes_total", "Writes that the local disk refused.",
                   cache.failed_segments);
  families.gauge("varve_cluster_local_cache_found_entries", "Entries that the former process left.",
                 cache.found_entries);
  families.gauge("varve_cluster_local_cache_kept", "1 if the next process can begin with its entries, else 0.",
                 std::uint64_t{cache.is_kept});
}

void add_cluster(Families& families, const RadosFigures& cluster) {
  families.gauge("varve_cluster_epoch", "The epoch under which this process owns the store; 0 if it owns none.",
                 cluster.owned.empty() ? std::uint64_t{0} : cluster.owned.begin()->second);
  families.counter("varve_cluster_ownerships_total", "How often this process became the owner.", cluster.ownerships);
  families.counter("varve_cluster_takeovers_total", "Of these, from an owner that had died or hung.",
                   cluster.takeovers);
  families.counter("varve_cluster_fences_total", "How often this process noticed that it had lost the store.",
                   cluster.fences);
  families.gauge("varve_cluster_fenced", "1 if another process has ended the lease of this one, else 0.",
                 std::uint64_t{cluster.is_fenced});
  if (cluster.lease_age) {
    families.gauge("varve_cluster_lease_age_seconds", "Seconds since the last confirmed renewal of the lease was sent.",
                   seconds_of(*cluster.lease_age));
  }
  families.gauge("varve_cluster_lease_limit_seconds", "The age of the lease from which nothing is answered.",
                 seconds_of(cluster.lease_time));
  families.counter("varve_cluster_lease_lapses_total", "How often the lease was older than this, until it was renewed.",
                   cluster.lease_lapses);
  add_cluster_operations(families, cluster);
  add_cluster_latencies(families, cluster);
  if (cluster.local_cache) add_local_cache(families, *cluster.local_cache);
  families.gauge("varve_cluster_pool_known", "1 if the monitors have answered the last question, else 0.",
                 std::uint64_t{cluster.pool.has_value()});
  if (!cluster.pool) return;
  families.gauge("varve_cluster_pool_full", "1 if the pool refuses new objects, else 0.",
                 std::uint64_t{cluster.pool->is_full});
  families.gauge("varve_cluster_pool_nearly_full", "1 if the pool is above its first mark, else 0.",
                 std::uint64_t{cluster.pool->is_nearly_full});
  families.gauge("varve_cluster_copies", "Copies that serve the object which waits longest, or the lease.",
                 cluster.pool->copies);
  families.gauge("varve_cluster_copies_min", "The pool's min_size: with fewer copies, operations wait.",
                 cluster.pool->copies_min);
}

}  // namespace

std::string metrics_text(const Observed& observed) {
  const Result<Statistics> store = observed.store.statistics();
  Families families;
  add_requests(families, observed.requests);
  add_server(families, observed);
  if (observed.reloads != nullptr) add_reloads(families, *observed.reloads);
  add_build(families);
  add_process(families, process_figures());
  const std::optional<RadosFigures> cluster = observed.cluster_figures();
  add_health(families, health_of(store, cluster));
  if (cluster) add_cluster(families, *cluster);
  if (store.ok()) {
    add_levels(families, *store);
    add_log(families, *store);
    add_memory(families, *store);
    add_compaction(families, *store);
  }
  return families.text();
}

std::string standby_metrics_text() {
  Families families;
  add_build(families);
  add_process(families, process_figures());
  add_health(families, standby_health());
  return families.text();
}

}  // namespace varve::serve
