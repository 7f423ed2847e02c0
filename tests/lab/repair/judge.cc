#include "tests/lab/repair/judge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/repaired_catalog.h"
#include "engine/engine.h"
#include "engine/repair/repair.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "varve/names.h"
#include "varve/store.h"

namespace varve::lab::repair {
namespace {

constexpr std::string_view kTargetPath = "/repaired";

struct SavedRow {
  std::uint64_t version = 0;
  std::string value;
};

std::string text_of(const std::string& key) {
  const Result<format::SortKey> decoded = format::decode_sort_key(key);
  if (!decoded.ok()) return "a key that is none";
  return std::to_string(decoded->table >> 32) + "." + std::to_string(static_cast<std::uint32_t>(decoded->table)) +
         " '" + decoded->partition_key + "' '" + decoded->row_key + "'";
}

class Judge {
 public:
  Judge(const World& world, const io::MemoryDisk& disk, const Expectation& expected)
      : world_(world), expected_(expected), before_(disk), files_(disk) {
    clock_.set_wall(world.history.last_version + io::kTicksPerMillisecond);  // Later than all of the history.
  }

  Verdict judge() {
    const Result<engine::RepairFigures> repaired =
        engine::repair_store(env_, kStorePath, kTargetPath, catalog_, nullptr);
    check_untouched();
    if (!repaired.ok()) {
      verdict_.was_refused = true;
      broken("refused", repaired.status().to_string());
      return std::move(verdict_);
    }
    verdict_.figures = *repaired;
    verdict_.tables_renamed = catalog_.renamed_tables().size();
    if (!read_target()) return std::move(verdict_);
    check_rows();
    check_tables();
    check_numbers();
    check_report();
    check_use();
    return std::move(verdict_);
  }

 private:
  void broken(std::string_view law, const std::string& how) {
    verdict_.broken.push_back(std::string(law) + ": " + how);
  }

  void check_untouched() {
    const io::MemoryDisk after = files_.snapshot();
    if (after.file_names(kStorePath) != before_.file_names(kStorePath)) return broken("untouched", "other files");
    for (const std::string& name : before_.file_names(kStorePath)) {
      const std::string path = std::string(kStorePath) + "/" + name;
      if (*after.read_file(path) != *before_.read_file(path)) broken("untouched", name);
    }
  }

  bool read_target() {
    engine::EngineOptions reading;
    reading.read_only = true;
    const Result<std::unique_ptr<engine::Engine>> opened = engine::Engine::open(env_, kTargetPath, reading);
    if (!opened.ok()) {
      broken("sound", "does not open: " + opened.status().to_string());
      return false;
    }
    version_ = (*opened)->statistics().visible_version.ticks;
    engine::Cursor cursor = (*opened)->view().cursor("", "");
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      saved_[std::string(cursor.key())] = {cursor.version(), std::string(cursor.value())};
    }
    if (!cursor.status().ok()) broken("sound", cursor.status().to_string());
    StoreOptions options;
    options.env = &env_;
    const Result<VerifyReport> report = Store::verify(kTargetPath, options);
    if (!report.ok()) broken("sound", report.status().to_string());
    if (report.ok() && !report->sound()) broken("sound", report->findings.front());
    return true;
  }

  /// Returns whether a loss reports that a commit of this version to this key may be missing.
  bool is_told(const std::string& key, std::uint64_t version) const {
    const auto tells = [&](const engine::Loss& loss) {
      return loss.covers(key) && loss.smallest_version <= version && version <= loss.largest_version;
    };
    return std::any_of(verdict_.figures.losses.begin(), verdict_.figures.losses.end(), tells);
  }

  bool may_be_torn() const noexcept { return expected_.may_end_torn; }

  static std::string catalog_key(const TableLife& table) {
    return table_row_key(table.account, lower_case(table.name));
  }

  /// Returns whether a loss covers the row, or the record of whether its table exists.
  bool is_excused(const std::string& key, std::uint64_t version) const {
    if (is_told(key, version) || may_be_torn()) return true;
    const TableLife* const table = world_.history.table(format::table_id_of(key));
    if (table == nullptr) return false;
    if (is_told(catalog_key(*table), table->dropped != 0 ? table->dropped : table->created)) return true;
    return false;
  }

  void check_rows() {
    verdict_.is_exact = true;
    for (const auto& [key, row] : saved_) {
      if (format::account_of(format::table_id_of(key)) != 0) check_not_invented(key, row);
    }
    for (const auto& [key, states] : world_.history.rows) check_newest(key);
    if (verdict_.rows_stale > verdict_.figures.report.entities_possibly_stale && !may_be_torn()) {
      broken("counted", std::to_string(verdict_.rows_stale) + " rows are stale, and " +
                            std::to_string(verdict_.figures.report.entities_possibly_stale) + " are called so");
    }
  }

  void check_not_invented(const std::string& key, const SavedRow& row) {
    if (expected_.may_be_foreign && !verdict_.figures.report.files_are_certain) return;
    const auto states = world_.history.rows.find(key);
    if (states == world_.history.rows.end()) return broken("never invented", text_of(key));
    for (const RowState& state : states->second) {
      if (state.version == row.version && state.value == row.value) return;
    }
    broken("never invented", text_of(key) + " of version " + std::to_string(row.version));
  }

  void check_newest(const std::string& key) {
    const History::Newest newest = world_.history.newest(key);
    const auto found = saved_.find(key);
    const bool is_there = found != saved_.end();
    const bool is_right = newest.row ? is_there && found->second.version == newest.row->version : !is_there;
    if (is_right) return;
    verdict_.is_exact = false;
    is_there ? ++verdict_.rows_stale : ++verdict_.rows_lost;
    if (!is_excused(key, newest.version)) {
      broken("nothing silent", text_of(key) + (is_there ? " is stale" : " is missing") + ", its newest commit is " +
                                   std::to_string(newest.version));
    }
  }

  void check_tables() {
    for (const TableLife& table : world_.history.tables) {
      const bool is_there = catalog_.tables().contains(table.id);
      if (is_there == (table.dropped == 0)) continue;
      verdict_.is_exact = false;
      if (may_be_torn()) continue;
      if (is_there && !is_end_told(table)) broken("no return", "table " + table.name);
      if (!is_there && !is_told(catalog_key(table), table.created)) broken("nothing silent", "no table " + table.name);
    }
  }

  /// Returns whether a loss covers the end of the table, or a later use of its name, after which its end is no longer
  /// stored.
  bool is_end_told(const TableLife& table) const {
    const std::string key = catalog_key(table);
    if (is_told(key, table.dropped)) return true;
    const auto tells = [&](const TableLife& later) {
      if (later.created <= table.dropped || catalog_key(later) != key) return false;
      return is_told(key, later.created) || (later.dropped != 0 && is_told(key, later.dropped));
    };
    return std::any_of(world_.history.tables.begin(), world_.history.tables.end(), tells);
  }

  void check_numbers() {
    if (version_ < world_.history.last_version && !may_be_torn()) {
      broken("numbers", "the clock goes back from " + std::to_string(world_.history.last_version) + " to " +
                            std::to_string(version_));
    }
    std::map<std::uint32_t, std::uint32_t> given;
    for (const TableLife& table : world_.history.tables) {
      std::uint32_t& highest = given[format::account_of(table.id)];
      highest = std::max(highest, static_cast<std::uint32_t>(table.id));
    }
    for (const auto& [number, name] : catalog_.accounts()) {
      const auto row = saved_.find(account_row_key(name));
      if (row == saved_.end()) {
        broken("numbers", "no row of account " + name);
        continue;
      }
      const Result<AccountRow> account = decode_account_row(name, row->second.version, row->second.value);
      if (may_be_torn() || (account.ok() && account->next_table > given[number])) continue;
      broken("numbers", "account " + name + " would give a number again");
    }
  }

  void check_report() {
    const engine::RepairFigures& figures = verdict_.figures;
    std::uint64_t rows = 0;
    for (const auto& [key, row] : saved_) {
      if (format::account_of(format::table_id_of(key)) != 0) ++rows;
    }
    if (rows != figures.report.entities) {
      broken("counted",
             std::to_string(rows) + " rows are there, and " + std::to_string(figures.report.entities) + " were told");
    }
    if (!expected_.nothing_is_lost) return;
    if (!verdict_.is_exact) broken("sound store", "its repair is not equal to it");
    if (!figures.losses.empty()) broken("sound store", "a loss is told: " + figures.losses.front().what);
    if (!figures.findings.empty()) broken("sound store", figures.findings.front());
    if (figures.report.entities_left_out + figures.report.entities_possibly_stale > 0)
      broken("sound store", "rows are doubted");
  }

  /// Checks that the repaired store can be used like any other store.
  void check_use() {
    StoreOptions options;
    options.env = &env_;
    const Result<std::unique_ptr<Store>> store = Store::open(kTargetPath, options);
    if (!store.ok()) return broken("sound", "does not open for writing: " + store.status().to_string());
    const Status made = (*store)->create_account("afterwards");
    const Result<Table> table = made.ok() ? (*store)->create_table("afterwards", "Table") : made;
    if (!table.ok()) return broken("sound", table.status().to_string());
    const Result<ETag> etag = Table(*table).insert(Entity("p", "r"));
    if (!etag.ok()) return broken("sound", etag.status().to_string());
    if (etag->timestamp().ticks <= version_) broken("numbers", "a new row is not the newest");
    if (Status closed = (*store)->close(); !closed.ok()) broken("sound", closed.to_string());
  }

  const World& world_;
  const Expectation expected_;
  const io::MemoryDisk before_;
  io::MemoryFileSystem files_;
  io::ManualClock clock_;
  io::SeededRandom random_{99};
  io::Scheduler scheduler_;
  io::Env env_{files_, clock_, random_, scheduler_};
  RepairedCatalog catalog_;
  std::map<std::string, SavedRow> saved_;
  std::uint64_t version_ = 0;
  Verdict verdict_;
};

}  // namespace

Verdict judge_repair(const World& world, const io::MemoryDisk& disk, const Expectation& expected) {
  return Judge(world, disk, expected).judge();
}

}  // namespace varve::lab::repair
