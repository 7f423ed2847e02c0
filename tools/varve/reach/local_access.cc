#include "tools/varve/reach/local_access.h"

#include <utility>

namespace varve::tool {
namespace {

class LocalTable final : public TableAccess {
 public:
  explicit LocalTable(Table table) : table_(std::move(table)) {}

  Result<std::optional<Entity>> get(const std::string& partition_key, const std::string& row_key,
                                    const ReadOptions& options) const override {
    return table_.get(partition_key, row_key, options);
  }
  Result<Page> scan(const Scan& scan) const override { return table_.scan(scan); }
  Result<Count> count(const Scan& scan) const override { return table_.count(scan); }
  Result<Count> aggregate(const Scan& scan, Aggregation& into) const override { return table_.aggregate(scan, into); }
  Result<ScanPlan> explain(const Scan& scan) const override { return table_.explain(scan); }
  Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options) override {
    return table_.execute(transaction, options);
  }

  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) override {
    return table_.write(operation, options);
  }
  Result<Entity> patch(const Patch& patch, ETag if_match, const WriteOptions& options) override {
    return table_.patch(patch, if_match, options);
  }
  Result<Entity> insert_or_patch(const Patch& patch, const WriteOptions& options) override {
    return table_.insert_or_patch(patch, options);
  }
  Result<WhereProgress> change_where(const Where& where, const PropertyChanges* changes,
                                     const WhereOptions& options) override {
    return changes == nullptr ? table_.delete_where(where, options) : table_.update_where(where, *changes, options);
  }

 private:
  Table table_;
};

class LocalStore final : public StoreAccess {
 public:
  explicit LocalStore(OpenedStore store) : store_(std::move(store)) {}

  Result<std::unique_ptr<TableAccess>> open_table(const std::string& account, const std::string& table) override {
    Result<Table> opened = store_->open_table(account, table);
    if (!opened.ok()) return opened.status();
    return access_to(*std::move(opened));
  }
  Status create_table(const std::string& account, const std::string& table, const TableOptions& options) override {
    return store_->create_table(account, table, options).status();
  }
  Status drop_table(const std::string& account, const std::string& table) override {
    return store_->drop_table(account, table);
  }
  Status create_index(const std::string& account, const std::string& table, const IndexDefinition& definition,
                      const std::function<bool(const IndexBuildProgress&)>& progress) override {
    return store_->create_index(account, table, definition, progress);
  }
  Status drop_index(const std::string& account, const std::string& table, const std::string& index) override {
    return store_->drop_index(account, table, index);
  }
  Result<std::vector<IndexInfo>> indexes(const std::string& account, const std::string& table) override {
    return store_->indexes(account, table);
  }
  Status set_table_expiry(const std::string& account, const std::string& table,
                          const std::optional<TableExpiry>& expiry) override {
    return store_->set_table_expiry(account, table, expiry);
  }
  Result<std::vector<AccessPolicy>> access_policies(const std::string& account, const std::string& table) override {
    return store_->access_policies(account, table);
  }
  Status set_access_policies(const std::string& account, const std::string& table,
                             const std::vector<AccessPolicy>& policies) override {
    return store_->set_access_policies(account, table, policies);
  }
  Result<std::optional<TableExpiry>> table_expiry(const std::string& account, const std::string& table) override {
    return store_->table_expiry(account, table);
  }
  Result<ServiceProperties> service_properties(const std::string& account, StorageService service) override {
    return store_->service_properties(account, service);
  }
  Status set_service_properties(const std::string& account, StorageService service,
                                const ServicePropertiesChange& change) override {
    return store_->set_service_properties(account, change, service);
  }
  Result<TablePage> list_tables(const std::string& account, const ListOptions& options) override {
    return store_->list_tables(account, options);
  }
  Status create_account(const std::string& account) override { return store_->create_account(account); }
  Status drop_account(const std::string& account) override { return store_->drop_account(account); }
  Result<AccountPage> list_accounts(const ListOptions& options) override { return store_->list_accounts(options); }
  Result<DateTime> now() override {
    const Result<Snapshot> snapshot = store_->snapshot();
    if (!snapshot.ok()) return snapshot.status();
    return (*snapshot).version();
  }
  Store* local() noexcept override { return &*store_; }
  Status close() override { return store_->close(); }

 private:
  OpenedStore store_;
};

}  // namespace

std::unique_ptr<StoreAccess> access_to(OpenedStore store) {
  return std::make_unique<LocalStore>(std::move(store));
}

std::unique_ptr<TableAccess> access_to(Table table) {
  return std::make_unique<LocalTable>(std::move(table));
}

Result<std::unique_ptr<TableAccess>> open_or_make_table(StoreAccess& store, const std::string& account,
                                                        const std::string& table, const TableOptions& options) {
  Result<std::unique_ptr<TableAccess>> opened = store.open_table(account, table);
  if (opened.code() != Code::kNotFound) return opened;
  if (Status made = store.create_account(account); !made.ok() && made.code() != Code::kExists) return made;
  if (Status made = store.create_table(account, table, options); !made.ok() && made.code() != Code::kExists)
    return made;
  return store.open_table(account, table);
}

Status check_has_no_contents(const Entity& entity) {
  for (const Property& property : entity.properties()) {
    if (property.value.type() != PropertyType::kLargeValue) continue;
    return Status::invalid_argument("the property \"" + property.name + "\" of the entity \"" + entity.partition_key() +
                                    "\", \"" + entity.row_key() +
                                    "\" is a large value, whose content stays in its store")
        .with_hint("`varve export --contents` and `varve import --contents` take contents to another table");
  }
  return Status();
}

}  // namespace varve::tool
