// Owns: the benefit of many concurrent reads from one thread: 4 KiB at random offsets, bypassing the page cache.
// Method: a file of 512 MiB in $VARVE_BENCH_DIRECTORY (by default the system's temporary directory) is written when the
// first measurement runs. One thread keeps `depth` reads in flight. It takes out finished reads, at least one at a
// time, or waits for a whole batch. Plain sequential reads are measured for comparison. Memory is aligned, so that
// nothing is copied. Times are wall-clock times, because the device is measured.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "io/aligned_buffer.h"
#include "io/posix/posix_file_system.h"
#include "io/uring/uring_file_system.h"

namespace varve::io {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{512} << 20;
constexpr SyncPoint kPoint{"benchmark"};

class BenchFile {
 public:
  BenchFile() {
    const char* chosen = std::getenv("VARVE_BENCH_DIRECTORY");
    path_ = (chosen != nullptr ? std::filesystem::path(chosen) : std::filesystem::temp_directory_path()) /
            ("varve-read-bench-" + std::to_string(std::random_device{}()));
    PosixFileSystem files;
    if (!files.create_directory(path_.string(), kPoint).ok()) std::abort();
    const std::unique_ptr<Directory> directory = *files.open_directory(path_.string());
    const std::unique_ptr<WritableFile> writer = *directory->create("data");
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> chunk((std::size_t{1} << 20) / 8);
    for (std::uint64_t done = 0; done < kFileBytes; done += chunk.size() * 8) {
      for (std::uint64_t& number : chunk) number = random();
      if (!writer->append(std::as_bytes(std::span(chunk))).ok()) std::abort();
    }
    if (!writer->sync(kPoint).ok()) std::abort();
    file_ = *directory->open("data", ReadMode::kDirect);
  }
  ~BenchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const ReadableFile& file() const { return *file_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<ReadableFile> file_;
};

const ReadableFile& bench_file() {
  static BenchFile file;
  return file.file();
}

std::uint64_t random_offset(std::mt19937_64& random) {
  return random() % (kFileBytes / kSectorBytes) * kSectorBytes;
}

void BM_ReadOneByOne(benchmark::State& state) {
  const ReadableFile& file = bench_file();
  AlignedBuffer memory = *AlignedBuffer::allocate(kSectorBytes);
  std::mt19937_64 random(2);
  for (auto _ : state) {
    if (!file.read_exactly(random_offset(random), memory.bytes()).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReadOneByOne)->UseRealTime();

/// One iteration is one read. With `together`, the queue is filled and then emptied, as by a GetMany. Otherwise it is
/// kept full.
template <typename Files>
void read_through_queue(benchmark::State& state, bool together) {
  const ReadableFile& file = bench_file();
  const auto depth = static_cast<std::size_t>(state.range(0));
  Files files;
  Scheduler scheduler;
  const std::unique_ptr<ReadQueue> queue = *files.make_read_queue(scheduler, depth);
  state.SetLabel(std::string(queue->name()));
  AlignedBuffer memory = *AlignedBuffer::allocate(depth * kSectorBytes);
  std::vector<std::uint64_t> free;
  for (std::size_t i = 0; i < depth; ++i) free.push_back(i);
  std::vector<FinishedRead> finished(depth);
  std::mt19937_64 random(2);
  std::size_t ready = 0;
  for (auto _ : state) {
    while (ready == 0) {
      for (; !free.empty(); free.pop_back()) {
        const std::span<std::byte> bytes = memory.bytes().subspan(free.back() * kSectorBytes, kSectorBytes);
        if (!queue->submit(file, random_offset(random), bytes, free.back()).ok()) std::abort();
      }
      ready = queue->reap(finished, together ? depth : 1);
      for (std::size_t i = 0; i < ready; ++i) {
        if (!finished[i].status.ok()) std::abort();
        free.push_back(finished[i].tag);
      }
    }
    --ready;
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_ReadRing(benchmark::State& state) {
  read_through_queue<UringFileSystem>(state, false);
}
BENCHMARK(BM_ReadRing)->Arg(1)->Arg(8)->Arg(32)->Arg(128)->UseRealTime();

void BM_ReadRingBatches(benchmark::State& state) {
  read_through_queue<UringFileSystem>(state, true);
}
BENCHMARK(BM_ReadRingBatches)->Arg(8)->Arg(32)->Arg(128)->UseRealTime();

void BM_ReadThreads(benchmark::State& state) {
  read_through_queue<PosixFileSystem>(state, false);
}
BENCHMARK(BM_ReadThreads)->Arg(1)->Arg(8)->Arg(32)->Arg(128)->UseRealTime();

}  // namespace
}  // namespace varve::io
