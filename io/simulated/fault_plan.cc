// Owns: the search for the rule that applies to an operation.
// Must never: count an operation twice.

#include "io/simulated/fault_plan.h"

#include <utility>

#include "io/os_error.h"

namespace varve::io {

std::string_view operation_name(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::kCreateDirectory: return "CreateDirectory";
    case OperationKind::kCreate: return "Create";
    case OperationKind::kAppend: return "Append";
    case OperationKind::kSync: return "Sync";
    case OperationKind::kCreateLogSegment: return "CreateLogSegment";
    case OperationKind::kRecycleLogSegment: return "RecycleLogSegment";
    case OperationKind::kFill: return "Fill";
    case OperationKind::kLogWrite: return "LogWrite";
    case OperationKind::kCut: return "Cut";
    case OperationKind::kCreateSharedMemory: return "CreateSharedMemory";
    case OperationKind::kReplaceWrite: return "ReplaceWrite";
    case OperationKind::kReplaceSync: return "ReplaceSync";
    case OperationKind::kReplaceRename: return "ReplaceRename";
    case OperationKind::kReplaceDirectorySync: return "ReplaceDirectorySync";
    case OperationKind::kLink: return "Link";
    case OperationKind::kRemove: return "Remove";
    case OperationKind::kDirectorySync: return "DirectorySync";
    case OperationKind::kCreateLockFile: return "CreateLockFile";
    case OperationKind::kBallast: return "Ballast";
    case OperationKind::kOpenDirectory: return "OpenDirectory";
    case OperationKind::kList: return "List";
    case OperationKind::kOpen: return "Open";
    case OperationKind::kRead: return "Read";
    case OperationKind::kLock: return "Lock";
  }
  return "?";
}

namespace {

Status status_of(const FaultRule& rule, const std::string& where) {
  if (rule.os_error == 0) return Status(rule.code, where + ": " + rule.reason);
  return os_error(rule.os_error, {"a call that shall fail", where});
}

}  // namespace

void FaultPlan::add(FaultRule rule) {
  const std::lock_guard<std::mutex> guard(mutex_);
  entries_.push_back({std::move(rule), 0});
}

void FaultPlan::fail_nth(std::uint64_t n, Code code, bool from_then_on) {
  FaultRule rule;
  rule.skip_count = n;
  rule.fail_count = from_then_on ? FaultRule::kFromThenOn : 1;
  rule.code = code;
  add(std::move(rule));
}

void FaultPlan::clear() {
  const std::lock_guard<std::mutex> guard(mutex_);
  entries_.clear();
}

std::uint64_t FaultPlan::hit_count() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return hit_count_;
}

bool FaultPlan::matches(const FaultRule& rule, const Operation& operation) {
  if (rule.kind.has_value() && *rule.kind != operation.kind) return false;
  if (rule.mutating_only && !is_mutating(operation.kind)) return false;
  if (!operation.name.ends_with(rule.name_suffix)) return false;
  if (!rule.sync_point.empty() && operation.sync_point != rule.sync_point) return false;
  return rule.predicate == nullptr || rule.predicate(operation);
}

std::optional<Fault> FaultPlan::match(const Operation& operation) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::optional<Fault> fault;
  for (Entry& entry : entries_) {
    if (!matches(entry.rule, operation)) continue;
    // All rules count the operations that they match, even if an earlier rule has decided.
    const std::uint64_t number = entry.seen_count++;
    if (fault.has_value() || number < entry.rule.skip_count) continue;
    if (number - entry.rule.skip_count >= entry.rule.fail_count) continue;
    std::string message(operation.directory);
    if (!operation.name.empty()) message.append("/").append(operation.name);
    message.append(": ").append(operation_name(operation.kind));
    fault = Fault{entry.rule.effect, status_of(entry.rule, message)};
    ++hit_count_;
  }
  return fault;
}

}  // namespace varve::io
