// Owns: one operation of a model run as a value, and lists of operations as text.
// Must never: have a meaning of its own. run.h executes it, and values.h defines the meaning of its numbers.
//
// A list as text has one operation on each line, and comment lines that begin with '#':
//
//   machine 17
//   profile 3
//   on rados
//   insert table=1 partition=2 row=5 entity=71 durability=1
//   power_cut policy=4
//
// Numbers that are zero are left out. A failing list is shortened, stored as a file, and run again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::lab {

enum class OperationName : std::uint8_t {
  // Writes of one entity, in the order of WriteOperation::Kind.
  kInsert,
  kReplace,
  kMerge,
  kInsertOrReplace,
  kInsertOrMerge,
  kRemove,
  kGroup,     // an entity group transaction
  kTransact,  // a transaction over partitions and tables
  kPatch,     // kPatch or kInsertOrPatch
  kGet,
  kGetMany,
  kScan,
  kCount,
  kQueryIndex,    // a scan with a filter that an index can serve, also at a snapshot
  kBeginWalk,     // a scan whose pages are read between other operations
  kContinueWalk,  // its next page
  kTakeSnapshot,
  kReadSnapshot,
  kReleaseSnapshot,
  kCreateTable,
  kDropTable,
  kCreateAccount,
  kDropAccount,
  kList,
  kSetPolicies,
  kReadPolicies,
  kSetExpiry,
  kDeclareIndex,  // and its build, beside other commits
  kDropIndex,
  kLoad,
  kCheckpoint,
  kCompact,
  kSync,
  kLastTag,
  kCompareAll,
  kJumpClock,
  kReopen,
  kVerify,
  kReadOnlyOpen,
  kKill,
  kTakeOver,  // by another process, while the store's own is frozen
  kPowerCut,
  kCrashImage,  // an image of the disk at a later step, which is checked separately
  kFail,        // a fault at a later step
  kFillDisk,
  kFreeDisk,
};
inline constexpr std::size_t kOperationNames = static_cast<std::size_t>(OperationName::kFreeDisk) + 1;

inline constexpr std::size_t kOperationNumbers = 6;

struct Operation {
  OperationName name = OperationName::kSync;
  std::array<std::uint32_t, kOperationNumbers> numbers{};
  bool operator==(const Operation&) const = default;
};

/// Everything that determines a run.
struct OperationList {
  std::uint64_t machine = 1;  // the seed of the machine: its scheduler, and the effects of its crashes
  std::uint32_t profile = 0;  // profile.h
  bool on_rados = false;      // a machine on the model of RADOS, otherwise one with a disk
  std::vector<Operation> operations;
};

/// Returns the names of an operation's numbers. There are fewer than kOperationNumbers if it has fewer numbers.
std::span<const std::string_view> number_names(OperationName name);
std::string_view operation_word(OperationName name);
/// Returns whether the operation's effect depends on the moment of a crash or a fault, so that its list has no single
/// answer.
bool is_misfortune(OperationName name);

std::string operation_text(const Operation& operation);
std::string list_text(const OperationList& list);
/// Parses a list. Errors: kInvalidArgument, which names the line.
Result<OperationList> parse_list(std::string_view text);

}  // namespace varve::lab
