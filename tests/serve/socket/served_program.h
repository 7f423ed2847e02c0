// Owns: `varve serve` as a process of its own: its words, its standard streams, its limit of open files, its end.
// Must never: leave the process or a file behind; whatever happens, a minute ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/tools/run_program.h"

namespace varve::serve::test {

/// A descriptor that closes with the object; none below 0.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

/// What may be behind a standard stream of a process.
enum class StreamState { kWritten, kClosed, kReaderGone, kFullPipe, kFullDevice };
inline constexpr StreamState kStreamStates[] = {StreamState::kWritten, StreamState::kClosed, StreamState::kReaderGone,
                                                StreamState::kFullPipe, StreamState::kFullDevice};

struct ProgramOptions {
  std::vector<std::string> words{};
  StreamState out = StreamState::kWritten;
  StreamState err = StreamState::kWritten;
  std::optional<std::uint64_t> descriptors_max{};
};

class ServedProgram {
 public:
  /// It listens, or has ended, when this is done.
  explicit ServedProgram(const ProgramOptions& options);
  /// Kills it, unless finish() was called.
  ~ServedProgram();
  ServedProgram(const ServedProgram&) = delete;
  ServedProgram& operator=(const ServedProgram&) = delete;

  bool is_ready() const noexcept { return is_ready_; }
  std::uint16_t port() const noexcept { return port_; }
  std::uint16_t metrics_port() const noexcept { return metrics_port_; }
  std::string data() const { return scratch_.path("data"); }
  pid_t process() const noexcept { return process_; }
  void signal(int number) const noexcept;
  /// The largest memory that it ever had, in bytes.
  std::uint64_t memory_peak() const;
  /// Waits for its end. The exit code, or 128 and the number of the signal that ended it.
  int finish();
  std::string out() const { return varve::test::content_of(scratch_.path("out")); }
  std::string err() const { return varve::test::content_of(scratch_.path("err")); }

 private:
  [[noreturn]] void become_program(const ProgramOptions& options, int out, int err) const;
  bool await_ready() const;

  varve::test::ScratchDirectory scratch_;
  // Bound, so that nobody else is given these ports, but not listening.
  Descriptor reserved_;
  Descriptor reserved_metrics_;
  std::uint16_t port_ = 0;
  std::uint16_t metrics_port_ = 0;
  std::vector<Descriptor> streams_;
  pid_t process_ = -1;
  bool is_ready_ = false;
};

/// What a GET by a client without a key is answered with; nothing where the connection ends instead.
struct Asked {
  int status = 0;
  std::string body;
};
Asked ask(std::uint16_t port, const std::string& path, const std::string& from = "127.0.0.1");

/// The number of a line of /metrics; 0 where it is not there.
std::uint64_t metric(const std::string& text, const std::string& name);

/// An idle connection, without anything above it.
Descriptor connect_from(const std::string& from, std::uint16_t port);

}  // namespace varve::serve::test
