// Owns: a stream of a Redis server in the race of messages, and the server itself.
// Must never: sync less than the row promises: the server runs with appendfsync always, which also syncs each take.
//
// A consumer group delivers each message once. A delete acknowledges the entry and removes it, in one transaction.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/messages/contender.h"

namespace varve::bench {

namespace {

Status failure(const std::string& what) {
  return Status::io_error("Redis: " + what);
}

/// An answer: a text, a number as text, or a list. A missing answer has neither.
struct Answer {
  bool is_missing = false;
  std::string text;
  std::vector<Answer> list;
};

/// A connection that sends one command after another.
class Connection {
 public:
  Connection() = default;
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connect(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path, path.data(), path.size());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return false;
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
    ::close(socket_);
    socket_ = -1;
    return false;
  }

  Result<Answer> ask(const std::vector<std::string_view>& words) {
    std::string request;
    append(request, words);
    if (Status sent = send(request); !sent.ok()) return sent;
    return read();
  }
  /// Runs the commands as one transaction.
  Result<Answer> ask_together(const std::vector<std::vector<std::string_view>>& commands) {
    std::string request;
    append(request, {"MULTI"});
    for (const auto& words : commands) append(request, words);
    append(request, {"EXEC"});
    if (Status sent = send(request); !sent.ok()) return sent;
    for (std::size_t i = 0; i < commands.size() + 1; ++i) {
      if (Result<Answer> queued = read(); !queued.ok()) return queued;
    }
    return read();
  }

 private:
  static void append(std::string& request, const std::vector<std::string_view>& words) {
    request += "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) {
      request += "$" + std::to_string(word.size()) + "\r\n";
      request.append(word).append("\r\n");
    }
  }
  Status send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return failure("the connection broke");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return Status();
  }
  Status fill() {
    std::array<char, 16'384> piece;
    for (;;) {
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return failure("the connection ended");
      input_.append(piece.data(), static_cast<std::size_t>(got));
      return Status();
    }
  }
  Result<std::string> line() {
    for (;;) {
      if (const std::size_t end = input_.find("\r\n"); end != std::string::npos) {
        std::string found = input_.substr(0, end);
        input_.erase(0, end + 2);
        return found;
      }
      if (Status filled = fill(); !filled.ok()) return filled;
    }
  }
  Result<Answer> read() {
    const Result<std::string> head = line();
    if (!head.ok()) return head.status();
    Answer answer;
    if (head->empty()) return failure("an answer has no head");
    const std::string rest = head->substr(1);
    switch (head->front()) {
      case '+':
      case ':': answer.text = rest; return answer;
      case '$': {
        const long bytes = std::stol(rest);
        answer.is_missing = bytes < 0;
        if (bytes < 0) return answer;
        const std::size_t size = static_cast<std::size_t>(bytes);
        while (input_.size() < size + 2) {
          if (Status filled = fill(); !filled.ok()) return filled;
        }
        answer.text = input_.substr(0, size);
        input_.erase(0, size + 2);
        return answer;
      }
      case '*': {
        const long count = std::stol(rest);
        answer.is_missing = count < 0;
        for (long i = 0; i < count; ++i) {
          Result<Answer> one = read();
          if (!one.ok()) return one;
          answer.list.push_back(*std::move(one));
        }
        return answer;
      }
      default: return failure(rest);
    }
  }

  int socket_ = -1;
  std::string input_;
};

class RedisMessages final : public MessageContender {
 public:
  ~RedisMessages() override {
    if (server_ <= 0) return;
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
  }

  Status start(const std::string& directory) {
    const std::string socket = std::filesystem::absolute(directory) / "redis.sock";
    const std::string place = std::filesystem::absolute(directory);
    server_ = ::fork();
    if (server_ < 0) return failure("no process could be started");
    if (server_ == 0) {
      // clang-format off
      ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--dir", place.c_str(),
               "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0",
               "--logfile", "redis.log", static_cast<char*>(nullptr));
      // clang-format on
      ::_exit(127);
    }
    for (int attempt = 0; attempt < 1000; ++attempt) {
      int end = 0;
      if (::waitpid(server_, &end, WNOHANG) == server_) {
        server_ = 0;
        return Status::unsupported("redis-server could not be started");
      }
      if (connections_[0].connect(socket)) return join(socket);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return failure("the server does not answer");
  }

  Status put(int thread, std::string_view text) override {
    return at(thread).ask({"XADD", "s", "*", "t", text}).status();
  }

  Status put_with_record(int thread, std::uint64_t record, std::string_view text) override {
    const std::string name = "r" + std::to_string(record);
    return at(thread).ask_together({{"SET", name, text}, {"XADD", "s", "*", "t", text}}).status();
  }

  Result<std::optional<Taken>> take(int thread) override {
    const std::string consumer = "c" + std::to_string(thread);
    const Result<Answer> answer =
        at(thread).ask({"XREADGROUP", "GROUP", "g", consumer, "COUNT", "1", "STREAMS", "s", ">"});
    if (!answer.ok()) return answer.status();
    if (answer->is_missing) return std::optional<Taken>();
    return std::optional(Taken{0, 0, answer->list.at(0).list.at(1).list.at(0).list.at(0).text});
  }

  Status remove(int thread, const Taken& taken) override {
    return at(thread).ask_together({{"XACK", "s", "g", taken.name}, {"XDEL", "s", taken.name}}).status();
  }

 private:
  Connection& at(int thread) { return connections_.at(static_cast<std::size_t>(thread)); }

  Status join(const std::string& socket) {
    for (std::size_t i = 1; i < connections_.size(); ++i) {
      if (!connections_[i].connect(socket)) return failure("a connection was refused");
    }
    return connections_[0].ask({"XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"}).status();
  }

  std::array<Connection, kThreadsMax> connections_;
  pid_t server_ = 0;
};

}  // namespace

Result<std::unique_ptr<MessageContender>> open_redis_messages(const std::string& directory) {
  auto messages = std::make_unique<RedisMessages>();
  if (Status started = messages->start(directory); !started.ok()) return started;
  return std::unique_ptr<MessageContender>(std::move(messages));
}

}  // namespace varve::bench
