// Owns: the order of a repair, and the merge of everything that was found (repair.h).
// Must never: create anything in the target before the damaged directory proved to be a store.
#include "engine/repair/repair.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/given_path.h"
#include "engine/base/side_by_side.h"
#include "engine/checkpoint/checkpoint_target.h"
#include "engine/memory/memtable_cursor.h"
#include "engine/read/merge_cursor.h"
#include "engine/recovery/establish.h"
#include "engine/repair/repaired_files.h"
#include "engine/repair/salvaged_ahead.h"
#include "engine/repair/salvaged_log.h"
#include "engine/repair/salvaged_row.h"
#include "engine/repair/salvaged_values.h"
#include "engine/repair/survey.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"
#include "io/os_error.h"

namespace varve::engine {
namespace {

constexpr std::uint64_t kEntriesBetweenReports = 65'536;
/// The kernel may keep a killed process's lock until its last write has ended.
constexpr std::chrono::milliseconds kRepairLockWaitMax{500};

/// Everything that is found before the first row is read.
struct Found {
  std::unique_ptr<Salvage> salvage;
  SurveyedStore store;
  SalvagedLog log;
};

bool knows_more(const ManifestMark& log, const ManifestMark& manifest) noexcept {
  return log.number > manifest.number || (log.number == manifest.number && log.durable_bytes > manifest.durable_bytes);
}

Result<Found> find_parts_by(ManifestTrust trust, const io::Env& env, io::Directory& directory,
                            const UnreadableParts& unreadable) {
  Found found;
  found.salvage = std::make_unique<Salvage>(Salvage{directory, {}, {}, &unreadable});
  Result<SurveyedStore> store = survey_store(trust, *found.salvage);
  if (!store.ok()) return store.status();
  found.store = *std::move(store);
  Result<SalvagedLog> log = salvage_log(env, found.store, *found.salvage);
  if (!log.ok()) return log.status();
  found.log = *std::move(log);
  return found;
}

/// A manifest is trusted until the log contradicts it.
Result<Found> find_parts(const io::Env& env, io::Directory& directory, const UnreadableParts& unreadable) {
  for (const ManifestTrust trust : {ManifestTrust::kAsFound, ManifestTrust::kWithoutRoot}) {
    Result<Found> found = find_parts_by(trust, env, directory, unreadable);
    if (!found.ok()) return found;
    if (!found->store.is_certain || !knows_more(found->log.mark, found->store.manifest)) return found;
  }
  return find_parts_by(ManifestTrust::kNone, env, directory, unreadable);
}

class Repairer {
 public:
  Repairer(const io::Env& env, Found found, CheckpointTarget& target, RepairModel& model,
           const std::function<void(const RepairReport&)>& progress)
      : env_(env),
        salvage_(std::move(found.salvage)),
        store_(std::move(found.store)),
        log_(std::move(found.log)),
        values_(salvage_->directory),
        target_(target),
        files_(env, target),
        model_(model),
        progress_(progress) {}

  Result<RepairFigures> repair() {
    figures().report.files_are_certain = store_.is_certain;
    figures().report.options_are_known = store_.files.store_id != format::StoreId{};
    newest_ = std::max({log_.ceiling, store_.root_version, store_.files.version_ceiling, store_.files.flushed_version});
    if (Status dropped = gather_drops(); !dropped.ok()) return dropped;
    if (Status copied = copy_rows(); !copied.ok()) return copied;
    if (Status ended = end_store(); !ended.ok()) return ended;
    figures().report.written_files = files_.files().size();
    figures().report.written_bytes = files_.written_bytes();
    figures().losses = salvage_->losses.take();
    for (std::string& line : salvage_->unreadable->findings()) figures().findings.push_back(std::move(line));
    return std::move(figures());
  }

 private:
  RepairFigures& figures() noexcept { return salvage_->figures; }

  Status gather_drops() {
    const FileSet& files = store_.files;
    const std::vector<format::DeadId> logged = log_.retired.list();
    if (Status room = dropped_.reserve(files.dead_ids.size() + logged.size() + files.loading_ids.size()); !room.ok()) {
      return room;
    }
    for (const format::DeadId& dead : files.dead_ids) {
      if (dead.drop_version != 0) dropped_.add(dead.prefix, dead.drop_version);
    }
    for (const format::DeadId& dead : logged) dropped_.add(dead.prefix, dead.drop_version);
    for (const format::TableId loading : files.loading_ids) {
      if (std::find(log_.adopted.begin(), log_.adopted.end(), loading) != log_.adopted.end()) continue;
      dropped_.add(format::encode_table(loading), 1);
    }
    return Status();
  }

  // -- Rows ---------------------------------------------------------------------------------------------------------

  /// Returns the entries by key, newest version first. An entry that is in the log and in a table comes twice.
  std::unique_ptr<MergeStream> all_entries() {
    std::vector<std::unique_ptr<EntryStream>> sources;
    for (const std::unique_ptr<Memtable>& memtable : log_.memtables) {
      auto cursor = std::make_unique<MemtableCursor>(*memtable);
      cursor->seek("", format::kCommitVersionMax);
      sources.push_back(std::move(cursor));
    }
    add_tables(sources);
    return std::make_unique<MergeStream>(std::move(sources));
  }

  /// Adds the rows of table files. The first ones, to which most files belong, are read side by side.
  void add_tables(std::vector<std::unique_ptr<EntryStream>>& sources) {
    std::vector<std::vector<const TableSource*>> rows = arrange_rows(store_.tables);
    const std::size_t ahead_count = std::min(rows.size(), kSideHelpersMax);
    std::vector<SalvagedAhead*> ahead;
    while (ahead.size() < ahead_count) {
      auto row = std::make_unique<SalvagedAhead>(env_.scheduler, std::move(rows[ahead.size()]), *salvage_);
      ahead.push_back(row.get());
      sources.push_back(std::move(row));
    }
    for (SalvagedAhead* const row : ahead) row->settle();
    for (std::size_t i = ahead_count; i < rows.size(); ++i) {
      sources.push_back(std::make_unique<SalvagedRow>(std::move(rows[i]), *salvage_));
    }
  }

  Status copy_rows() {
    const std::unique_ptr<MergeStream> all = all_entries();
    std::string key;
    bool is_first = true;
    for (std::uint64_t entries = 1; all->valid(); all->next(), ++entries) {
      const Entry entry = all->entry();
      newest_ = std::max(newest_, entry.version);
      if (progress_ && entries % kEntriesBetweenReports == 0) progress_(figures().report);
      if (!is_first && entry.sort_key == key) continue;
      is_first = false;
      key.assign(entry.sort_key);
      if (Status taken = take(entry); !taken.ok()) return taken;
    }
    if (Status ended = all->status(); !ended.ok()) return ended;
    give_system_rows();
    return files_.end_file();
  }

  /// Processes the newest version of a key.
  Status take(const Entry& entry) {
    const format::TableId table = format::table_id_of(entry.sort_key);
    if (format::account_of(table) == 0) {
      if (entry.kind != Kind::kPut) return Status();  // System rows are never large enough for a value file.
      system_.rows.push_back({std::string(entry.sort_key), entry.version, std::string(entry.value),
                              salvage_->losses.may_hide(entry.sort_key, entry.version)});
      return Status();
    }
    if (!has_given_) give_system_rows();
    if (table != table_ || !has_table_) {
      has_table_ = true;
      table_ = table;
      keeps_table_ = model_.keeps(table);
    }
    if (!entry.is_put()) return Status();
    if (!keeps_table_) return leave_out(table);
    return entry.is_external() ? save_external(entry) : save(entry);
  }

  Status save(const Entry& entry) {
    ++figures().report.entities;
    figures().report.value_bytes += entry.content().size();
    has_ends_ |= entry.has_end();
    if (salvage_->losses.count_row(entry.sort_key, entry.version)) ++figures().report.entities_possibly_stale;
    return files_.add(entry);
  }

  /// Saves a row whose value is in a log segment. If the value is lost, only this row is lost with it.
  Status save_external(const Entry& entry) {
    const Result<std::string> value = values_.read(entry.content());
    if (value.ok() && !entry.has_end()) return save({entry.sort_key, entry.version, Kind::kPut, *value});
    if (value.ok()) {
      const std::string stored = std::string(entry.value.substr(0, format::kEndBytes)).append(*value);
      return save({entry.sort_key, entry.version, Kind::kPutExpiring, stored});
    }
    if (!is_damage(value.status())) return value.status();
    salvage_->note(value.status());
    Loss loss = values_.place_of(entry.content());
    loss.what = value.status().message();
    loss.entries_max = 1;
    loss.smallest_key = loss.largest_key = std::string(entry.sort_key);
    loss.smallest_version = loss.largest_version = entry.version;
    salvage_->losses.add(std::move(loss));
    return Status();
  }

  Status leave_out(format::TableId table) {
    // The entries of an index are no entities: the index is built anew.
    if (!format::is_index(table) && !dropped_.dropped_at(table)) ++figures().report.entities_left_out;
    return Status();
  }

  void give_system_rows() {
    if (std::exchange(has_given_, true)) return;
    system_.drops_are_known = store_.is_certain;
    system_.may_be_incomplete = may_miss_system_rows();
    system_.is_dropped = [this](format::TableId table) { return dropped_.dropped_at(table).has_value(); };
    model_.take_system_rows(system_);
  }

  /// A doubt about the live files loses no system row, because all files were read.
  bool may_miss_system_rows() const {
    const std::string users = format::encode_table(format::make_table_id(1, 0));
    for (const Loss& loss : salvage_->losses.all()) {
      const bool is_of_rows = loss.file.ends_with(".sst") || loss.file.ends_with(".wal") || loss.file.ends_with(".buf");
      if (is_of_rows && (!loss.smallest_key || *loss.smallest_key < users)) return true;
    }
    return false;
  }

  // -- The end ------------------------------------------------------------------------------------------------------

  /// Returns a version that is not below any version that a reader of the store may have seen.
  CommitVersion version_floor() const {
    const bool is_complete = salvage_->losses.empty() && figures_say_all_whole();
    const CommitVersion wall = is_complete ? 0 : env_.clock.wall();
    return std::min(std::max(newest_, wall), format::kCommitVersionMax - 1);
  }

  bool figures_say_all_whole() const noexcept {
    const RepairReport& seen = salvage_->figures.report;
    return seen.current.whole == 1 && seen.manifests.damaged == 0;
  }

  Status end_store() {
    const CommitVersion floor = version_floor();
    Result<std::vector<SystemRow>> rows = model_.mended_rows(floor + 1);
    if (!rows.ok()) return rows.status();
    std::sort(rows->begin(), rows->end(),
              [](const SystemRow& left, const SystemRow& right) { return left.key < right.key; });
    CommitVersion last = floor;
    for (const SystemRow& row : *rows) {
      last = std::max(last, row.version);
      if (Status added = files_.add({row.key, row.version, Kind::kPut, row.value}); !added.ok()) return added;
    }
    if (Status ended = files_.end_file(); !ended.ok()) return ended;
    figures().report.version = DateTime{last};
    return target_.finish(target_files(last), last, store_.root_unknown_fields);
  }

  FileSet target_files(CommitVersion last) {
    FileSet files;
    files.store_id = draw_store_id(env_.random);
    files.features = store_.files.features;
    if (has_ends_) files.features.incompatible |= format::kExpiryFeature;
    files.stored_options = store_.files.stored_options;
    files.unknown_fields = store_.files.unknown_fields;
    files.file_number_ceiling = files_.next_number();
    files.version_ceiling = files.oldest_readable_version = files.flushed_version = last;
    files.commit_tag = store_.files.commit_tag;
    const bool log_is_newer =
        log_.last_tag && (!files.commit_tag || files.commit_tag->version < log_.last_tag->version);
    if (log_is_newer) files.commit_tag = log_.last_tag;
    for (const auto& [number, table] : files_.files()) files.tables.emplace(number, table);
    return files;
  }

  const io::Env& env_;
  const std::unique_ptr<Salvage> salvage_;
  const SurveyedStore store_;
  const SalvagedLog log_;
  SalvagedValues values_;
  CheckpointTarget& target_;
  RepairedFiles files_;
  RepairModel& model_;
  const std::function<void(const RepairReport&)>& progress_;
  RetiredIds dropped_;
  SystemRows system_;
  bool has_given_ = false;
  bool has_ends_ = false;  // an entity was saved with an end
  bool has_table_ = false;
  bool keeps_table_ = false;
  format::TableId table_ = 0;
  CommitVersion newest_ = 0;
};

/// Takes the readers' lock, which a writer's lock excludes. Without a lock file there is no writer, and no lock file is
/// created (S1).
Result<std::unique_ptr<io::DirectoryLock>> lock_for_reading(io::Directory& directory) {
  Result<std::unique_ptr<io::DirectoryLock>> lock =
      directory.lock(kLockName, io::LockMode::kShared, kRepairLockWaitMax);
  if (io::is_missing(lock.status())) return std::unique_ptr<io::DirectoryLock>();
  return lock;
}

}  // namespace

Result<RepairFigures> repair_store(const io::Env& env, std::string_view path, std::string_view target,
                                   RepairModel& model, const std::function<void(const RepairReport&)>& progress) {
  const Result<std::unique_ptr<io::Directory>> directory = env.files.open_directory(path);
  if (!directory.ok()) return answer_for_path(directory.status());
  if (target.size() > path.size() && target.starts_with(path) && (path.ends_with("/") || target[path.size()] == '/')) {
    return Status::invalid_argument("the repaired store must not lie inside the damaged one").in_file(target);
  }
  const Result<std::unique_ptr<io::DirectoryLock>> lock = lock_for_reading(**directory);
  if (!lock.ok()) return lock.status();
  UnreadableParts unreadable(env.scheduler);
  TolerantDirectory readable(**directory, unreadable);
  Result<Found> found = find_parts(env, readable, unreadable);
  if (!found.ok()) return found.status();
  // If the device reads nothing at all, it may be disconnected.
  if (Status nothing = unreadable.nothing_was_read(); !nothing.ok()) return nothing;
  const Result<std::unique_ptr<CheckpointTarget>> made = CheckpointTarget::begin(env, target);
  if (!made.ok()) return made.status();
  return Repairer(env, *std::move(found), **made, model, progress).repair();
}

}  // namespace varve::engine
