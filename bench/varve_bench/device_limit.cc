#include "bench/varve_bench/device_limit.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "bench/varve_bench/drive.h"
#include "io/aligned_buffer.h"
#include "io/env.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kSpaceBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kUnwrittenSpaceBytes = std::uint64_t{2} << 30;

struct Space {
  std::unique_ptr<io::Directory> directory;
  std::unique_ptr<io::LogSegment> segment;
};

/// Writes zeros into the whole segment. fill() writes none where they make no store faster.
Status write_zeros(io::LogSegment& segment) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const Result<io::AlignedBuffer> zeros = io::AlignedBuffer::allocate(kPieceBytes);
  if (!zeros.ok()) return zeros.status();
  for (std::uint64_t at = 0; at < segment.allocated_bytes(); at += kPieceBytes) {
    if (Status written = segment.write(at, zeros->bytes(), io::SyncPoint{"device limit"}); !written.ok())
      return written;
  }
  return Status();
}

/// `is_filled`: zeros are written into the space, whose size is then a whole number of mebibytes.
Result<Space> prepare_space(const std::string& path, std::uint64_t bytes, bool is_filled) {
  const io::Env& env = io::system_env();
  if (Status made = env.files.create_directory(path, io::SyncPoint{"device limit"}); !made.ok()) return made;
  Result<std::unique_ptr<io::Directory>> directory = env.files.open_directory(path);
  if (!directory.ok()) return directory.status();
  Result<std::unique_ptr<io::LogSegment>> segment = (*directory)->create_log_segment("device", bytes);
  if (!segment.ok()) return segment.status();
  if (Status filled = is_filled ? write_zeros(**segment) : Status(); !filled.ok()) return filled;
  return Space{*std::move(directory), *std::move(segment)};
}

Result<Effect> write_all_over(Session& session, const Effort& effort, const Limit& limit, io::LogSegment& segment) {
  const std::uint64_t bytes = limit.bytes;
  const std::uint64_t end = limit.kind == Limit::Kind::kUnwrittenWrite ? kUnwrittenSpaceBytes : kSpaceBytes;
  std::atomic<std::uint64_t> next{0};
  return drive(session, effort, [&](Worker&) -> Result<std::uint64_t> {
    thread_local Result<io::AlignedBuffer> sector = io::AlignedBuffer::allocate(bytes);
    if (!sector.ok()) return sector.status();
    const std::uint64_t offset = next.fetch_add(bytes) % end;  // starts again at the end
    Status written = segment.write(offset, sector->bytes(), io::SyncPoint{"device limit"});
    if (!written.ok()) return written;
    return 1;
  });
}

Result<Effect> read_all_over(Session& session, const Effort& effort, const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (file < 0) return Status::unsupported("no direct reads in " + path);
  Result<Effect> effect = drive(session, effort, [&](Worker& worker) -> Result<std::uint64_t> {
    thread_local Result<io::AlignedBuffer> sector = io::AlignedBuffer::allocate(io::kSectorBytes);
    if (!sector.ok()) return sector.status();
    const std::uint64_t offset = worker.random.below(kSpaceBytes / io::kSectorBytes) * io::kSectorBytes;
    const ssize_t got = ::pread(file, sector->bytes().data(), io::kSectorBytes, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(io::kSectorBytes)) return Status::io_error("a direct read failed");
    return 1;
  });
  ::close(file);
  return effect;
}

/// Keeps a fixed number of reads in flight from one thread.
Result<Effect> read_side_by_side(Session& session, double seconds, io::Directory& directory, const Limit& limit) {
  const auto depth = static_cast<std::size_t>(limit.in_flight);
  const bool is_sequential = limit.kind == Limit::Kind::kSequentialRead;
  Result<std::unique_ptr<io::ReadableFile>> file = directory.open("device", io::ReadMode::kDirect);
  if (!file.ok()) return file.status();
  Result<io::AlignedBuffer> memory = io::AlignedBuffer::allocate(depth * limit.bytes);
  if (!memory.ok()) return memory.status();
  const io::Env& env = io::system_env();
  Result<std::unique_ptr<io::ReadQueue>> queue = env.files.make_read_queue(env.scheduler, depth);
  if (!queue.ok()) return queue.status();
  std::vector<std::uint64_t> free(depth);
  std::iota(free.begin(), free.end(), std::uint64_t{0});
  std::vector<io::FinishedRead> finished(depth);
  Random random(now());
  std::uint64_t done = 0;
  std::uint64_t next = 0;
  const Stopwatch watch(session.directory());
  for (bool is_over = false; !is_over || (*queue)->in_flight() > 0;) {
    is_over = watch.seconds() >= seconds;
    for (; !is_over && !free.empty(); free.pop_back()) {
      const std::uint64_t places = kSpaceBytes / limit.bytes;
      const std::uint64_t offset = (is_sequential ? next++ % places : random.below(places)) * limit.bytes;
      const auto sector = memory->bytes().subspan(free.back() * limit.bytes, limit.bytes);
      if (Status sent = (*queue)->submit(**file, offset, sector, free.back()); !sent.ok()) return sent;
    }
    const std::size_t count = (*queue)->reap(finished, 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (!finished[i].status.ok()) return finished[i].status;
      free.push_back(finished[i].tag);
    }
    done += count;
  }
  return watch.effect(done);
}

}  // namespace

Result<double> measure_limit(const Choice& choice, const Limit& limit) {
  Session session(choice, choice.directory + "/device", {});
  const bool unwritten = limit.kind == Limit::Kind::kUnwrittenWrite;
  const Result<Space> space =
      prepare_space(session.directory(), unwritten ? kUnwrittenSpaceBytes : kSpaceBytes, !unwritten);
  if (!space.ok()) return space.status();
  // unwritten space is written once
  const Effort effort{limit.threads, choice.seconds, unwritten ? kUnwrittenSpaceBytes / limit.bytes : 0};
  const bool writes = unwritten || limit.kind == Limit::Kind::kDurableWrite;
  const Result<Effect> effect = writes ? write_all_over(session, effort, limit, *space->segment)
                                : limit.in_flight > 1
                                    ? read_side_by_side(session, choice.seconds, *space->directory, limit)
                                    : read_all_over(session, effort, session.directory() + "/device");
  if (!effect.ok()) return effect.status();
  return limit.figure.empty() ? effect->rate() : effect->rate() * static_cast<double>(limit.bytes) / 1e6;
}

}  // namespace varve::bench
