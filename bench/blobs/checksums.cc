// Owns: the processor time of the checksums of a stream, and of whole streams: BO-12.
// Must never: leave out a checksum that the store or the blob service computes for each byte, apart from a client's MD5.
#include <algorithm>
#include <array>

#include "bench/blobs/content.h"
#include "bench/blobs/goals.h"
#include "bench/blobs/measure.h"
#include "bench/blobs/varve_blobs.h"
#include "bench/varve_bench/machine.h"
#include "format/bytes/checksum.h"
#include "format/bytes/crc64.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kGoalBytes = std::uint64_t{1} << 30;
constexpr std::size_t kHashedBytes = std::size_t{64} << 10;
/// A written byte is hashed in its part, and again in its record of the log.
constexpr double kHashesOfWrite = 2;

/// Returns the processor seconds of this thread for 10^9 bytes. That is the number of cores at 1 GB/s.
template <typename Sum>
double cores_at_gigabyte(std::uint64_t bytes, std::size_t step, const Sum& sum) {
  std::uint64_t all = 0;
  const double before = thread_cpu_seconds();
  check(for_pieces(bytes, [&](std::uint64_t, std::string_view piece) {
    for (std::size_t at = 0; at < piece.size(); at += step) all ^= sum(piece.substr(at, step));
    return Status();
  }));
  const double seconds = thread_cpu_seconds() - before;
  if (all == 1) check(Status::corruption("these checksums are not random"));  // the sums must be computed
  return seconds / (static_cast<double>(bytes) / 1e9);
}

/// Returns the processor seconds of all threads for 10^9 bytes of a stream.
double cores_of_stream(const std::string& directory, std::uint64_t bytes, const std::function<void()>& work) {
  const double before = usage(directory).cpu_seconds;
  work();
  return (usage(directory).cpu_seconds - before) / (static_cast<double>(bytes) / 1e9);
}

}  // namespace

Rows checksums(const Bench& bench) {
  const std::uint64_t bytes = bench.sizes.hashed_bytes;
  const std::uint64_t streamed = std::min(bench.sizes.stream_bytes, bytes);
  const std::unique_ptr<VarveBlobs> varve = take(VarveBlobs::open(bench.directory));
  int written = 0;
  const std::vector<double> cores =
      medians_in_turns(kTurns, {[&] { return cores_at_gigabyte(bytes, kHashedBytes, format::content_hash); },
                                [&] { return cores_at_gigabyte(bytes, kHashedBytes, format::crc64); }});
  const std::vector<double> streams = medians_in_turns(
      3, {[&] {
            return cores_of_stream(bench.directory, streamed, [&] {
              check(varve->write_stream("written" + std::to_string(written++), streamed));
            });
          },
          [&] {
            return cores_of_stream(bench.directory, streamed, [&] { check(varve->read_stream("written0", streamed)); });
          }});
  const double all = kHashesOfWrite * cores[0] + cores[1];
  GoalRow row{"BO-12", "checksums of a written stream over HTTP, without MD5", "cores at 1 GB/s", false, all};
  row.beside = {{"XXH3 once", cores[0]}, {"CRC-64", cores[1]}};
  row.judged = {{"cores at 1 GB/s for checksums", all, 0.25, false}};
  row.figures = {{"cores at 1 GB/s, stream written by the library", streams[0]},
                 {"cores at 1 GB/s, stream read by the library", streams[1]}};
  row.sizes = scaled_bytes(bytes, kGoalBytes) + ", in steps of 64 KiB";
  return {row};
}

}  // namespace varve::bench
