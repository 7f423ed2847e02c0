#include "tools/varve/backup/table_restore.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "api/doors/copied_ends.h"
#include "tools/varve/session/entity_reader.h"
#include "varve/loader.h"
#include "varve/table_expiry.h"

namespace varve::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTransactionBytesMax = std::size_t{1} << 20;

/// The store of a backup as a directory of links to its contents. It can be opened for reading only.
class LinkedStore {
 public:
  explicit LinkedStore(std::string path) : path_(std::move(path)) {}
  ~LinkedStore() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  LinkedStore(const LinkedStore&) = delete;
  LinkedStore& operator=(const LinkedStore&) = delete;

  Status make(const BackupPlace& backups, const BackupManifest& manifest) const {
    if (Status made = make_directory(path_); !made.ok()) return made;
    for (const BackupFile& file : manifest.files) {
      const std::string name = path_ + "/" + file.name;
      if (::link(backups.content_path(file.content.hash).c_str(), name.c_str()) != 0) return failed_call("link", name);
    }
    return Status();
  }
  const std::string& path() const noexcept { return path_; }

 private:
  const std::string path_;
};

/// Writes entities in transactions of one partition.
class Writer {
 public:
  explicit Writer(TableAccess& table) : table_(table) {}

  Status add(const Entity& entity) {
    const std::size_t bytes = accounted_size_bytes(entity);
    const bool is_full = transaction_.size() == limits::kTransactionOperationsMax ||
                         bytes_ + bytes > kTransactionBytesMax || partition_ != entity.partition_key();
    if (is_full) {
      if (Status written = finish(); !written.ok()) return written;
    }
    partition_ = entity.partition_key();
    bytes_ += bytes;
    transaction_.insert(entity);
    return Status();
  }
  Status finish() {
    if (transaction_.empty()) return Status();
    const Result<std::vector<ETag>> written = table_.execute(transaction_, WriteOptions());
    transaction_.clear();
    bytes_ = 0;
    return written.status();
  }

 private:
  TableAccess& table_;
  EntityGroupTransaction transaction_;
  std::string partition_;
  std::size_t bytes_ = 0;
};

/// A table of a backup, in one state.
struct SavedTable {
  std::unique_ptr<TableAccess> table;
  ReadOptions options;
  CopiedEnds ends;
};

Result<SavedTable> open_saved(StoreAccess& store, const Place& place) {
  Result<std::unique_ptr<TableAccess>> table = store.open_table(place.account, place.table);
  if (!table.ok()) return table.status();
  const Result<Snapshot> snapshot = store.local()->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Result<CopiedEnds> ends = CopiedEnds::of(*snapshot, place.account, place.table);
  if (!ends.ok()) return ends.status();
  ReadOptions options;
  options.snapshot = *snapshot;
  return SavedTable{*std::move(table), std::move(options), *std::move(ends)};
}

template <typename Add>
Result<std::uint64_t> add_each_entity(const SavedTable& saved, const Add& add) {
  EntityReader stream(*saved.table, saved.options);
  for (std::uint64_t count = 0;; ++count) {
    const Result<const Entity*> entity = stream.next();
    if (!entity.ok()) return entity.status();
    if (*entity == nullptr) return count;
    if (Status movable = check_has_no_contents(**entity); !movable.ok()) return movable;
    if (Status added = add(**entity); !added.ok()) return added;
  }
}

/// Fills the new table by files, if this process has the store open. Then either all entities appear or none. Sets
/// `is_made` if the table exists afterwards.
Result<std::uint64_t> load(Store& store, const Place& place, const SavedTable& from, bool& is_made) {
  Result<Loader> loader = store.load_table(place.account, place.table);
  if (!loader.ok()) return loader.status();
  const Result<std::uint64_t> added = add_each_entity(from, [&](const Entity& entity) -> Status {
    const Result<std::uint64_t> end = from.ends.end_of(entity);
    return end.ok() ? CopiedEnds::add(*loader, entity, *end) : end.status();
  });
  if (!added.ok()) return added;
  const Result<ETag> finished = (*loader).finish();
  if (!finished.ok()) return finished.status();
  is_made = true;
  return added;
}

/// Fills the new table by transactions. Sets `is_made` if this function created the table.
Result<std::uint64_t> write(StoreAccess& store, const Place& place, const SavedTable& from, bool& is_made) {
  if (Status made = store.create_table(place.account, place.table, {}); !made.ok()) return made;
  is_made = true;
  const Result<std::unique_ptr<TableAccess>> table = store.open_table(place.account, place.table);
  if (!table.ok()) return table.status();
  Writer writer(**table);
  const Result<std::uint64_t> added =
      add_each_entity(from, [&writer](const Entity& entity) { return writer.add(entity); });
  if (!added.ok()) return added;
  if (Status finished = writer.finish(); !finished.ok()) return finished;
  return added;
}

/// What a table has beside its entities.
struct SavedRules {
  std::optional<TableExpiry> expiry;
  std::vector<IndexInfo> indexes;
  std::vector<AccessPolicy> policies;
};

Result<SavedRules> rules_of(const Store& store, const Place& place) {
  const Result<std::optional<TableExpiry>> expiry = store.table_expiry(place.account, place.table);
  if (!expiry.ok()) return expiry.status();
  Result<std::vector<IndexInfo>> indexes = store.indexes(place.account, place.table);
  if (!indexes.ok()) return indexes.status();
  Result<std::vector<AccessPolicy>> policies = store.access_policies(place.account, place.table);
  if (!policies.ok()) return policies.status();
  return SavedRules{*expiry, *std::move(indexes), *std::move(policies)};
}

/// Gives a restored table its rules. A server takes the expiry alone.
Status give_rules(StoreAccess& to, const Place& place, const SavedRules& rules) {
  if (rules.expiry) {
    // Set last: entities that were stored before the rule must not end by it.
    if (Status set = to.set_table_expiry(place.account, place.table, *rules.expiry); !set.ok()) return set;
  }
  Store* const local = to.local();
  if (local == nullptr) return Status();
  for (const IndexInfo& index : rules.indexes) {
    if (index.state == IndexState::kFailed) continue;
    if (Status built = local->create_index(place.account, place.table, index.definition); !built.ok()) return built;
  }
  return rules.policies.empty() ? Status() : local->set_access_policies(place.account, place.table, rules.policies);
}

bool have_same_keys(const Entity& a, const Entity& b) {
  return a.partition_key() == b.partition_key() && a.row_key() == b.row_key();
}

/// Compares a restored table with the backup, except for Timestamps. A restored entity may have ended since.
Status compare(const TableAccess& restored, const SavedTable& saved, Store* local) {
  ReadOptions options;
  std::uint64_t time = 0;
  if (local != nullptr) {
    const Result<Snapshot> snapshot = local->snapshot();
    if (!snapshot.ok()) return snapshot.status();
    options.snapshot = *snapshot;
    time = CopiedEnds::time_of(*snapshot);
  }
  EntityReader left(restored, std::move(options));
  EntityReader right(*saved.table, saved.options);
  Result<const Entity*> one = left.next();
  for (;;) {
    const Result<const Entity*> other = right.next();
    if (!one.ok()) return one.status();
    if (!other.ok()) return other.status();
    if (*other == nullptr) break;
    if (*one == nullptr || !have_same_keys(**one, **other)) {
      const Result<std::uint64_t> end = saved.ends.end_of(**other);
      if (!end.ok()) return end.status();
      if (*end != 0 && *end <= time) continue;
      return Status::corruption("the restored table lacks the entity \"" + (**other).partition_key() + "\", \"" +
                                (**other).row_key() + "\" of the backup");
    }
    if (!have_same_values(**one, **other)) {
      return Status::corruption("the entity \"" + (**one).partition_key() + "\", \"" + (**one).row_key() +
                                "\" differs from the backup");
    }
    one = left.next();
  }
  if (*one == nullptr) return Status();
  return Status::corruption("the restored table has the entity \"" + (**one).partition_key() + "\", \"" +
                            (**one).row_key() + "\", which the backup lacks");
}

}  // namespace

Result<RestoredTable> restore_table(const BackupPlace& backups, const BackupManifest& manifest, const Place& place) {
  const LinkedStore linked(backups.scratch() + "/" + std::to_string(::getpid()));
  if (Status made = linked.make(backups, manifest); !made.ok()) return made;
  Result<std::unique_ptr<StoreAccess>> from = reach_briefly({linked.path(), place.account, place.table});
  if (!from.ok()) return from.status();
  const Result<SavedTable> saved = open_saved(**from, place);
  if (!saved.ok()) return saved.status();
  const Result<SavedRules> rules = rules_of(*(*from)->local(), place);
  if (!rules.ok()) return rules.status();
  Result<std::unique_ptr<StoreAccess>> to = reach_or_make(place);
  if (!to.ok()) return to.status();
  if (Status made = (*to)->create_account(place.account); !made.ok() && made.code() != Code::kExists) return made;
  const Status absent = (*to)->open_table(place.account, place.table).status();
  if (absent.ok()) {
    return Status::exists("the store has a table " + place.table + "; drop it, or restore into another store")
        .with_service_error("TableAlreadyExists");
  }
  if (absent.code() != Code::kNotFound) return absent;
  Store* const local = (*to)->local();
  if (rules->expiry && is_address(place.store)) {
    return Status::unsupported("the entities of " + place.table +
                               " expire, and the table service has no expiry; restore into a directory");
  }
  if (!rules->indexes.empty() && local == nullptr) {
    return Status::unsupported("the table " + place.table +
                               " has indexes, and the table service has none; restore into a directory");
  }
  bool is_made = false;
  Result<std::uint64_t> count =
      local != nullptr ? load(*local, place, *saved, is_made) : write(**to, place, *saved, is_made);
  if (count.ok()) {
    const Result<std::unique_ptr<TableAccess>> restored = (*to)->open_table(place.account, place.table);
    const Status same = restored.ok() ? compare(**restored, *saved, local) : restored.status();
    if (!same.ok()) count = same;
  }
  if (count.ok()) {
    if (Status given = give_rules(**to, place, *rules); !given.ok()) count = given;
  }
  if (!count.ok()) {
    if (is_made) (void)(*to)->drop_table(place.account, place.table);  // the first failure is the one to report
    return count.status();
  }
  if (const Status closed = (*to)->close(); !closed.ok()) return closed;
  return RestoredTable{*count, local == nullptr && rules->expiry.has_value()};
}

}  // namespace varve::tool
