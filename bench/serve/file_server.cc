// Owns: a server that keeps the body of each PUT in a file: written, synced, renamed, and its directory synced. It shows
// the least that a server of objects on one node does for a durable put.
// Must never: answer before the file is on stable storage, or be used as a real server: it checks no caller.
//
// Usage: file_server PORT DIRECTORY
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr std::string_view kCreated = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kFailed = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kHeaderEnd = "\r\n\r\n";

/// The directory of all files.
struct Place {
  std::string path;
  int directory = -1;
  std::atomic<std::uint64_t> begun{0};
};

int listen_at(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens =
      ::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(listener, 128) == 0;
  return listens ? listener : -1;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Reads until `text` has at least `size` bytes.
bool read_up_to(int connection, std::string& text, std::size_t size) {
  while (text.size() < size) {
    const std::size_t before = text.size();
    text.resize(size);
    const ssize_t got = ::read(connection, text.data() + before, size - before);
    text.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got <= 0) return false;
  }
  return true;
}

/// Reads until `text` has a whole header. Returns the size of the header, or zero at the end of the connection.
std::size_t read_header(int connection, std::string& text) {
  constexpr std::size_t kStep = 16384;
  for (;;) {
    const std::size_t end = text.find(kHeaderEnd);
    if (end != std::string::npos) return end + kHeaderEnd.size();
    const std::size_t before = text.size();
    text.resize(before + kStep);
    const ssize_t got = ::read(connection, text.data() + before, kStep);
    text.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got <= 0) return 0;
  }
}

std::size_t content_length(std::string_view header) {
  constexpr std::string_view kName = "\r\nContent-Length:";
  for (std::size_t at = header.find("\r\n"); at != std::string_view::npos; at = header.find("\r\n", at + 1)) {
    const std::string_view line = header.substr(at);
    if (line.size() > kName.size() && ::strncasecmp(line.data(), kName.data(), kName.size()) == 0) {
      return std::strtoull(line.data() + kName.size(), nullptr, 10);
    }
  }
  return 0;
}

/// Returns the name of a file for the path of a request: its slashes become underscores.
std::string file_name(std::string_view header) {
  const std::size_t begin = header.find('/');
  const std::size_t end = header.find_first_of("? ", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return "_";
  std::string name(header.substr(begin, end - begin));
  for (char& letter : name) {
    if (letter == '/') letter = '_';
  }
  return name;
}

/// Returns whether the file with its name is on stable storage.
bool keep(Place& place, const std::string& name, std::string_view body) {
  const std::string unfinished = place.path + "/new" + std::to_string(place.begun++);
  const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_written = write_all(file, body) && ::fsync(file) == 0;
  ::close(file);
  return is_written && ::rename(unfinished.c_str(), (place.path + "/" + name).c_str()) == 0 &&
         ::fsync(place.directory) == 0;
}

void serve(Place& place, int connection) {
  std::string request;
  while (const std::size_t header = read_header(connection, request)) {
    const std::string head = request.substr(0, header);
    const std::size_t size = header + content_length(head);
    if (!read_up_to(connection, request, size)) break;
    const bool is_kept = keep(place, file_name(head), std::string_view(request).substr(header, size - header));
    if (!write_all(connection, is_kept ? kCreated : kFailed)) break;
    request.erase(0, size);
  }
  ::close(connection);
}

}  // namespace

int main(int count, char** words) {
  const int listener = count == 3 ? listen_at(std::atoi(words[1])) : -1;
  if (listener < 0) return 1;
  Place place{words[2], ::open(words[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (place.directory < 0) return 1;
  std::signal(SIGPIPE, SIG_IGN);  // a client may have gone before its answer
  for (;;) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    const int yes = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::thread([&place, connection] { serve(place, connection); }).detach();
  }
}
