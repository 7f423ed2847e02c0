// Owns: the program that races a store on Ceph with the operations of Ceph's client library that it is made of.
// Must never: compare figures of different moments. Each turn measures both sides, one after the other.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/blobs/measure.h"
#include "bench/blobs/row.h"
#include "bench/varve_bench/child_process.h"
#include "bench/varve_bench/entities.h"
#include "io/env.h"
#include "io/os_error.h"
#include "io/rados/cache_file.h"
#include "io/rados/librados_connection.h"
#include "io/rados/librados_door.h"
#include "io/rados/rados_file_system.h"
#include "io/rados/read_cache.h"
#include "varve/loader.h"
#include "varve/store.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::size_t kWriteBytes = 4096;
constexpr std::size_t kObjectBytes = 4 * kMiB;
constexpr std::size_t kEntityValueBytes = 1024;
constexpr std::uint64_t kLoadedEntities = 32 * kMiB / kEntityValueBytes;
constexpr std::uint64_t kReadEntities = 64 * kMiB / kEntityValueBytes;
constexpr std::uint64_t kLogBytes = 64 * kMiB;
constexpr std::string_view kAccount = "bench";
constexpr std::string_view kTable = "Orders";

struct Words {
  std::string pool = "varve";
  std::vector<int> osds;
  int turns = 15;
  double seconds = 0.6;
  std::vector<std::string> goals;  // empty: all
  std::string json_file;

  bool wants(std::initializer_list<std::string_view> rows) const {
    return goals.empty() || std::any_of(rows.begin(), rows.end(), [this](std::string_view row) {
             return std::find(goals.begin(), goals.end(), row) != goals.end();
           });
  }
};

std::string_view random_bytes() {
  static const std::string bytes = [] {
    Random random(1);
    std::string made(2 * kObjectBytes, '\0');
    for (char& byte : made) byte = static_cast<char>(random.next());
    return made;
  }();
  return bytes;
}

/// An entity that does not compress.
Entity entity_of(std::uint64_t n, std::size_t bytes = kEntityValueBytes) {
  const Keys keys = keys_of(n);
  const std::string_view value = random_bytes().substr(Random(n).below(kObjectBytes), bytes);
  Binary binary;
  binary.bytes.assign(value.begin(), value.end());
  return Entity(keys.partition, keys.row).set("Value", std::move(binary));
}

// -- The two sides ----------------------------------------------------------------------------------------------------

/// The operations of the client library, without a guard.
class Raw {
 public:
  explicit Raw(const std::string& pool) : connection_(take(io::LibradosConnection::open(pool))) {}

  void write(const std::string& object, std::size_t bytes, std::uint64_t offset) {
    const io::LibradosCalls& calls = connection_->calls();
    const io::RadosWrite operation = calls.create_write_op();
    calls.write_op_write(operation, random_bytes().data() + offset % kObjectBytes, bytes, offset);
    const int result = calls.write_op_operate(operation, connection_->reader(), object.c_str(), nullptr, 0);
    calls.release_write_op(operation);
    if (result < 0) check(io::os_error(-result, {"write", object}));
  }

  void read(const std::string& object, std::span<char> bytes, std::uint64_t offset) {
    const int result =
        connection_->calls().read(connection_->reader(), object.c_str(), bytes.data(), bytes.size(), offset);
    if (result != static_cast<int>(bytes.size())) check(io::os_error(result < 0 ? -result : EIO, {"read", object}));
  }

 private:
  const std::unique_ptr<io::LibradosConnection> connection_;
};

/// `env` is null for a directory of this machine.
std::unique_ptr<Store> open_store(const std::string& path, std::uint64_t cache_bytes, const io::Env* env) {
  ResourceOptions budgets;
  budgets.block_cache_bytes = cache_bytes;
  StoreOptions options;
  options.create_if_absent = true;
  options.resources = take(Resources::create(budgets));
  options.env = env;
  return take(Store::open(path, options));
}

/// One process in the sense of the lease, with its own connection.
class Program {
 public:
  explicit Program(const std::string& pool, bool takeover_wait = true)
      : pool_(pool), door_(take(io::connect_to_pool(pool))) {
    const io::Env& machine = io::system_env();
    io::RadosOptions options;
    options.takeover_wait = takeover_wait;
    files_ =
        std::make_unique<io::RadosFileSystem>(pool, *door_, machine.clock, machine.random, machine.scheduler, options);
    env_ = std::make_unique<io::Env>(io::Env{*files_, machine.clock, machine.random, machine.scheduler});
  }

  std::unique_ptr<Store> open(const std::string& name, std::uint64_t cache_bytes = 256 * kMiB) {
    return open_store("rados:" + pool_ + "/" + name, cache_bytes, env_.get());
  }

  /// Keeps blocks that were read more than once in a file of the directory.
  void set_local_cache(const std::string& directory, std::uint64_t bytes) {
    files_->process().set_read_cache(
        take(io::ReadCache::make(take(io::make_cache_file(directory)), bytes, io::system_env().scheduler)));
  }
  io::ReadCacheFigures local_cache() { return files_->process().read_cache()->figures(); }

 private:
  const std::string pool_;
  const std::unique_ptr<io::ObjectDoor> door_;
  std::unique_ptr<io::RadosFileSystem> files_;
  std::unique_ptr<io::Env> env_;
};

Table make_table(Store& store) {
  check(store.create_account(kAccount));
  return take(store.create_table(kAccount, kTable));
}

void load(Store& store, const std::string& table, std::uint64_t count) {
  check(store.create_table(kAccount, table).status());
  Loader loader = take(store.load_table(kAccount, table));
  for (std::uint64_t n = 0; n < count; ++n) check(loader.add(entity_of(n)));
  check(loader.finish().status());
}

// -- Turns ------------------------------------------------------------------------------------------------------------

/// Returns the processor time of the OSDs so far, in seconds.
double seconds_of_osds(const std::vector<int>& osds) {
  double seconds = 0;
  for (const int osd : osds) {
    std::ifstream file("/proc/" + std::to_string(osd) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int field = 0; field < 11; ++field) fields >> skipped;
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    fields >> user >> system;
    if (!fields) check(Status::io_error("cannot read the processor time of the OSD " + std::to_string(osd)));
    seconds += static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return seconds;
}

/// Returns the processor time of this process so far, in seconds.
double own_seconds() {
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);  // It cannot fail for this process.
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Side {
  int threads = 1;
  /// Does one operation of a thread, and returns its units.
  std::function<std::uint64_t(int)> once;
  /// Makes a turn ready, which then has one operation.
  std::function<void()> prepare{};
  std::vector<double> rates{};
  std::vector<double> osd_seconds{};  // of one unit
  std::vector<double> program_seconds{};

  void take_turn(const Words& words) {
    if (prepare) prepare();
    std::atomic<std::uint64_t> done{0};
    const double before = seconds_of_osds(words.osds);
    const double own_before = own_seconds();
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    run_together(threads, [&](int thread) {
      do done.fetch_add(once(thread), std::memory_order_relaxed);
      while (!prepare && passed() < words.seconds);
    });
    const auto units = static_cast<double>(done.load());
    rates.push_back(units / passed());
    osd_seconds.push_back((seconds_of_osds(words.osds) - before) / units);
    program_seconds.push_back((own_seconds() - own_before) / units);
  }
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

/// Judges the ratios of the turns: the rates of Varve by those of the library, or the times.
GoalRow judge(GoalRow row, const std::vector<double>& ratios, const std::string& what, double bound, bool at_least) {
  row.judged.push_back({what, median(ratios), bound, at_least});
  row.figures["lower quartile"] = quantile(ratios, 0.25);
  row.figures["upper quartile"] = quantile(ratios, 0.75);
  return row;
}

struct Ratio {
  std::string what;
  double bound;
  bool is_of_times = false;
  std::string beside = "librados";
};

GoalRow race(const Words& words, GoalRow row, Side raw, Side varve, const Ratio& ratio) {
  std::fprintf(stderr, "    %s\n", row.name.c_str());
  std::vector<double> ratios;
  for (int turn = 0; turn < words.turns; ++turn) {
    raw.take_turn(words);
    varve.take_turn(words);
    const double of_rates = varve.rates.back() / raw.rates.back();
    ratios.push_back(ratio.is_of_times ? 1 / of_rates : of_rates);
  }
  row.value = median(varve.rates);
  row.beside[ratio.beside] = median(raw.rates);
  row.figures["program us each"] = 1e6 * median(varve.program_seconds);
  row.figures["program us each of " + ratio.beside] = 1e6 * median(raw.program_seconds);
  if (!words.osds.empty()) {
    row.figures["OSD us each"] = 1e6 * median(varve.osd_seconds);
    row.figures["OSD us each of " + ratio.beside] = 1e6 * median(raw.osd_seconds);
  }
  return judge(std::move(row), ratios, ratio.what, ratio.bound, !ratio.is_of_times);
}

Side raw_writes(Raw& raw, int threads) {
  return {threads, [&raw, next = std::make_shared<std::atomic<std::uint64_t>>(0)](int thread) {
            const std::uint64_t number = next->fetch_add(1) % (64 * kMiB / kWriteBytes);
            raw.write("raw/log-" + std::to_string(thread), kWriteBytes, number * kWriteBytes);
            return std::uint64_t{1};
          }};
}

// -- The goals --------------------------------------------------------------------------------------------------------

std::vector<GoalRow> commits(const Words& words, Raw& raw, Program& program) {
  const std::unique_ptr<Store> store = program.open("commits");
  Table table = make_table(*store);
  std::atomic<std::uint64_t> next{0};
  const auto insert = [&](int /*thread*/) {
    check(table.insert(entity_of(next.fetch_add(1) * kEntitiesOfPartition)).status());  // a partition each
    return std::uint64_t{1};
  };
  return {race(words, {"RA-1", "durable commits, 1 client", "/s"}, raw_writes(raw, 1), {1, insert},
               {"of raw writes of 4 KiB, 1 in flight", 0.90}),
          race(words, {"RA-2", "durable commits, 64 clients", "/s"}, raw_writes(raw, 8), {64, insert},
               {"of raw writes of 4 KiB, 8 in flight", 6})};
}

GoalRow loads(const Words& words, Raw& raw, Program& program) {
  const std::unique_ptr<Store> store = program.open("loads");
  check(store->create_account(kAccount));
  std::atomic<std::uint64_t> next{0};
  const Side objects{4, [&](int /*thread*/) {
                       raw.write("raw/object-" + std::to_string(next.fetch_add(1) % 32), kObjectBytes, 0);
                       return std::uint64_t{kObjectBytes / kMiB};
                     }};
  int tables = 0;
  const Side loading{1, [&](int /*thread*/) {
                       load(*store, "Load" + std::to_string(tables++), kLoadedEntities);
                       return std::uint64_t{kLoadedEntities * kEntityValueBytes / kMiB};
                     }};
  return race(words, {"RA-3", "load of entities of 1 KiB", "MiB/s"}, objects, loading,
              {"of raw writes of 4 MiB, 4 in flight", 0.70});
}

std::vector<GoalRow> reads(const Words& words, Raw& raw, Program& program) {
  // The cache has room for indexes and filters, and for a sixteenth of the entities.
  std::unique_ptr<Store> store = program.open("reads", 4 * kMiB);
  check(store->create_account(kAccount));
  load(*store, std::string(kTable), kReadEntities);
  std::optional<Table> table = take(store->open_table(kAccount, kTable));
  constexpr std::uint64_t kObjects = 16;
  for (std::uint64_t n = 0; n < kObjects; ++n) raw.write("raw/object-" + std::to_string(n), kObjectBytes, 0);
  Random random(2);
  const auto raw_reads = [&raw](int threads, std::size_t bytes) {
    return Side{threads, [&raw, bytes, next = std::make_shared<std::atomic<std::uint64_t>>(0)](int /*thread*/) {
                  static thread_local std::vector<char> buffer;
                  buffer.resize(bytes);
                  const std::uint64_t place = Random(next->fetch_add(1)).below(kObjects * kObjectBytes / bytes) * bytes;
                  raw.read("raw/object-" + std::to_string(place / kObjectBytes), buffer, place % kObjectBytes);
                  return std::uint64_t{1};
                }};
  };
  std::uint64_t gets = 0;
  const std::uint64_t before = take(store->statistics()).block_reads;
  GoalRow points = race(words, {"RA-4", "cold point reads, 1 client", "/s"}, raw_reads(1, kWriteBytes),
                        {1,
                         [&](int /*thread*/) {
                           const Keys keys = keys_of(random.below(kReadEntities));
                           if (!take(table->get(keys.partition, keys.row)).has_value())
                             check(Status::corruption("lost"));
                           ++gets;
                           return std::uint64_t{1};
                         }},
                        {"of the time of a raw read of 4 KiB", 1.15, true});
  const std::uint64_t block_reads = take(store->statistics()).block_reads - before;
  points.judged.push_back({"reads an entity", static_cast<double>(block_reads) / static_cast<double>(gets), 1, false});
  // Each scan is the first one of an open store, with the block cache of a default store.
  const auto open_again = [&] {
    table.reset();
    store.reset();
    store = program.open("reads");
    table = take(store->open_table(kAccount, kTable));
  };
  const Side scanning{1,
                      [&](int /*thread*/) {
                        std::uint64_t bytes = 0;
                        Scan scan;
                        for (;;) {
                          const Page page = take(table->scan_in_place(
                              scan, [&](const EntityView& /*entity*/) { bytes += kEntityValueBytes; }));
                          if (!page.continuation) return bytes / kMiB;
                          scan.continuation = *page.continuation;
                        }
                      },
                      open_again};
  return {std::move(points), race(words, {"RA-5", "cold scan", "MiB/s"}, raw_reads(4, kMiB), scanning,
                                  {"of raw reads of 1 MiB, 4 in flight", 0.80})};
}

/// Gets of a store on Ceph whose blocks are in a local cache, beside gets of a store on the disk of the cache.
GoalRow cached_reads(const Words& words) {
  const std::string place = std::filesystem::temp_directory_path() / ("varve-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directory(place);
  Program program(words.pool);
  program.set_local_cache(place, 8 * kReadEntities * kEntityValueBytes);
  const std::unique_ptr<Store> remote = program.open("cached", 4 * kMiB);
  const std::unique_ptr<Store> local = open_store(place + "/local", 4 * kMiB, nullptr);
  const auto table_of = [](Store& store) {
    check(store.create_account(kAccount));
    load(store, std::string(kTable), kReadEntities);
    return take(store.open_table(kAccount, kTable));
  };
  const Table from_remote = table_of(*remote);
  const Table from_local = table_of(*local);
  const auto get = [](const Table& table, std::uint64_t n) {
    const Keys keys = keys_of(n);
    if (!take(table.get(keys.partition, keys.row)).has_value()) check(Status::corruption("lost"));
    return std::uint64_t{1};
  };
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t n = 0; n < kReadEntities; ++n) get(from_remote, n);
  }
  const io::ReadCacheFigures before = program.local_cache();
  Random random(3);
  const auto gets_of = [&](const Table& table) {
    return Side{1, [&](int /*thread*/) { return get(table, random.below(kReadEntities)); }};
  };
  GoalRow row = race(words, {"RA-9", "reads from the local cache, 1 client", "/s"}, gets_of(from_local),
                     gets_of(from_remote), {"of the time of a store on the same disk", 1.3, true, "local store"});
  const io::ReadCacheFigures after = program.local_cache();
  const auto hits = static_cast<double>(after.hits - before.hits);
  row.figures["hits of the local cache, share"] = hits / (hits + static_cast<double>(after.misses - before.misses));
  check(local->close());
  std::filesystem::remove_all(place);
  return row;
}

/// Measures opens one at a time, each beside raw writes.
GoalRow opens(GoalRow row, Raw& raw, int count, const std::function<std::unique_ptr<Store>(int)>& open, double bound) {
  std::fprintf(stderr, "    %s\n", row.name.c_str());
  std::vector<double> times;
  std::vector<double> latencies;
  std::vector<double> ratios;
  Side writes = raw_writes(raw, 1);
  constexpr int kWrites = 50;
  for (int turn = 0; turn < count; ++turn) {
    latencies.push_back(seconds_of([&] {
                          for (int write = 0; write < kWrites; ++write) (void)writes.once(0);
                        }) /
                        kWrites);
    std::unique_ptr<Store> store;
    times.push_back(seconds_of([&] { store = open(turn); }));
    ratios.push_back(times.back() / latencies.back());
  }
  row.value = 1e3 * median(times);
  row.beside["librados"] = 1e3 * median(latencies);
  if (bound > 0) return judge(std::move(row), ratios, "raw writes of 4 KiB", bound, false);
  return judge(std::move(row), times, "s", 0.1, false);
}

std::string killed_name(int number) {
  return "killed-" + std::to_string(number);
}

/// Leaves a store that was killed with 64 MiB of log.
Status write_a_log(const std::string& pool, int number) {
  auto* const program = new Program(pool);  // The kill ends it.
  Store* const store = program->open(killed_name(number)).release();
  Table table = make_table(*store);
  constexpr std::size_t kBytes = 8192;
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (std::uint64_t n = 0; n < kLogBytes / kBytes; ++n) check(table.insert(entity_of(n, kBytes), buffered).status());
  return store->sync();
}

std::vector<GoalRow> starts(const Words& words, Raw& raw, Program& program, int killed) {
  std::vector<GoalRow> rows;
  make_table(*program.open("clean"));
  rows.push_back(opens(
      {"RA-6", "clean open", "ms", false}, raw, words.turns, [&](int) { return program.open("clean"); }, 30));
  std::vector<std::unique_ptr<Program>> programs;
  for (int number = 0; number < killed; ++number) programs.push_back(std::make_unique<Program>(words.pool, false));
  rows.push_back(opens(
      {"RA-7", "open after kill -9 with 64 MiB of log, without the wait for the lease", "ms", false}, raw, killed,
      [&](int turn) { return programs[static_cast<std::size_t>(turn)]->open(killed_name(turn)); }, 600));
  programs.clear();
  std::vector<std::unique_ptr<Store>> owners;
  for (int number = 0; number <= words.turns; ++number)
    programs.push_back(std::make_unique<Program>(words.pool, false));
  owners.push_back(programs.back()->open("taken"));
  make_table(*owners.back());
  rows.push_back(opens(
      {"RA-8", "takeover by force from an owner that lives", "ms", false}, raw, words.turns,
      [&](int turn) {
        owners.push_back(programs[static_cast<std::size_t>(turn)]->open("taken"));
        return nullptr;
      },
      0));
  owners.clear();
  return rows;
}

int run(const Words& words) {
  constexpr int kKilled = 3;
  // Before this process has threads.
  const bool wants_starts = words.wants({"RA-6", "RA-7", "RA-8"});
  for (int number = 0; wants_starts && number < kKilled; ++number) {
    std::fprintf(stderr, "    a store that is killed\n");
    check(in_killed_process([&] { return write_a_log(words.pool, number); }));
  }
  Raw raw(words.pool);
  Program program(words.pool);
  std::vector<GoalRow> rows;
  const auto add = [&rows](std::vector<GoalRow> more) {
    for (GoalRow& row : more) rows.push_back(std::move(row));
  };
  if (wants_starts) add(starts(words, raw, program, kKilled));
  if (words.wants({"RA-1", "RA-2"})) add(commits(words, raw, program));
  if (words.wants({"RA-3"})) add({loads(words, raw, program)});
  if (words.wants({"RA-4", "RA-5"})) add(reads(words, raw, program));
  if (words.wants({"RA-9"})) add({cached_reads(words)});
  std::stable_sort(rows.begin(), rows.end(), [](const GoalRow& a, const GoalRow& b) { return a.goal < b.goal; });
  const nlohmann::json all = as_json(rows);
  std::fputs(as_table(all).c_str(), stdout);
  if (words.json_file.empty()) return 0;
  std::ofstream file(words.json_file);
  file << all.dump(1) << "\n";
  return file.flush() ? 0 : 1;
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  CLI::App app("races a store on Ceph with raw operations of librados, in turns.", "varve-rados-bench");
  varve::bench::Words words;
  app.add_option("--pool", words.pool, "Pool of the cluster of CEPH_CONF; it gets stores and objects that stay");
  app.add_option("--osds", words.osds, "Processes of the OSDs, whose processor time is counted");
  app.add_option("--turns", words.turns, "Turns of each row")->check(CLI::PositiveNumber);
  app.add_option("--seconds", words.seconds, "Seconds of each side in a turn")->check(CLI::PositiveNumber);
  app.add_option("--goals", words.goals, "Goals to measure with their neighbours, such as RA-3; else all");
  app.add_option("--json", words.json_file, "File that receives all rows as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return varve::bench::run(words);
}
