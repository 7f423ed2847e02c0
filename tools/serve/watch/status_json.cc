#include "tools/serve/watch/status_json.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "api/rest/encoding/entity_writer.h"
#include "api/rest/encoding/json_text.h"
#include "tools/serve/watch/store_health.h"

namespace varve::serve {
namespace {

using NamedCount = std::pair<std::string_view, std::uint64_t>;

void write_counts(JsonText& json, std::initializer_list<NamedCount> counts) {
  for (const auto& [name, count] : counts) json.member(name).number(std::to_string(count));
}

void write_health(JsonText& json, const StoreHealth& health) {
  json.member("health").begin_object();
  json.member("accepts_writes").boolean(health.accepts_writes);
  json.member("state").text(health.state).member("reason").text(health.reason).end_object();
}

void write_operation(JsonText& json, Operation operation, const OperationFigures& figures) {
  json.begin_object().member("name").text(operation_name(operation));
  write_counts(json, {{"requests", figures.requests()},
                      {"failures", figures.failures()},
                      {"nanoseconds", figures.nanoseconds},
                      {"bytes_in", figures.bytes_in},
                      {"bytes_out", figures.bytes_out}});
  json.member("latencies").begin_array();
  for (const std::uint64_t count : figures.latencies) json.number(std::to_string(count));
  json.end_array().end_object();
}

void write_requests(JsonText& json, const Observed& observed) {
  json.member("latency_bounds").begin_array();
  for (const std::uint64_t bound : kLatencyBounds) json.number(double_text(static_cast<double>(bound) / 1e9));
  json.end_array().member("operations").begin_array();
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const OperationFigures figures = observed.requests.of(operation);
    if (figures.requests() > 0) write_operation(json, operation, figures);
  }
  json.end_array();
  const ConnectionFigures connections = observed.connections();
  write_counts(json, {{"unreadable", observed.requests.unreadable()},
                      {"connections_open", connections.open},
                      {"connections_accepted", connections.accepted},
                      {"connections_refused", connections.refused}});
}

void write_levels(JsonText& json, const Statistics& store) {
  json.member("levels").begin_array();
  for (const LevelStatistics& level : store.levels) {
    json.begin_object();
    write_counts(
        json,
        {{"files", level.files}, {"bytes", level.bytes}, {"entries", level.entries}, {"deletions", level.deletions}});
    json.end_object();
  }
  json.end_array();
}

void write_store(JsonText& json, const Statistics& store) {
  json.member("store").begin_object();
  json.member("back_end").text(store.back_end);
  json.member("durability").text(store.default_durability == Durability::kSync ? "sync" : "buffered");
  json.member("last_write").text(store.visible_version.to_string());
  write_levels(json, store);
  write_counts(json, {{"commits", store.commits},
                      {"commits_refused", store.commits_refused},
                      {"groups", store.groups},
                      {"log_writes", store.log_writes},
                      {"log_bytes", store.log_bytes},
                      {"log_segments", store.log_segments},
                      {"live_log_bytes", store.live_log_bytes},
                      {"value_files", store.value_files},
                      {"value_file_bytes", store.value_file_bytes},
                      {"value_file_live_bytes", store.value_file_live_bytes},
                      {"memtable_entries", store.memtable_entries},
                      {"memtable_bytes", store.memtable_bytes},
                      {"memtable_bytes_max", store.memtable_bytes_max}});
  write_counts(json, {{"cache_bytes", store.cache.bytes},
                      {"cache_bytes_max", store.cache.bytes_max},
                      {"cache_blocks", store.cache.blocks},
                      {"cache_hits", store.cache.hits},
                      {"cache_misses", store.cache.misses},
                      {"block_reads", store.block_reads},
                      {"block_read_bytes", store.block_read_bytes}});
  write_counts(json, {{"flushes", store.flushes},
                      {"flushed_bytes", store.flushed_bytes},
                      {"compactions", store.compactions},
                      {"compaction_read_bytes", store.compaction_read_bytes},
                      {"compaction_written_bytes", store.compaction_written_bytes},
                      {"compaction_debt_bytes", store.compaction_debt_bytes},
                      {"dead_log_bytes", store.dead_log_bytes},
                      {"dead_table_bytes", store.dead_table_bytes},
                      {"dead_value_bytes", store.dead_value_bytes},
                      {"ballast_bytes", store.ballast_bytes},
                      {"clock_ahead", static_cast<std::uint64_t>(store.clock_ahead.count())},
                      {"write_wait_nanoseconds", static_cast<std::uint64_t>(store.write_wait.count())},
                      {"retired_ids", store.retired_ids},
                      {"open_snapshots", store.open_snapshots}});
  json.end_object();
}

std::uint64_t milliseconds_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

void write_operations(JsonText& json, std::string_view name, const RadosOperations& operations) {
  json.member(name).begin_object();
  write_counts(json, {{"answered", operations.answered},
                      {"nanoseconds", static_cast<std::uint64_t>(operations.time.count())},
                      {"slow", operations.slow},
                      {"waiting", operations.waiting},
                      {"longest_wait_ms", milliseconds_of(operations.longest_wait)}});
  json.member("longest_object").text(operations.longest_object).end_object();
}

void write_latencies(JsonText& json, const std::vector<RadosLatency>& latencies) {
  json.member("latencies").begin_array();
  for (const RadosLatency& of : latencies) {
    json.begin_object().member("objects").text(of.objects).member("kind").text(of.kind);
    write_counts(
        json,
        {{"answered", of.answered}, {"nanoseconds", static_cast<std::uint64_t>(of.time.count())}, {"slow", of.slow}});
    json.end_object();
  }
  json.end_array();
}

void write_cluster(JsonText& json, const RadosFigures& cluster) {
  json.member("cluster").begin_object();
  json.member("process").text(cluster.process).member("client").text(cluster.client);
  json.member("epochs").begin_object();
  for (const auto& [name, epoch] : cluster.owned) json.member(name).number(std::to_string(epoch));
  json.end_object();
  write_counts(json, {{"ownerships", cluster.ownerships},
                      {"takeovers", cluster.takeovers},
                      {"fences", cluster.fences},
                      {"lease_age_ms", milliseconds_of(cluster.lease_age.value_or(std::chrono::nanoseconds(0)))},
                      {"lease_time_ms", milliseconds_of(cluster.lease_time)},
                      {"lease_lapses", cluster.lease_lapses},
                      {"reads_given_up", cluster.reads_given_up},
                      {"changes_refused_full", cluster.changes_refused_full}});
  write_operations(json, "reads", cluster.reads);
  write_operations(json, "changes", cluster.changes);
  write_latencies(json, cluster.latencies);
  if (cluster.pool) {
    json.member("pool").begin_object();
    json.member("is_full").boolean(cluster.pool->is_full);
    json.member("is_nearly_full").boolean(cluster.pool->is_nearly_full);
    write_counts(json, {{"copies", cluster.pool->copies}, {"copies_min", cluster.pool->copies_min}});
    json.end_object();
  }
  if (cluster.local_cache) {
    const RadosLocalCache& cache = *cluster.local_cache;
    json.member("local_cache").begin_object();
    write_counts(json, {{"size_bytes", cache.size_bytes},
                        {"hits", cache.hits},
                        {"misses", cache.misses},
                        {"taken_bytes", cache.taken_bytes},
                        {"damaged", cache.damaged},
                        {"failed_writes", cache.failed_segments},
                        {"found_entries", cache.found_entries},
                        {"fresh_bytes", cache.fresh_bytes}});
    json.member("is_kept").boolean(cache.is_kept);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string status_json(const Observed& observed, bool has_explorer) {
  const Result<Statistics> store = observed.store.statistics();
  JsonText json;
  json.begin_object();
  json.member("uptime_seconds").number(double_text(observed.uptime().count()));
  json.member("has_explorer").boolean(has_explorer);
  const std::optional<RadosFigures> cluster = observed.cluster_figures();
  write_health(json, health_of(store, cluster));
  write_requests(json, observed);
  if (store.ok()) write_store(json, *store);
  if (cluster) write_cluster(json, *cluster);
  json.end_object();
  return json.take();
}

}  // namespace varve::serve
