#include "bench/varve_bench/device_limit.h"

#include <atomic>

#include <fcntl.h>
#include <unistd.h>

#include "bench/varve_bench/drive.h"
#include "io/aligned_buffer.h"
#include "io/env.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kSpaceBytes = std::uint64_t{256} << 20;

struct Space {
  std::unique_ptr<io::Directory> directory;
  std::unique_ptr<io::LogSegment> segment;
};

Result<Space> prepare_space(const std::string& path) {
  const io::Env& env = io::system_env();
  if (Status made = env.files.create_directory(path, io::SyncPoint{"device limit"}); !made.ok()) return made;
  Result<std::unique_ptr<io::Directory>> directory = env.files.open_directory(path);
  if (!directory.ok()) return directory.status();
  Result<std::unique_ptr<io::LogSegment>> segment = (*directory)->create_log_segment("device", kSpaceBytes);
  if (!segment.ok()) return segment.status();
  if (Status filled = (*segment)->fill(); !filled.ok()) return filled;
  (*segment)->stop_filling();
  return Space{*std::move(directory), *std::move(segment)};
}

Result<Effect> write_all_over(Session& session, const Effort& effort, io::LogSegment& segment) {
  std::atomic<std::uint64_t> next{0};
  return drive(session, effort, [&](Worker&) -> Result<std::uint64_t> {
    thread_local Result<io::AlignedBuffer> sector = io::AlignedBuffer::allocate(io::kSectorBytes);
    if (!sector.ok()) return sector.status();
    const std::uint64_t offset = next.fetch_add(io::kSectorBytes) % kSpaceBytes;  // begins again when it is through
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

}  // namespace

Result<double> measure_limit(const Choice& choice, const Limit& limit) {
  Session session(choice, choice.directory + "/device", {});
  const Result<Space> space = prepare_space(session.directory());
  if (!space.ok()) return space.status();
  const Effort effort{limit.threads, choice.seconds, 0};
  const Result<Effect> effect = limit.kind == Limit::Kind::kRandomRead
                                    ? read_all_over(session, effort, session.directory() + "/device")
                                    : write_all_over(session, effort, *space->segment);
  if (!effect.ok()) return effect.status();
  return effect->rate();
}

}  // namespace varve::bench
