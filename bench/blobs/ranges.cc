// Owns: the rows of random ranges beside raw reads of the device: BO-04.
// Must never: read a range from the block cache, apart from those that repeat by chance.
#include <algorithm>
#include <array>
#include <filesystem>

#include "bench/blobs/content.h"
#include "bench/blobs/device.h"
#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr std::size_t kRangeBytes = std::size_t{64} << 10;
constexpr std::uint64_t kGoalBytes = std::uint64_t{100} << 30;
/// The cache has room for the indexes, and for less than a fiftieth of the shorter blob.
constexpr std::uint64_t kCacheBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kWriteBufferBytes = std::uint64_t{64} << 20;

using Times = std::vector<double>;

/// Reads ranges of one kind, and keeps the time of each.
class Ranges {
 public:
  /// `place`: the offsets are multiples of it. `read` reads the range at an offset.
  Ranges(std::uint64_t length, std::uint64_t place, std::uint64_t seed, std::function<void(std::uint64_t)> read)
      : places_((length - kRangeBytes) / place + 1), place_(place), random_(seed), read_(std::move(read)) {}

  void read(int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t offset = random_.below(places_) * place_;
      times_.push_back(seconds_of([&] { read_(offset); }) * 1e6);
    }
  }
  void forget_times() { times_.clear(); }
  double median_us() const { return median(times_); }
  double p99_us() const {
    Times sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    return sorted.at(sorted.size() * 99 / 100);
  }

 private:
  const std::uint64_t places_;
  const std::uint64_t place_;
  Random random_;
  const std::function<void(std::uint64_t)> read_;
  Times times_;
};

std::function<void(std::uint64_t)> from_blob(const BlobReader& reader, std::vector<char>& range) {
  return [&reader, &range](std::uint64_t offset) {
    if (take(reader.read(offset, range)) != range.size()) check(Status::corruption("a range is short"));
    // A piece has 1 MiB, so a range may end in the next one. The compared beginning must not.
    const std::uint64_t left = kPieceBytes - offset % kPieceBytes;
    check(check_piece(offset, {range.data(), std::min<std::uint64_t>(range.size(), left)}));
  };
}

/// Returns the bytes that the store read from the device for each of `count` ranges.
double bytes_of_range(VarveBlobs& varve, int count, Ranges& ranges) {
  const std::uint64_t before = take(varve.store().statistics()).block_read_bytes;
  ranges.read(count);
  const std::uint64_t after = take(varve.store().statistics()).block_read_bytes;
  return static_cast<double>(after - before) / count;
}

/// The store, the raw file, and the ranges of each kind in turns.
class RangeRace {
 public:
  explicit RangeRace(const Bench& bench) : bench_(bench), varve_(take(VarveBlobs::open(bench.directory))) {
    check(varve_->write_stream("long", bench.sizes.long_bytes));
    check(varve_->write_stream("short", bench.sizes.short_bytes));
    check(write_raw_stream(raw_path(), bench.sizes.long_bytes));
    check(varve_->reopen_cold({kWriteBufferBytes, kCacheBytes}));
  }

  GoalRow run() {
    const BlobReader long_blob = take(varve_->blobs().read("long"));
    const BlobReader short_blob = take(varve_->blobs().read("short"));
    const RawFile raw = take(RawFile::open(raw_path(), RawFile::Mode::kRead));
    io::AlignedBuffer block = take(io::AlignedBuffer::allocate(kRangeBytes));
    std::vector<char> range(kRangeBytes);
    const std::uint64_t length = bench_.sizes.long_bytes;
    Ranges of_device(length, kRangeBytes, 1, [&](std::uint64_t offset) { check(raw.read(offset, block.bytes())); });
    Ranges of_long(length, kRangeBytes, 2, from_blob(long_blob, range));
    Ranges of_short(bench_.sizes.short_bytes, kRangeBytes, 3, from_blob(short_blob, range));
    Ranges anywhere(length, 1, 4, from_blob(long_blob, range));
    read_in_turns({&of_device, &of_long, &of_short, &anywhere});
    GoalRow row = row_of(of_device, of_long, of_short);
    row.figures["us, any offset"] = anywhere.median_us();
    row.figures["any offset, of a raw read"] = anywhere.median_us() / of_device.median_us();
    row.figures["bytes read a range"] = bytes_of_range(*varve_, bench_.sizes.reads, of_long);
    row.figures["bytes read a range, any offset"] = bytes_of_range(*varve_, bench_.sizes.reads, anywhere);
    return row;
  }

 private:
  std::string raw_path() const { return bench_.directory + "/raw"; }

  /// The first reads bring the indexes into the cache. Their times do not count.
  void read_in_turns(const std::array<Ranges*, 4>& all) const {
    for (Ranges* const ranges : all) {
      ranges->read(bench_.sizes.reads / 4 + 1);
      ranges->forget_times();
    }
    for (int turn = 0; turn < kTurns; ++turn) {
      for (Ranges* const ranges : all) ranges->read(bench_.sizes.reads);
    }
  }

  GoalRow row_of(const Ranges& of_device, const Ranges& of_long, const Ranges& of_short) const {
    const double us = of_long.median_us();
    GoalRow row{"BO-04", "cold random range of 64 KiB, median", "us", false, us};
    row.beside = {{"raw read of 64 KiB", of_device.median_us()}, {"range of the short blob", of_short.median_us()}};
    row.judged = {{"of a raw read", us / of_device.median_us(), 1.2, false},
                  {"of the short blob's", us / of_short.median_us(), 1.05, false}};
    row.figures = {{"p99 us", of_long.p99_us()}, {"p99 us of a raw read", of_device.p99_us()}};
    row.sizes = scaled_bytes(bench_.sizes.long_bytes, kGoalBytes) + " beside " +
                text_of_bytes(bench_.sizes.short_bytes) + ", cache of " + text_of_bytes(kCacheBytes);
    return row;
  }

  const Bench& bench_;
  const std::unique_ptr<VarveBlobs> varve_;
};

}  // namespace

Rows random_ranges(const Bench& bench) {
  return {RangeRace(bench).run()};
}

}  // namespace varve::bench
