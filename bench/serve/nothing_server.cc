// Owns: a server that does no work: every request without a body gets the same answer. It shows the limit of the
// client.
// Must never: be used as a real server.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}";

int listen_at(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
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

void watch(int poll, int socket) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

void accept_one(int poll, int listener) {
  const int connection = ::accept(listener, nullptr, nullptr);
  if (connection < 0) return;
  const int yes = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch(poll, connection);
}

void answer(int connection) {
  std::array<char, 16384> received;  // the client sends a request in one piece
  const ssize_t size = ::read(connection, received.data(), received.size());
  if (size <= 0) {
    ::close(connection);
    return;
  }
  if (::write(connection, kAnswer.data(), kAnswer.size()) < 0) ::close(connection);
}

}  // namespace

int main(int count, char** words) {
  const int listener = count == 2 ? listen_at(std::atoi(words[1])) : -1;
  if (listener < 0) return 1;
  const int poll = ::epoll_create1(0);
  watch(poll, listener);
  std::array<epoll_event, 64> events;
  while (true) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int socket = events[static_cast<std::size_t>(i)].data.fd;
      if (socket == listener) {
        accept_one(poll, listener);
      } else {
        answer(socket);
      }
    }
  }
}
