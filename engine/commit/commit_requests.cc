// Owns: what is asked of the commit queue without a batch: a flush, the end of a memtable, the end of a segment,
// and what it knows.
// Must never: go past the order of commits: each is a member of a group like any commit.
#include "engine/commit/commit_queue.h"

namespace varve::engine {

Status CommitQueue::flush(bool watermark) {
  Member member;
  member.watermark = watermark;
  const Result<CommitVersion> flushed = commit(member);
  return flushed.status();
}

Status CommitQueue::seal_memtable() {
  Member member;
  member.seals_memtable = true;
  const Result<CommitVersion> sealed = commit(member);
  return sealed.status();
}

Result<CommitVersion> CommitQueue::close_segment() {
  Member member;
  member.closes_segment = true;
  const Result<CommitVersion> closed = commit(member);
  if (!closed.ok()) return closed;
  return member.closed_upto;
}

std::vector<format::DeadId> CommitQueue::unsealed_drops() const {
  const io::MutexGuard guard(mutex_);
  return unsealed_drops_;
}

std::optional<format::CommitTag> CommitQueue::last_tag() const {
  const io::MutexGuard guard(mutex_);
  return last_tag_;
}

}  // namespace varve::engine
