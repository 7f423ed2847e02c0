// Owns: a store's files as bytes that a test edits, and a machine that opens them.
// Must never: check results. The tests check them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recovery/establish.h"
#include "engine/recovery/recovery.h"
#include "format/log/file_header.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tests/support/log_writer.h"

namespace varve::test {

inline constexpr std::string_view kImagePath = "/store";

/// A machine that has just started, with its one directory open.
struct StoreMachine {
  explicit StoreMachine(io::MemoryDisk disk = io::MemoryDisk(), std::uint64_t seed = 1);

  Result<engine::Recovered> read(bool for_writing = true);
  /// Runs both halves of the open. Keeps the established state, so that its files stay in use.
  Status open();

  io::ManualClock clock;
  io::SeededRandom random;
  io::Scheduler scheduler;
  io::MemoryFileSystem files;
  io::Env env;
  std::unique_ptr<io::Directory> directory;
  engine::Recovered recovered;
  engine::Established established;
};

/// All content that recovery must keep, in a comparable form.
struct StoreContent {
  struct Entry {
    std::string key;
    format::CommitVersion version = 0;
    format::Kind kind = format::Kind::kPut;
    std::string value;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  std::vector<format::DeadId> retired;  // by prefix
  std::optional<format::CommitTag> last_tag;
  format::CommitVersion last_version = 0;
  bool operator==(const StoreContent&) const = default;
};
StoreContent content_of(const engine::Recovered& recovered);
/// Returns "row=value@version" for every entry written by LogWriter::put.
std::vector<std::string> rows_of(const engine::Recovered& recovered);

/// A new store that was killed before its first commit. A test writes its log.
class StoreImage {
 public:
  explicit StoreImage(std::uint64_t seed = 1);

  /// Returns a writer for segment 1, which the manifest announces together with buffer 2.
  LogWriter log() const { return LogWriter(segment_number, segment_seed); }
  /// Announces a segment as number `number`, and returns its writer.
  LogWriter announce(std::uint64_t number, bool is_recycled = false);
  void close_in_manifest(const LogWriter& log);
  void append_edit(const format::ManifestEdit& edit);
  engine::ManifestMark manifest_mark() const;

  std::string read(std::string_view name) const;
  void write(std::string_view name, std::string_view bytes);
  void change_header(const std::string& name, format::FileType type,
                     const std::function<void(format::FileHeader&)>& change);
  void remove(std::string_view name);
  bool contains(std::string_view name) const;
  std::vector<std::string> names() const { return disk.file_names(kImagePath); }
  void write_log(const LogWriter& log) { write(log_name(log), log.file()); }
  void write_cut_log(const LogWriter& log) { write(log_name(log), log.cut_file()); }
  /// Writes the bytes of a range of `log` into a slot of the buffer, with a matching slot header.
  void write_slot(std::size_t slot, const LogWriter& log, WrittenRange range);

  static std::string log_name(const LogWriter& log);
  std::string manifest_name() const;
  std::string buffer_name() const;

  Result<engine::Recovered> recover(bool for_writing = true) const;

  io::MemoryDisk disk;
  std::uint64_t segment_number = 0;
  std::uint64_t segment_seed = 0;
  std::uint64_t buffer_number = 0;
  std::uint64_t buffer_seed = 0;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_seed = 0;
};

std::string path_of(std::string_view name);

}  // namespace varve::test
