#include "tools/varve/input/xz_input.h"

#include "tools/varve/input/stop_signal.h"

namespace varve::tool {

namespace {

constexpr std::size_t kPackedBytes = std::size_t{64} << 10;

}  // namespace

XzInput::XzInput(std::unique_ptr<ByteInput> below, std::string name)
    : below_(std::move(below)), name_(std::move(name)), packed_(kPackedBytes), stream_(LZMA_STREAM_INIT) {
  begun_ = ::lzma_stream_decoder(&stream_, kXzMemoryMax, LZMA_CONCATENATED);
}

XzInput::~XzInput() {
  ::lzma_end(&stream_);
}

std::size_t XzInput::end_as(lzma_ret result) {
  switch (result) {
    case LZMA_STREAM_END: return end_of_file();
    case LZMA_MEM_ERROR: return end_by_error(Status::out_of_memory());
    case LZMA_MEMLIMIT_ERROR:
      return end_by_error(Status::too_large(name_ +
                                            ": expanding the file needs more than 256 MiB of memory; expand it " +
                                            "with xz, and give the expanded file"));
    case LZMA_BUF_ERROR: return end_by_error(Status::io_error(name_ + ": the xz data ends early; the file is cut"));
    default: return end_by_error(Status::io_error(name_ + ": the xz data is damaged"));
  }
}

std::size_t XzInput::read(char* bytes, std::size_t size) {
  if (end() != InputEnd::kNone) return 0;
  if (begun_ != LZMA_OK) return end_as(begun_);
  stream_.next_out = reinterpret_cast<std::uint8_t*>(bytes);
  stream_.avail_out = size;
  while (stream_.avail_out == size) {
    if (const int number = stop_signal_seen(); number != 0) return end_by_signal(number);
    if (stream_.avail_in == 0 && below_->end() == InputEnd::kNone) {
      stream_.next_in = packed_.data();
      stream_.avail_in = below_->read(reinterpret_cast<char*>(packed_.data()), packed_.size());
    }
    if (below_->end() == InputEnd::kSignal || below_->end() == InputEnd::kError) return end_like(*below_);
    const bool is_last = below_->end() == InputEnd::kEndOfFile;
    const lzma_ret result = ::lzma_code(&stream_, is_last ? LZMA_FINISH : LZMA_RUN);
    if (result == LZMA_OK) continue;
    // The bytes before the end are given first. The next call finds the same end.
    if (stream_.avail_out < size) break;
    return end_as(result);
  }
  return size - stream_.avail_out;
}

}  // namespace varve::tool
