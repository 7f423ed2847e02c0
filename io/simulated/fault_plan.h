// Owns: the words for what a file system is asked to do, and the rules by which the in-memory one fails.
// Must never: change a file itself; it only says what shall go wrong.
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

/// The steps of the in-memory file system, as an observer and a fault rule see them. replace() and lock() are several.
enum class OperationKind : std::uint8_t {
  // These change something.
  kCreateDirectory,
  kCreate,
  kAppend,
  kSync,
  kCreateLogSegment,
  kFill,
  kLogWrite,
  kCut,
  kCreateSharedMemory,
  kReplaceWrite,          // the temporary file is made and written
  kReplaceSync,           // the temporary file is synced
  kReplaceRename,         // it takes the name
  kReplaceDirectorySync,  // and the name becomes durable
  kLink,                  // `directory` is the one that gets the name
  kRemove,
  kDirectorySync,
  kCreateLockFile,
  kBallast,
  // These do not.
  kOpenDirectory,
  kList,
  kOpen,
  kRead,
  kLock,
};

constexpr bool is_mutating(OperationKind kind) noexcept {
  return kind < OperationKind::kOpenDirectory;
}

/// The kind's name as it is written in messages, "LogWrite" for kLogWrite.
std::string_view operation_name(OperationKind kind) noexcept;

/// One step. The views live as long as the call that shows them.
struct Operation {
  OperationKind kind{};
  std::string_view directory;   // its path
  std::string_view name;        // of the file; empty for steps on the directory itself
  std::string_view sync_point;  // of the SyncPoint given, empty where the call takes none
  std::uint64_t offset = 0;     // in bytes, for steps that have one
  std::uint64_t size_bytes = 0;
  std::uint64_t index = 0;  // running number among mutating steps, from 0; for the others, how many came before
};

enum class FaultEffect : std::uint8_t {
  kError,            // answers the error, has done nothing
  kShortThenError,   // a part took effect, then the error: append, log write, fill, replace's write
  kErrorAfterwards,  // all of it took effect, and yet the error

  // A step that makes durable does not. These four answer or end as systems do whose write-back failed.
  kSyncFailsCacheKept,      // the error; the cache keeps the new data but calls it clean: later syncs succeed, in vain
  kSyncFailsCacheReverted,  // the error; the cache shows what is durable again
  kSyncErrorLate,           // success, in vain; the error comes with the next sync of the same file or directory
  kSyncErrorConsumed,       // success, in vain; somebody else was told

  kSyncLeftOut,  // success, as if the call were not in the code: all stays un-synced, and a later sync can make it good

  kLostWrite,            // success; the bytes never reach the device: append, log write
  kMisdirectedWrite,     // success; the bytes reach the device a page before their place, or behind it at the beginning
  kFlipBitOnce,          // reads: one bit of this answer is wrong
  kFlipBitPersistently,  // reads: one bit of what was asked for is changed in the file, then read
  kStaleRead,            // reads: this answer is what stood there before anything was written

  kDelay,  // the step is made, whole and well, after all others that can run have run for a while
  kNever,  // the step stays in flight until the test lets go (MemoryFileSystem::let_go); then it is made, whole and
           // well
};

/// Which operations fail, and how. An empty condition matches all.
struct FaultRule {
  static constexpr std::uint64_t kFromThenOn = UINT64_MAX;

  std::optional<OperationKind> kind;
  bool mutating_only = false;
  std::string name_suffix;  // of the file's name
  std::string sync_point;   // the whole name
  std::function<bool(const Operation&)> predicate;

  std::uint64_t skip_count = 0;  // so many matching operations are let through first: 0 fails the first
  std::uint64_t fail_count = 1;  // and so many fail

  FaultEffect effect = FaultEffect::kError;
  Code code = Code::kIoError;
  /// An errno, by which the code and the reason are those of os_error(); 0: they are the ones given here.
  int os_error = 0;
  std::string reason = "Input/output error";  // what the system would have said
};

/// What one operation is to suffer.
struct Fault {
  FaultEffect effect;
  Status status;
};

/// The rules in force. The first that is due decides. Any thread.
class FaultPlan {
 public:
  void add(FaultRule rule);
  /// Fails the matching operation with this number, from 0, and with `from_then_on` all matching ones after it.
  void fail_nth(std::uint64_t n, Code code, bool from_then_on = false);
  void clear();
  /// How often a rule was applied since the plan was made.
  std::uint64_t hit_count() const;

  /// Called by the file system for each operation, once.
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
