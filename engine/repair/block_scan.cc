// Owns: the search for the next intact block (block_scan.h).
// Must never: read the whole file at once, or skip a byte at which a block could begin.
#include "engine/repair/block_scan.h"

#include <algorithm>
#include <span>

#include "io/probe.h"

namespace varve::engine {

namespace {

/// Number of bytes read at once. It usually covers the data of a run.
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;

}  // namespace

BlockScan::BlockScan(const io::ReadableFile& file, std::uint64_t seed, std::uint64_t begin, std::uint64_t end) noexcept
    : file_(file), seed_(seed), end_(std::min(end, file.size_bytes())), at_(begin) {}

std::string_view BlockScan::rest() const noexcept {
  return std::string_view(window_).substr(at_ - window_begin_);
}

/// Reads `bytes` bytes from the present place into the window, or fewer at the end of the range.
Status BlockScan::hold(std::uint64_t bytes) {
  const std::uint64_t wanted = std::min(end_, at_ + bytes);
  if (at_ >= window_begin_ && wanted <= window_begin_ + window_.size()) return Status();
  const std::uint64_t size = std::min(std::max(kWindowBytes, bytes), end_ - at_);
  window_.resize(size);
  window_begin_ = at_;
  const Status read = file_.read_exactly(at_, std::as_writable_bytes(std::span(window_)));
  if (!read.ok()) {
    window_.clear();
    return read;
  }
  read_bytes_ += size;
  return Status();
}

Result<std::optional<FoundBlock>> BlockScan::next() {
  while (at_ < end_ && end_ - at_ >= format::kBlockFrameBytes) {
    if (Status held = hold(format::kBlockFrameBytes); !held.ok()) return held;
    const std::uint64_t bound = format::block_bytes_bound(rest().substr(0, format::kBlockHeadBytes));
    if (bound > 0) {
      if (Status held = hold(bound); !held.ok()) return held;
      const std::optional<format::IntactBlock> block = format::find_intact_block(rest(), {seed_, at_});
      if (block) {
        io::probe("a block was found without an index");
        const FoundBlock found{{at_, block->bytes}, block->type, rest().substr(0, block->bytes)};
        at_ += block->bytes;
        return std::optional<FoundBlock>(found);
      }
    }
    ++at_;
  }
  at_ = end_;
  return std::optional<FoundBlock>();
}

}  // namespace varve::engine
