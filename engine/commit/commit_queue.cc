// Owns: joining, leading, publishing and failing groups of commits (commit_queue.h).
// Must never: hold the mutex longer than a short operation on the lists, or use a group after its end was reported to
// its members.
#include "engine/commit/commit_queue.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "io/watch.h"

namespace varve::engine {
namespace {

/// Adds to a figure that only the holder of the queue's mutex changes.
void add_to(std::atomic<std::uint64_t>& figure, std::uint64_t count) noexcept {
  figure.store(figure.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

}  // namespace

CommitQueue::CommitQueue(const io::Env& env, Wal& wal, Memtables& memtables, CommitStart start, EventSink* events)
    : env_(env),
      wal_(wal),
      memtables_(memtables),
      events_(events),
      clock_(env.clock, std::max(start.last_version, start.version_ceiling)),
      retired_(std::move(start.retired)),
      assigned_version_(start.last_version),
      memtable_log_start_(wal.position()),
      unsealed_adoptions_(std::move(start.adopted)),
      recovered_version_(start.last_version),
      recovered_dead_bytes_(start.dead_log_bytes),
      retired_count_(retired_.size()),
      watches_(env.scheduler),
      stretches_(env.scheduler, memtables.stretch_room()),
      visible_(start.last_version),
      mutex_(env.scheduler),
      changed_(env.scheduler),
      timer_(env.scheduler),
      counted_drops_(retired_.list()),
      entered_version_(start.last_version),
      last_tag_(std::move(start.last_tag)) {
  for (const format::DeadId& dead : counted_drops_) {
    if (dead.drop_version > start.flushed_version) unsealed_drops_.push_back(dead);
  }
  assigned_tag_.bytes.reserve(format::kTagBytesMax);
  if (!last_tag_) return;
  assigned_tag_.version = last_tag_->version;
  assigned_tag_.bytes.assign(last_tag_->bytes);
}

CommitQueue::~CommitQueue() {
  assert(waiting_.empty());
  assert(flight_.empty());
}

// ------------------------------------------------------------------------------------------------ joining a group

Result<CommitVersion> CommitQueue::commit(Member& member) {
  const Result<Part> part = join(member);
  if (!part.ok()) return part.status();
  CommitGroup& group = *member.group;
  if (*part == Part::kLeads || (*part == Part::kAwaitsLead && await_lead(member))) {
    run_turn(group);
  } else if (member.is_prompt && io::watch(group.placed, env_.scheduler)) {
    if (insert_member(group, member) && end_part(group)) publish();
  }
  if (member.is_prompt) (void)io::watch(group.done, env_.scheduler);
  group.done.wait();
  return result_of(member);
}

/// Waits, as the first member, for the lead. Returns false if another member has taken it.
bool CommitQueue::await_lead(Member& member) noexcept {
  CommitGroup& group = *member.group;
  if (member.is_prompt) (void)io::watch(group.lead, env_.scheduler);
  group.lead.wait();
  const io::MutexGuard guard(mutex_);
  if (group.is_begun) return false;
  begin_turn(group);
  return true;
}

Status CommitQueue::begin_commit(Member& member) {
  assert(member.steps != nullptr);
  return join(member).status();
}

bool CommitQueue::may_join(const CommitGroup& group, const Member& member) noexcept {
  return group.batch_bytes + member.batch.size() <= kGroupBytesMax;
}

void CommitQueue::add_member(CommitGroup& group, Member& member) noexcept {
  if (group.first == nullptr) group.first_steps = member.steps;
  (group.first == nullptr ? group.first : group.last->next) = &member;
  group.last = &member;
  member.group = &group;
  group.batch_bytes += member.batch.size();
  if (!member.batch.empty()) ++group.batch_count;
  group.wants_durable |= member.durability == Durability::kSync;
  group.frees_space |= member.frees_space;
  group.wants_watermark |= member.watermark;
  group.seals_memtable |= member.seals_memtable;
  group.gives_log_back |= member.gives_log_back;
  group.closes_segment |= member.closes_segment;
  group.users_left.fetch_add(1, std::memory_order_relaxed);
}

Result<CommitQueue::Part> CommitQueue::join(Member& member) {
  std::unique_ptr<CommitGroup> fresh(new (std::nothrow) CommitGroup(env_.scheduler));
  if (!fresh) return Status::out_of_memory();
  const bool is_awaited = member.locks != nullptr && member.locks->is_awaited();
  Part part = Part::kFollows;
  CommitGroup* next = nullptr;
  {
    const io::MutexGuard guard(mutex_);
    if (closed_) return Status(Code::kClosed, "the store was closed; open it again");
    if (!poisoned_.ok()) return poisoned_;
    if (waiting_.empty() || !may_join(*waiting_.back(), member)) {
      waiting_.push_back(fresh.release());
      part = Part::kAwaitsLead;
    }
    CommitGroup& group = *waiting_.back();
    add_member(group, member);
    group.is_awaited |= is_awaited;
    member.is_prompt = !group.wants_durable && commits_in_flight_ == 0;
    next = grant_lead();
    // A thread that runs takes the lead before a thread that must wake up. Steps of a first member, once posted, run.
    const bool is_free = next == &group || (group.has_lead && group.first_steps == nullptr);
    if (is_free && member.steps == nullptr) {
      if (next == &group) let_go(next);
      begin_turn(group);
      return Part::kLeads;
    }
  }
  begin_lead(next);  // From here on a member without a thread may be gone.
  return part;
}

/// Returns whether the group waits for more members before it gets the lead. Commits in flight become fewer until the
/// group has as many, or none are left. A thread that waits for a lock of this group cannot join, so then gathering
/// would be useless. A group is also large enough with another group after it, or with many bytes.
bool CommitQueue::gathers(const CommitGroup& group) const noexcept {
  return group.wants_durable && group.batch_count < commits_in_flight_ && !group.is_awaited &&
         group.batch_bytes < kGatheredBytesMax && &group == waiting_.back();
}

/// Returns whether the oldest group may have the lead. In a poisoned queue it waits for no write: the failed one, and
/// those after it, count as in flight for good, and the group is refused before it writes.
bool CommitQueue::may_begin(const CommitGroup& group) noexcept {
  if (gathers(group)) return false;
  if (!poisoned_.ok() || wal_.writes_in_flight() < depth_.limit()) return true;
  depth_.note_held();
  return false;
}

/// Grants the lead and returns the group that gets it; null if none does. The caller then releases the mutex and calls
/// begin_lead(), since the leader's first step takes the mutex. The caller is a user of the group until then, because a
/// joiner may take the lead meanwhile and end the group.
CommitGroup* CommitQueue::grant_lead() noexcept {
  if (lead_taken_ || waiting_.empty()) return nullptr;
  if (!may_begin(*waiting_.front())) return nullptr;
  lead_taken_ = true;
  CommitGroup* const group = waiting_.front();  // It stays in the queue, open to more members, until its leader begins.
  group->has_lead = true;
  group->users_left.fetch_add(1, std::memory_order_relaxed);
  return group;
}

/// Starts the group's leader. If the first member has steps, the group cannot begin before this call.
void CommitQueue::begin_lead(CommitGroup* group) noexcept {
  if (group == nullptr) return;
  if (group->first_steps != nullptr) {
    group->first_steps->leaders->post(*group->first_steps->lead);
  } else {
    group->lead.set();
  }
  let_go(group);
}

/// Begins the turn of the group that has the lead. No member joins from here on.
void CommitQueue::begin_turn(CommitGroup& group) noexcept {
  assert(waiting_.front() == &group);
  assert(group.has_lead && !group.is_begun);
  waiting_.pop_front();
  group.is_begun = true;
  group.is_refused = !poisoned_.ok();
}

Result<CommitVersion> CommitQueue::result_of(Member& member) noexcept {
  const CommitVersion version = member.version;
  Status status = std::move(member.status);
  let_go(member.group);
  if (!status.ok()) return status;
  if (member.let_go_bytes > 0) let_go_bytes_.fetch_add(member.let_go_bytes, std::memory_order_relaxed);
  return version;
}

void CommitQueue::let_go(CommitGroup* group) noexcept {
  if (group->users_left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete group;
}

/// Reports the end of the group. A member may be gone as soon as its end is reported.
void CommitQueue::tell(CommitGroup* group) noexcept {
  StepList ended;
  StepTaker* told = nullptr;  // of all steps in `ended`
  for (Member* member = group->first; member != nullptr; member = member->next) {
    if (member->steps == nullptr) continue;
    if (told != nullptr && told != member->steps->told) told->post_all(ended.take());
    told = member->steps->told;
    ended.push(*member->steps->done);
  }
  if (told != nullptr) told->post_all(ended.take());
  group->done.set();
  group->lead.set();  // The first member may sleep until now, if a joiner has led.
  let_go(group);
}

// --------------------------------------------------------------------------------------------- the leader's turn

void CommitQueue::lead_for(Member& member) noexcept {
  {
    const io::MutexGuard guard(mutex_);
    begin_turn(*member.group);
  }
  run_turn(*member.group);
}

void CommitQueue::run_turn(CommitGroup& group) noexcept {
  if (Status prepared = prepare(group); !prepared.ok()) refuse(group, prepared);
  assign(group);
  if (group.framed) frame(group);
  if (group.framed && !group.needs_durable) {
    if (Status kept = wal_.keep_framed(); !kept.ok()) poison(kept);
  }
  LogWrites owed = wal_.end_turn(group.needs_durable);
  group.log_end = wal_.position();
  const bool needs_durable = group.needs_durable;
  const bool watermark = group.framed && group.last_version == 0;
  enter_flight(group);

  insert(group);
  if (needs_durable) {
    perform_deferred();  // The timer, which usually performs them, may itself wait for this group.
    perform(owed, watermark ? sync_points::kLogWatermark : sync_points::kLogGroup);
  }
  (void)end_part(group);
  publish();  // Always: the writes may have made earlier groups durable.
}

void CommitQueue::refuse(CommitGroup& group, const Status& status) noexcept {
  for (Member* member = group.first; member != nullptr; member = member->next) {
    const bool asked = !member->batch.empty() || member->seals_memtable || member->closes_segment;
    if (asked || status.code() == Code::kPoisoned) member->status = status;
  }
  group.wants_watermark = false;
}

void CommitQueue::assign(CommitGroup& group) noexcept {
  std::uint64_t accepted = 0;
  for (const Member* member = group.first; member != nullptr; member = member->next) {
    if (!member->batch.empty() && member->status.ok()) ++accepted;
  }
  if (accepted > 0) {
    CommitVersion next = clock_.take(accepted);
    std::size_t parts = 1;  // the rest of the turn
    for (Member* member = group.first; member != nullptr; member = member->next) {
      if (member->batch.empty() || !member->status.ok()) continue;
      if (!assign_member(*member, next)) continue;
      ++parts;
      if (group.first_version == 0) group.first_version = next;
      group.last_version = next++;
      assigned_version_ = group.last_version;
      if (member->has_tag) {
        group.tag.assign(member->tag);  // Its room was reserved.
        group.tag_version = member->version;
        assigned_tag_.bytes.assign(member->tag);  // Room was reserved here too.
        assigned_tag_.version = member->version;
      }
    }
    group.unfinished.store(parts, std::memory_order_relaxed);
  }
  group.framed = group.last_version > 0 || group.wants_watermark;
  group.needs_durable = group.wants_durable || group.wants_watermark || (group.framed && wal_.record_stands_alone()) ||
                        group.last_version > wal_.tracker().durable_ceiling();  // Q2
}

/// Checks Q5. The retiring or writing commit is earlier than this group, so it is published before this member's
/// answer.
bool CommitQueue::may_be_assigned(Member& member, CommitVersion version) noexcept {
  for (const format::TableId table : member.tables) {
    if (!retired_.dropped_at(table)) continue;
    member.status = Status(Code::kNotFound).with_service_error("TableNotFound");
    return false;
  }
  if (!shapes_.empty() && !shapes_.allow(member.tables, member.shapes)) [[unlikely]] {
    member.status = Status(Code::kConflict).with_service_error(kTableReshaped);
    return false;
  }
  if (member.before != 0 && version >= member.before) [[unlikely]] {
    member.status = Status(Code::kConflict);
    return false;
  }
  const bool was_written = member.unwritten != nullptr && member.unwritten->was_written();
  if (was_written) member.status = Status(Code::kPreconditionFailed);
  return !was_written;
}

bool CommitQueue::assign_member(Member& member, CommitVersion version) noexcept {
  if (!may_be_assigned(member, version)) return false;
  for (const format::TableId table : member.tables) watches_.note(table);
  member.version = version;
  if (member.reshapes != nullptr) [[unlikely]]
    shapes_.set(*member.reshapes);  // Room was reserved.
  if (member.open_batch != nullptr) complete_batch(member);
  if (member.demand.other_count == 0) return true;
  Result<format::BatchReader> reader = format::BatchReader::open(member.batch);
  format::Operation operation;
  while (reader.ok()) {
    const Result<bool> more = reader->next(&operation);
    if (!more.ok() || !*more) break;  // The batch was validated before it joined.
    if (operation.kind == Kind::kAdopt) {
      unsealed_adoptions_.push_back(format::load_u64_big_endian(operation.key.data()));  // Room was reserved.
    }
    if (operation.kind != Kind::kRetire) continue;
    count_drop(operation.key, version);
    const io::MutexGuard guard(mutex_);
    unsealed_drops_.push_back({std::string(operation.key), version, {}});  // Room was reserved; a prefix is short.
  }
  return true;
}

void CommitQueue::frame(CommitGroup& group) noexcept {
  if (group.last_version == 0) {
    (void)wal_.frame(format::RecordType::kWatermark, 0, 0, 0);
    wal_.seal_record();
    return;
  }
  std::size_t payload_bytes = 0;
  for (const Member* member = group.first; member != nullptr; member = member->next) {
    if (member->version == 0) continue;
    payload_bytes += format::group_member_bytes(group.first_version, member->version, member->batch.size());
  }
  char* at = wal_.frame(format::RecordType::kGroup, group.first_version, group.last_version, payload_bytes);
  for (Member* member = group.first; member != nullptr; member = member->next) {
    if (member->version == 0) continue;
    at = format::store_group_member(at, group.first_version, member->version, member->batch);
    member->in_log = wal_.place_in_record(at - member->batch.size());
  }
  wal_.seal_record();
}

void CommitQueue::enter_flight(CommitGroup& group) noexcept {
  const bool slot_open = wal_.has_open_slot();  // The last look at what only the holder of the lead may read.
  CommitGroup* next = nullptr;
  {
    const io::MutexGuard guard(mutex_);
    add_to(figures_.groups, 1);
    flight_.push_back(&group);
    if (group.needs_durable) commits_in_flight_ += group.batch_count;
    if (group.last_version > 0) entered_version_ = group.last_version;
    slot_open_ = slot_open;
    if (group.framed) mark_due_ = group.last_version > 0;
    ++turns_;
    wake_timer();
    lead_taken_ = false;
    if (!poisoned_.ok()) changed_.notify_all();  // The log buffer may be restored.
    next = grant_lead();
  }
  begin_lead(next);
}

/// Inserts the batches of the members whose own threads have not begun to do so. A thread that sleeps is not woken for
/// it, since that would cost more than the insert.
void CommitQueue::insert(CommitGroup& group) noexcept {
  if (group.first->next != nullptr) group.placed.set();
  for (Member* member = group.first; member != nullptr; member = member->next) {
    if (insert_member(group, *member)) (void)end_part(group);
  }
}

/// Returns false if the member has no batch to insert, or if another thread inserts it.
bool CommitQueue::insert_member(CommitGroup& group, Member& member) noexcept {
  if (member.version == 0 || member.is_inserted.exchange(true, std::memory_order_relaxed)) return false;
  if (stretches_.is_on()) stretches_.note(member.batch, member.version);
  group.memtable->insert(member.reservation, member.batch, member.version, member.in_log);
  // The next writer of the partition builds on these entries now, before the sync.
  if (member.locks != nullptr) member.locks->release();
  return true;
}

/// Returns whether this was the last part. Then another thread may publish the group and end it, so the caller may use
/// it no longer, unless the caller is a member.
bool CommitQueue::end_part(CommitGroup& group) noexcept {
  return group.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void CommitQueue::perform(LogWrites& writes, io::SyncPoint point) noexcept {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (Status written = wal_.write(writes[i], point); !written.ok()) poison(written);
  }
}

void CommitQueue::perform_deferred() noexcept {
  if (Status written = wal_.write_deferred(); !written.ok()) poison(written);
}

void CommitQueue::write_deferred() noexcept {
  perform_deferred();
  publish();  // Groups may have waited for these writes, and leaders for fewer writes in progress.
}

// --------------------------------------------------------------------------------------------------- publication

bool CommitQueue::can_publish(const CommitGroup& group) const noexcept {
  return !group.needs_durable || wal_.tracker().durable() >= group.log_end;  // Q1
}

bool CommitQueue::must_fail(const CommitGroup& group) const noexcept {
  if (failing_) return true;  // Q4
  if (poisoned_.ok()) return false;
  const std::optional<LogPosition> failed_above = wal_.tracker().failed_above();
  return !failed_above || group.log_end > *failed_above;
}

void CommitQueue::publish() noexcept {
  GroupList finished;
  CommitGroup* next = nullptr;
  {
    const io::MutexGuard guard(mutex_);
    std::uint64_t durable_bytes = 0;
    bool has_durable = false;
    while (!flight_.empty() && flight_.front()->unfinished.load(std::memory_order_acquire) == 0) {
      CommitGroup& group = *flight_.front();
      if (must_fail(group)) {
        fail_group(group);
      } else if (can_publish(group)) {
        publish_group(group);
      } else {
        break;
      }
      flight_.pop_front();
      if (group.needs_durable) {
        commits_in_flight_ -= group.batch_count;
        durable_bytes += group.batch_bytes;
        has_durable = true;
      }
      finished.push_back(&group);
    }
    if (has_durable) note_durable(durable_bytes);
    if (awaiting_ > 0 || closed_) changed_.notify_all();
    next = grant_lead();
  }
  begin_lead(next);
  while (!finished.empty()) tell(finished.pop_front());
}

void CommitQueue::publish_group(CommitGroup& group) noexcept {
  if (group.last_version > 0) {
    assert(group.last_version > visible_.load(std::memory_order_relaxed));  // Q2
    assert(group.last_version <= wal_.tracker().durable_ceiling());         // Q2
    visible_.store(group.last_version, std::memory_order_release);
  }
  if (group.tag_version > 0) last_tag_ = format::CommitTag{group.tag_version, std::move(group.tag), {}};
  std::uint64_t commits = 0;
  std::uint64_t refused = 0;
  std::uint64_t batch_bytes = 0;
  for (const Member* member = group.first; member != nullptr; member = member->next) {
    if (member->version > 0) {
      ++commits;
      batch_bytes += member->batch.size();
    } else if (!member->status.ok()) {
      ++refused;
    }
  }
  add_to(figures_.commits, commits);
  add_to(figures_.refused, refused);
  add_to(figures_.batch_bytes, batch_bytes);
}

/// Reports the end of groups that waited for the device to the choice of the depth.
void CommitQueue::note_durable(std::uint64_t bytes) noexcept {
  const bool has_more = commits_in_flight_ > 0 || lead_taken_ || !waiting_.empty();
  depth_.note_end(bytes, has_more, depth_.is_trying() ? env_.clock.monotonic() : WriteDepth::Time());
}

void CommitQueue::fail_group(CommitGroup& group) noexcept {
  failing_ = true;
  for (Member* member = group.first; member != nullptr; member = member->next) {
    // The cause of a refusal may itself be in doubt now, and a flush has flushed nothing.
    member->status = member->version > 0 ? unknown_ : poisoned_;
  }
}

}  // namespace varve::engine
