// Owns: the order of a change (tree.h).
// Must never: show a change to readers before it is durable.
#include "engine/compaction/tree.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <set>
#include <utility>

#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"

namespace varve::engine {

namespace {

TableId first_table_of(std::string_view prefix) noexcept {
  const std::uint64_t id = format::load_u32_big_endian(prefix.data());
  if (prefix.size() == 4) return id << 32;
  return id << 32 | format::load_u32_big_endian(prefix.data() + 4);
}

/// Returns whether some file may contain entries of the id, or is awaited. Searches each level for it.
bool holds_any_of(const Levels& levels, const std::vector<TableId>& awaited, std::string_view prefix) noexcept {
  const TableId first = first_table_of(prefix);
  const TableId last = prefix.size() == 4 ? first | 0xFFFFFFFFu : first;
  if (std::any_of(awaited.begin(), awaited.end(), [&](TableId table) { return first <= table && table <= last; })) {
    return true;
  }
  const LevelSequence& newest = levels.level(0);
  if (std::any_of(newest.begin(), newest.end(), [&](const LevelFilePtr& file) {
        return file->entry.first_table <= last && first <= file->entry.last_table;
      })) {
    return true;
  }
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    const LevelFilePtr* const file =
        levels.level(level).find_first([first](const LevelFilePtr& each) { return each->entry.last_table < first; });
    if (file != nullptr && (*file)->entry.first_table <= last) return true;
  }
  return false;
}

/// Removes dead ids of which no table contains anything: from the edit's new ids, and from the set's old ids. `after`
/// are the levels with the edit. Entries of such an id in a memtable are left out when it is flushed.
void forget_dead_ids(const FileSet& before, const Levels& after, const std::vector<TableId>& awaited,
                     format::ManifestEdit& edit) {
  std::erase_if(edit.added_dead_ids,
                [&](const format::DeadId& dead) { return !holds_any_of(after, awaited, dead.prefix); });
  for (const format::DeadId& dead : before.dead_ids) {
    if (!holds_any_of(after, awaited, dead.prefix)) edit.removed_dead_ids.push_back(dead.prefix);
  }
}

/// Returns the value files that the edit may have left without pointers. With `all`, returns all value files.
std::set<std::uint64_t> maybe_unused(const FileSet& before, const FileSet& after, const format::ManifestEdit& edit,
                                     bool all) {
  std::set<std::uint64_t> numbers;
  for (const std::uint64_t removed : edit.removed_tables) {
    const format::TableFileEntry* const table = before.tables.look_up(removed);
    if (table == nullptr) continue;
    for (const format::ValueFileUse& use : table->value_files) numbers.insert(use.number);
  }
  for (const format::ValueFileEntry& added : edit.added_value_files) numbers.insert(added.number);
  if (all) {
    for (const auto& [number, entry] : after.value_files) numbers.insert(number);
  }
  return numbers;
}

/// Returns the numbers of the tables that the edit adds, removes or moves.
std::set<std::uint64_t> touched_tables(const format::ManifestEdit& edit) {
  std::set<std::uint64_t> numbers(edit.removed_tables.begin(), edit.removed_tables.end());
  for (const format::TableFileEntry& added : edit.added_tables) numbers.insert(added.number);
  for (const format::MovedTable& moved : edit.moved_tables) numbers.insert(moved.number);
  return numbers;
}

}  // namespace

/// An arrangement, and the files that are only in the arrangement before it.
struct Tree::Rearranged {
  std::shared_ptr<Levels> levels;
  std::vector<std::shared_ptr<TableFile>> left_tables;
  std::vector<std::shared_ptr<ValueFile>> left_values;
};

format::TableOptions table_options(std::uint32_t level) {
  format::TableOptions options;
  // The fastest level that produces small files, since the processor limits compaction, not the disk. A file of level 0
  // that overlaps nothing moves down unchanged.
  options.compression_level = 1;
  // Either kind passes one absent key in 250. The last level contains nearly everything, so it gets the smaller kind. A
  // file that moves there unchanged is no less accurate.
  options.filter.bits_per_key = 12;
  if (level == kLastLevel) options.filter.kind = format::FilterKind::kBinaryFuse;
  // Only in the last level a dictionary is worth the time to learn it.
  options.learns_dictionary = level == kLastLevel;
  return options;
}

format::TableOptions passing_table_options() {
  format::TableOptions options = table_options(0);
  options.compression_level = format::kCompressionLevelMin;
  return options;
}

Result<std::shared_ptr<const Levels>> Tree::arrange(const FileSet& files, TableFiles& tables) {
  LevelFiles all;
  all.reserve(files.tables.size());
  for (const auto& [number, entry] : files.tables) {
    all.push_back(std::make_shared<LevelFile>(LevelFile{entry, tables.add(entry)}));
  }
  Result<Levels> levels = Levels::make(std::move(all));
  if (!levels.ok()) return levels.status();
  ValueFiles values;
  for (const auto& [number, entry] : files.value_files) values.emplace(number, tables.add(entry));
  levels->set_value_files(std::move(values));
  return std::shared_ptr<const Levels>(std::make_shared<Levels>(*std::move(levels)));
}

Tree::Tree(const io::Env& env, io::Directory& directory, Manifest& manifest, ReadStates& states, TableFiles& tables,
           std::function<void(const Status&)> on_fatal, std::function<void()> on_change)
    : env_(env),
      directory_(directory),
      manifest_(manifest),
      states_(states),
      tables_(tables),
      on_fatal_(std::move(on_fatal)),
      on_change_(std::move(on_change)),
      removal_(env.scheduler, directory),
      changing_(env.scheduler) {}

/// Arranges the tables of `after`, which is `before` with the edit. Value files that nothing points into any more are
/// still there: forget_unused() removes them.
Result<Tree::Rearranged> Tree::rearrange(const FileSet& before, const FileSet& after, const format::ManifestEdit& edit,
                                         const MergedPart* merged) {
  const std::shared_ptr<const Levels> present = levels();
  Rearranged made;
  LevelFiles removed;
  LevelFiles added;
  for (const std::uint64_t number : touched_tables(edit)) {
    const format::TableFileEntry* const old_entry = before.tables.look_up(number);
    const format::TableFileEntry* const new_entry = after.tables.look_up(number);
    std::shared_ptr<TableFile> table;
    if (old_entry != nullptr) {
      removed.push_back(present->file_of(*old_entry));
      assert(removed.back() != nullptr);  // The arrangement has the tables of the set.
      table = removed.back()->table;
    }
    if (new_entry == nullptr) {
      if (table != nullptr) made.left_tables.push_back(std::move(table));
      continue;
    }
    if (table == nullptr) table = tables_.add(*new_entry);
    added.push_back(std::make_shared<LevelFile>(LevelFile{*new_entry, std::move(table)}));
  }
  if (merged != nullptr) pass_merged(*present, *merged, removed, added);
  Result<Levels> levels = present->with_change(removed, added);
  if (!levels.ok()) return levels.status();
  ValueFiles values = present->value_files();
  for (const format::ValueFileEntry& entry : edit.added_value_files) {
    if (after.value_files.contains(entry.number)) values.emplace(entry.number, tables_.add(entry));
  }
  levels->set_value_files(std::move(values));
  made.levels = std::make_shared<Levels>(*std::move(levels));
  return made;
}

/// Replaces files that stay by themselves, with one part more that readers pass.
void Tree::pass_merged(const Levels& present, const MergedPart& merged, LevelFiles& removed, LevelFiles& added) {
  for (const LevelFilePtr& input : merged.inputs) {
    LevelFilePtr file = present.file_of(input->entry);
    assert(file != nullptr);  // Files of a running job stay.
    auto passed = std::make_shared<LevelFile>(*file);
    add_span(passed->merged, merged.keys);
    removed.push_back(std::move(file));
    added.push_back(std::move(passed));
  }
}

/// Takes value files out of the arrangement.
void Tree::remove_values(const std::vector<std::uint64_t>& removed, Rearranged& made) {
  ValueFiles values = made.levels->value_files();
  for (const std::uint64_t number : removed) {
    const std::shared_ptr<ValueFile>* const file = values.look_up(number);
    if (file == nullptr) continue;
    made.left_values.push_back(*file);
    values.erase(number);
  }
  made.levels->set_value_files(std::move(values));
}

/// Extends the edit so that it also removes dead ids without entries, and value files that no table points into.
void Tree::forget_unused(const Levels& levels, const FileSet& before, FileSet& after,
                         format::ManifestEdit& edit) const {
  forget_dead_ids(before, levels, awaited_, edit);
  for (const std::uint64_t number : maybe_unused(before, after, edit, !has_changed_)) {
    if (after.tables.value_sums().contains(number) || !after.value_files.erase(number)) continue;
    edit.removed_value_files.push_back(number);
  }
}

bool Tree::collects_deletes() const noexcept {
  constexpr std::uint64_t kMany = 10'000;  // a scan over them takes milliseconds
  const ReadStates::Pin pin = states_.pin();
  const std::uint64_t deletes = pin->active->delete_count();
  return deletes >= kMany && deletes >= pin->active->entry_count() / 2;
}

/// A failure stops the store: after a failed sync, this handle of the directory never promises durability again, so no
/// later flush could succeed.
Status Tree::make_durable(const format::ManifestEdit& edit) {
  if (!edit.added_tables.empty()) {
    if (Status synced = directory_.sync(sync_points::kTableNames); !synced.ok()) return synced;
  }
  return Status();
}

Tree::Awaited::~Awaited() {
  if (tree_ == nullptr) return;
  const io::MutexGuard guard(tree_->changing_);
  tree_->awaited_.erase(std::find(tree_->awaited_.begin(), tree_->awaited_.end(), table_));
}

Tree::Awaited Tree::await_files_of(TableId table) {
  const io::MutexGuard guard(changing_);
  awaited_.push_back(table);
  return Awaited(this, table);
}

Tree::Claim::~Claim() {
  if (tree_ == nullptr) return;
  const io::MutexGuard guard(tree_->changing_);
  std::erase_if(tree_->claims_, [this](const ClaimedRange& claimed) { return claimed.id == id_; });
}

std::optional<Tree::Claim> Tree::claim(const Levels& seen, const Job& job) {
  const KeyRange range = job.range();
  const io::MutexGuard guard(changing_);
  if (states_.pin()->tables.get() != &seen) return std::nullopt;
  const std::uint64_t id = ++claims_made_;
  claims_.push_back({id, job.output_level, std::string(range.smallest), std::string(range.largest)});
  return Claim(this, id);
}

std::optional<std::uint32_t> Tree::deepest_free_level(const KeyRange& range) const {
  const ReadStates::Pin pin = states_.pin();
  for (std::uint32_t level = kLastLevel; level > 0; --level) {
    const bool is_claimed = std::any_of(claims_.begin(), claims_.end(), [&](const ClaimedRange& claimed) {
      return claimed.level == level && range.overlaps({claimed.smallest, claimed.largest});
    });
    if (!is_claimed && pin->tables->overlapping(level, range).empty()) return level;
  }
  return std::nullopt;
}

Result<bool> Tree::install(format::ManifestEdit edit) {
  bool has_level = true;
  const Status installed = change_tables(
      std::move(edit), [](ReadState&) {},
      [this, &has_level](format::ManifestEdit& completed) VARVE_REQUIRES(changing_) {
        KeyRange range{completed.added_tables.front().smallest_key, completed.added_tables.front().largest_key};
        for (const format::TableFileEntry& file : completed.added_tables) {
          range = range.with({file.smallest_key, file.largest_key});
        }
        const std::optional<std::uint32_t> level = deepest_free_level(range);
        has_level = level.has_value();
        for (format::TableFileEntry& file : completed.added_tables) file.level = level.value_or(0);
        return has_level;
      });
  if (!has_level) return false;
  return installed.ok() ? Result<bool>(true) : Result<bool>(installed);
}

Status Tree::apply(format::ManifestEdit edit, const std::function<void(ReadState&)>& change) {
  return change_tables(std::move(edit), change, Completion());
}

Status Tree::apply_part(format::ManifestEdit edit, const LevelFiles& inputs, const KeySpan& part) {
  const MergedPart merged{inputs, part};
  return change_tables(
      std::move(edit), [](ReadState&) {}, Completion(), &merged);
}

Status Tree::change_tables(format::ManifestEdit edit, const std::function<void(ReadState&)>& change,
                           const Completion& complete, const MergedPart* merged) {
  UnaddedFiles unadded(tables_, edit.added_tables);
  Status failure;
  {
    const io::MutexGuard guard(changing_);
    if (complete) {
      if (!complete(edit)) {
        unadded.release();  // The caller may try again.
        return Status();
      }
    }
    // All steps that may fail for lack of memory come before the edit is durable. Only segments may change
    // concurrently.
    const FileSet before = manifest_.files();
    if (edit.oldest_readable_version) {
      // A long compaction has an earlier horizon than a flush that finished first.
      edit.oldest_readable_version = std::max(*edit.oldest_readable_version, before.oldest_readable_version);
    }
    if (edit.version_ceiling) edit.version_ceiling = std::max(*edit.version_ceiling, before.version_ceiling);
    FileSet after = before;
    if (Status applied = after.apply(edit); !applied.ok()) return applied;
    Result<Rearranged> made = rearrange(before, after, edit, merged);
    if (!made.ok()) return made.status();
    forget_unused(*made->levels, before, after, edit);
    remove_values(edit.removed_value_files, *made);
    ReadStates::Room room = states_.make_room();

    failure = make_durable(edit);
    if (failure.ok()) {
      failure = manifest_.append(edit);
      if (!failure.ok() && !manifest_.is_stopped()) return failure;
      unadded.release();  // The manifest names the files, or may do so.
    }
    if (failure.ok()) {
      try {
        states_.update(std::move(room), [&](ReadState& state) {
          change(state);
          state.tables = made->levels;
        });
        for (const std::shared_ptr<TableFile>& table : made->left_tables) table->leave();
        for (const std::shared_ptr<ValueFile>& values : made->left_values) values->leave();
        has_changed_ = true;
      } catch (const std::bad_alloc&) {
        failure = Status::out_of_memory();  // The disk and the memory differ now.
      }
    }
  }
  if (!failure.ok()) {
    report_fatal(failure);
    return failure;
  }
  on_change_();
  return Status();
}

HeldFiles Tree::hold_files() {
  HeldFiles held;
  held.hold = removal_.hold();  // First: files that leave after this keep their names.
  const io::MutexGuard guard(changing_);
  held.files = manifest_.files();
  held.levels = levels();
  return held;
}

void Tree::remove_file(format::FileType type, std::uint64_t number) noexcept {
  removal_.remove(format::file_name(type, number));
}

}  // namespace varve::engine
