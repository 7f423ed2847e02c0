// Owns: joining, leading and ending groups of appends (append_lines.h).
// Must never: touch an append after its end was reported.
#include "api/blob/append_lines.h"

#include <utility>

namespace varve {

AppendLines::Part AppendLines::join(const std::string& key, SharedAppend& append) {
  auto group = std::make_shared<Group>(scheduler_);
  bool is_first = true;
  {
    const io::MutexGuard guard(mutex_);
    Line& line = lines_.try_emplace(key).first->second;
    if (!line.waiting) {
      line.waiting = group;
    } else if (append.bytes.size() > kGroupBytesMax - line.waiting->bytes_) {
      return {Part::Kind::kAlone, nullptr};
    } else {
      group = line.waiting;
      is_first = false;
    }
    (is_first ? group->first_ : group->last_->next) = &append;
    group->last_ = &append;
    ++group->count_;
    group->bytes_ += append.bytes.size();
    if (may_begin(line)) return {Part::Kind::kLeads, begin(line)};
  }
  (is_first ? group->lead_ : group->done_).wait();
  const bool leads = is_first && group->is_led_by_first_;
  return {leads ? Part::Kind::kLeads : Part::Kind::kEnded, std::move(group)};
}

void AppendLines::end(const std::string& key, Group& group) noexcept {
  std::shared_ptr<Group> next;
  {
    const io::MutexGuard guard(mutex_);
    const auto found = lines_.find(key);
    Line& line = found->second;
    --line.groups;
    line.appends -= group.count_;
    if (line.waiting && may_begin(line)) {
      next = begin(line);
      next->is_led_by_first_ = true;
    } else if (!line.waiting && line.groups == 0) {
      lines_.erase(found);
    }
  }
  if (next) next->lead_.set();
  group.done_.set();
  group.lead_.set();
}

bool AppendLines::may_begin(const Line& line) noexcept {
  return line.groups == 0 || (line.groups < kGroupsAtOnce && line.waiting->count_ >= line.appends);
}

/// Returns the group that waited. No append joins it from here on.
std::shared_ptr<AppendLines::Group> AppendLines::begin(Line& line) noexcept {
  ++line.groups;
  line.appends += line.waiting->count_;
  return std::move(line.waiting);
}

}  // namespace varve
