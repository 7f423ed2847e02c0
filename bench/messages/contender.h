// Owns: the interface of every queue in the race of messages, so that each row is the same work for all of them.
// Must never: let one queue give a weaker promise than another in the same row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::bench {

/// One queue of messages. Any number of threads may use it, each with its own number below kThreadsMax.
class MessageContender {
 public:
  static constexpr int kThreadsMax = 16;
  /// One delivery. The contender that returned it knows what the numbers and the text mean.
  struct Taken {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::string name;
  };

  virtual ~MessageContender() = default;
  /// Appends a message. It is on stable storage when this returns.
  virtual Status put(int thread, std::string_view text) = 0;
  /// Writes a record and a message about it in one durable commit. Errors: kUnsupported.
  virtual Status put_with_record(int thread, std::uint64_t record, std::string_view text) = 0;
  /// Takes the next message and hides it from others. The take survives a kill of the process. Returns nothing if the
  /// queue has no message that is visible.
  virtual Result<std::optional<Taken>> take(int thread) = 0;
  /// Deletes a taken message. It is on stable storage when this returns.
  virtual Status remove(int thread, const Taken& taken) = 0;
};

Result<std::unique_ptr<MessageContender>> open_varve_messages(const std::string& directory);
#ifdef VARVE_BENCH_SQLITE
Result<std::unique_ptr<MessageContender>> open_sqlite_messages(const std::string& directory);
#endif
#ifdef VARVE_BENCH_RABBITMQ
/// Starts a broker of RabbitMQ. Errors: kUnsupported if there is none.
Result<std::unique_ptr<MessageContender>> open_rabbitmq_messages(const std::string& directory);
#endif
/// Starts the program `redis-server`. Errors: kUnsupported if there is none.
Result<std::unique_ptr<MessageContender>> open_redis_messages(const std::string& directory);

}  // namespace varve::bench
