// Owns: the checks, the plans and the judgement of a transaction's blobs (blob_part.h).
// Must never: judge a blob by what another write of the transaction made of it.
#include "api/write/blob_part.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/write/blob_checks.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

using BlobKindOfWrite = BlobWrite::State::Kind;

Status check_same_store(const StoreCore& core, const Container::State& container) {
  if (container.core.get() == &core) return Status();
  return service_error::invalid_input("the container belongs to another store than the transaction");
}

Status no_usable_writer(std::string_view why) {
  return service_error::invalid_input("the transaction cannot publish a writer that " + std::string(why));
}

Status check_publication(const BlobWriter::State* writer) {
  if (writer == nullptr) return no_usable_writer("was moved away");
  if (writer->block_id) return no_usable_writer("stages a block; publish it by itself");
  if (writer->append) return no_usable_writer("appends to a blob; publish it by itself");
  if (Status usable = writer->check_usable(); !usable.ok()) return usable;
  return check_blob_properties(writer->options.properties);
}

/// Makes the writer of a put, and gives it the content.
Status write_content(BlobWrite::State& put) {
  if (Status checked = check_blob_write(put.blob, put.write_options, BlobKind::kBlock); !checked.ok()) return checked;
  const Result<format::TableId> id = put.container->present_id();
  if (!id.ok()) return id.status();
  put.writer =
      std::make_unique<BlobWriter::State>(put.container, *id, put.blob, std::move(put.write_options), std::nullopt);
  const Status written = put.writer->content.append(put.content);
  put.content = std::string();
  return written;
}

std::string_view blob_name_of(const BlobWrite::State& write) noexcept {
  return write.writer ? std::string_view(write.writer->name) : std::string_view(write.blob);
}

}  // namespace

std::size_t BlobPart::content_bytes(const BlobWrite& write) noexcept {
  if (!write.state_) return 0;
  return write.state_->content.size() + (write.state_->writer ? write.state_->writer->content.pending_bytes() : 0);
}

Status BlobPart::prepare(const StoreCore& core, BlobWrite& write) {
  if (!write.state_) return service_error::invalid_input("a write of a blob was moved away");
  BlobWrite::State& state = *write.state_;
  if (state.kind == BlobKindOfWrite::kPublish) {
    if (Status usable = check_publication(state.writer.get()); !usable.ok()) return usable;
    state.container = state.writer->container;
  }
  if (Status same = check_same_store(core, *state.container); !same.ok()) return same;
  switch (state.kind) {
    case BlobKindOfWrite::kPublish: return Status();
    case BlobKindOfWrite::kPut: return write_content(state);
    case BlobKindOfWrite::kRemove: return check_blob_name(state.blob);
    case BlobKindOfWrite::kCopy: break;
  }
  if (Status same = check_same_store(core, *state.source); !same.ok()) return same;
  return check_copy(state.blob, state.source_blob, state.copy_options);
}

Result<std::unique_ptr<BlobPart>> BlobPart::make(StoreCore& core, std::vector<BlobWrite*> writes,
                                                 std::size_t first_index) {
  std::unique_ptr<BlobPart> part(new BlobPart(core, std::move(writes), first_index));
  if (Status planned = part->plan_all(); !planned.ok()) return planned;
  if (Status once = part->check_each_once(); !once.ok()) return once;
  part->plan_owners();
  part->written_.reserve(part->writes_.size());
  return part;
}

Status BlobPart::plan_all() {
  verbs_.reserve(writes_.size());
  attempts_.reserve(writes_.size());
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    BlobWrite::State& write = *writes_[i]->state_;
    if (write.writer) {
      verbs_.push_back(publication_of(*write.writer));
    } else if (write.kind == BlobKindOfWrite::kRemove) {
      verbs_.push_back(removal_of(write.blob, write.conditions));
    } else {
      copyings_.push_back(std::make_unique<BlobCopying>(
          BlobCopying{write.blob, *write.source, write.source_blob, write.copy_options, write.copy_id}));
      verbs_.push_back(copy_of(*copyings_.back()));
    }
    const Result<ResolvedTable> at = write.container->resolve();
    if (!at.ok()) return blamed(at.status(), i);
    Result<BlobAttempt> attempt = BlobAttempt::make(*at, verbs_.back());
    if (!attempt.ok()) return blamed(attempt.status(), i);
    attempts_.push_back(*std::move(attempt));
  }
  return Status();
}

Status BlobPart::check_each_once() const {
  std::set<std::pair<format::TableId, std::string_view>> blobs;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    if (blobs.emplace(attempts_[i].container(), blob_name_of(*writes_[i]->state_)).second) continue;
    return blamed(service_error::invalid_input("the transaction writes one blob twice"), i);
  }
  return Status();
}

void BlobPart::plan_owners() {
  std::map<format::TableId, std::vector<ContentId>> planned;
  for (const BlobAttempt& attempt : attempts_) {
    std::vector<ContentId>& contents = planned[contents_of(attempt.container())];
    contents.insert(contents.end(), attempt.contents().begin(), attempt.contents().end());
  }
  for (auto& [id, contents] : planned) owners_.emplace(id, ContentOwners(id, std::move(contents)));
}

std::vector<std::uint64_t> BlobPart::locks() const {
  std::vector<std::uint64_t> hashes;
  const auto add = [&hashes](const std::vector<std::string>& keys) {
    for (const std::string& key : keys) hashes.push_back(format::partition_hash(format::partition_of(key)));
  };
  for (const BlobAttempt& attempt : attempts_) {
    add(attempt.keys());
    add(attempt.locks());
  }
  for (const auto& [id, owners] : owners_) add(owners.keys());
  return hashes;
}

std::vector<format::TableId> BlobPart::tables() const {
  std::vector<format::TableId> ids;
  for (const BlobAttempt& attempt : attempts_) {
    const std::vector<format::TableId> more = attempt.tables();
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

std::uint64_t BlobPart::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const BlobAttempt& attempt : attempts_) bytes += attempt.bytes();
  return bytes;
}

Refusal BlobPart::finish(const engine::ReadView& view, format::BatchBuilder& batch) {
  std::vector<std::string_view> keys;
  for (const BlobAttempt& attempt : attempts_) keys.insert(keys.end(), attempt.keys().begin(), attempt.keys().end());
  for (const auto& [id, owners] : owners_) keys.insert(keys.end(), owners.keys().begin(), owners.keys().end());
  const Result<std::vector<engine::Newest>> states = view.newest_many(keys, engine::EntryPart::kAll);
  if (!states.ok()) return states.status();
  return judge_all(view, *states, batch);
}

Refusal BlobPart::judge_all(const engine::ReadView& view, std::span<const engine::Newest> states,
                            format::BatchBuilder& batch) {
  std::map<format::TableId, std::span<const engine::Newest>> heads;
  std::size_t begin = states.size();  // of the heads, which are the last states
  for (const auto& [contents, owners] : owners_) begin -= owners.keys().size();
  for (const auto& [contents, owners] : owners_) {
    heads[contents] = states.subspan(begin, owners.keys().size());
    begin += owners.keys().size();
  }
  const Ticks now = core_.backend().time();
  std::size_t first = 0;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    BlobAttempt& attempt = attempts_[i];
    const format::TableId contents = contents_of(attempt.container());
    const std::size_t count = attempt.keys().size();
    attempt.fill(batch);
    Refusal refusal = attempt.judge(
        {view, now, states.subspan(first, count), heads[contents], owners_.find(contents)->second, batch});
    first += count;
    if (refusal.is_refused()) {
      is_overtaken_ = asks_for_another_plan(refusal.status);
      return {blamed(refusal.status, i), refusal.rests_on};
    }
    has_work_ = has_work_ || attempt.leaves_work();
    if (attempt.next()) written_.push_back(state_of(blob_name_of(*writes_[i]->state_), *attempt.next(), 0, now));
  }
  for (auto& [id, owners] : owners_) {
    const Result<bool> settled = owners.settle(heads[id], batch);
    if (!settled.ok()) return settled.status();
    has_work_ = has_work_ || *settled;
  }
  return {};
}

Result<bool> BlobPart::may_go_on(const Status& failure) const {
  // In a poisoned store, the wait for the newer state fails, and another plan would be overtaken again.
  if (is_overtaken_ && asks_for_another_plan(failure)) return true;
  // After the drop of an account, its rows go in any order, so a part of them may seem to be damaged.
  if (!service_error::is_table_gone(failure) && failure.code() != Code::kCorruption) return false;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    const Result<ResolvedTable> now = writes_[i]->state_->container->resolve();
    if (!now.ok()) return blamed(now.status(), i);
    if (now->id != attempts_[i].container()) return true;
    if (writes_[i]->state_->kind != BlobKindOfWrite::kCopy) continue;
    const Result<ResolvedTable> source = writes_[i]->state_->source->resolve();
    if (!source.ok()) return blamed(source.status(), i);
    const std::vector<format::TableId> planned = attempts_[i].tables();
    if (std::find(planned.begin(), planned.end(), source->id) == planned.end()) return true;
  }
  return false;
}

std::vector<BlobState> BlobPart::committed(engine::CommitVersion version) noexcept {
  for (BlobWrite* const write : writes_) {
    if (write->state_->writer) write->state_->writer->content.has_owner();
  }
  for (BlobState& state : written_) complete_state(state, version);
  for (const BlobAttempt& attempt : attempts_) attempt.wake_followers(core_.followers());
  if (has_work_) core_.wake_blob_keeper();
  return std::move(written_);
}

}  // namespace varve
