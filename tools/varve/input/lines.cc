#include "tools/varve/input/lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/varve/input/file_input.h"

namespace varve::tool {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kPeekedBytesMax = std::size_t{1} << 20;

}  // namespace

Result<Lines> Lines::open(const std::string& path) {
  Result<std::unique_ptr<FileInput>> input = FileInput::open(path);
  if (!input.ok()) return input.status();
  return Lines(*std::move(input));
}

Lines::Lines(std::unique_ptr<ByteInput> input) : input_(std::move(input)), buffer_(kReadBytes) {}

/// Reads more input after the present bytes. Returns false if the input has ended.
bool Lines::read_at_end() {
  if (input_->end() != InputEnd::kNone) return false;
  const std::size_t got = input_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

/// Reads more input when all bytes are used. Returns false if the input has ended. end_of_input_ contains the reason.
bool Lines::fill() {
  if (end_of_input_ != InputEnd::kNone) return false;
  begin_ = end_ = 0;
  buffer_.resize(kReadBytes);
  if (read_at_end()) return true;
  end_of_input_ = input_->end();
  return false;
}

/// Removes a byte order mark at the begin of the input, once it is read whole.
void Lines::skip_mark() {
  if (begun_) return;
  while (end_ - begin_ < kByteOrderMark.size() &&
         kByteOrderMark.starts_with(std::string_view(buffer_.data() + begin_, end_ - begin_)) && read_at_end()) {
  }
  begun_ = true;
  if (std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(kByteOrderMark))
    begin_ += kByteOrderMark.size();
}

std::string_view Lines::peek() {
  skip_mark();
  const auto rest = [this] { return std::string_view(buffer_.data() + begin_, end_ - begin_); };
  while (rest().find('\n') == std::string_view::npos && rest().size() < kPeekedBytesMax) {
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    if (!read_at_end()) break;
  }
  return rest();
}

std::string_view Lines::take_bytes() {
  skip_mark();
  if (begin_ == end_ && !fill()) return {};
  const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return bytes;
}

void Lines::append(std::string* line, std::size_t size) {
  const std::size_t kept = std::min(size, kLineBytesMax - line->size());
  line->append(buffer_.data() + begin_, kept);
  too_long_ = too_long_ || kept < size;
  begin_ += size;
}

bool Lines::next(std::string* line) {
  line->clear();
  too_long_ = false;
  skip_mark();
  bool any = false;
  for (;;) {
    if (begin_ == end_ && !fill()) break;
    any = true;
    const void* feed = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    const std::size_t size = feed == nullptr
                                 ? end_ - begin_
                                 : static_cast<std::size_t>(static_cast<const char*>(feed) - buffer_.data()) - begin_;
    append(line, size);
    if (feed == nullptr) continue;
    ++begin_;
    break;
  }
  // At the end of the file the last line may lack its line feed. A signal or an error can cut a line anywhere.
  if (!any || end_of_input_ == InputEnd::kSignal || end_of_input_ == InputEnd::kError) return false;
  ++number_;
  return true;
}

}  // namespace varve::tool
