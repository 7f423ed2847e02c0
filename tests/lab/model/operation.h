// Owns: one operation of a model run as a value, and lists of them as text.
// Must never: mean anything by itself; run.h does what it says, and values.h has what its numbers stand for.
//
// A list as text has one operation a line, and lines that begin with '#' for people:
//
//   machine 17
//   profile 3
//   insert table=1 partition=2 row=5 entity=71 durability=1
//   power_cut policy=4
//
// Numbers that are zero are left out. So a list that went wrong is shrunk, kept as a file, and run again.
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
  // Writes of one entity, in the order of TransactionOperation::Kind.
  kInsert,
  kReplace,
  kMerge,
  kInsertOrReplace,
  kInsertOrMerge,
  kRemove,
  kGroup,     // an entity group transaction
  kTransact,  // a transaction over partitions and tables
  kGet,
  kGetMany,
  kScan,
  kCount,
  kBeginWalk,     // a scan whose pages are read as other operations go on
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
  kPowerCut,
  kCrashImage,  // an image of the disk at a later step, looked at by itself
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

/// All that a run follows from.
struct OperationList {
  std::uint64_t machine = 1;  // the seed of the machine: its scheduler, what its crashes leave
  std::uint32_t profile = 0;  // profile.h
  std::vector<Operation> operations;
};

/// What the numbers of an operation are called; fewer than kOperationNumbers where it has fewer.
std::span<const std::string_view> number_names(OperationName name);
std::string_view operation_word(OperationName name);
/// Whether what comes of it depends on where a crash or a fault meets the store, so that its list has no one answer.
bool is_misfortune(OperationName name);

std::string operation_text(const Operation& operation);
std::string list_text(const OperationList& list);
/// Errors: kInvalidArgument, naming the line.
Result<OperationList> parse_list(std::string_view text);

}  // namespace varve::lab
