#include "bench/varve_bench/contender.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace varve::bench {

Result<std::uint64_t> Contender::get_batch(std::uint32_t table, std::span<const Keys> keys) {
  return get_one_by_one(*this, table, keys);
}

Status Contender::put_side_by_side(std::uint32_t /*table*/, std::span<const KeyedRow> /*rows*/,
                                   std::size_t /*in_flight*/) {
  return Status::unsupported("a durable commit has a thread that waits for it");
}

Result<std::uint64_t> Contender::scan_pages(std::uint32_t /*table*/, std::uint32_t /*page_entities*/) {
  return Status::unsupported("a scan has no pages");
}

Result<bool> Contender::transfer(std::uint32_t /*table*/, const Keys& /*from*/, const Keys& /*to*/,
                                 std::string_view /*payload*/, Promise /*promise*/) {
  return Status::unsupported("there are no transactions that look before they write");
}

Status Contender::watch(std::chrono::milliseconds quiet, const std::function<Result<bool>()>& works) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_work = Clock::now();
  Clock::time_point looked = last_work;
  while (looked - last_work < quiet) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    looked = Clock::now();
    const Result<bool> working = works();
    if (!working.ok()) return working.status();
    if (*working) last_work = looked;
  }
  watched_seconds_ = std::chrono::duration<double>(looked - last_work).count();
  return Status();
}

Status load_in_batches(Contender& contender, std::uint32_t table, std::uint64_t count) {
  std::vector<Row> rows;
  for (std::uint64_t first = 0; first < count; first += kEntitiesOfPartition) {
    rows.clear();
    const std::uint64_t end = std::min(count, first + kEntitiesOfPartition);
    for (std::uint64_t n = first; n < end; ++n) rows.push_back({keys_of(n).row, payload_of(n)});
    Status put = contender.put(table, keys_of(first).partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
  }
  return Status();
}

Result<std::uint64_t> get_one_by_one(Contender& contender, std::uint32_t table, std::span<const Keys> keys) {
  std::uint64_t present = 0;
  for (const Keys& key : keys) {
    const Result<bool> found = contender.get(table, key.partition, key.row);
    if (!found.ok()) return found.status();
    if (*found) ++present;
  }
  return present;
}

}  // namespace varve::bench
