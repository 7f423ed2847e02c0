// Owns: the mixed table workload: concurrent operations of typical clients of a table service.
// Must never: count an update that should have been refused, or differ from its definition in bench/race/README.md.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/table_mix.h"

namespace varve::bench {

namespace {

constexpr std::size_t kTransactionBytesMax = std::size_t{3} << 20;  // the service accepts four, including overhead
constexpr int kLoaders = 4;

struct TimedVerb {
  const char* name;
  std::mutex mutex{};
  Histogram latencies{};
};

/// The state that the rows of one session share.
struct Mixed {
  Mixed(std::uint32_t tables, std::uint64_t entities) : mix(tables, entities), next_table(tables) {}
  TableMix mix;
  std::atomic<std::uint32_t> next_table;
};

class Client {
 public:
  Client(Session& session, Mixed& mixed, Promise promise, Random& random)
      : contender_(session.contender()), mixed_(mixed), mix_(mixed.mix), promise_(promise), random_(random) {}

  Status operate(TableVerb verb) {
    switch (verb) {
      case TableVerb::kPointRead: return point_read();
      case TableVerb::kPartitionQuery: return partition_query();
      case TableVerb::kInsert: return insert();
      case TableVerb::kConditionalUpdate: return conditional_update();
      case TableVerb::kTransaction: return transaction();
      case TableVerb::kDelete: return remove();
      case TableVerb::kCreateAndDrop: return create_and_drop();
    }
    return Status();
  }

  /// Writes entities from `first` on: at most `count`, and as many as fit into one transaction. Returns their number.
  Result<std::uint64_t> put_from(std::uint32_t table, std::uint64_t first, std::uint64_t count) {
    std::vector<Row> rows;
    std::size_t bytes = 0;
    for (std::uint64_t n = first; n < first + count && bytes < kTransactionBytesMax; ++n) {
      rows.push_back(new_row({table, n}));
      bytes += rows.back().payload.size();
    }
    mix_.add_written(bytes);
    Status put = contender_.put(table, keys_of(first).partition, rows, Check::kNone, promise_);
    if (!put.ok()) return put;
    return rows.size();
  }

 private:
  Row new_row(const Place& place) {
    return {place.keys().row, payload_of(random_.next(), TableMix::draw_bytes(random_)), Shape::kBinaries,
            place.group()};
  }

  Status point_read() {
    const Place place = mix_.draw_place(random_);
    const Keys keys = place.keys();
    return contender_.get(place.table, keys.partition, keys.row).status();
  }

  Status partition_query() {
    const Place place = mix_.draw_place(random_);
    const Keys keys = place.keys();
    return contender_.query_group(place.table, keys.partition, static_cast<std::int32_t>(random_.below(kGroups)))
        .status();
  }

  Status insert() {
    const Place place = mix_.new_place(mix_.draw_table(random_));
    const Row row = new_row(place);
    mix_.add_written(row.payload.size());
    const Status put =
        contender_.put(place.table, place.keys().partition, std::span(&row, 1), Check::kAbsent, promise_);
    return put.code() == Code::kExists ? Status() : put;  // a concurrent transaction has created it
  }

  Status conditional_update() {
    const Place place = mix_.draw_place(random_);
    const Row row = new_row(place);
    const bool conflict = TableMix::draw_conflict(random_);
    const Result<bool> replaced =
        contender_.replace_if_as_read(place.table, place.keys().partition, row, conflict, promise_);
    if (!replaced.ok()) return replaced.status();
    if (*replaced) mix_.add_written(row.payload.size());
    return *replaced && conflict ? Status::corruption("an update of another version was not refused") : Status();
  }

  /// Writes the first 20 to 100 rows of a partition, whether or not they exist.
  Status transaction() {
    const Place place = mix_.draw_place(random_);
    const std::uint64_t first = place.number / kEntitiesOfPartition * kEntitiesOfPartition;
    const Result<std::uint64_t> put = put_from(place.table, first, 20 + random_.below(81));
    if (!put.ok()) return put.status();
    mix_.reach(place.table, first + *put);
    return Status();
  }

  Status remove() {
    const Place place = mix_.draw_place(random_);
    return contender_.erase(place.table, place.keys(), promise_).status();
  }

  /// Creates a table, writes one transaction of entities, and drops the table.
  Status create_and_drop() {
    constexpr std::uint64_t kEntities = 20;
    const std::uint32_t table = mixed_.next_table.fetch_add(1);
    const Status made = contender_.create_table(table);
    if (!made.ok() && made.code() != Code::kUnsupported) return made;  // for some a table is a prefix of keys
    if (const Result<std::uint64_t> put = put_from(table, 0, kEntities); !put.ok()) return put.status();
    return contender_.drop_table(table);
  }

  Contender& contender_;
  Mixed& mixed_;
  TableMix& mix_;
  Promise promise_;
  Random& random_;
};

/// Loads the tables partition by partition, through the log.
Status load_tables(Session& session, Mixed& mixed) {
  std::atomic<std::uint32_t> next{0};
  const Result<Effect> effect =
      drive(session, {kLoaders, 0, mixed.mix.tables()}, [&](Worker& worker) -> Result<std::uint64_t> {
        const std::uint32_t table = next.fetch_add(1);
        Client client(session, mixed, Promise::kBuffered, worker.random);
        const std::uint64_t count = mixed.mix.count(table);
        for (std::uint64_t n = 0; n < count;) {
          const std::uint64_t left_of_partition = kEntitiesOfPartition - n % kEntitiesOfPartition;
          const Result<std::uint64_t> put = client.put_from(table, n, std::min(count - n, left_of_partition));
          if (!put.ok()) return put.status();
          n += *put;
        }
        return count;
      });
  return effect.ok() ? session.contender().wait_until_idle() : effect.status();
}

Result<Outcome> run_mix(Session& session, Mixed& mixed, int clients, Promise promise) {
  std::array<TimedVerb, 7> verbs{{{"point read"},
                                  {"partition query"},
                                  {"insert"},
                                  {"conditional update"},
                                  {"transaction"},
                                  {"delete"},
                                  {"create and drop"}}};
  const std::uint64_t written_before = mixed.mix.written_bytes();
  Result<Effect> effect =
      drive(session, {clients, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
        const TableVerb verb = TableMix::draw_verb(worker.random);
        const std::uint64_t before = now();
        Status done = Client(session, mixed, promise, worker.random).operate(verb);
        if (!done.ok()) return done;
        TimedVerb& timed = verbs[static_cast<std::size_t>(verb)];
        const std::lock_guard lock(timed.mutex);
        timed.latencies.add(now() - before);
        return 1;
      });
  if (!effect.ok()) return effect.status();
  effect->user_bytes = mixed.mix.written_bytes() - written_before;
  Outcome outcome = outcome_of(*effect, Moves::kWrites);
  for (const TimedVerb& verb : verbs) {
    if (verb.latencies.count() == 0) continue;
    outcome.figures[std::string(verb.name) + " p50 us"] = static_cast<double>(verb.latencies.quantile(0.5)) / 1e3;
    outcome.figures[std::string(verb.name) + " p99 us"] = static_cast<double>(verb.latencies.quantile(0.99)) / 1e3;
  }
  return outcome;
}

/// Cache bytes per entity. An entity has about ten kilobytes, and replaced versions stay for some time.
constexpr std::uint64_t kCacheBytesOfEntity = std::uint64_t{16} << 10;

Settings settings_of_mixed(const Choice& choice) {
  Settings settings;
  settings.cache_bytes = std::max(settings.cache_bytes, choice.mixed_entities * kCacheBytesOfEntity);
  settings.checks = true;
  settings.versions = true;
  settings.large_values = true;
  settings.tables = choice.mixed_tables;
  return settings;
}

}  // namespace

Workload mixed_workload() {
  auto mixed = std::make_shared<std::optional<Mixed>>();
  const auto row = [&](std::string name, int clients, Promise promise) {
    return WorkloadRow{std::move(name), [=](Session& session) { return run_mix(session, **mixed, clients, promise); }};
  };
  Workload workload{"mixed",
                    "a hundred accounts of a hundred tables, and what clients of a table service do, all at once",
                    settings_of_mixed,
                    {row("mixed tables, buffered, 4 clients", 4, Promise::kBuffered),
                     row("mixed tables, durable, 16 clients", 16, Promise::kDurable)}};
  workload.begin = [mixed](Session& session) {
    if (Status opened = session.reopen(settings_of_mixed(session.choice())); !opened.ok()) return opened;
    mixed->emplace(session.choice().mixed_tables, session.choice().mixed_entities);
    return load_tables(session, **mixed);
  };
  return workload;
}

}  // namespace varve::bench
