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
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace varve::tool {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

volatile std::sig_atomic_t signal_seen = 0;
/// A descriptor that is readable after a signal on any thread. No signal is missed between a check and a wait.
int signal_event = -1;

void note_signal(int number) {
  const int error = errno;
  signal_seen = number;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(signal_event, &one, sizeof one);
  errno = error;
}

/// Waits until there is input to read. Returns false if a signal requested the end.
bool wait_readable(int descriptor) {
  std::array<pollfd, 2> waited{pollfd{descriptor, POLLIN, 0}, pollfd{signal_event, POLLIN, 0}};
  while (signal_seen == 0) {
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return true;  // The read reports the reason.
    if (waited[0].revents != 0 && signal_seen == 0) return true;
  }
  return false;
}

}  // namespace

void stop_reading_on_signals() {
  if (signal_event < 0) signal_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::uint64_t before_now = 0;
  [[maybe_unused]] const ssize_t forgotten = ::read(signal_event, &before_now, sizeof before_now);
  signal_seen = 0;
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int number : std::array{SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A signal that was ignored (as nohup does) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
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
  lines.buffer_.resize(kReadBytes);
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
      end_of_input_(other.end_of_input_),
      stop_signal_(other.stop_signal_),
      status_(std::move(other.status_)) {}

Lines::~Lines() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Status Lines::failed(const char* what) const {
  return Status::io_error(path_ + ": " + what + ": " + std::generic_category().message(errno));
}

bool Lines::end_with(InputEnd end) noexcept {
  end_of_input_ = end;
  begin_ = end_ = 0;
  return false;
}

/// Reads more input. Returns false if the input has ended. end_of_input_ contains the reason.
bool Lines::fill() {
  if (end_of_input_ != InputEnd::kNone) return false;
  for (;;) {
    if (!wait_readable(descriptor_)) {
      stop_signal_ = signal_seen;
      return end_with(InputEnd::kSignal);
    }
    const ssize_t got = ::read(descriptor_, buffer_.data(), buffer_.size());
    // Reads again: in non-blocking mode another reader of the same pipe may have taken the bytes.
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got < 0) status_ = failed("reading failed");
    if (got <= 0) return end_with(got < 0 ? InputEnd::kError : InputEnd::kEndOfFile);
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
    return true;
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
  // At the end of the file the last line may lack its line feed. A signal or an error can cut a line anywhere.
  if (!any || end_of_input_ == InputEnd::kSignal || end_of_input_ == InputEnd::kError) return false;
  if (++number_ == 1 && line->starts_with(kByteOrderMark)) line->erase(0, kByteOrderMark.size());
  return true;
}

}  // namespace varve::tool
