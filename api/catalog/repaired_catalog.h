// Owns: the catalog of a repaired store: its tables, queues and containers, and new rows for those that were lost.
// Must never: restore a dropped table, or let a number be given twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/queue_rows.h"
#include "engine/repair/repair_model.h"

namespace varve {

/// The names of a table's account and of the table.
using TableNames = std::pair<std::string, std::string>;

/// Implements RepairModel.
class RepairedCatalog final : public engine::RepairModel {
 public:
  void take_system_rows(const engine::SystemRows& rows) override;
  bool keeps(format::TableId table) override;
  Result<std::vector<engine::SystemRow>> mended_rows(format::CommitVersion version) override;

  // The results; valid after mended_rows().
  const std::map<std::uint32_t, std::string>& accounts() const noexcept { return account_names_; }
  /// Tables, queues and containers.
  const std::map<format::TableId, TableNames>& tables() const noexcept { return table_names_; }
  std::uint64_t queue_count() const noexcept { return queues_; }
  std::uint64_t container_count() const noexcept { return containers_; }
  /// The numbers of accounts that have contents of blobs or of entities.
  const std::vector<std::uint32_t>& accounts_with_contents() const noexcept { return with_contents_; }
  /// The ids of each account's number whose rows may name contents: containers, and tables with large values. With dropped
  /// ones that still have rows.
  std::map<std::uint32_t, std::vector<format::TableId>> owners_of_contents() const;
  /// Returns whether the account has tables whose rows were lost, and which may be containers.
  bool has_nameless_tables(std::uint32_t account) const;
  /// The tables that have indexes to build.
  const std::vector<format::TableId>& tables_to_index() const noexcept { return to_index_; }
  const std::vector<std::string>& renamed_tables() const noexcept { return renamed_; }
  const std::vector<std::string>& remade_accounts() const noexcept { return remade_; }

 private:
  struct Account {
    AccountRow row;
    const engine::SystemRow* found = nullptr;
  };
  struct TableFound {
    std::string account;
    std::string lower_name;
    TableRow row;
    const engine::SystemRow* found = nullptr;
    enum class Kind : std::uint8_t { kTable, kQueue, kContainer } kind = Kind::kTable;
  };

  void take_account(const engine::SystemRow& row, std::string name);
  void take_table(const engine::SystemRow& row, std::string account, std::string lower_name);
  void take_queue(const engine::SystemRow& row, std::string account, std::string name);
  void take_container(const engine::SystemRow& row, std::string account, std::string name);
  void take_work(const engine::SystemRow& row);
  void drop_orphaned_rows();
  void see(format::TableId table);
  bool keeps_contents(std::uint32_t account);
  std::string name_for_account(std::uint32_t number) const;
  void name_orphans(format::CommitVersion version);
  Status mend_table(const TableFound& table, format::CommitVersion version);
  Status mend_accounts(format::CommitVersion version);
  Status mend_account(const std::string& name, const Account& account, format::CommitVersion version);
  void mend_secret(format::CommitVersion version);
  Status mend_counter(format::CommitVersion version);
  void write(std::string key, std::string value, format::CommitVersion version);

  const engine::SystemRows* found_ = nullptr;
  std::map<std::string, Account> accounts_;
  std::map<format::TableId, TableFound> tables_;
  std::set<format::TableId> orphans_;
  std::set<std::uint32_t> numbers_;  // of accounts that have a row or a table
  std::vector<std::uint32_t> with_contents_;
  std::set<format::TableId> left_;  // dropped containers and tables with large values that still have rows
  const engine::SystemRow* counter_ = nullptr;
  bool has_secret_ = false;
  std::uint64_t queues_ = 0;
  std::uint64_t containers_ = 0;
  /// The highest table number seen in each account, and the highest account number.
  std::map<std::uint32_t, std::uint32_t> highest_table_;
  std::uint32_t highest_account_ = 0;
  std::vector<engine::SystemRow> mended_;
  std::map<std::uint32_t, std::string> account_names_;
  std::map<format::TableId, TableNames> table_names_;
  std::vector<format::TableId> to_index_;
  std::vector<std::string> renamed_;
  std::vector<std::string> remade_;
};

}  // namespace varve
