#include "tools/serve/local/door_query.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/result.h"

namespace varve::serve {
namespace {

constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 50;

}  // namespace

std::string_view name_of_service(StorageService service) noexcept {
  switch (service) {
    case StorageService::kQueues: return "queues";
    case StorageService::kBlobs: return "blobs";
    default: return "tables";
  }
}

std::string DoorQuery::text(std::string_view name) {
  Result<std::string> found = query_text(query_, name);
  if (found.ok()) return *std::move(found);
  failure_ = found.status();
  return {};
}

std::uint64_t DoorQuery::number(std::string_view name, std::uint64_t standard) {
  const std::string written = text(name);
  if (written.empty()) return standard;
  std::uint64_t number = 0;
  const char* const end = written.data() + written.size();
  const auto [stopped, error] = std::from_chars(written.data(), end, number);
  if (error == std::errc() && stopped == end && number <= kNumberMax) return number;
  failure_ = refused("InvalidQueryParameterValue", std::string(name) + " must be a number of at most 2^50");
  return standard;
}

std::uint32_t DoorQuery::small_number(std::string_view name, std::uint32_t standard) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number(name, standard), UINT32_MAX));
}

std::chrono::milliseconds DoorQuery::time(std::string_view name, std::chrono::milliseconds standard) {
  return std::chrono::milliseconds(number(name, static_cast<std::uint64_t>(standard.count())));
}

bool DoorQuery::flag(std::string_view name) {
  const Result<std::optional<std::string>> word = query_value(query_, name);
  if (!word.ok()) {
    failure_ = word.status();
    return false;
  }
  if (!*word || **word == "0") return false;
  if (**word == "1") return true;
  failure_ = refused("InvalidQueryParameterValue", std::string(name) + " must be 0 or 1");
  return false;
}

std::optional<Durability> DoorQuery::durability() {
  const std::string word = text("durability");
  if (word == "sync") return Durability::kSync;
  if (word == "buffered") return Durability::kBuffered;
  if (!word.empty()) failure_ = refused("InvalidQueryParameterValue", "durability must be sync or buffered");
  return std::nullopt;
}

StorageService DoorQuery::service(std::string_view name) {
  const std::string word = text(name);
  for (const StorageService service : {StorageService::kTables, StorageService::kQueues, StorageService::kBlobs}) {
    if (word == name_of_service(service)) return service;
  }
  if (failure_.ok()) {
    failure_ = refused("InvalidQueryParameterValue", std::string(name) + " must be tables, queues or blobs");
  }
  return StorageService::kTables;
}

}  // namespace varve::serve
