// Owns: the rows whose cost must not depend on a size: listings, deleted containers and copies. BO-08 to BO-10.
// Must never: compare a first operation with a later one. Both kinds are measured in turns.
#include <algorithm>

#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kGoalListed = 10'000'000;
constexpr std::uint64_t kGoalDropped = 1'000'000;
constexpr std::uint64_t kGoalCopied = std::uint64_t{10} << 30;
constexpr std::uint64_t kShortCopied = std::uint64_t{1} << 20;
constexpr int kPages = 41;
constexpr int kCopies = 41;

/// Returns the number with leading zeros, so that names have the order of their numbers.
std::string digits(std::uint64_t number) {
  constexpr std::size_t kDigits = 9;
  std::string text = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, text.size()), '0') + text;
}

/// Returns the microseconds of a first page, which must have this many entries.
double page_us(const Container& container, const std::string& delimiter, std::uint64_t entries) {
  BlobListing listing;
  listing.delimiter = delimiter;
  BlobPage page;
  const double seconds = seconds_of([&] { page = take(container.list(listing)); });
  if (page.entries.size() != entries) check(Status::corruption("a listing has another number of entries"));
  return seconds * 1e6;
}

/// Returns the microseconds of one copy to a new name.
double copy_us(Container& blobs, const std::string& source, std::uint64_t length, int& copies) {
  const std::string name = "copy" + std::to_string(copies++);
  BlobCopyOptions options;
  options.durability = Durability::kSync;
  std::uint64_t copied = 0;
  const double seconds = seconds_of([&] { copied = take(blobs.copy(name, blobs, source, options)).length; });
  if (copied != length) check(Status::corruption("a copy has another length"));
  return seconds * 1e6;
}

/// Returns the microseconds of a deletion of a container that is filled before.
double drop_us(VarveBlobs& varve, const std::string& name, std::uint64_t blobs) {
  const Container container = take(varve.store().create_container(VarveBlobs::kAccount, name));
  check(varve.fill(container, blobs, digits));
  check(varve.store().sync());
  return seconds_of([&] { check(varve.store().drop_container(VarveBlobs::kAccount, name)); }) * 1e6;
}

}  // namespace

Rows first_pages(const Bench& bench) {
  const Sizes& sizes = bench.sizes;
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  const Container few = take(varve->store().create_container(VarveBlobs::kAccount, "few"));
  check(varve->fill(few, sizes.prefixes, digits));
  check(varve->fill(varve->blobs(), sizes.listed, [&sizes](std::uint64_t n) {
    const std::uint64_t each = sizes.listed / sizes.prefixes;
    return digits(n / each) + "/" + digits(n % each);
  }));
  check(varve->store().compact());
  const std::vector<double> us = medians_in_turns(kPages, {[&] { return page_us(varve->blobs(), "/", sizes.prefixes); },
                                                           [&] { return page_us(few, "", sizes.prefixes); }});
  GoalRow row{"BO-08", "first page of a listing with a delimiter", "us", false, us[0]};
  row.beside = {{"listing of as many blobs as prefixes", us[1]}};
  row.judged = {{"of the listing of few blobs", us[0] / us[1], 1.5, false}};
  row.sizes = scaled_count(sizes.listed, kGoalListed, "blobs") + " in " +
              scaled_count(sizes.prefixes, sizes.prefixes, "prefixes");
  return {row};
}

Rows dropped_containers(const Bench& bench) {
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  int turn = 0;
  const std::vector<double> us =
      medians_in_turns(kTurns, {[&] { return drop_us(*varve, "empty" + std::to_string(turn), 0); },
                                [&] { return drop_us(*varve, "full" + std::to_string(turn++), bench.sizes.dropped); }});
  GoalRow row{"BO-09", "delete of a container", "us", false, us[1]};
  row.beside = {{"empty container", us[0]}};
  row.judged = {{"of the empty container", us[1] / us[0], 2, false}};
  row.sizes = scaled_count(bench.sizes.dropped, kGoalDropped, "blobs");
  return {row};
}

Rows copies(const Bench& bench) {
  const std::uint64_t length = bench.sizes.long_bytes;
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  check(varve->write_stream("long", length));
  check(varve->write_stream("short", kShortCopied));
  int made = 0;
  const std::vector<double> us =
      medians_in_turns(kCopies, {[&] { return copy_us(varve->blobs(), "long", length, made); },
                                 [&] { return copy_us(varve->blobs(), "short", kShortCopied, made); }});
  GoalRow row{"BO-10", "durable copy of a long blob", "us", false, us[0]};
  row.beside = {{"copy of 1 MiB", us[1]}};
  row.judged = {{"of the copy of 1 MiB", us[0] / us[1], 2, false}};
  row.sizes = scaled_bytes(length, kGoalCopied);
  return {row};
}

}  // namespace varve::bench
