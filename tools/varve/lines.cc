#include "tools/varve/lines.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace varve::tool {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

volatile std::sig_atomic_t signal_seen = 0;

void note_signal(int number) {
  signal_seen = number;
}

/// Waits until there is something to read. False: a signal asked for the end.
bool wait_readable(int descriptor) {
  // A blocked read() would be taken up again behind the signal; poll() never is.
  pollfd waited{descriptor, POLLIN, 0};
  while (stop_signal() == 0) {
    if (::poll(&waited, 1, -1) >= 0 || errno != EINTR) return true;
  }
  return false;
}

}  // namespace

void stop_reading_on_signals() {
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int number : std::array{SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // What was ignored (as nohup does it) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int stop_signal() noexcept {
  return signal_seen;
}

Result<Lines> Lines::open(const std::string& path) {
  const bool standard_input = path == "-";
  Lines lines(standard_input ? "standard input" : path);
  lines.descriptor_ = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lines.descriptor_ < 0) return lines.failed("cannot be read");
  struct stat about {};
  if (::fstat(lines.descriptor_, &about) != 0) return lines.failed("cannot be read");
  if (S_ISDIR(about.st_mode)) return Status::io_error(lines.path_ + ": is a directory");
  if (S_ISREG(about.st_mode)) lines.total_bytes_ = static_cast<std::uint64_t>(about.st_size);
  lines.buffer_.resize(kBufferBytes);
  return lines;
}

Lines::Lines(Lines&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      number_(other.number_),
      bytes_read_(other.bytes_read_),
      total_bytes_(other.total_bytes_),
      too_long_(other.too_long_),
      status_(std::move(other.status_)) {}

Lines::~Lines() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Status Lines::failed(const char* what) const {
  return Status::io_error(path_ + ": " + what + ": " + std::generic_category().message(errno));
}

bool Lines::fill() {
  if (!status_.ok() || !wait_readable(descriptor_)) return false;
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR && stop_signal() == 0) continue;
    if (got < 0) status_ = failed("reading failed");
    begin_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0;
  }
}

void Lines::append(std::string* line, std::size_t size) {
  const std::size_t kept = std::min(size, kLineBytesMax - line->size());
  line->append(buffer_.data() + begin_, kept);
  too_long_ = too_long_ || kept < size;
  begin_ += size;
  bytes_read_ += size;
}

bool Lines::next(std::string* line) {
  line->clear();
  too_long_ = false;
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
    ++bytes_read_;
    break;
  }
  // A line that an error or a signal cut short is no line; at the true end the last one may lack its line feed.
  if (!any || (begin_ == end_ && end_ == 0 && (!status_.ok() || stop_signal() != 0))) return false;
  if (++number_ == 1 && line->starts_with(kByteOrderMark)) line->erase(0, kByteOrderMark.size());
  return true;
}

}  // namespace varve::tool
