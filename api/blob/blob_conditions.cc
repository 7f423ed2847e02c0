// Owns: the rules of conditions (blob_conditions.h).
// Must never: compare a time more exactly than in whole seconds, which is all that callers see.
#include "api/blob/blob_conditions.h"

#include "api/model/service_error.h"

namespace varve {
namespace {

constexpr std::uint64_t kTicksOfSecond = 10'000'000;

bool is_match(const ETag& wanted, format::CommitVersion changed) noexcept {
  return wanted.is_any() || wanted == ETag::of_timestamp(DateTime{changed});
}
bool is_later(format::CommitVersion changed, const DateTime& time) noexcept {
  return changed / kTicksOfSecond > time.ticks / kTicksOfSecond;
}

Status etag_differs() {
  return service_error::condition_not_met("the ETag is not the one that the condition asks for");
}
Status date_differs() {
  return service_error::condition_not_met("the time of the last change does not meet the condition");
}

}  // namespace

Status judge_write(const BlobConditions& conditions, const std::optional<format::CommitVersion>& changed,
                   Creates creates) {
  if (!changed) {
    if (!conditions.if_match) return Status();
    return service_error::condition_not_met("the blob does not exist, and a condition names its ETag");
  }
  if (conditions.if_none_match && is_match(*conditions.if_none_match, *changed)) {
    if (creates == Creates::kYes && conditions.if_none_match->is_any()) {
      return service_error::blob_already_exists("the blob already exists");
    }
    return etag_differs();
  }
  if (conditions.if_match && !is_match(*conditions.if_match, *changed)) return etag_differs();
  if (conditions.if_match || conditions.if_none_match) return Status();  // BC-02: the dates do not count
  const bool is_too_old = conditions.if_modified_since && !is_later(*changed, *conditions.if_modified_since);
  const bool is_too_new = conditions.if_unmodified_since && is_later(*changed, *conditions.if_unmodified_since);
  return is_too_old || is_too_new ? date_differs() : Status();
}

Status judge_read(const BlobConditions& conditions, format::CommitVersion changed) {
  if (conditions.if_none_match && conditions.if_none_match->is_any()) {
    return Status::invalid_argument("no state can be read that does not exist; if_none_match must be one ETag")
        .with_service_error("UnsatisfiableCondition");
  }
  if (conditions.if_match && !is_match(*conditions.if_match, changed)) return etag_differs();
  if (conditions.if_unmodified_since && is_later(changed, *conditions.if_unmodified_since)) return date_differs();
  if (!conditions.if_none_match && !conditions.if_modified_since) return Status();
  const bool is_other = conditions.if_none_match && !is_match(*conditions.if_none_match, changed);
  const bool is_newer = conditions.if_modified_since && is_later(changed, *conditions.if_modified_since);
  if (is_other || is_newer) return Status();
  return Status(Code::kPreconditionFailed, "the caller already has this state").with_service_error("NotModified");
}

Status judge_source(const BlobConditions& conditions, format::CommitVersion changed) {
  const Status judged = judge_read(conditions, changed);
  if (judged.ok() || judged.code() == Code::kInvalidArgument) return judged;
  return service_error::source_condition_not_met("the source of the copy does not meet a condition");
}

}  // namespace varve
