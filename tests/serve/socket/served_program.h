// Owns: `varve serve` as a separate process: its options, its standard streams, its limit of open files, its end.
// Must never: leave the process or a file. The process always ends after a minute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/tools/run_program.h"
#include "tools/varve/base/owned_descriptor.h"

namespace varve::serve::test {

using Descriptor = tool::OwnedDescriptor;

/// The possible states of a process's standard stream.
enum class StreamState { kWritten, kClosed, kReaderGone, kFullPipe, kFullDevice };
inline constexpr StreamState kStreamStates[] = {StreamState::kWritten, StreamState::kClosed, StreamState::kReaderGone,
                                                StreamState::kFullPipe, StreamState::kFullDevice};

struct ProgramOptions {
  std::vector<std::string> words{};
  StreamState out = StreamState::kWritten;
  StreamState err = StreamState::kWritten;
  std::optional<std::uint64_t> descriptors_max{};
  /// The directory of the store below a directory of the test's own.
  std::string data = "data";
  /// Variables of the environment in addition to those of the test.
  std::map<std::string, std::string> environment{};
};

class ServedProgram {
 public:
  /// Returns when the program listens, or has ended.
  explicit ServedProgram(const ProgramOptions& options);
  /// Kills the program, unless finish() was called.
  ~ServedProgram();
  ServedProgram(const ServedProgram&) = delete;
  ServedProgram& operator=(const ServedProgram&) = delete;

  bool is_ready() const noexcept { return is_ready_; }
  std::uint16_t port() const noexcept { return port_; }
  std::uint16_t metrics_port() const noexcept { return metrics_port_; }
  /// Waits for the line that names the address of a further service: "queues" or "blobs". Returns the address with the
  /// development account, or an empty text if the program ends without the line.
  std::string address_of(const std::string& service) const;
  std::string data() const { return scratch_.path(data_); }
  pid_t process() const noexcept { return process_; }
  void signal(int number) const noexcept;
  /// Returns the peak memory of the program in bytes.
  std::uint64_t memory_peak() const;
  /// Waits for the program's end. Returns the exit code, or 128 and the number of the signal that ended it.
  int finish();
  std::string out() const { return varve::test::content_of(scratch_.path("out")); }
  std::string err() const { return varve::test::content_of(scratch_.path("err")); }

 private:
  [[noreturn]] void become_program(const ProgramOptions& options, int out, int err) const;
  bool await_ready() const;
  /// Waits a little. Returns true if the program has ended.
  bool has_ended() const;

  varve::test::ScratchDirectory scratch_;
  const std::string data_;
  // Bound but not listening, so that no other process gets these ports.
  Descriptor reserved_;
  Descriptor reserved_metrics_;
  std::uint16_t port_ = 0;
  std::uint16_t metrics_port_ = 0;
  std::vector<Descriptor> streams_;
  pid_t process_ = -1;
  bool is_ready_ = false;
};

/// The answer to a GET by a client without a key. Empty if the connection ended instead.
struct Asked {
  int status = 0;
  std::string body;
};
Asked ask(std::uint16_t port, const std::string& path, const std::string& from = "127.0.0.1");

/// Returns the number in a line of /metrics, or 0 if the line is missing.
std::uint64_t metric(const std::string& text, const std::string& name);

/// Opens an idle connection, without any protocol on it.
Descriptor connect_from(const std::string& from, std::uint16_t port);

}  // namespace varve::serve::test
