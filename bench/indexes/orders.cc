#include "bench/indexes/orders.h"

#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr std::size_t kTextBytes = 100;
constexpr std::uint64_t kCountries = 50;
constexpr std::uint64_t kTotals = 1'000'000;
constexpr std::uint64_t kNumbers = 1'000'000'000;

}  // namespace

std::string number_of(std::uint64_t n) {
  return row_key(shuffled(n % kNumbers, kNumbers));
}

std::string country_of(std::uint64_t n) {
  return "country" + std::to_string(Random(n).below(kCountries));
}

std::int64_t total_of(std::uint64_t n) {
  return static_cast<std::int64_t>(Random(n * 2 + 1).below(kTotals));
}

Entity order_of(std::uint64_t n) {
  const Keys keys = keys_of(n);
  Entity entity(keys.partition, keys.row);
  entity.set("Number", number_of(n)).set("Country", country_of(n)).set("Total", total_of(n));
  entity.set("Text", std::string(payload_of(n, kTextBytes)));
  return entity;
}

Status OrderContender::insert(std::uint64_t /*n*/, bool /*with_entry*/) {
  return Status(Code::kUnsupported);
}

Result<OrderContender::Expired> OrderContender::expire(std::uint64_t /*count*/) {
  return Status(Code::kUnsupported);
}

Status OrderContender::fill(std::uint64_t /*count*/) {
  return Status(Code::kUnsupported);
}

Status OrderContender::find(std::uint64_t /*n*/) {
  return Status(Code::kUnsupported);
}

Result<std::vector<Group>> OrderContender::group() {
  return Status(Code::kUnsupported);
}

}  // namespace varve::bench
