#include "tests/serve/socket/served_program.h"

#include <array>
#include <csignal>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/serve/socket/http_client.h"

namespace varve::serve::test {
namespace {

sockaddr_in address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) std::abort();
  return address;
}

Descriptor bound_socket(const std::string& to) {
  Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const sockaddr_in address = address_of(to, 0);
  ::setsockopt(made.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return Descriptor();
  return made;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) std::abort();
  return ntohs(address.sin_port);
}

/// Returns the writable and the readable end of a pipe.
std::pair<Descriptor, Descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  return {Descriptor(ends[1]), Descriptor(ends[0])};
}

void fill(const Descriptor& pipe) {
  const int flags = ::fcntl(pipe.number(), F_GETFL);
  ::fcntl(pipe.number(), F_SETFL, flags | O_NONBLOCK);
  constexpr std::array<char, 4096> kBytes{};
  while (::write(pipe.number(), kBytes.data(), kBytes.size()) > 0) {
  }
  while (::write(pipe.number(), kBytes.data(), 1) > 0) {
  }
  ::fcntl(pipe.number(), F_SETFL, flags);
}

/// Returns a stream in this state. Descriptors added to `keep` live as long as the process.
Descriptor make_stream(StreamState state, const std::string& file, std::vector<Descriptor>& keep) {
  if (state == StreamState::kClosed) return Descriptor();
  if (state == StreamState::kFullDevice) return Descriptor(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (state == StreamState::kWritten) {
    return Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  auto [to, from] = make_pipe();
  if (state == StreamState::kFullPipe) {
    fill(to);
    keep.push_back(std::move(from));
  }
  return std::move(to);
}

}  // namespace

ServedProgram::ServedProgram(const ProgramOptions& options)
    : data_(options.data),
      reserved_(bound_socket("127.0.0.1")),
      reserved_metrics_(bound_socket("127.0.0.1")),
      port_(port_of(reserved_)),
      metrics_port_(port_of(reserved_metrics_)) {
  const Descriptor out = make_stream(options.out, scratch_.path("out"), streams_);
  const Descriptor err = make_stream(options.err, scratch_.path("err"), streams_);
  std::filesystem::create_directories(std::filesystem::path(data()).parent_path());
  process_ = ::fork();
  if (process_ == 0) become_program(options, out.number(), err.number());
  is_ready_ = await_ready();
}

ServedProgram::~ServedProgram() {
  if (process_ <= 0) return;
  signal(SIGKILL);
  finish();
}

void ServedProgram::become_program(const ProgramOptions& options, int out, int err) const {
  constexpr unsigned kSecondsMax = 60;
  std::vector<std::string> words{VARVE_PROGRAM, "serve",
                                 "--data",      data(),
                                 "--listen",    "127.0.0.1:" + std::to_string(port_),
                                 "--metrics",   "127.0.0.1:" + std::to_string(metrics_port_)};
  words.insert(words.end(), options.words.begin(), options.words.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int in = ::open("/dev/null", O_RDONLY);
  if (::dup2(in, STDIN_FILENO) < 0) ::_exit(126);
  if (out < 0 ? ::close(STDOUT_FILENO) != 0 : ::dup2(out, STDOUT_FILENO) < 0) ::_exit(126);
  if (err < 0 ? ::close(STDERR_FILENO) != 0 : ::dup2(err, STDERR_FILENO) < 0) ::_exit(126);
  if (::close_range(STDERR_FILENO + 1, ~0U, 0) != 0) ::_exit(126);
  if (options.descriptors_max) {
    const rlimit limit{*options.descriptors_max, *options.descriptors_max};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(126);
  }
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::alarm(kSecondsMax);  // stays set when the process executes another program
  ::execv(VARVE_PROGRAM, pointers.data());
  ::_exit(127);
}

bool ServedProgram::has_ended() const {
  constexpr int kLookTime = 10;  // ms
  const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
  pollfd waiting{ended.number(), POLLIN, 0};
  return ::poll(&waiting, 1, kLookTime) != 0;
}

bool ServedProgram::await_ready() const {
  for (;;) {
    if (ask(metrics_port_, "/health").status == 200) return true;
    if (has_ended()) return false;
  }
}

std::string ServedProgram::address_of(const std::string& service) const {
  const std::string line = "varve: serving " + service + " at ";
  for (;;) {
    const std::string text = out();
    const std::size_t place = text.find(line);
    const std::size_t end = place == std::string::npos ? place : text.find("/\n", place);
    if (end != std::string::npos)
      return text.substr(place + line.size(), end - place - line.size()) + "/devstoreaccount1";
    if (has_ended()) return "";
  }
}

void ServedProgram::signal(int number) const noexcept {
  if (process_ > 0) ::kill(process_, number);
}

std::uint64_t ServedProgram::memory_peak() const {
  const std::string text = varve::test::content_of("/proc/" + std::to_string(process_) + "/status");
  const std::size_t place = text.find("VmHWM:");
  return place == std::string::npos ? 0 : std::stoull(text.substr(place + 6)) << 10;
}

int ServedProgram::finish() {
  int status = 0;
  const pid_t process = std::exchange(process_, -1);
  if (process <= 0 || ::waitpid(process, &status, 0) != process) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Asked ask(std::uint16_t port, const std::string& path, const std::string& from) {
  HttpClient client(port, false, from);
  if (!client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) return {};
  const std::optional<HttpResponse> response = client.read();
  return response ? Asked{response->status, response->body} : Asked{};
}

std::uint64_t metric(const std::string& text, const std::string& name) {
  const std::size_t place = text.find("\n" + name + " ");
  return place == std::string::npos ? 0 : std::stoull(text.substr(place + name.size() + 2));
}

Descriptor connect_from(const std::string& from, std::uint16_t port) {
  Descriptor made = bound_socket(from);
  const sockaddr_in address = address_of("127.0.0.1", port);
  ::connect(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return made;
}

}  // namespace varve::serve::test
