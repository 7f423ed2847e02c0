// Owns: the order of a change (tree.h).
// Must never: show a change to readers before it is durable.
#include "engine/compaction/tree.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"

namespace varve::engine {

namespace {

using OpenTables = std::map<std::uint64_t, std::shared_ptr<TableFile>>;

OpenTables tables_of(const Levels& levels) {
  OpenTables tables;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : levels.level(level)) tables.emplace(file->entry.number, file->table);
  }
  return tables;
}

Result<std::shared_ptr<const Levels>> arrange_with(const FileSet& files, const OpenTables& known,
                                                   const ValueFiles& known_values, TableFiles& tables) {
  LevelFiles all;
  all.reserve(files.tables.size());
  for (const auto& [number, entry] : files.tables) {
    const auto found = known.find(number);
    all.push_back(
        std::make_shared<LevelFile>(LevelFile{entry, found == known.end() ? tables.add(entry) : found->second}));
  }
  Result<Levels> levels = Levels::make(std::move(all));
  if (!levels.ok()) return levels.status();
  ValueFiles values;
  for (const auto& [number, entry] : files.value_files) {
    const auto found = known_values.find(number);
    values.emplace(number, found == known_values.end() ? tables.add(entry) : found->second);
  }
  levels->set_value_files(std::move(values));
  return std::shared_ptr<const Levels>(std::make_shared<Levels>(*std::move(levels)));
}

TableId first_table_of(std::string_view prefix) noexcept {
  const std::uint64_t id = format::load_u32_big_endian(prefix.data());
  if (prefix.size() == 4) return id << 32;
  return id << 32 | format::load_u32_big_endian(prefix.data() + 4);
}

bool holds_any_of(const FileSet& files, std::string_view prefix) noexcept {
  const TableId first = first_table_of(prefix);
  const TableId last = prefix.size() == 4 ? first | 0xFFFFFFFFu : first;
  return std::any_of(files.tables.begin(), files.tables.end(), [&](const auto& table) {
    return table.second.first_table <= last && first <= table.second.last_table;
  });
}

/// Removes dead ids of which no table contains anything: from the edit's new ids, and from the set's old ids. `after`
/// is the set with the edit. Entries of such an id in a memtable are left out when it is flushed.
void forget_dead_ids(const FileSet& before, const FileSet& after, format::ManifestEdit& edit) {
  std::erase_if(edit.added_dead_ids, [&](const format::DeadId& dead) { return !holds_any_of(after, dead.prefix); });
  for (const format::DeadId& dead : before.dead_ids) {
    if (!holds_any_of(after, dead.prefix)) edit.removed_dead_ids.push_back(dead.prefix);
  }
}

/// Removes value files that no table points into, by the same edit. `after` is the set with the edit.
void forget_value_files(FileSet& after, format::ManifestEdit& edit) {
  std::set<std::uint64_t> used;
  for (const auto& [number, table] : after.tables) {
    for (const format::ValueFileUse& use : table.value_files) used.insert(use.number);
  }
  for (auto file = after.value_files.begin(); file != after.value_files.end();) {
    if (used.contains(file->first)) {
      ++file;
      continue;
    }
    edit.removed_value_files.push_back(file->first);
    file = after.value_files.erase(file);
  }
}

}  // namespace

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
  return arrange_with(files, OpenTables(), ValueFiles(), tables);
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

Result<std::shared_ptr<const Levels>> Tree::rearrange(const FileSet& files) {
  const ReadStates::Pin pin = states_.pin();
  return arrange_with(files, tables_of(*pin->tables), pin->tables->value_files(), tables_);
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
    if (Status synced = directory_.sync(sync_points::kTableNames); !synced.ok()) {
      tables_.discard(edit.added_tables);
      return synced;
    }
  }
  return Status();
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

Status Tree::install(format::ManifestEdit edit) {
  return change_tables(
      std::move(edit), [](ReadState&) {},
      [this](format::ManifestEdit& completed) VARVE_REQUIRES(changing_) {
        KeyRange range{completed.added_tables.front().smallest_key, completed.added_tables.front().largest_key};
        for (const format::TableFileEntry& file : completed.added_tables) {
          range = range.with({file.smallest_key, file.largest_key});
        }
        const std::optional<std::uint32_t> level = deepest_free_level(range);
        if (!level) {
          return Status(Code::kBusy,
                        "every level has a file that spans the keys of the table; compact the store first");
        }
        for (format::TableFileEntry& file : completed.added_tables) file.level = *level;
        return Status();
      });
}

Status Tree::apply(format::ManifestEdit edit, const std::function<void(ReadState&)>& change) {
  return change_tables(std::move(edit), change, Completion());
}

Status Tree::change_tables(format::ManifestEdit edit, const std::function<void(ReadState&)>& change,
                           const Completion& complete) {
  Status failure;
  {
    const io::MutexGuard guard(changing_);
    if (complete) {
      if (Status completed = complete(edit); !completed.ok()) return completed;
    }
    // All steps that may fail for lack of memory come before the edit is durable. Only segments may change
    // concurrently.
    const FileSet before = manifest_.files();
    if (edit.oldest_readable_version) {
      // A long compaction has an earlier horizon than a flush that finished first.
      edit.oldest_readable_version = std::max(*edit.oldest_readable_version, before.oldest_readable_version);
    }
    FileSet after = before;
    if (Status applied = after.apply(edit); !applied.ok()) return applied;
    forget_dead_ids(before, after, edit);
    forget_value_files(after, edit);
    Result<std::shared_ptr<const Levels>> levels = rearrange(after);
    if (!levels.ok()) return levels.status();
    OpenTables left = tables_of(*states_.pin()->tables);
    for (const auto& [number, table] : after.tables) left.erase(number);
    ValueFiles left_values = states_.pin()->tables->value_files();
    for (const auto& [number, values] : after.value_files) left_values.erase(number);
    ReadStates::Room room = states_.make_room();

    failure = make_durable(edit);
    if (failure.ok()) {
      failure = manifest_.append(edit);
      if (!failure.ok() && !manifest_.is_stopped()) {
        tables_.discard(edit.added_tables);
        return failure;
      }
    }
    if (failure.ok()) {
      try {
        states_.update(std::move(room), [&](ReadState& state) {
          change(state);
          state.tables = *levels;
        });
        for (const auto& [number, table] : left) table->leave();
        for (const auto& [number, values] : left_values) values->leave();
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
