// Owns: the description of each operation of a file system, and the rules by which the in-memory file system fails.
// Must never: change a file itself. It only names the fault.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/status.h"

namespace varve::io {

/// The steps of the in-memory file system, as observers and fault rules see them. replace() and lock() have several
/// steps.
enum class OperationKind : std::uint8_t {
  // The kinds below change something.
  kCreateDirectory,
  kCreate,
  kAppend,
  kSync,
  kCreateLogSegment,
  kRecycleLogSegment,  // `name` is the new one
  kFill,
  kLogWrite,
  kCut,
  kCreateSharedMemory,
  kReplaceWrite,          // creates and writes the temporary file
  kReplaceSync,           // syncs the temporary file
  kReplaceRename,         // renames the temporary file
  kReplaceDirectorySync,  // makes the name durable
  kLink,                  // `directory` is the one that gets the name
  kRemove,
  kDirectorySync,
  kCreateLockFile,
  kBallast,
  // The kinds below change nothing.
  kOpenDirectory,
  kList,
  kOpen,
  kRead,
  kLock,
};

constexpr bool is_mutating(OperationKind kind) noexcept {
  return kind < OperationKind::kOpenDirectory;
}

/// Returns the kind's name for messages, for example "LogWrite" for kLogWrite.
std::string_view operation_name(OperationKind kind) noexcept;

/// One step. The views are valid during the call that receives it.
struct Operation {
  OperationKind kind{};
  std::string_view directory;   // the directory's path
  std::string_view name;        // the file's name; empty for steps on the directory itself
  std::string_view sync_point;  // name of the given SyncPoint; empty if the call takes none
  std::uint64_t offset = 0;     // in bytes, for steps that have an offset
  std::uint64_t size_bytes = 0;
  std::uint64_t index = 0;  // number of mutating steps before this one
};

enum class FaultEffect : std::uint8_t {
  kError,            // returns the error, does nothing
  kShortThenError,   // does a part, then returns the error: append, log write, fill, replace's write
  kErrorAfterwards,  // does everything, and returns the error all the same

  // A step that makes durable does not do so. The four effects below behave like systems whose write-back failed.
  kSyncFailsCacheKept,      // the error; the cache keeps the new data but marks it clean: later syncs succeed in vain
  kSyncFailsCacheReverted,  // the error; the cache shows the durable data again
  kSyncErrorLate,           // success, in vain; the error comes with the next sync of the same file or directory
  kSyncErrorConsumed,       // success, in vain; another caller got the error

  kSyncLeftOut,  // success, as if the code had no such call: all stays un-synced, and a later sync can make it durable

  kLostWrite,            // success; the bytes never reach the device: append, log write
  kMisdirectedWrite,     // success; the bytes reach the device a page too early, or a page too late at the beginning
  kFlipBitOnce,          // reads: one bit of this result is wrong
  kFlipBitPersistently,  // reads: one bit of the requested range is changed in the file, then read
  kStaleRead,            // reads: this result is the content before any write

  kDelay,           // the step is made completely after all other ready threads have run for a while
  kNever,           // the step stays in flight until MemoryFileSystem::let_go(); then it is made completely
  kNeverThenError,  // log writes: as kNever, but then it returns the error
};

/// Which operations fail, and how. An empty condition matches all.
struct FaultRule {
  static constexpr std::uint64_t kFromThenOn = UINT64_MAX;

  std::optional<OperationKind> kind;
  bool mutating_only = false;
  std::string name_suffix;  // suffix of the file's name
  std::string sync_point;   // the whole name
  std::function<bool(const Operation&)> predicate;

  std::uint64_t skip_count = 0;  // number of matching operations that pass first: 0 fails the first
  std::uint64_t fail_count = 1;  // number of matching operations that fail after them

  FaultEffect effect = FaultEffect::kError;
  Code code = Code::kIoError;
  /// An errno that determines code and reason through os_error(). 0 means that the code and reason given here apply.
  int os_error = 0;
  std::string reason = "Input/output error";  // the system's error text
};

/// The fault of one operation.
struct Fault {
  FaultEffect effect;
  Status status;
};

/// The active rules. The first rule that is due decides. Any thread may use the plan.
class FaultPlan {
 public:
  void add(FaultRule rule);
  /// Fails the n-th operation, counted from 0, that matches, and with `from_then_on` all later ones too.
  void fail_nth(std::uint64_t n, Code code, bool from_then_on = false);
  void clear();
  /// Returns the number of times that a rule was applied since the plan was made.
  std::uint64_t hit_count() const;

  /// Called by the file system once for each operation.
  std::optional<Fault> match(const Operation& operation);

 private:
  struct Entry {
    FaultRule rule;
    std::uint64_t seen_count = 0;
  };
  static bool matches(const FaultRule& rule, const Operation& operation);

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t hit_count_ = 0;
};

}  // namespace varve::io
