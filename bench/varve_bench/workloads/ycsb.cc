// Owns: YCSB's core workloads A to F, as their files define them.
// Must never: draw keys in another way than YCSB, or count a read that did not find its record.
//
// A record has ten fields of 100 bytes. The PartitionKey is "user" and the FNV hash of the record's number. The RowKey
// is "0". An update replaces the text of one field. A read returns all ten. Commits are buffered, as in YCSB's bindings
// for such stores.
#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "bench/varve_bench/distributions.h"
#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/memory_limit.h"

namespace varve::bench {

namespace {

constexpr int kClients = 4;
constexpr std::size_t kRecordBytes = 1000;
constexpr std::size_t kFieldBytes = kRecordBytes / kFields;
constexpr std::uint32_t kScanLengthMax = 100;
constexpr std::string_view kRecordRow = "0";

Keys record_keys(std::uint64_t number) {
  return {"user" + std::to_string(fnv_hash(number)), std::string(kRecordRow)};
}

Status insert_record(Session& session, std::uint64_t number) {
  Row row{std::string(kRecordRow), payload_of(number, kRecordBytes)};
  row.shape = Shape::kTenTexts;
  return session.contender().put(0, record_keys(number).partition, std::span(&row, 1), Check::kNone,
                                 Promise::kBuffered);
}

Status load_records(Session& session) {
  for (std::uint64_t n = 0; n < session.choice().entities; ++n) {
    if (Status put = insert_record(session, n); !put.ok()) return put;
  }
  return session.contender().wait_until_idle();
}

/// Shares of operations in percent.
struct Mix {
  std::uint64_t reads = 0;
  std::uint64_t updates = 0;
  std::uint64_t inserts = 0;
  std::uint64_t scans = 0;
  std::uint64_t read_modify_writes = 0;
  bool latest = false;  // instead of zipfian
};

/// The records of one session, which its rows share. Their number only grows.
class Records {
 public:
  explicit Records(std::uint64_t loaded) : loaded_(loaded), scrambled_(loaded), recent_(loaded), next_(loaded) {}

  std::uint64_t draw(const Mix& mix, Random& random) const noexcept {
    return mix.latest ? newest() - recent_.draw(random) : scrambled_.draw(random);
  }
  std::uint64_t take_next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }
  void add_written(std::uint64_t bytes) noexcept { written_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Returns the bytes that the user has written since the last call.
  std::uint64_t take_written_bytes() noexcept { return written_bytes_.exchange(0); }
  bool was_loaded(std::uint64_t number) const noexcept { return number < loaded_; }

 private:
  /// Returns the newest record. The insert of another client may still be running.
  std::uint64_t newest() const noexcept { return next_.load(std::memory_order_relaxed) - 1; }

  std::uint64_t loaded_;
  ScrambledZipfian scrambled_;
  Zipfian recent_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> written_bytes_{0};
};

Status read_record(Session& session, const Records& records, std::uint64_t number) {
  const Keys keys = record_keys(number);
  const Result<bool> found = session.contender().get(0, keys.partition, keys.row);
  if (!found.ok()) return found.status();
  return *found || !records.was_loaded(number) ? Status() : Status::corruption("a record that was loaded is missing");
}

Status update_record(Session& session, Records& records, std::uint64_t number, Random& random) {
  records.add_written(kFieldBytes);
  const std::string field = field_name(random.below(kFields));
  return session.contender().update_property(0, record_keys(number), field, payload_of(random.next(), kFieldBytes),
                                             Promise::kBuffered);
}

Status scan_records(Session& session, std::uint64_t number, Random& random) {
  const auto length = static_cast<std::uint32_t>(1 + random.below(kScanLengthMax));
  const Result<std::uint64_t> count = session.contender().scan_from(0, record_keys(number).partition, length);
  if (!count.ok()) return count.status();
  return *count > 0 ? Status() : Status::corruption("a scan from a record did not find it");
}

Status operate(Session& session, const Mix& mix, Records& records, Random& random) {
  std::uint64_t choice = random.below(100);
  const auto falls_to = [&](std::uint64_t percent) {
    const bool chosen = choice < percent;
    choice -= chosen ? 0 : percent;
    return chosen;
  };
  if (falls_to(mix.inserts)) {
    records.add_written(kRecordBytes);
    return insert_record(session, records.take_next());
  }
  const std::uint64_t number = records.draw(mix, random);
  if (falls_to(mix.reads)) return read_record(session, records, number);
  if (falls_to(mix.updates)) return update_record(session, records, number, random);
  if (falls_to(mix.scans)) return scan_records(session, number, random);
  const Status read = read_record(session, records, number);
  return read.ok() ? update_record(session, records, number, random) : read;
}

/// The state of one contender's rows: made when its process begins.
struct Ycsb {
  std::unique_ptr<Records> records;
  std::shared_ptr<std::uint64_t> limit = std::make_shared<std::uint64_t>(0);
};

WorkloadRow ycsb_row(const std::shared_ptr<Ycsb>& ycsb, std::string name, const Mix& mix) {
  return {std::move(name), [ycsb, mix](Session& session) -> Result<Outcome> {
            Records& records = *ycsb->records;
            records.take_written_bytes();
            Result<Effect> effect =
                drive(session, {kClients, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  Status done = operate(session, mix, records, worker.random);
                  if (!done.ok()) return done;
                  return 1;
                });
            if (!effect.ok()) return effect.status();
            effect->user_bytes = mix.reads == 100 ? effect->entities * kRecordBytes : records.take_written_bytes();
            return outcome_of(*effect, mix.reads == 100 ? Moves::kReads : Moves::kWrites);
          }};
}

constexpr std::uint64_t kYcsbBufferBytes = std::uint64_t{64} << 20;
/// Memory besides both budgets: what a contender uses for merges, indexes and connections, and its page cache.
constexpr std::uint64_t kMoreBytes = std::uint64_t{128} << 20;
/// A cache that is full takes more memory than it counts, because an allocator keeps gaps between blocks of different
/// sizes. Where all records fit, such a part of the cache is added for them. Where half fit, it would be page cache.
constexpr std::uint64_t kGapsShare = 4;

/// Returns settings whose cache holds half of the records, uncompressed.
Settings room_for_half(const Choice& choice) {
  Settings settings{std::max(std::uint64_t{16} << 20, choice.entities * kRecordBytes / 2), kYcsbBufferBytes};
  settings.scattered_reads = true;
  return settings;
}

/// Returns settings whose cache holds every record with its key and field names, uncompressed, and old versions after
/// updates.
Settings room_for_all(const Choice& choice) {
  return {std::max(std::uint64_t{512} << 20, choice.entities * kRecordBytes * 2), kYcsbBufferBytes};
}

/// Returns the rows of `memory`. Scans come first, on records that no other row has touched. Scans and reads have both forms
/// of the opponents' answers.
std::vector<WorkloadRow> rows_of(const std::shared_ptr<Ycsb>& ycsb, std::string_view memory) {
  const auto row = [&](std::string_view letter, std::string_view what, const Mix& mix) {
    std::string name("YCSB ");
    name.append(letter).append(memory).append(": ").append(what);
    return telling_memory(ycsb_row(ycsb, std::move(name), mix), ycsb->limit);
  };
  std::vector<WorkloadRow> rows;
  const auto add = [&rows](std::vector<WorkloadRow> more) {
    for (WorkloadRow& one : more) rows.push_back(std::move(one));
  };
  add(in_both_forms({row("E", "95 % scans of up to 100, 5 % inserts", {.inserts = 5, .scans = 95})}));
  add({row("A", "half reads, half updates", {.reads = 50, .updates = 50}),
       row("B", "95 % reads, 5 % updates", {.reads = 95, .updates = 5})});
  add(in_both_forms({row("C", "reads", {.reads = 100})}));
  add({row("F", "half reads, half read-modify-writes", {.reads = 50, .read_modify_writes = 50}),
       row("D", "95 % reads of the latest, 5 % inserts", {.reads = 95, .inserts = 5, .latest = true})});
  return rows;
}

/// `settings` gives both budgets. All contenders run in a control group with room for both, for kMoreBytes, and for gaps
/// in a cache of all records, and no more.
/// Records are read before the first row, to fill caches and mappings: all of them if there is room, otherwise as C
/// reads them for the time of a row.
Workload ycsb_of(std::string name, std::string about, Settings (*settings)(const Choice&), std::string_view memory) {
  const auto ycsb = std::make_shared<Ycsb>();
  Workload workload{name, std::move(about), settings, rows_of(ycsb, memory), name, load_records};
  workload.begin = [ycsb, settings](Session& session) -> Status {
    ycsb->records = std::make_unique<Records>(session.choice().entities);
    const Settings budget = settings(session.choice());
    const std::uint64_t gaps = budget.scattered_reads ? 0 : budget.cache_bytes / kGapsShare;
    begin_under_limit(session, budget.cache_bytes + gaps + budget.write_buffer_bytes + kMoreBytes, *ycsb->limit);
    if (Status opened = session.reopen(budget); !opened.ok()) return opened;
    if (!budget.scattered_reads) return session.contender().scan_table(0, Scanned::kMade).status();
    return drive(session, {kClients, session.choice().seconds, 0},
                 [&](Worker& worker) -> Result<std::uint64_t> {
                   const Mix reads{.reads = 100};
                   Status read = operate(session, reads, *ycsb->records, worker.random);
                   if (!read.ok()) return read;
                   return 1;
                 })
        .status();
  };
  workload.in_order = true;
  return workload;
}

}  // namespace

Workload ycsb_workload() {
  return ycsb_of("ycsb", "YCSB E, A, B, C, F and D by 4 clients, buffered commits, a cache of half of the records",
                 room_for_half, "");
}

Workload ycsb_in_memory_workload() {
  return ycsb_of("ycsb-in-memory", "the same, with a cache that has room for all records", room_for_all, ", in memory");
}

}  // namespace varve::bench
