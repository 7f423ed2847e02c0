#include <atomic>

#include "bench/varve_bench/contender.h"
#include "io/aligned_buffer.h"
#include "io/env.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kSpaceBytes = std::uint64_t{256} << 20;

class DeviceContender final : public Contender {
 public:
  explicit DeviceContender(std::unique_ptr<io::LogSegment> segment) : segment_(std::move(segment)) {}
  std::string name() const override { return "device"; }

  Status put(const std::string&, const std::string&, const std::string&) override {
    thread_local Result<io::AlignedBuffer> sector = io::AlignedBuffer::allocate(io::kSectorBytes);
    if (!sector.ok()) return sector.status();
    const std::uint64_t offset = next_.fetch_add(io::kSectorBytes) % kSpaceBytes;  // begins again when it is through
    return segment_->write(offset, sector->bytes(), io::SyncPoint{"device limit"});
  }
  Status checked_put(const std::string& partition, const std::string& row, const std::string& payload) override {
    return put(partition, row, payload);
  }

 private:
  std::unique_ptr<io::LogSegment> segment_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace

Result<std::unique_ptr<Contender>> open_device(const std::string& directory) {
  const io::Env& env = io::system_env();
  if (Status made = env.files.create_directory(directory, io::SyncPoint{"bench"}); !made.ok()) return made;
  const Result<std::unique_ptr<io::Directory>> opened = env.files.open_directory(directory);
  if (!opened.ok()) return opened.status();
  Result<std::unique_ptr<io::LogSegment>> segment = (*opened)->create_log_segment("device", kSpaceBytes);
  if (!segment.ok()) return segment.status();
  if (Status filled = (*segment)->fill(); !filled.ok()) return filled;
  (*segment)->stop_filling();
  return std::unique_ptr<Contender>(std::make_unique<DeviceContender>(*std::move(segment)));
}

}  // namespace varve::bench
