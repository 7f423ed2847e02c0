// Owns: the rows of small durable writes beside inserts of entities: BO-05, BO-06 and BO-11, and beside the device: OBJECTS.
// Must never: count a write that was acknowledged before it was durable.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <utility>

#include "bench/blobs/contender.h"
#include "bench/blobs/content.h"
#include "bench/blobs/device.h"
#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"
#include "varve/large_value.h"
#include "varve/limits.h"

namespace varve::bench {

namespace {

constexpr std::size_t kObjectBytes = 100 << 10;
constexpr std::size_t kEntityContentBytes = 60 << 10;
constexpr std::size_t kAppendedBytes = 200;
constexpr int kAppenders = 64;
constexpr int kPutters = 16;
constexpr std::size_t kSmallObjectBytes = 64 << 10;
constexpr int kSmallObjectPutters = 4;

/// Numbers that no two callers share.
class Numbers {
 public:
  std::uint64_t next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }
  std::string name(const char* before) { return before + std::to_string(next()); }

 private:
  std::atomic<std::uint64_t> next_{1};
};

/// A peer that is open, and its repeated operation.
struct RunningPeer {
  std::string name;
  std::unique_ptr<BlobContender> peer;
  Work work;
};

/// Opens the peers. `once` is the operation. A peer that does not support it is left out.
std::deque<RunningPeer> open_peers(const Bench& bench, int threads,
                                   const std::function<Status(BlobContender&, int)>& once) {
  std::deque<RunningPeer> opened;
  for (const Peer& peer : peers()) {
    std::unique_ptr<BlobContender> contender = take(peer.open(bench.part(peer.name + std::to_string(threads))));
    const Status first = once(*contender, 0);
    if (first.code() == Code::kUnsupported) continue;
    check(first);
    BlobContender* const used = contender.get();
    opened.push_back(
        {peer.name, std::move(contender), Work{threads, [used, once](int thread) { check(once(*used, thread)); }}});
  }
  return opened;
}

/// Runs the peers in the turns of the other operations.
void run_with_peers(std::vector<Work*> all, std::deque<RunningPeer>& running, double seconds) {
  for (RunningPeer& peer : running) all.push_back(&peer.work);
  run_in_turns(all, seconds);
}

std::map<std::string, double> rates_of(const std::deque<RunningPeer>& running) {
  std::map<std::string, double> rates;
  for (const RunningPeer& peer : running) rates[peer.name] = peer.work.rate();
  return rates;
}

double best_of(const std::map<std::string, double>& rates) {
  double best = 0;
  for (const auto& [name, rate] : rates) best = std::max(best, rate);
  return best;
}

/// Durable puts of objects, inserts of entities, and durable writes of both sizes to the device.
class PutRace {
 public:
  explicit PutRace(const Bench& bench)
      : bench_(bench),
        varve_(take(VarveBlobs::open(bench.directory))),
        entity_space_(take(DurableSpace::create(bench.directory + "/entity", kEntityContentBytes))),
        object_space_(take(DurableSpace::create(bench.directory + "/object", kObjectBytes))) {}

  /// One client, judged by the goal.
  GoalRow alone() {
    Work put = puts(1);
    Work insert = inserts(1);
    Work write_entity{1, [this](int) { check(entity_space_.write()); }};
    Work write_object{1, [this](int) { check(object_space_.write()); }};
    std::deque<RunningPeer> running = open_putting_peers(1);
    run_with_peers({&put, &insert, &write_entity, &write_object}, running, bench_.sizes.seconds);
    const double rest = std::max(0.0, write_object.seconds() - write_entity.seconds());
    GoalRow row = row_of(put, insert, rates_of(running), "durable put of 100 KiB, 1 client");
    row.judged = {{"time, of an insert of 60 KiB and the device's time of the rest",
                   put.seconds() / (insert.seconds() + rest), 1.2, false}};
    row.figures["us of the device for 100 KiB"] = write_object.seconds() * 1e6;
    row.figures["us of the device for 60 KiB"] = write_entity.seconds() * 1e6;
    return row;
  }

  /// Many clients. The goal is of HTTP, which bench/serve/blob_race.py measures.
  GoalRow together() {
    Work put = puts(kPutters);
    Work insert = inserts(kPutters);
    std::deque<RunningPeer> running = open_putting_peers(kPutters);
    run_with_peers({&put, &insert}, running, bench_.sizes.seconds);
    return row_of(put, insert, rates_of(running), "durable put of 100 KiB, 16 clients");
  }

 private:
  static std::string_view object() { return piece_of(1).substr(0, kObjectBytes); }

  Work puts(int threads) {
    return {threads, [this](int) { check(varve_->put(numbers_.name("object"), object())); }};
  }
  Work inserts(int threads) {
    return {threads,
            [this](int) { check(varve_->insert(numbers_.next(), piece_of(2).substr(0, kEntityContentBytes))); }};
  }
  std::deque<RunningPeer> open_putting_peers(int threads) {
    return open_peers(bench_, threads, [this](BlobContender& peer, int thread) {
      return peer.put(thread, numbers_.name("object"), object());
    });
  }

  static GoalRow row_of(const Work& put, const Work& insert, const std::map<std::string, double>& peers,
                        const std::string& name) {
    GoalRow row{"BO-05", name, "/s", true, put.rate()};
    row.beside = {{"insert of 60 KiB", insert.rate()}};
    row.peers = peers;
    row.figures = {{"of the best peer", put.rate() / best_of(peers)}};
    row.sizes = "not scaled";
    return row;
  }

  const Bench& bench_;
  const std::unique_ptr<VarveBlobs> varve_;
  DurableSpace entity_space_;
  DurableSpace object_space_;
  Numbers numbers_;
};

/// Append blobs, one after another, because the appends of a blob are limited.
class AppendedBlobs {
 public:
  AppendedBlobs(VarveBlobs& varve, std::string name, std::uint64_t blobs)
      : varve_(varve), name_(std::move(name)), blobs_(blobs) {
    for (std::uint64_t blob = 0; blob < blobs; ++blob) {
      check(varve_.blobs().create_append_blob(name_of(blob)).status());
    }
  }

  Status append(std::string_view bytes) {
    const std::uint64_t blob = appends_.fetch_add(1, std::memory_order_relaxed) / limits::kAppendsMax;
    if (blob >= blobs_) return Status::unsupported("this row has too few append blobs for its time");
    AppendOptions options;
    options.durability = Durability::kSync;
    return varve_.blobs().append(name_of(blob), bytes, options).status();
  }

 private:
  std::string name_of(std::uint64_t blob) const { return name_ + "/" + std::to_string(blob); }

  VarveBlobs& varve_;
  const std::string name_;
  const std::uint64_t blobs_;
  std::atomic<std::uint64_t> appends_{0};
};

/// An entity with a large value, beside a blob of its length.
class PhotoRace {
 public:
  explicit PhotoRace(const Bench& bench)
      : bench_(bench),
        varve_(take(VarveBlobs::open(bench.directory))),
        people_(take(varve_->store().create_table(VarveBlobs::kAccount, "People", {.has_large_values = true}))) {}

  GoalRow run() {
    Work alone{1, [this](int) { check(put_alone()); }};
    Work both{1, [this](int) { check(put_with_entity()); }};
    run_in_turns({&alone, &both}, bench_.sizes.seconds);
    GoalRow row{"BO-11", "durable insert of an entity with a large value of 1 MiB", "/s", true, both.rate()};
    row.beside = {{"blob alone", alone.rate()}};
    row.judged = {{"time, of the blob alone", both.seconds() / alone.seconds(), 1.1, false}};
    row.sizes = "not scaled";
    return row;
  }

 private:
  Status put_alone() {
    BlobWriteOptions options;
    options.durability = Durability::kSync;
    Result<BlobWriter> writer = varve_->blobs().write(numbers_.name("alone"), options);
    if (!writer.ok()) return writer.status();
    if (Status added = writer->append(piece_of(3)); !added.ok()) return added;
    return writer->publish().status();
  }

  Status put_with_entity() {
    Result<LargeValueWriter> writer = people_.write_large_value();
    if (!writer.ok()) return writer.status();
    if (Status added = writer->append(piece_of(3)); !added.ok()) return added;
    const Result<LargeValue> photo = writer->finish();
    if (!photo.ok()) return photo.status();
    const std::uint64_t number = numbers_.next();
    Entity entity("p" + std::to_string(number % 100), std::to_string(number));
    entity.add("Photo", *photo);
    return people_.insert(std::move(entity), {.durability = Durability::kSync}).status();
  }

  const Bench& bench_;
  const std::unique_ptr<VarveBlobs> varve_;
  Table people_;
  Numbers numbers_;
};

}  // namespace

Rows entity_with_blob(const Bench& bench) {
  return {PhotoRace(bench).run()};
}

Rows puts_of_objects(const Bench& bench) {
  PutRace race(bench);
  Rows rows{race.alone()};
  rows.push_back(race.together());
  return rows;
}

Rows small_objects(const Bench& bench) {
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const std::string_view object = piece_of(5).substr(0, kSmallObjectBytes);
  std::deque<DurableSpace> spaces;
  for (int thread = 0; thread < kSmallObjectPutters; ++thread) {
    const std::string path = bench.directory + "/device" + std::to_string(thread);
    spaces.push_back(take(DurableSpace::create(path, kSmallObjectBytes)));
  }
  Numbers numbers;
  Work put{kSmallObjectPutters, [&](int) { check(varve->put(numbers.name("object"), object)); }};
  Work write{kSmallObjectPutters, [&](int thread) { check(spaces[static_cast<std::size_t>(thread)].write()); }};
  std::deque<RunningPeer> running = open_peers(bench, kSmallObjectPutters, [&](BlobContender& peer, int thread) {
    return peer.put(thread, numbers.name("object"), object);
  });
  run_with_peers({&put, &write}, running, bench.sizes.seconds);
  GoalRow row{"OBJECTS", "durable put of 64 KiB, 4 clients", "/s", true, put.rate()};
  row.beside = {{"device", write.rate()}};
  row.peers = rates_of(running);
  row.judged = {{"of the device", put.rate() / write.rate(), 0.75, true}};
  row.figures = {{"of the best peer", put.rate() / best_of(row.peers)}};
  row.sizes = "not scaled";
  return {row};
}

Rows small_appends(const Bench& bench) {
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const std::string_view bytes = piece_of(4).substr(0, kAppendedBytes);
  std::deque<AppendedBlobs> own;
  for (int thread = 0; thread < kAppenders; ++thread) own.emplace_back(*varve, "own" + std::to_string(thread), 3);
  AppendedBlobs shared(*varve, "shared", 20);
  Numbers numbers;
  Work to_own{kAppenders, [&](int thread) { check(own[static_cast<std::size_t>(thread)].append(bytes)); }};
  Work to_shared{kAppenders, [&](int) { check(shared.append(bytes)); }};
  Work insert{kAppenders, [&](int) { check(varve->insert(numbers.next(), bytes)); }};
  std::deque<RunningPeer> running =
      open_peers(bench, kAppenders, [bytes](BlobContender& peer, int thread) { return peer.append(thread, bytes); });
  run_with_peers({&to_own, &to_shared, &insert}, running, bench.sizes.seconds);
  Rows rows;
  const std::array<std::pair<const Work*, std::string>, 2> ours{
      {{&to_own, "durable append of 200 bytes, 64 clients, a blob each"},
       {&to_shared, "durable append of 200 bytes, 64 clients, one blob"}}};
  for (const auto& [work, name] : ours) {
    GoalRow row{"BO-06", name, "/s", true, work->rate()};
    row.beside = {{"insert of 200 bytes", insert.rate()}};
    if (work == &to_own) row.peers = rates_of(running);
    row.judged = {{"of the inserts", work->rate() / insert.rate(), 0.8, true}};
    row.sizes = "not scaled";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace varve::bench
