#include "tools/serve/watch/store_health.h"

namespace varve::serve {

StoreHealth health_of(const Result<Statistics>& statistics) {
  if (!statistics.ok())
    return {false, "unknown", "the store's figures cannot be read: " + statistics.status().to_string()};
  switch (statistics->health) {
    case Health::kPoisoned:
      return {false, "poisoned", "the log failed; reads continue; restart the server to accept writes again"};
    case Health::kWritePaused:
      return {false, "write paused",
              "writes are refused, usually for lack of space; they resume by themselves when there is room"};
    case Health::kHealthy: break;
  }
  if (statistics->read_only) return {false, "read only", "the store was opened read-only"};
  return {};
}

namespace {

std::string seconds_text(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

/// Returns what the monitors know of the cause.
std::string cause_of(const std::optional<RadosPool>& pool) {
  if (!pool) return "the monitors do not answer";
  if (pool->copies < pool->copies_min) {
    return "the object has " + std::to_string(pool->copies) + " of the " + std::to_string(pool->copies_min) +
           " copies that min_size asks for; start the missing OSDs";
  }
  if (pool->is_full) return "the pool is full; add OSDs or free space in it";
  return "an OSD may hang; `ceph -s` and `ceph health detail` say more";
}

}  // namespace

StoreHealth health_of(const RadosFigures& cluster) {
  if (cluster.is_fenced) {
    return {false, "fenced", "another process has taken the store over; this server answers nothing and ends"};
  }
  std::string wait;
  if (cluster.changes.longest_wait >= kChangeWaitMax) {
    wait = "a write to the object " + cluster.changes.longest_object + " has waited for " +
           seconds_text(cluster.changes.longest_wait);
  } else if (cluster.lease_age && *cluster.lease_age >= cluster.lease_time) {
    wait = "the cluster has not confirmed the ownership for " + seconds_text(*cluster.lease_age);
  } else {
    return {};
  }
  return {false, "waiting",
          wait + "; " + cause_of(cluster.pool) + "; writes wait, nothing is lost, and they go on by themselves"};
}

StoreHealth health_of(const Result<Statistics>& statistics, const std::optional<RadosFigures>& cluster) {
  StoreHealth health = health_of(statistics);
  if (!cluster || health.state == "poisoned") return health;
  StoreHealth of_cluster = health_of(*cluster);
  return of_cluster.accepts_writes ? health : of_cluster;
}

StoreHealth standby_health() {
  return {false, "standby", "another process owns the store; this one takes it over when that one is gone"};
}

}  // namespace varve::serve
