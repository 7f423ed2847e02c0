// Owns: reading and checking everything in a store (Store::verify).
// Must never: change anything, or stop at the first problem.
#include "varve/verify.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/blob/blob_check.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/policy_rows.h"
#include "api/catalog/queue_rows.h"
#include "api/catalog/service_property_rows.h"
#include "api/core/store_core.h"
#include "api/model/guarded.h"
#include "api/model/metrics_tables.h"
#include "api/model/quoted.h"
#include "api/queue/queue_check.h"
#include "api/read/damaged_blobs.h"
#include "api/read/index_check.h"
#include "engine/read/cursor.h"
#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"
#include "varve/store.h"

namespace varve {
namespace {

constexpr std::uint64_t kEntriesBetweenReports = 65'536;

void add_finding(VerifyReport& report, std::string finding) {
  ++report.finding_count;
  if (report.findings.size() < VerifyReport::kFindingsKept) report.findings.push_back(std::move(finding));
}

/// Visits a store in the order of keys. The catalog comes first, so it is known when the entities follow.
class Verifier {
 public:
  Verifier(VerifyReport& report, const engine::ReadView& view) : report_(report), view_(view), blobs_(view) {}

  void visit(const engine::Cursor& cursor) {
    if (format::is_index(format::table_id_of(cursor.key()))) return visit_entry(cursor);
    Result<format::SortKey> key = format::decode_sort_key(cursor.key());
    if (!key.ok()) return add_finding("a key", key.status());
    const format::TableId table = key->table;
    if (queue_ && queue_->queue() != table) end_queue();
    if (contents_ != 0 && contents_ != table) end_contents();
    const Entry entry{*std::move(key), cursor.version(), cursor.value()};
    if (entry.version > limits::kDateTimeTicksMax) add_finding(name_of(entry), "its Timestamp is after the year 9999");
    const std::size_t properties = visit_value(entry);
    switch (table) {
      case kAccountsTable: return visit_account(entry);
      case kTablesTable: return visit_table(entry);
      case kQueuesTable: return visit_queue(entry);
      case kServiceTable: return visit_service(entry);
      case kDropsTable: return visit_drop_note(entry, properties, check_table_name(entry.key.row_key));
      case kQueueDropsTable: return visit_drop_note(entry, properties, check_queue_name(entry.key.row_key));
      case kServicePropertiesTable: return visit_service_properties(entry);
      case kContainersTable: return visit_container(entry);
      case kContainerDropsTable: return visit_drop_note(entry, properties, check_container_name(entry.key.row_key));
      case kWorkTable: return report_row(entry, blobs_.visit_work(cursor.key(), entry.value));
      default: break;
    }
    if (blobs_.is_container(table))
      return report_row(entry, blobs_.visit_row(cursor.key(), entry.version, entry.value));
    if (is_contents(table)) {
      contents_ = table;
      Status before;
      const Status row = blobs_.visit_content(cursor.key(), entry.value, before);
      report_row(entry, before);
      return report_row(entry, row);
    }
    if (has_large_values(table)) report_row(entry, blobs_.visit_entity(cursor.key(), entry.value));
    if (indexes_.has_indexes(table)) visit_indexed(cursor, entry);
    if (queue_ids_.count(table) == 0) return visit_entity(entry, properties);
    if (!queue_) queue_.emplace(view_, table);
    report_row(entry, queue_->visit(cursor.key(), entry.version, entry.value));
  }

  /// Takes an entry whose value cannot be read.
  void visit_unread(std::string_view sort_key, const Status& failure) {
    indexes_.note_unread(format::table_id_of(sort_key));
    if (format::is_index(format::table_id_of(sort_key))) return add_finding(name_of_entry(sort_key), failure);
    Result<format::SortKey> key = format::decode_sort_key(sort_key);
    if (!key.ok()) return add_finding("a key", failure);
    const format::TableId table = key->table;
    add_finding(name_of(Entry{*std::move(key), 0, {}}), failure);
    if (queue_ && queue_->queue() != table) end_queue();
    if (contents_ != 0 && contents_ != table) end_contents();
    if (queue_ids_.count(table) != 0) unread_queue_ = table;
    if (table == kWorkTable) blobs_.note_unread_work(sort_key);
    if (blobs_.is_container(table)) blobs_.note_unread_row(sort_key);
    if (has_large_values(table)) blobs_.note_unread_entity(sort_key);
    if (!is_contents(table)) return;
    contents_ = table;
    if (Status before = blobs_.note_unread_content(sort_key); !before.ok())
      add_finding("the content before it", before);
  }

  /// `is_whole` is false if the walk over the keys ended early.
  void finish(bool is_whole) {
    if (queue_ && is_whole) end_queue();
    if (contents_ != 0 && is_whole) end_contents();
    if (is_whole) {
      blobs_.compare_owners([this](std::uint32_t account, const Status& status) {
        add_finding("account number " + std::to_string(account), status);
      });
    }
    if (is_whole) {
      indexes_.compare([this](const std::string& subject, const Status& found) { add_finding(subject, found); });
    }
    if (!blobs_.damaged().empty()) name_damaged_owners();
    indexes_.count(report_.indexes, report_.index_entries);
    report_.blobs = blobs_.blobs();
    report_.content_bytes = blobs_.content_bytes();
    for (const auto& [name, account] : accounts_) {
      if (account.number >= next_account_) add_finding("account " + quoted(name), "its number was never assigned");
    }
  }

 private:
  struct Entry {
    format::SortKey key;
    format::CommitVersion version;
    std::string_view value;
  };

  static bool is_contents(format::TableId table) noexcept {
    return static_cast<std::uint32_t>(table) == kContentsNumber && format::account_of(table) != 0;
  }

  void name_damaged_owners() {
    for (const auto& container : containers_) {
      const Status walked = find_damaged_blobs(view_, container.first, blobs_.damaged(), [&](std::string_view name) {
        add_finding("blob " + quoted(name) + " of " + container.second, "its content is damaged");
      });
      if (!walked.ok()) add_finding(container.second, walked);
    }
    for (const auto& table : value_tables_) {
      const Status walked = find_damaged_entities(
          view_, table.first, blobs_.damaged(), [&](std::string_view partition_key, std::string_view row_key) {
            add_finding("entity " + quoted(partition_key) + ", " + quoted(row_key) + " of " + table.second,
                        "the content of a LargeValue is damaged");
          });
      if (!walked.ok()) add_finding(table.second, walked);
    }
  }

  static std::string name_of(const Entry& entry) {
    return "table " + std::to_string(format::account_of(entry.key.table)) + "/" +
           std::to_string(static_cast<std::uint32_t>(entry.key.table)) + ", entity " + quoted(entry.key.partition_key) +
           ", " + quoted(entry.key.row_key);
  }

  static std::string name_of_entry(std::string_view key) {
    const format::TableId index = format::table_id_of(key);
    const Result<std::string> entity = format::entity_key_of(key, index);
    return "index " + std::to_string(format::account_of(index)) + "/" +
           std::to_string(static_cast<std::uint32_t>(index)) + ", entry of entity " +
           (entity.ok() ? quoted_keys(*entity) : "of unknown keys");
  }

  void visit_entry(const engine::Cursor& cursor) {
    const Status visited = indexes_.visit_entry(cursor.key(), cursor.value(), cursor.end());
    if (!visited.ok()) add_finding(name_of_entry(cursor.key()), visited);
  }

  /// An entity that is damaged has a finding already.
  void visit_indexed(const engine::Cursor& cursor, const Entry& entry) {
    const Result<format::EncodedEntity> properties = format::EncodedEntity::open(entry.value);
    if (!properties.ok()) return indexes_.note_unread(format::table_id_of(cursor.key()));
    indexes_.visit_entity(cursor.key(), entry.version, *properties, cursor.end());
  }

  void add_finding(const std::string& subject, std::string_view what) {
    varve::add_finding(report_, subject + ": " + std::string(what));
  }
  void add_finding(const std::string& subject, const Status& status) { add_finding(subject, status.to_string()); }

  void report_row(const Entry& entry, const Status& row) {
    if (!row.ok()) add_finding(name_of(entry), row);
  }

  /// Returns the number of properties.
  std::size_t visit_value(const Entry& entry) {
    const Result<format::EncodedEntity> view = format::EncodedEntity::open(entry.value);
    if (!view.ok()) {
      add_finding(name_of(entry), view.status());
      return 0;
    }
    if (Status verified = view->verify(); !verified.ok()) add_finding(name_of(entry), verified);
    return view->property_count();
  }

  void visit_account(const Entry& entry) {
    ++report_.accounts;
    const std::string& name = entry.key.partition_key;
    const Result<AccountRow> row = decode_account_row(name, entry.version, entry.value);
    if (!row.ok()) return add_finding("account " + quoted(name), row.status());
    if (!check_account_name(name).ok() || !entry.key.row_key.empty()) {
      add_finding("account " + quoted(name), "this is not a valid account name");
    }
    if (!account_numbers_.insert(row->number).second) {
      add_finding("account " + quoted(name), "another account has its number");
    }
    const Result<ServiceProperties> properties = decode_service_properties(entry.value);
    if (!properties.ok()) add_finding("account " + quoted(name), properties.status());
    accounts_[name] = *row;
  }

  void visit_drop_note(const Entry& entry, std::size_t properties, const Status& named) {
    const bool could_be_dropped = check_account_name(entry.key.partition_key).ok() && named.ok();
    if (!could_be_dropped) {
      add_finding(name_of(entry), "it records the drop of a name that is not valid");
    }
    if (properties > 0) add_finding(name_of(entry), "the record of a drop must have no properties");
  }

  void visit_service_properties(const Entry& entry) {
    const Result<ServiceProperties> properties = decode_service_properties(entry.value);
    if (!properties.ok())
      add_finding("service " + quoted(entry.key.row_key) + " of account " + quoted(entry.key.partition_key),
                  properties.status());
  }

  void visit_table(const Entry& entry) {
    ++report_.tables;
    const std::string& owner_name = entry.key.partition_key;
    const std::string subject = "table " + quoted(entry.key.row_key) + " of account " + quoted(owner_name);
    const Result<TableRow> row = decode_table_row(owner_name, entry.key.row_key, entry.version, entry.value);
    if (!row.ok()) return add_finding(subject, row.status());
    if (!check_stored_table_name(row->name).ok() || lower_case(row->name) != entry.key.row_key) {
      add_finding(subject, "its row has the name " + quoted(row->name));
    }
    check_id(subject, owner_name, table_fence_of(row->id));
    for (const TableIndex& index : row->indexes.all) {
      check_id("index " + quoted(index.name) + " of " + subject, owner_name, format::drawn_for_index(index.id));
    }
    indexes_.add_table(*row, subject);
    if (!has_large_values(row->id)) return;
    table_ids_.insert(row->id);
    value_tables_[row->id] = subject;
  }

  void visit_queue(const Entry& entry) {
    ++report_.queues;
    const std::string& owner_name = entry.key.partition_key;
    const std::string subject = "queue " + quoted(entry.key.row_key) + " of account " + quoted(owner_name);
    const Result<QueueRow> row = decode_queue_row(owner_name, entry.key.row_key, entry.version, entry.value);
    if (!row.ok()) return add_finding(subject, row.status());
    if (Status named = check_queue_name(entry.key.row_key); !named.ok()) add_finding(subject, named);
    if (Status metadata = check_metadata(row->metadata); !metadata.ok()) add_finding(subject, metadata);
    if (const auto policies = decode_queue_access_policies(entry.value); !policies.ok())
      add_finding(subject, policies.status());
    queue_ids_.insert(row->id);
    check_id(subject, owner_name, row->id);
  }

  void visit_container(const Entry& entry) {
    ++report_.containers;
    const std::string& owner_name = entry.key.partition_key;
    const std::string subject = "container " + quoted(entry.key.row_key) + " of account " + quoted(owner_name);
    const Result<ContainerRow> row = decode_container_row(owner_name, entry.key.row_key, entry.version, entry.value);
    if (!row.ok()) return add_finding(subject, row.status());
    if (Status named = check_container_name(entry.key.row_key); !named.ok()) add_finding(subject, named);
    if (Status metadata = check_metadata(row->metadata); !metadata.ok()) add_finding(subject, metadata);
    if (const auto policies = decode_container_access_policies(entry.value); !policies.ok())
      add_finding(subject, policies.status());
    blobs_.add_container(row->id);
    containers_[row->id] = subject;
    check_id(subject, owner_name, row->id);
    check_id(subject, owner_name, fence_of(row->id));
  }

  void end_contents() {
    if (Status ended = blobs_.end_contents(); !ended.ok()) {
      add_finding("the contents of account number " + std::to_string(format::account_of(contents_)), ended);
    }
    contents_ = 0;
  }

  /// Checks the id of a table, a queue or a container, which share their numbers.
  void check_id(const std::string& subject, const std::string& owner_name, format::TableId id) {
    if (!table_ids_.insert(id).second) add_finding(subject, "another table, queue or container has its id");
    const auto owner = accounts_.find(owner_name);
    if (owner == accounts_.end()) return add_finding(subject, "its account does not exist");
    if (format::account_of(id) != owner->second.number) add_finding(subject, "its id is another account's");
    if (static_cast<std::uint32_t>(id) >= owner->second.next_table) {
      add_finding(subject, "its number was never assigned");
    }
  }

  void end_queue() {
    const format::TableId id = queue_->queue();
    report_.messages += queue_->messages();
    const Status together = queue_->finish();
    queue_.reset();
    if (together.ok() || unread_queue_ == id) return;
    add_finding(
        "queue " + std::to_string(format::account_of(id)) + "/" + std::to_string(static_cast<std::uint32_t>(id)),
        together);
  }

  void visit_service(const Entry& entry) {
    const bool is_counter = entry.key.partition_key.empty() && entry.key.row_key == "accounts";
    if (!is_counter) return;  // A later build may have written it.
    const Result<std::uint32_t> next = decode_account_counter(entry.value);
    if (!next.ok()) return add_finding(name_of(entry), next.status());
    next_account_ = *next;
  }

  void visit_entity(const Entry& entry, std::size_t properties) {
    const auto number = static_cast<std::uint32_t>(entry.key.table);
    const bool is_companion = number >= kTableNumberEnd && !has_large_values(entry.key.table);
    if (format::account_of(entry.key.table) == 0 || is_companion || blobs_.is_leaving_table(entry.key.table)) return;
    ++report_.entities;
    report_.properties += properties;
    report_.value_bytes += entry.value.size();
    if (table_ids_.count(entry.key.table) == 0) add_finding(name_of(entry), "no catalog row names its table");
  }

  VerifyReport& report_;
  const engine::ReadView& view_;
  std::optional<QueueCheck> queue_;  // whose rows are being visited
  std::unordered_set<format::TableId> queue_ids_;
  format::TableId unread_queue_ = 0;  // a message of which could not be read, so that its counts mean nothing
  BlobCheck blobs_;
  IndexCheck indexes_;
  std::map<format::TableId, std::string> containers_;
  std::map<format::TableId, std::string> value_tables_;  // tables that may have large values
  format::TableId contents_ = 0;                         // whose rows are being visited
  std::map<std::string, AccountRow> accounts_;
  std::unordered_set<std::uint32_t> account_numbers_;
  std::unordered_set<format::TableId> table_ids_;
  std::uint32_t next_account_ = kFirstNumber;
};

/// Visits all entries. Goes on after a value that is damaged. Returns whether it came to the end.
bool visit_all(StoreCore& core, const engine::ReadView& view, Verifier& verifier, VerifyReport& report,
               const std::function<void(const VerifyReport&)>& progress) {
  std::uint64_t entries = 0;
  std::string from;
  for (;;) {
    engine::Cursor cursor = view.cursor(from, std::string_view());
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      if (core.engine().was_dropped(format::table_id_of(cursor.key()))) continue;
      verifier.visit(cursor);
      if (progress && ++entries % kEntriesBetweenReports == 0) progress(report);
    }
    const Status walked = cursor.status();
    if (walked.ok()) return true;
    const bool is_damage = walked.code() == Code::kCorruption || walked.code() == Code::kUnsupported;
    if (cursor.unread_key().empty() || !is_damage) {
      add_finding(report, "the scan of all entities stopped here: " + walked.to_string());
      return false;
    }
    from = cursor.unread_key();
    if (!core.engine().was_dropped(format::table_id_of(from))) verifier.visit_unread(from, walked);
    from.push_back('\0');
  }
}

Result<VerifyReport> verify_store(std::string_view path, const StoreOptions& options,
                                  const std::function<void(const VerifyReport&)>& progress) {
  StoreOptions reading;
  reading.read_only = true;
  reading.env = options.env;
  const Result<std::shared_ptr<StoreCore>> core = StoreCore::open(path, reading);
  if (!core.ok()) return core.status();

  VerifyReport report;
  report.recovery = (*core)->engine().statistics().recovery;
  (*core)->engine().check_tables([&](std::uint64_t bytes, const Status& found) {
    ++report.table_files;
    report.table_file_bytes += bytes;
    if (!found.ok()) add_finding(report, found.to_string());
    if (progress) progress(report);
  });
  if (Status warm = (*core)->engine().check_warm_list(); !warm.ok()) add_finding(report, warm.to_string());
  const engine::ReadView view = (*core)->backend().view();
  Verifier verifier(report, view);
  const bool is_whole = visit_all(**core, view, verifier, report, progress);
  verifier.finish(is_whole);
  if (progress) progress(report);
  return report;
}

}  // namespace

Result<VerifyReport> Store::verify(std::string_view path, const StoreOptions& options,
                                   const std::function<void(const VerifyReport&)>& progress) {
  return guarded([&] { return verify_store(path, options, progress); });
}

}  // namespace varve
