// Owns: dividing a segment into reads (segment_images.h).
// Must never: release memory that a read may still fill.
#include "engine/recovery/segment_images.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/base/whole_file.h"
#include "engine/log/log_files.h"
#include "format/log/file_header.h"
#include "io/os_error.h"
#include "io/posix/large_pages.h"

namespace varve::engine {

namespace {

/// Size of one read in bytes. A device needs several long reads at once to reach its full speed.
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::size_t kReadsMax = static_cast<std::size_t>(kSegmentBytesReadMax) / kReadBytes;
static_assert(kReadsMax <= io::kReadDepthMax);
static_assert(io::is_sector_multiple(kReadBytes));

}  // namespace

SegmentImages::SegmentImages(const io::Env& env, io::Directory& directory,
                             const std::map<std::uint64_t, LiveSegment>& segments) noexcept
    : env_(env), directory_(directory), next_(segments.begin()), end_(segments.end()) {
  for (const auto& [number, segment] : segments) room_bytes_ = std::max(room_bytes_, segment.size_bytes);
}

Result<FileImage> SegmentImages::next() {
  if (!has_begun_) begin();
  wait_for_all();
  Reading read = std::exchange(reading_, Reading());
  begin();
  if (!read.status.ok()) return read.status;
  return std::move(read.image);
}

void SegmentImages::begin() {
  has_begun_ = true;
  if (next_ == end_) return;
  const NamedFile name = format::named_file(format::FileType::kLogSegment, next_->first);
  ++next_;
  reading_.status = ask_for(name);
}

Status SegmentImages::ask_for(const NamedFile& name) {
  // The page cache may be wrong for a segment in use: a failed write may have left bytes there that no device has.
  // Other segments were written past the page cache, which does not contain them.
  Result<std::unique_ptr<io::ReadableFile>> file =
      open_whole_file(directory_, name, kSegmentBytesReadMax, io::ReadMode::kDirect);
  if (io::is_missing(file.status())) {
    return Status::corruption("the log segment that the manifest names is missing").in_file(name);
  }
  if (!file.ok()) return file.status();
  Result<FileImage> image = image_of((*file)->size_bytes());
  if (!image.ok()) return image.status();
  io::prefer_large_pages(image->bytes());
  if (Status ready = make_queue(); !ready.ok()) return ready;
  reading_.file = *std::move(file);
  reading_.image = *std::move(image);
  std::span<std::byte> rest = reading_.image.bytes();
  for (std::uint64_t offset = 0; !rest.empty(); offset += kReadBytes) {
    const std::span<std::byte> piece = rest.first(std::min(rest.size(), kReadBytes));
    if (Status asked = queue_->submit(*reading_.file, offset, piece, offset); !asked.ok()) return asked;
    rest = rest.subspan(piece.size());
  }
  (void)queue_->reap({}, 0);
  return Status();
}

/// Segments grow over time. Each image has memory for the largest segment, because its unused part costs nothing.
Result<FileImage> SegmentImages::image_of(std::uint64_t bytes) noexcept {
  FileImage spare = std::exchange(spare_, FileImage());
  if (spare.refit(bytes)) return spare;
  spare = FileImage();
  return FileImage::allocate(bytes, room_bytes_);
}

Status SegmentImages::make_queue() {
  if (queue_ != nullptr) return Status();
  Result<std::unique_ptr<io::ReadQueue>> queue = env_.files.make_read_queue(env_.scheduler, kReadsMax);
  if (!queue.ok()) return queue.status();
  queue_ = *std::move(queue);
  return Status();
}

/// Waits for all reads. Keeps the first failure, unless starting the reads has already failed.
void SegmentImages::wait_for_all() noexcept {
  std::array<io::FinishedRead, 64> finished;
  while (queue_ != nullptr && queue_->in_flight() > 0) {
    const std::size_t count = queue_->reap(finished, 1);
    for (io::FinishedRead& read : std::span(finished).first(count)) {
      if (reading_.status.ok()) reading_.status = std::move(read.status);
    }
  }
}

}  // namespace varve::engine
