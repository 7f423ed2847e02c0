// Owns: the rows of long streams beside the device: BO-01 to BO-03.
// Must never: time the creation of a store, or the removal of a file.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "bench/blobs/contender.h"
#include "bench/blobs/content.h"
#include "bench/blobs/device.h"
#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"
#include "bench/varve_bench/machine.h"

namespace varve::bench {

namespace {

constexpr int kStreamTurns = 3;
constexpr std::uint64_t kGoalStreamBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kGoalEachBytes = std::uint64_t{64} << 20;
constexpr int kStreams = 16;
constexpr std::uint64_t kSmallCacheBytes = std::uint64_t{16} << 20;

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// Returns the megabytes a second of `write` for one turn.
double rate_of(std::uint64_t bytes, const std::function<void()>& write) {
  return megabytes(bytes) / seconds_of(write);
}

/// Returns the name of a new stream: a name is never used twice.
std::string stream_name(int& used) {
  return "stream" + std::to_string(used++);
}

/// Writes a raw file, and removes it after the time was taken.
double raw_rate(const std::string& path, std::uint64_t bytes) {
  const double rate = rate_of(bytes, [&] { check(write_raw_stream(path, bytes)); });
  std::filesystem::remove(path);
  return rate;
}

struct Written {
  double by_process = 0;
  double by_device = 0;
};

/// Returns the bytes written a byte of one stream, from its beginning to the end of a clean close of a new store.
Written written_of_stream(const std::string& directory, std::uint64_t bytes) {
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(directory));
  check(varve->store().sync());
  const Usage before = usage(directory);
  check(varve->write_stream("stream", bytes));
  check(varve->close());
  const Usage after = usage(directory);
  Written written{static_cast<double>(after.written_bytes - before.written_bytes) / static_cast<double>(bytes), 0};
  if (before.device_written_bytes && after.device_written_bytes) {
    written.by_device =
        static_cast<double>(*after.device_written_bytes - *before.device_written_bytes) / static_cast<double>(bytes);
  }
  return written;
}

/// Samples the memory of the process that neither its caches nor its write buffer hold, and remembers the largest sample.
class MemoryPeak {
 public:
  MemoryPeak(const Store& store, std::uint64_t before) : store_(store), before_(before), thread_([this] { watch(); }) {}
  MemoryPeak(const MemoryPeak&) = delete;
  MemoryPeak& operator=(const MemoryPeak&) = delete;
  ~MemoryPeak() {
    stopping_ = true;
    thread_.join();
  }
  std::uint64_t bytes() const noexcept { return bytes_.load(); }

 private:
  void watch() {
    while (!stopping_) {
      const Result<Statistics> statistics = store_.statistics();
      if (statistics.ok()) {
        const std::uint64_t explained = before_ + statistics->memtable_bytes + statistics->cache.bytes;
        const std::uint64_t held = anonymous_bytes();
        bytes_ = std::max(bytes(), held - std::min(held, explained));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  const Store& store_;
  const std::uint64_t before_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Writes all streams at once.
template <typename Write>
double rate_together(std::uint64_t each_bytes, const Write& write) {
  return rate_of(each_bytes * kStreams, [&] { run_together(kStreams, write); });
}

double raw_rate_together(const std::string& directory, std::uint64_t each_bytes) {
  const auto path = [&directory](int stream) { return directory + "/" + std::to_string(stream); };
  const double rate = rate_together(each_bytes, [&](int stream) { check(write_raw_stream(path(stream), each_bytes)); });
  for (int stream = 0; stream < kStreams; ++stream) std::filesystem::remove(path(stream));
  return rate;
}

GoalRow cold_reads(const Bench& bench) {
  const std::uint64_t bytes = bench.sizes.stream_bytes;
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const std::unique_ptr<BlobContender> files = take(open_file_blobs(bench.part("files")));
  const std::string raw = bench.directory + "/raw";
  check(varve->write_stream("cold", bytes));
  check(write_raw_stream(raw, bytes));
  check(files->write_stream("cold", bytes));
  const std::vector<double> rates =
      medians_in_turns(kStreamTurns, {[&] {
                                        check(varve->reopen_cold({kSmallCacheBytes, kSmallCacheBytes}));
                                        return rate_of(bytes, [&] { check(varve->read_stream("cold", bytes)); });
                                      },
                                      [&] { return rate_of(bytes, [&] { check(read_raw_stream(raw, bytes)); }); },
                                      [&] {
                                        check(files->forget());
                                        return rate_of(bytes, [&] { check(files->read_stream("cold", bytes)); });
                                      }});
  std::filesystem::remove(raw);
  GoalRow row{"BO-03", "cold sequential read", "MB/s", true, rates[0]};
  row.beside = {{"device", rates[1]}};
  row.peers = {{"files", rates[2]}};
  row.judged = {{"of the device", rates[0] / rates[1], 0.85, true}};
  row.sizes = scaled_bytes(bytes, kGoalStreamBytes) + ", read in pieces of 1 MiB";
  return row;
}

/// Copies memory as a cached read does: from many places to one.
double copy_rate(const std::string& source, std::vector<char>& piece) {
  return rate_of(source.size(), [&] {
    for (std::size_t at = 0; at < source.size(); at += piece.size()) {
      std::memcpy(piece.data(), source.data() + at, piece.size());
      check(check_piece(at, {piece.data(), piece.size()}));
    }
  });
}

GoalRow cached_reads(const Bench& bench) {
  const std::uint64_t bytes = bench.sizes.cached_bytes;
  const std::unique_ptr<VarveBlobs> varve =
      take(VarveBlobs::open(bench.part("cached"), {kSmallCacheBytes, 4 * bytes + kSmallCacheBytes}));
  check(varve->write_stream("cached", bytes));
  check(varve->store().compact());
  constexpr int kWarmingReads = 2;
  for (int i = 0; i < kWarmingReads; ++i) check(varve->read_stream("cached", bytes));
  std::string source;
  check(for_pieces(bytes, [&source](std::uint64_t, std::string_view piece) {
    source += piece;
    return Status();
  }));
  std::vector<char> piece(kPieceBytes);
  const std::uint64_t read_before = take(varve->store().statistics()).block_read_bytes;
  const std::vector<double> rates =
      medians_in_turns(kTurns, {[&] { return rate_of(bytes, [&] { check(varve->read_stream("cached", bytes)); }); },
                                [&] { return copy_rate(source, piece); }});
  const std::uint64_t read = take(varve->store().statistics()).block_read_bytes - read_before;
  GoalRow row{"BO-03", "cached sequential read, one thread", "MB/s", true, rates[0]};
  row.beside = {{"memcpy", rates[1]}};
  row.judged = {{"of memcpy", rates[0] / rates[1], 0.5, true}};
  row.figures = {{"MB read from the device", megabytes(read)}};
  row.sizes = text_of_bytes(bytes) + " in the cache, read in pieces of 1 MiB";
  return row;
}

}  // namespace

Rows one_stream(const Bench& bench) {
  const std::uint64_t bytes = bench.sizes.stream_bytes;
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const std::unique_ptr<BlobContender> files = take(open_file_blobs(bench.part("files")));
  int used = 0;
  const std::vector<double> rates = medians_in_turns(
      kStreamTurns, {[&] { return rate_of(bytes, [&] { check(varve->write_stream(stream_name(used), bytes)); }); },
                     [&] { return raw_rate(bench.directory + "/raw", bytes); },
                     [&] { return rate_of(bytes, [&] { check(files->write_stream(stream_name(used), bytes)); }); }});
  const Written written = written_of_stream(bench.part("written"), bytes);
  GoalRow row{"BO-01", "durable write of one stream", "MB/s", true, rates[0]};
  row.beside = {{"device", rates[1]}};
  row.peers = {{"files", rates[2]}};
  row.judged = {{"of the device", rates[0] / rates[1], 0.8, true},
                {"bytes written a byte, with the close", written.by_process, 1.03, false}};
  row.figures = {{"bytes a byte that the device counted", written.by_device}};
  row.sizes = scaled_bytes(bytes, kGoalStreamBytes);
  return {row};
}

Rows many_streams(const Bench& bench) {
  const std::uint64_t each = bench.sizes.each_bytes;
  check(check_piece(0, piece_of(0)));  // makes the contents before the memory is measured
  const std::uint64_t before = anonymous_bytes();
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const std::unique_ptr<BlobContender> files = take(open_file_blobs(bench.part("files")));
  const std::string raw = bench.part("raw");
  std::atomic<int> used{0};
  const auto next = [&used] { return "stream" + std::to_string(used++); };
  std::uint64_t peak = 0;
  const std::vector<double> rates = medians_in_turns(
      kStreamTurns, {[&] {
                       const MemoryPeak memory(varve->store(), before);
                       const double rate = rate_together(each, [&](int) { check(varve->write_stream(next(), each)); });
                       peak = std::max(peak, memory.bytes());
                       return rate;
                     },
                     [&] { return raw_rate_together(raw, each); },
                     [&] { return rate_together(each, [&](int) { check(files->write_stream(next(), each)); }); }});
  GoalRow row{"BO-02", "durable write of 16 streams", "MB/s", true, rates[0]};
  row.beside = {{"device", rates[1]}};
  row.peers = {{"files", rates[2]}};
  row.judged = {{"of the device", rates[0] / rates[1], 0.9, true},
                {"MiB of memory beyond caches", static_cast<double>(peak) / (1 << 20), 160, false}};
  row.sizes = "16 of " + scaled_bytes(each, kGoalEachBytes);
  return {row};
}

Rows sequential_reads(const Bench& bench) {
  return {cold_reads(bench), cached_reads(bench)};
}

}  // namespace varve::bench
