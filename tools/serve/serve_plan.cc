#include "tools/serve/serve_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/memory_plan.h"
#include "varve/rados.h"

namespace varve::serve {
namespace {

/// Returns the memory of the index of the local cache.
std::uint64_t local_cache_memory(const Settings& settings) {
  if (!settings.has(OptionId::kLocalCache)) return 0;
  const Result<LocalCacheDefinition> cache = parse_local_cache(settings.text(OptionId::kLocalCache));
  return cache.ok() ? cache->size_bytes / RadosConnection::kLocalCacheBytesForOneOfMemory : 0;
}

Result<MemoryPlan> read_memory(const Settings& settings) {
  std::optional<std::uint64_t> asked;
  std::optional<std::uint64_t> limit;
  if (settings.has(OptionId::kMemory)) {
    const Result<std::uint64_t> size = parse_size(settings.text(OptionId::kMemory));
    if (!size.ok()) return size.status();
    asked = *size;
  } else {
    limit = memory_limit();
  }
  const std::uint64_t index = local_cache_memory(settings);
  for (std::optional<std::uint64_t>* const bytes : {&asked, &limit}) {
    if (*bytes) **bytes -= std::min(**bytes, index);
  }
  Result<MemoryPlan> plan = plan_memory(asked, limit);
  if (plan.ok() || index == 0) return plan;
  return Status(plan.code(), std::string(plan.status().message()) + ", and " + std::to_string((index >> 20) + 1) +
                                 " MiB more for the index of --local-cache");
}

/// Sets the memory limits of the server and of its store.
Status set_memory(const Settings& settings, ServePlan& made) {
  const Result<MemoryPlan> plan = read_memory(settings);
  if (!plan.ok()) return plan.status();
  ConnectionLimits& limits = made.listening.limits;
  limits.memory_max = (*plan).bodies;
  if ((*plan).connections < limits.connections_max) {
    limits.connections_max = (*plan).connections;
    limits.connections_per_address_max = (*plan).connections / 2;
  }
  ResourceOptions resources;
  resources.block_cache_bytes = (*plan).block_cache;
  resources.write_buffer_bytes = (*plan).write_buffer;
  Result<std::shared_ptr<Resources>> shared = Resources::create(resources);
  if (!shared.ok()) return shared.status();
  made.store.resources = *std::move(shared);
  return Status();
}

Result<std::optional<FurtherAddress>> further_address(const Settings& settings, OptionId id) {
  if (!settings.has(id)) return std::optional<FurtherAddress>();
  const Result<AddressPort> parsed = parse_address_port(settings.text(id));
  if (!parsed.ok()) return parsed.status();
  return std::optional(FurtherAddress{(*parsed).address, (*parsed).port});
}

/// Returns the choice that is set. check_value() has checked that it exists, and the choices here have its order.
template <typename Choice, std::size_t size>
Choice chosen(const Settings& settings, OptionId id, const std::array<Choice, size>& choices) {
  const std::span<const std::string_view> names = rule_of(id).choices;
  const auto found = std::find(names.begin(), names.end(), settings.text(id));
  return choices[static_cast<std::size_t>(found - names.begin()) % size];
}

}  // namespace

LiveOptions live_options(const Settings& settings) {
  LiveOptions live;
  live.tls_certificate = settings.text(OptionId::kTlsCert);
  live.tls_key = settings.text(OptionId::kTlsKey);
  live.tls_certificate_place = settings.place(OptionId::kTlsCert);
  live.tls_key_place = settings.place(OptionId::kTlsKey);
  live.allows_extensions = chosen(settings, OptionId::kExtensions, std::array{false, true});
  live.request_log = chosen(settings, OptionId::kRequestLog,
                            std::array{RequestLogLevel::kOff, RequestLogLevel::kFailures, RequestLogLevel::kAll});
  live.log_format = chosen(settings, OptionId::kLogFormat, std::array{LogFormat::kText, LogFormat::kJson});
  return live;
}

std::chrono::seconds drain_time(const Settings& settings) {
  const Result<std::chrono::seconds> parsed = parse_drain_seconds(settings.text(OptionId::kDrainSeconds));
  return parsed.ok() ? *parsed : kDrainMin;
}

Result<ServePlan> plan_server(const Settings& settings) {
  ServePlan made;
  ListenOptions& listening = made.listening;
  const Result<AddressPort> address = parse_address_port(settings.text(OptionId::kListen));
  if (!address.ok()) return address.status();
  listening.address = (*address).address;
  listening.port = (*address).port;
  static_cast<LiveOptions&>(listening) = live_options(settings);
  listening.status_page = chosen(
      settings, OptionId::kStatusPage,
      std::array{StatusPageMode::kAuto, StatusPageMode::kOff, StatusPageMode::kFigures, StatusPageMode::kExplore});
  const Result<std::optional<FurtherAddress>> queues = further_address(settings, OptionId::kListenQueues);
  if (!queues.ok()) return queues.status();
  listening.queues = *queues;
  const Result<std::optional<FurtherAddress>> blobs = further_address(settings, OptionId::kListenBlobs);
  if (!blobs.ok()) return blobs.status();
  listening.blobs = *blobs;
  listening.blob_options.allows_public_access = chosen(settings, OptionId::kPublicBlobs, std::array{false, true});
  listening.blob_options.compresses = chosen(settings, OptionId::kCompressBlobs, std::array{false, true});
  for (const SettingValue& value : settings.all(OptionId::kDeadLetter)) {
    Result<DeadLetterDefinition> rule = parse_dead_letter(value.text);
    if (!rule.ok()) return at_place(value.place, rule.status());
    listening.dead_letters.push_back(
        {std::move(rule->account), std::move(rule->queue), rule->deliveries_max, std::move(rule->target)});
  }
  const Result<std::optional<FurtherAddress>> metrics = further_address(settings, OptionId::kMetrics);
  if (!metrics.ok()) return metrics.status();
  listening.metrics = *metrics;
  made.store.create_if_absent = true;
  const OptionId of_memory = settings.has(OptionId::kMemory) ? OptionId::kMemory : OptionId::kLocalCache;
  if (Status set = set_memory(settings, made); !set.ok()) return at_place(settings.place(of_memory), set);
  return made;
}

}  // namespace varve::serve
