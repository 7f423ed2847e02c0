// Owns: a quorum queue of a RabbitMQ broker in the race of messages, and the broker itself.
// Must never: count a put before its confirm, or a delete before the broker has it on stable storage.
//
// The broker syncs the log of a quorum queue before it applies a command. A put of a persistent message waits for its
// confirm. Deliveries come ahead of the takes, up to the prefetch count. An acknowledgement has no answer, so a delete also
// asks for one more message: the queue answers that only after it has applied the acknowledgement. The answer is that there
// is none, because all of them are on their way to the consumer. So a row may leave no more messages than that in the queue.
#ifdef VARVE_BENCH_RABBITMQ
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/messages/contender.h"

namespace varve::bench {

namespace {

constexpr const char* kBroker = "/usr/lib/rabbitmq/bin/rabbitmq-server";  // the one on the path changes the user
constexpr const char* kHost = "127.0.0.1";
constexpr amqp_channel_t kChannel = 1;
constexpr std::uint16_t kPrefetch = 10'000;

Status failure(const std::string& what) {
  return Status::io_error("RabbitMQ: " + what);
}

bool is_normal(const amqp_rpc_reply_t& reply) noexcept {
  return reply.reply_type == AMQP_RESPONSE_NORMAL;
}

amqp_bytes_t queue_name() {
  return amqp_cstring_bytes("messages");
}

/// A child process, which the kernel ends if this process ends first.
class ChildProgram {
 public:
  ChildProgram() = default;
  ~ChildProgram() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  /// Starts the program that the first word names. Its output goes to the file `log`.
  Status start(std::vector<std::string> words, const std::string& log) {
    constexpr mode_t kRights = 0600;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kRights);
    process_ = input < 0 || output < 0 ? -1 : ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(input, STDIN_FILENO);
      ::dup2(output, STDOUT_FILENO);
      ::dup2(output, STDERR_FILENO);
      ::execvp(arguments.front(), arguments.data());
      ::_exit(127);
    }
    for (const int file : {input, output}) {
      if (file >= 0) ::close(file);
    }
    return process_ > 0 ? Status() : failure("no process could be started");
  }
  bool has_ended() {
    if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == process_) process_ = 0;
    return process_ <= 0;
  }

 private:
  pid_t process_ = 0;
};

using Ports = std::array<std::uint16_t, 3>;
/// Returns ports of the loopback that no other program uses.
Result<Ports> free_ports() {
  Ports ports{};
  std::vector<int> sockets;
  bool has_all = true;
  for (std::uint16_t& port : ports) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr* const general = reinterpret_cast<sockaddr*>(&address);
    socklen_t bytes = sizeof(address);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(probe);
    has_all = has_all && ::bind(probe, general, bytes) == 0 && ::getsockname(probe, general, &bytes) == 0;
    port = ntohs(address.sin_port);
  }
  for (const int probe : sockets) {
    if (probe >= 0) ::close(probe);
  }
  if (!has_all) return failure("no port is free");
  return ports;
}

/// A connection with one channel.
class BrokerConnection {
 public:
  BrokerConnection() = default;
  ~BrokerConnection() { close(); }
  BrokerConnection(const BrokerConnection&) = delete;
  BrokerConnection& operator=(const BrokerConnection&) = delete;

  bool connect(int port) {
    close();
    state_ = amqp_new_connection();
    amqp_socket_t* const socket = state_ == nullptr ? nullptr : amqp_tcp_socket_new(state_);
    return socket != nullptr && amqp_socket_open(socket, kHost, port) == AMQP_STATUS_OK &&
           is_normal(
               amqp_login(state_, "/", 0, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest")) &&
           amqp_channel_open(state_, kChannel) != nullptr;
  }
  amqp_connection_state_t state() const noexcept { return state_; }

 private:
  void close() {
    if (state_ != nullptr) amqp_destroy_connection(state_);
    state_ = nullptr;
  }

  amqp_connection_state_t state_ = nullptr;
};

/// What one thread sends and receives. Deliveries have a connection of their own, opened with the first take.
class BrokerClient {
 public:
  bool connect(int port) {
    port_ = port;
    return producer_.connect(port);
  }

  Status declare_queue() {
    amqp_table_entry_t kind{};
    kind.key = amqp_cstring_bytes("x-queue-type");
    kind.value.kind = AMQP_FIELD_KIND_UTF8;
    kind.value.value.bytes = amqp_cstring_bytes("quorum");
    const bool is_declared =
        amqp_queue_declare(producer_.state(), kChannel, queue_name(), 0, 1, 0, 0, {1, &kind}) != nullptr;
    return is_declared ? Status() : failure("the queue could not be declared");
  }

  Status ask_for_confirms() {
    return amqp_confirm_select(producer_.state(), kChannel) != nullptr ? Status() : failure("no confirms");
  }

  Status put(std::string_view text) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    const amqp_bytes_t body{text.size(), const_cast<char*>(text.data())};
    amqp_maybe_release_buffers(producer_.state());
    const bool is_sent = amqp_basic_publish(producer_.state(), kChannel, amqp_empty_bytes, queue_name(), 0, 0,
                                            &properties, body) == AMQP_STATUS_OK;
    if (!is_sent) return failure("a message could not be sent");
    amqp_method_t confirm{};
    const int got = amqp_simple_wait_method(producer_.state(), kChannel, AMQP_BASIC_ACK_METHOD, &confirm);
    return got == AMQP_STATUS_OK ? Status() : failure(std::string("a confirm: ") + amqp_error_string2(got));
  }

  /// Returns the tag of the next delivery.
  Result<std::optional<std::uint64_t>> take() {
    if (consumer_.state() == nullptr) {
      if (Status begun = consume(); !begun.ok()) return begun;
    }
    std::optional<std::uint64_t> tag;
    constexpr timeval kPatience{1, 0};
    amqp_envelope_t delivery{};
    amqp_maybe_release_buffers(consumer_.state());
    const amqp_rpc_reply_t reply = amqp_consume_message(consumer_.state(), &delivery, &kPatience, 0);
    if (!is_normal(reply)) {
      return reply.library_error == AMQP_STATUS_TIMEOUT ? Result(tag) : failure("a delivery is broken");
    }
    tag = delivery.delivery_tag;
    amqp_destroy_envelope(&delivery);
    return tag;
  }

  Status remove(std::uint64_t tag) {
    amqp_maybe_release_buffers(consumer_.state());
    if (amqp_basic_ack(consumer_.state(), kChannel, tag, 0) != AMQP_STATUS_OK) return failure("no acknowledgement");
    const amqp_rpc_reply_t reply = amqp_basic_get(consumer_.state(), kChannel, queue_name(), 0);
    if (!is_normal(reply)) return failure("the queue does not answer");
    const bool is_empty = reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD;
    return is_empty ? Status() : failure("the queue has more messages than a consumer takes ahead");
  }

 private:
  Status consume() {
    if (!consumer_.connect(port_)) return failure("a connection was refused");
    const bool consumes = amqp_basic_qos(consumer_.state(), kChannel, 0, kPrefetch, 0) != nullptr &&
                          amqp_basic_consume(consumer_.state(), kChannel, queue_name(), amqp_empty_bytes, 0, 0, 0,
                                             amqp_empty_table) != nullptr;
    return consumes ? Status() : failure("no deliveries");
  }

  int port_ = 0;
  BrokerConnection producer_;
  BrokerConnection consumer_;
};

class RabbitmqMessages final : public MessageContender {
 public:
  Status start(const std::string& directory) {
    const std::string place = std::filesystem::absolute(directory);
    const Result<Ports> ports = free_ports();
    if (!ports.ok()) return ports.status();
    const auto& [port, node_port, name_port] = *ports;
    std::ofstream(place + "/rabbitmq.conf") << "listeners.tcp.local = " << kHost << ":" << port
                                            << "\ntcp_listen_options.nodelay = true\nlog.file.level = error\n";
    std::ofstream(place + "/plugins") << "[].\n";
    const std::string names = std::to_string(name_port);
    if (Status begun = names_.start({"epmd", "-address", kHost, "-port", names}, place + "/names.log"); !begun.ok()) {
      return begun;
    }
    // With RABBITMQ_ALLOW_INPUT the script becomes the broker, instead of waiting for it.
    const std::vector<std::string> words{
        "env",
        "HOME=" + place,
        "ERL_EPMD_ADDRESS=" + std::string(kHost),
        "ERL_EPMD_PORT=" + names,
        "RABBITMQ_NODENAME=bench@localhost",
        "RABBITMQ_DIST_PORT=" + std::to_string(node_port),
        "RABBITMQ_MNESIA_BASE=" + place,
        "RABBITMQ_LOG_BASE=" + place,
        "RABBITMQ_CONFIG_FILE=" + place + "/rabbitmq.conf",
        "RABBITMQ_ADVANCED_CONFIG_FILE=" + place + "/none.config",
        "RABBITMQ_CONF_ENV_FILE=" + place + "/none.conf",
        "RABBITMQ_ENABLED_PLUGINS_FILE=" + place + "/plugins",
        "RABBITMQ_ALLOW_INPUT=1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput -kernel inet_dist_use_interface {127,0,0,1}",
        kBroker,
    };
    if (Status begun = broker_.start(words, place + "/broker.log"); !begun.ok()) return begun;
    return join(port);
  }

  Status put(int thread, std::string_view text) override { return at(thread).put(text); }

  Status put_with_record(int /*thread*/, std::uint64_t /*record*/, std::string_view /*text*/) override {
    return Status::unsupported("RabbitMQ keeps no records");
  }

  Result<std::optional<Taken>> take(int thread) override {
    const Result<std::optional<std::uint64_t>> tag = at(thread).take();
    if (!tag.ok()) return tag.status();
    return tag->has_value() ? std::optional(Taken{**tag, 0, {}}) : std::nullopt;
  }

  Status remove(int thread, const Taken& taken) override { return at(thread).remove(taken.first); }

 private:
  BrokerClient& at(int thread) { return clients_.at(static_cast<std::size_t>(thread)); }

  /// Waits until the broker answers, and connects all clients.
  Status join(int port) {
    constexpr int kAttempts = 1'200;
    for (int attempt = 0; !clients_[0].connect(port); ++attempt) {
      if (broker_.has_ended() || attempt == kAttempts) return failure("the broker does not answer");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (Status declared = clients_[0].declare_queue(); !declared.ok()) return declared;
    for (BrokerClient& client : clients_) {
      if (&client != &clients_[0] && !client.connect(port)) return failure("a connection was refused");
      if (Status asked = client.ask_for_confirms(); !asked.ok()) return asked;
    }
    return Status();
  }

  // The programs are ended after the connections are closed.
  ChildProgram names_;
  ChildProgram broker_;
  std::array<BrokerClient, kThreadsMax> clients_;
};

}  // namespace

Result<std::unique_ptr<MessageContender>> open_rabbitmq_messages(const std::string& directory) {
  if (::access(kBroker, X_OK) != 0) return Status::unsupported("RabbitMQ's broker is not installed");
  auto messages = std::make_unique<RabbitmqMessages>();
  if (Status started = messages->start(directory); !started.ok()) return started;
  return std::unique_ptr<MessageContender>(std::move(messages));
}

}  // namespace varve::bench
#endif
