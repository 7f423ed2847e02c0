// Owns: the walk of a build and its commits (index_build.h).
// Must never: keep a view over a commit.
#include "api/write/index_build.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/commit/commit.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/write/entity_change.h"
#include "api/write/index_entries.h"
#include "engine/load/beneath_load.h"
#include "engine/read/cursor.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

// A part of the table whose entries are put by one commit.
constexpr std::size_t kEntitiesAtOnce = 128;
constexpr std::size_t kWalkedAtOnce = 1024;  // of entities, also those that need no entry
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;
/// How often a part is tried that finds something busy.
constexpr int kBusyPartAttemptsMax = 1'000;
/// How often an installation is tried, which may end late.
constexpr int kInstallAttemptsMax = 3;

using GoesOn = std::function<bool(const IndexBuildProgress&)>;

/// The index as the newest state of its table has it.
struct BuiltTable {
  format::TableId table = 0;
  std::uint64_t shape = 0;
  TableIndex index;
};

Status index_is_gone() {
  return service_error::resource_not_found("the index was dropped while it was being built");
}

Status build_failed(const TableIndex& index, std::string_view why) {
  return Status(Code::kConflict, "the build of index " + quoted(index.name) + " failed: " + std::string(why) +
                                     "; drop the index to create it again");
}

Status build_stopped() {
  return Status(Code::kCancelled, "the build of the index was stopped; it can be continued");
}

/// Returns whether a unique index cannot have the entity.
bool is_value_refused(const Status& put) noexcept {
  return (put.code() == Code::kExists && put.service_error() == kIndexValueAlreadyExists.text()) ||
         (put.code() == Code::kTooLarge && !put.service_error().empty());
}

Result<BuiltTable> find_built(const engine::ReadView& view, const TableName& name, format::TableId index) {
  const Result<std::optional<TableRow>> row = Catalog::find_table(view, name.account, name.lower);
  if (!row.ok()) return row.status();
  if (!*row) return no_such_table(name.account, name.spelling);
  const std::vector<TableIndex>& all = (*row)->indexes.all;
  const auto found = std::find_if(all.begin(), all.end(), [index](const TableIndex& each) { return each.id == index; });
  if (found == all.end()) return index_is_gone();
  return BuiltTable{(*row)->id, (*row)->indexes.shape, *found};
}

/// Entities of the table as a view showed them, in which the index was declared.
struct TablePart {
  std::vector<std::string> keys{};
  std::vector<engine::CommitVersion> versions{};
  /// The locks of their values, if the index is unique.
  std::vector<std::uint64_t> value_locks{};
  /// The first key after those that were walked, and whether no key follows.
  std::string next{};
  bool ends_table = false;
};

/// Puts the entries of some entities.
class EntriesChange final : public Change {
 public:
  EntriesChange(const BuiltTable& built, const TablePart& part)
      : index_(built.index),
        versions_(part.versions),
        keys_(part.keys.begin(), part.keys.end()),
        hashes_(part.value_locks) {
    for (const std::string_view key : keys_) {
      hashes_.push_back(format::partition_hash(format::partition_of(key)));
      paced_bytes += 2 * key.size();
    }
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    request.tables = {built.table, built.index.id};  // every drop of either retires the index
    request.shapes = {{built.table, built.shape}};
    request.durability = Durability::kBuffered;  // The commit that makes the index ready is durable, and comes later.
  }

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }
  StatesWanted states_wanted() override { return {keys_, engine::EntryPart::kAll}; }
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) override {
    UniqueValues values(hashes_);
    engine::CommitVersion newest = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].version != versions_[i]) continue;  // Its writer has put the entry.
      const Result<bool> put = put_index_entry(index_, keys_[i], states[i], batch_, values);
      if (!put.ok()) return {put.status(), states[i].version};
      if (*put) ++entries_;
      newest = std::max(newest, states[i].version);
    }
    std::size_t refused = 0;
    if (Refusal refusal = values.check(view, refused); refusal.is_refused()) {
      return {refusal.status, std::max(newest, refusal.rests_on)};
    }
    if (entries_ == 0) return Status(Code::kCancelled, "none of the entities has an entry");
    return {};
  }
  std::string take_batch() override { return batch_.finish(); }

  std::uint64_t entries() const noexcept { return entries_; }
  /// Returns whether the change was refused because there was nothing to put.
  bool had_nothing_to_put(const Status& failure) const noexcept {
    return failure.code() == Code::kCancelled && entries_ == 0;
  }

 private:
  const TableIndex& index_;
  const std::span<const engine::CommitVersion> versions_;
  std::vector<std::string_view> keys_;
  std::vector<std::uint64_t> hashes_;
  format::BatchBuilder batch_;
  std::uint64_t entries_ = 0;
};

/// Makes the index ready. Returns whether it is.
Result<bool> end_build(StoreCore& core, const TableName& name, format::TableId index) {
  const Status ended = core.catalog().end_index_build(name, index, Status());
  if (ended.ok()) return true;
  if (ended.code() != Code::kNotFound) return ended;
  // Another build may have ended it.
  const Result<BuiltTable> built = find_built(core.backend().view(), name, index);
  if (!built.ok()) return built.status();
  return built->index.state == IndexState::kReady ? Result<bool>(true) : Result<bool>(ended);
}

/// Returns whether the index is ready. Errors: kConflict (its build failed).
Result<bool> is_built(const TableIndex& index) {
  if (index.state == IndexState::kFailed) return build_failed(index, index.failure);
  return index.state == IndexState::kReady;
}

/// The build that loads the entries of a snapshot. The writers' own entries lie above them.
class LoadedBuild {
 public:
  LoadedBuild(StoreCore& core, const TableName& name, format::TableId index, const GoesOn& goes_on)
      : core_(core), name_(name), index_(index), goes_on_(goes_on) {}

  const IndexBuildProgress& progress() const noexcept { return progress_; }

  /// Does the next part. Returns whether the index is ready.
  Result<bool> go_on() {
    const Result<BuiltTable> built = find_built(core_.backend().view(), name_, index_);
    if (!built.ok()) return built.status();
    if (Result<bool> ready = is_built(built->index); !ready.ok() || *ready) return ready;
    if (load_ == nullptr && !is_installed_) {
      Result<std::unique_ptr<engine::BeneathLoad>> begun = core_.backend().begin_load_beneath(index_);
      if (!begun.ok()) return begun.status();
      load_ = *std::move(begun);
    }
    if (!has_all_) {
      if (Status added = add_part(*built); !added.ok()) return added;
      return false;
    }
    if (!is_installed_) {
      const Status installed = install();
      if (installed.code() == Code::kCancelled) return build_stopped();
      if (installed.code() == Code::kBusy && ++busy_ < kInstallAttemptsMax) return false;  // The entries stay sorted.
      if (!installed.ok()) return installed;
      load_.reset();
      is_installed_ = true;
      busy_ = 0;
    }
    Result<bool> ended = end_build(core_, name_, index_);
    if (ended.code() == Code::kBusy && ++busy_ < kBusyPartAttemptsMax) return false;
    return ended;
  }

 private:
  Status install() {
    return goes_on_ ? load_->install([this] { return goes_on_(progress_); }) : load_->install();
  }

  /// Adds the entries of the next entities that the snapshot shows.
  Status add_part(const BuiltTable& built) {
    const engine::ReadView view = core_.backend().view_at(load_->snapshot());
    const std::string table = format::encode_table(built.table);
    if (from_.empty()) from_ = table;
    engine::Cursor entities = view.cursor(from_, format::end_of_prefix(table), nullptr, nullptr, entities_at_once_);
    std::size_t walked = 0;
    std::size_t bytes = 0;
    for (entities.seek_to_first(); entities.valid(); entities.next()) {
      const Result<std::optional<IndexEntry>> entry =
          index_entry_of(built.index, entities.key(), entities.version(), entities.value(), entities.end());
      if (!entry.ok()) return entry.status();
      ++progress_.entities;
      if (*entry) {
        if (Status added = load_->add((*entry)->key, (*entry)->value, (*entry)->kind); !added.ok()) return added;
        ++progress_.entries;
      }
      bytes += entities.key().size() + entities.value().size();
      if (++walked < entities_at_once_ && bytes < kLoadedBytesAtOnce) continue;
      from_ = entities.key();
      from_.push_back('\0');  // No key lies between.
      entities_at_once_ = std::min(2 * entities_at_once_, kEntitiesAtOnceMax);
      return Status();
    }
    has_all_ = entities.status().ok();
    return entities.status();
  }

  static constexpr std::size_t kEntitiesAtOnceMax = std::size_t{1} << 16;
  static constexpr std::size_t kLoadedBytesAtOnce = std::size_t{16} << 20;

  StoreCore& core_;
  const TableName& name_;
  const format::TableId index_;
  const GoesOn& goes_on_;
  std::unique_ptr<engine::BeneathLoad> load_;
  bool is_installed_ = false;
  int busy_ = 0;
  std::string from_;
  bool has_all_ = false;
  /// A part pins memory of writers, so it is short. Long parts are read ahead of the walk.
  std::size_t entities_at_once_ = 64;
  IndexBuildProgress progress_;
};

/// The build that puts the entries of some entities at a time, under the locks of their values.
class LockedBuild {
 public:
  LockedBuild(StoreCore& core, const TableName& name, format::TableId index)
      : core_(core), name_(name), index_(index) {}

  const IndexBuildProgress& progress() const noexcept { return progress_; }

  /// Does the next part. Returns whether the index is ready.
  Result<bool> go_on() {
    const Result<BuiltTable> built = read_part();
    if (!built.ok()) return built.status();
    if (Result<bool> ready = is_built(built->index); !ready.ok() || *ready) return ready;
    if (part_.keys.empty()) {
      if (part_.ends_table) return end_build(core_, name_, index_);
      from_ = part_.next;
      return false;
    }
    EntriesChange change(*built, part_);
    const Status put = commit(core_.backend(), change).status();
    // The next step reads the same part, or finds that the table or the index is gone.
    if (is_made_for_other_indexes(put) || service_error::is_table_gone(put)) return false;
    if (put.code() == Code::kBusy && ++busy_ < kBusyPartAttemptsMax) return false;  // the same part again
    busy_ = 0;
    if (is_value_refused(put)) return fail(built->index, put);
    if (!put.ok() && !change.had_nothing_to_put(put)) return put;
    progress_.entities += part_.keys.size();
    progress_.entries += put.ok() ? change.entries() : 0;
    from_ = part_.next;
    return false;
  }

 private:
  /// Reads the next keys of the table, and the index, in one view.
  Result<BuiltTable> read_part() {
    part_ = TablePart();
    const engine::ReadView view = core_.backend().view();
    Result<BuiltTable> built = find_built(view, name_, index_);
    if (!built.ok()) return built;
    const std::string table = format::encode_table(built->table);
    if (from_.empty()) {
      from_ = table;
      begun_at_ = view.version();
    }
    engine::Cursor entities = view.cursor(from_, format::end_of_prefix(table), nullptr, nullptr, kEntitiesAtOnce);
    std::size_t bytes = 0;
    std::size_t walked = 0;
    for (entities.seek_to_first(); entities.valid(); entities.next()) {
      part_.next = entities.key();
      part_.next.push_back('\0');  // No key lies between.
      if (++walked == kWalkedAtOnce) return built;
      if (entities.version() > begun_at_) continue;  // Its writer has put the entry.
      part_.keys.emplace_back(entities.key());
      part_.versions.push_back(entities.version());
      if (built->index.definition.is_unique) {
        if (Status added = add_value_lock(built->index, entities); !added.ok()) return added;
      }
      bytes += entities.key().size() + entities.value().size();
      if (part_.keys.size() == kEntitiesAtOnce || bytes >= kBytesAtOnce) return built;
    }
    if (!entities.status().ok()) return entities.status();
    part_.ends_table = true;
    return built;
  }

  Status add_value_lock(const TableIndex& index, const engine::Cursor& entity) {
    const Result<format::EncodedEntity> properties = format::EncodedEntity::open(entity.value());
    if (!properties.ok()) {
      return Status(properties.code(), "the stored entity " + quoted_keys(entity.key()) +
                                           " cannot be decoded: " + std::string(properties.status().message()));
    }
    append_value_lock(index, entity.key(), *properties, part_.value_locks);
    return Status();
  }

  /// Ends the build because of an entity that a unique index cannot have.
  Status fail(const TableIndex& index, const Status& why) {
    const Status ended = core_.catalog().end_index_build(name_, index_, why);
    if (!ended.ok()) return ended;
    const Status failed = build_failed(index, why.message()).with_service_error(why.error_name());
    return why.taken_value() != nullptr ? failed.with_taken_value(*why.taken_value()) : failed;
  }

  StoreCore& core_;
  const TableName& name_;
  const format::TableId index_;
  std::string from_;
  /// The version of the first part. Later entities have entries, because their writers knew the index. So the build ends even
  /// if writers add entities faster than it walks.
  engine::CommitVersion begun_at_ = 0;
  int busy_ = 0;  // how often the present part has found something busy
  TablePart part_;
  IndexBuildProgress progress_;
};

template <typename Build>
Status run(Build build, const GoesOn& goes_on) {
  for (;;) {
    const Result<bool> is_done = build.go_on();
    if (!is_done.ok()) return is_done.status();
    if (*is_done) return Status();
    if (goes_on && !goes_on(build.progress())) {
      return build_stopped();
    }
  }
}

}  // namespace

Status build_index(StoreCore& core, const TableName& name, format::TableId index,
                   const std::function<bool(const IndexBuildProgress&)>& goes_on) {
  const Result<BuiltTable> built = find_built(core.backend().view(), name, index);
  if (!built.ok()) return built.status();
  if (built->index.definition.is_unique) return run(LockedBuild(core, name, index), goes_on);
  return run(LoadedBuild(core, name, index, goes_on), goes_on);
}

}  // namespace varve
