// Owns: the rows of foreground writes while the space of deleted contents is collected: BX-33.
// Must never: judge writes of other moments: quiet time before and after the collection is compared with it.
#include <atomic>
#include <thread>

#include "bench/blobs/content.h"
#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"
#include "bench/varve_bench/machine.h"

namespace varve::bench {

namespace {

constexpr std::size_t kWrittenBytes = 1'024;
/// Blobs of which all but kKept are deleted. More than half of each value file is then garbage.
/// @{
constexpr std::uint64_t kOf = 8;
constexpr std::uint64_t kKept = 3;
/// @}

bool is_kept(std::uint64_t blob) {
  return blob % kOf < kKept;
}

std::string name_of(std::uint64_t blob) {
  return "blob" + std::to_string(blob);
}

class CollectionRace {
 public:
  explicit CollectionRace(const Bench& bench)
      : bench_(bench),
        blobs_(bench.sizes.collected_bytes / kPieceBytes),
        varve_(take(VarveBlobs::open(bench.directory))) {}

  GoalRow run() {
    fill();
    std::vector<double> quiet = insert_for(bench_.sizes.seconds);
    remove_most();
    const std::uint64_t garbage_before = value_file_bytes();
    const std::uint64_t read_before = usage(bench_.directory).read_bytes;
    const std::vector<double> busy = insert_beside([this] { check(varve_->store().compact()); });
    const std::uint64_t read = usage(bench_.directory).read_bytes - read_before;
    const std::uint64_t garbage_after = value_file_bytes();
    for (const double us : insert_for(bench_.sizes.seconds)) quiet.push_back(us);
    check_kept();
    GoalRow row{"BX-33", "durable insert during a collection, median", "us", false, median(busy)};
    row.beside = {{"insert at rest", median(quiet)}};
    row.judged = {{"of an insert at rest", median(busy) / median(quiet), 1.1, false},
                  {"bytes read, of the content that is kept", part_of_kept(read), 1.05, false}};
    row.figures = {{"inserts meanwhile", static_cast<double>(busy.size())},
                   {"MB of value files before", static_cast<double>(garbage_before) / 1e6},
                   {"MB of value files after", static_cast<double>(garbage_after) / 1e6}};
    row.sizes = text_of_bytes(bench_.sizes.collected_bytes) + " in blobs of 1 MiB, 5 of 8 deleted, by compact()";
    return row;
  }

 private:
  void fill() {
    BlobWriteOptions options;
    options.durability = Durability::kBuffered;
    for (std::uint64_t blob = 0; blob < blobs_; ++blob) {
      check(varve_->blobs().put(name_of(blob), piece_of(blob), options).status());
    }
    check(varve_->store().compact());
  }

  void remove_most() {
    BlobChangeOptions options;
    options.durability = Durability::kBuffered;
    for (std::uint64_t blob = 0; blob < blobs_; ++blob) {
      if (!is_kept(blob)) check(varve_->blobs().remove(name_of(blob), options));
    }
    check(varve_->store().sync());
  }

  /// Returns the microseconds of one durable insert.
  double insert_us() {
    const std::string_view bytes = piece_of(5).substr(0, kWrittenBytes);
    return seconds_of([&] { check(varve_->insert(next_++, bytes)); }) * 1e6;
  }

  std::vector<double> insert_for(double seconds) {
    std::vector<double> all;
    double spent = 0;
    do {
      all.push_back(insert_us());
      spent += all.back() / 1e6;
    } while (spent < seconds);
    return all;
  }

  /// Inserts until the work of another thread has ended.
  std::vector<double> insert_beside(const std::function<void()>& work) {
    std::atomic<bool> has_ended{false};
    std::vector<double> all;
    const std::jthread worker([&] {
      work();
      has_ended = true;
    });
    do {
      all.push_back(insert_us());
    } while (!has_ended);
    return all;
  }

  std::uint64_t value_file_bytes() const { return take(varve_->store().statistics()).value_file_bytes; }

  double part_of_kept(std::uint64_t bytes) const {
    std::uint64_t kept = 0;
    for (std::uint64_t blob = 0; blob < blobs_; ++blob) kept += is_kept(blob) ? kPieceBytes : 0;
    return static_cast<double>(bytes) / static_cast<double>(kept);
  }

  void check_kept() {
    std::vector<char> piece(kPieceBytes);
    for (std::uint64_t blob = 0; blob < blobs_; ++blob) {
      if (!is_kept(blob)) continue;
      const BlobReader reader = take(varve_->blobs().read(name_of(blob)));
      const std::size_t got = take(reader.read(0, piece));
      if (std::string_view(piece.data(), got) != piece_of(blob)) {
        check(Status::corruption("a kept blob has other bytes"));
      }
    }
  }

  const Bench& bench_;
  const std::uint64_t blobs_;
  const std::unique_ptr<VarveBlobs> varve_;
  std::uint64_t next_ = 0;
};

}  // namespace

Rows collection(const Bench& bench) {
  return {CollectionRace(bench).run()};
}

}  // namespace varve::bench
