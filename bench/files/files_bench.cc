// Owns: the curves of costs over the number of table files: an edit of the set, an open, a close, memory.
// Method: a store of small files, made directly. Each figure is the median of its repetitions. An edit moves a file to
// the level above or back, so it changes one file. "cpu" is the processor time of all threads, the kernel included.
// Memory is what the allocator has in use.
//
// Usage: varve-files-bench DIRECTORY [COUNT ...]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>
#include <time.h>

#include "engine/checkpoint/checkpoint_target.h"
#include "engine/compaction/tree.h"
#include "engine/engine.h"
#include "engine/recovery/establish.h"
#include "engine/recovery/recovery.h"
#include "engine/tables/table_writer.h"
#include "format/keys/sort_key.h"
#include "io/env.h"

namespace varve::engine {
namespace {

constexpr std::uint64_t kFirstNumber = 1000;
constexpr int kRepetitions = 5;
constexpr int kEdits = 200;

[[noreturn]] void fail(const Status& status) {
  std::fprintf(stderr, "varve-files-bench: %s\n", status.to_string().c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.ok()) fail(status);
}
template <typename T>
T take(Result<T> result) {
  if (!result.ok()) fail(result.status());
  return *std::move(result);
}

struct Cost {
  double microseconds = 0;
  double processor_microseconds = 0;  // of all threads
};

double processor_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

template <typename Work>
Cost cost_of(const Work& work) {
  const double used = processor_microseconds();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return {took.count(), processor_microseconds() - used};
}

/// Returns the medians of both figures.
Cost median(const std::vector<Cost>& costs) {
  const auto middle = [&costs](double Cost::*figure) {
    std::vector<double> figures;
    for (const Cost& cost : costs) figures.push_back(cost.*figure);
    std::sort(figures.begin(), figures.end());
    return figures[figures.size() / 2];
  };
  return {middle(&Cost::microseconds), middle(&Cost::processor_microseconds)};
}

std::string key_of(std::uint64_t file) {
  return take(
      format::encode_sort_key(format::make_table_id(1, 1), "partition " + std::to_string(10'000'000 + file), "row"));
}

/// Makes a cleanly closed store with `count` files of one entity in the last level.
void make_store_of(const io::Env& env, const std::string& path, std::uint64_t count) {
  std::unique_ptr<CheckpointTarget> target = take(CheckpointTarget::begin(env, path));
  FileSet files;
  files.store_id = draw_store_id(env.random);
  files.file_number_ceiling = kFirstNumber + count;
  files.version_ceiling = files.oldest_readable_version = files.flushed_version = 1;
  for (std::uint64_t file = 0; file < count; ++file) {
    const std::uint64_t number = kFirstNumber + file;
    std::unique_ptr<TableWriter> writer =
        take(TableWriter::create(env, target->directory(), number, table_options(kLastLevel)));
    const std::string key = key_of(file);
    check(writer->add(Entry{key, 1, Kind::kPut, "value"}));
    files.tables.emplace(number, take(writer->finish(kLastLevel)));
    target->reserve_made();
    target->made(format::file_name(format::FileType::kTable, number));
  }
  check(target->finish(std::move(files), 1, {}));
}

std::uint64_t memory_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Curve {
  Cost open;
  Cost close;
  double bytes_unread = 0;  // of memory for each file, before its first read
  double bytes_read = 0;    // and after it
};

Curve open_and_close(const io::Env& env, const std::string& path, std::uint64_t count) {
  std::vector<Cost> opens;
  std::vector<Cost> closes;
  Curve curve;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const std::uint64_t before = memory_in_use();
    std::unique_ptr<Engine> engine;
    opens.push_back(cost_of([&] { engine = take(Engine::open(env, path, EngineOptions())); }));
    const auto each = [&](std::uint64_t bytes) {
      return static_cast<double>(bytes > before ? bytes - before : 0) / static_cast<double>(count);
    };
    if (repetition + 1 == kRepetitions) {
      curve.bytes_unread = each(memory_in_use());
      for (std::uint64_t file = 0; file < count; ++file) {
        if (!take(engine->view().get(key_of(file))).has_value()) fail(Status::corruption("a key is missing"));
      }
      curve.bytes_read = each(memory_in_use());
    }
    closes.push_back(cost_of([&] { check(engine->close()); }));
  }
  curve.open = median(opens);
  curve.close = median(closes);
  return curve;
}

/// Moves files between the last level and the one above it.
Cost edit(const io::Env& env, const std::string& path, std::uint64_t count) {
  const std::unique_ptr<io::Directory> directory = take(env.files.open_directory(path));
  Recovered recovered = take(read_store(env, *directory, true));
  Established established = take(establish(env, *directory, recovered));
  const auto cache = std::make_shared<BlockCache>(env.scheduler, std::uint64_t{1} << 20);
  TableFiles tables(env, *directory, cache, OpenFiles::make_for_process(env.scheduler), [] {});
  ReadStates states(env.scheduler,
                    ReadState{std::make_shared<Memtable>(), {}, take(Tree::arrange(recovered.files, tables))});
  Tree tree(env, *directory, *established.manifest, states, tables, &fail, [] {});
  std::vector<Cost> costs;
  for (std::uint64_t number = 0; number < kEdits; ++number) {
    format::ManifestEdit move;
    const std::uint64_t file = number / 2 * (count / kEdits);
    move.moved_tables = {{kFirstNumber + file, number % 2 == 0 ? kLastLevel - 1 : kLastLevel, {}}};
    costs.push_back(cost_of([&] { check(tree.apply(move, [](ReadState&) {})); }));
  }
  return median(costs);
}

int run(const std::string& place, const std::vector<std::uint64_t>& counts) {
  const io::Env& env = io::system_env();
  std::printf("%8s %10s %8s %10s %8s %10s %8s %12s %14s %16s\n", "files", "edit us", "cpu", "open ms", "cpu",
              "close ms", "cpu", "cpu us/file", "bytes a file", "once it is read");
  for (const std::uint64_t count : counts) {
    const std::string path = place + "/files-" + std::to_string(count);
    make_store_of(env, path, count);
    const Curve curve = open_and_close(env, path, count);
    const Cost edited = edit(env, path, count);
    const double both = curve.open.processor_microseconds + curve.close.processor_microseconds;
    std::printf("%8llu %10.1f %8.1f %10.2f %8.2f %10.2f %8.2f %12.2f %14.0f %16.0f\n",
                static_cast<unsigned long long>(count), edited.microseconds, edited.processor_microseconds,
                curve.open.microseconds / 1000, curve.open.processor_microseconds / 1000,
                curve.close.microseconds / 1000, curve.close.processor_microseconds / 1000,
                both / static_cast<double>(count), curve.bytes_unread, curve.bytes_read);
    std::fflush(stdout);
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  return 0;
}

}  // namespace
}  // namespace varve::engine

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: varve-files-bench DIRECTORY [COUNT ...]\n");
    return 2;
  }
  std::vector<std::uint64_t> counts;
  for (int at = 2; at < argc; ++at) counts.push_back(std::strtoull(argv[at], nullptr, 10));
  if (counts.empty()) counts = {1'000, 4'000, 16'000};
  return varve::engine::run(argv[1], counts);
}
