// Owns: `varve stats`: a store's figures as text and as JSON.
// Must never: write to the store, or read its entities.
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "format/log/file_header.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/text/store_text.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

struct StatsWords {
  Place place;
  bool json = false;
};

struct CatalogFigures {
  std::uint64_t accounts = 0;
  std::uint64_t tables = 0;
  std::uint64_t queues = 0;
};

Status count_queues(const Store& store, const std::string& account, CatalogFigures* figures) {
  ListOptions options;
  for (;;) {
    const Result<QueuePage> page = store.list_queues(account, options);
    if (!page.ok()) return page.status();
    figures->queues += page->queues.size();
    if (!page->continuation) return Status();
    options.continuation = *page->continuation;
  }
}

Status count_tables(const Store& store, const std::string& account, CatalogFigures* figures) {
  ListOptions options;
  for (;;) {
    const Result<TablePage> page = store.list_tables(account, options);
    if (!page.ok()) return page.status();
    figures->tables += page->tables.size();
    if (!page->continuation) return Status();
    options.continuation = *page->continuation;
  }
}

Result<CatalogFigures> count_catalog(const Store& store) {
  CatalogFigures figures;
  ListOptions options;
  for (;;) {
    const Result<AccountPage> page = store.list_accounts(options);
    if (!page.ok()) return page.status();
    for (const AccountInfo& account : page->accounts) {
      ++figures.accounts;
      if (Status counted = count_tables(store, account.name, &figures); !counted.ok()) return counted;
      if (Status counted = count_queues(store, account.name, &figures); !counted.ok()) return counted;
    }
    if (!page->continuation) return figures;
    options.continuation = *page->continuation;
  }
}

constexpr std::string_view kBallastName = "BALLAST";

struct DiskFigures {
  std::uint64_t files = 0;
  /// The space that the file system allocated, in bytes. It may be more or less than the size of the files.
  std::uint64_t allocated_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t log_segments = 0;
  std::uint64_t ballast_bytes = 0;
};

/// Returns the sizes of the files in the store's directory. Files that are created or removed meanwhile may be missed.
DiskFigures look_at_disk(const std::string& store) {
  DiskFigures figures;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(store, ignored)) {
    struct stat file {};
    if (::stat(entry.path().c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    const std::uint64_t bytes = static_cast<std::uint64_t>(file.st_blocks) * 512;
    const Result<format::FileId> id = format::parse_file_name(entry.path().filename().string());
    ++figures.files;
    figures.allocated_bytes += bytes;
    if (entry.path().filename() == kBallastName) figures.ballast_bytes = bytes;
    if (id.ok() && id->type == format::FileType::kTable) figures.table_bytes += bytes;
    if (id.ok() && id->type == format::FileType::kLogSegment) {
      figures.log_bytes += bytes;
      ++figures.log_segments;
    }
  }
  return figures;
}

Json levels_of(const Statistics& statistics) {
  Json levels = Json::array();
  for (const LevelStatistics& level : statistics.levels) {
    levels.push_back(
        {{"files", level.files}, {"bytes", level.bytes}, {"entries", level.entries}, {"deletions", level.deletions}});
  }
  return levels;
}

const char* durability_name(const Statistics& statistics) noexcept {
  return statistics.default_durability == Durability::kSync ? "sync" : "buffered";
}

Json figures_of(const Statistics& statistics, const CatalogFigures& catalog, const DiskFigures& disk) {
  return {{"back_end", statistics.back_end},
          {"default_durability", durability_name(statistics)},
          {"visible_version", statistics.visible_version.to_string()},
          {"accounts", catalog.accounts},
          {"tables", catalog.tables},
          {"queues", catalog.queues},
          {"entries", statistics.memtable_entries},
          {"memory_bytes", statistics.memtable_bytes},
          {"table_files", table_files_of(statistics)},
          {"table_file_bytes", table_bytes_of(statistics)},
          {"levels", levels_of(statistics)},
          {"space_amplification", space_amplification(statistics)},
          {"value_files", statistics.value_files},
          {"value_file_bytes", statistics.value_file_bytes},
          {"value_file_live_bytes", statistics.value_file_live_bytes},
          {"compaction_debt_bytes", statistics.compaction_debt_bytes},
          {"dead_log_bytes", statistics.dead_log_bytes},
          {"dead_table_bytes", statistics.dead_table_bytes},
          {"dead_value_bytes", statistics.dead_value_bytes},
          {"log_bytes", statistics.recovery.log_bytes},
          {"log_records", statistics.recovery.log_records},
          {"log_segments", disk.log_segments},
          {"files", disk.files},
          {"allocated_bytes", disk.allocated_bytes},
          {"ballast_bytes", disk.ballast_bytes},
          {"ballast_bytes_while_open", statistics.ballast_bytes},
          {"clock_ahead", statistics.clock_ahead.count()},
          {"commits", statistics.recovery.commits},
          {"dropped_tables", statistics.retired_ids},
          {"closed_cleanly", statistics.recovery.clean}};
}

void print_line(std::string_view name, const std::string& text) {
  std::cout << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << text << "\n";
}

void print_table_files(const Statistics& statistics) {
  const std::uint64_t files = table_files_of(statistics);
  if (files == 0) return print_line("table files", "none yet: everything is in the log");
  const double space = space_amplification(statistics);
  print_line("table files", bytes_text(table_bytes_of(statistics)) + " in " + counted(files, "file", "files") +
                                (space > 0 ? ", " + times_text(space) + " times the lowest level" : ""));
  std::cout << picture_of_levels(statistics);
}

/// Prints the compaction debt. Dead bytes in the log are printed even if there is no table file.
void print_debt(const Statistics& statistics) {
  const std::uint64_t debt = statistics.compaction_debt_bytes;
  const std::uint64_t dead = statistics.dead_log_bytes + statistics.dead_table_bytes + statistics.dead_value_bytes;
  if (debt == 0 && table_files_of(statistics) == 0) return;
  std::string text = debt == 0 ? "none: compaction has nothing to do" : "";
  if (debt > dead) text = bytes_text(debt - dead) + " for compaction to rewrite";
  if (dead > 0) {
    text += std::string(text.empty() ? "" : "; ") + bytes_text(dead) + " of dropped tables to give back: log " +
            bytes_text(statistics.dead_log_bytes) + ", tables " + bytes_text(statistics.dead_table_bytes) +
            ", value files " + bytes_text(statistics.dead_value_bytes);
  }
  print_line("debt", text);
}

void print_value_files(const Statistics& statistics) {
  if (statistics.value_files == 0) return;
  print_line("value files",
             bytes_text(statistics.value_file_bytes) + " in " + counted(statistics.value_files, "segment", "segments") +
                 " of the log that stay for large values, " + bytes_text(statistics.value_file_live_bytes) + " in use");
}

void print_disk(const DiskFigures& disk) {
  const std::uint64_t others = disk.allocated_bytes - disk.table_bytes - disk.log_bytes - disk.ballast_bytes;
  print_line("on disk", bytes_text(disk.allocated_bytes) + " in " + counted(disk.files, "file", "files") + ": tables " +
                            bytes_text(disk.table_bytes) + ", log " + bytes_text(disk.log_bytes) + " in " +
                            counted(disk.log_segments, "segment", "segments") + ", ballast " +
                            bytes_text(disk.ballast_bytes) + ", others " + bytes_text(others));
}

void print_figures(const Statistics& statistics, const CatalogFigures& catalog, const DiskFigures& disk) {
  print_line("catalog", counted(catalog.accounts, "account", "accounts") + ", " +
                            counted(catalog.tables, "table", "tables") +
                            (catalog.queues == 0 ? "" : ", " + counted(catalog.queues, "queue", "queues")) +
                            (statistics.retired_ids == 0
                                 ? ""
                                 : "; " + with_commas(statistics.retired_ids) + " dropped, with space to give back"));
  print_table_files(statistics);
  print_debt(statistics);
  print_value_files(statistics);
  print_line("log", bytes_text(statistics.recovery.log_bytes) +
                        " to read at an open: " + counted(statistics.recovery.log_records, "record", "records") + ", " +
                        counted(statistics.recovery.commits, "commit", "commits") + ", " +
                        counted(statistics.memtable_entries, "entry", "entries") + ", " +
                        bytes_text(statistics.memtable_bytes) + " of memory");
  if (disk.files > 0) {  // a store on Ceph has no files on this machine
    print_disk(disk);
    print_line("ballast", bytes_text(statistics.ballast_bytes) +
                              " of disk while it is open for writing, so that drops succeed on a full disk");
  }
  print_line("back end",
             statistics.back_end + "; writes are " + durability_name(statistics) + " unless told otherwise");
  print_line("last write", statistics.visible_version.to_string());
  if (statistics.clock_ahead.count() > 0) print_line("clock", clock_ahead_text(statistics));
  print_line("state", how_it_was_left(statistics.recovery));
}

int print_statistics(const StatsWords& words) {
  Result<OpenedStore> store = open_for_reading(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<Statistics> statistics = (*store)->statistics();
  if (!statistics.ok()) return fail(statistics.status());
  const Result<CatalogFigures> catalog = count_catalog(**store);
  if (!catalog.ok()) return fail(catalog.status());
  const DiskFigures disk = look_at_disk(words.place.store);
  if (words.json) {
    std::cout << figures_of(*statistics, *catalog, disk).dump() << "\n";
  } else {
    print_figures(*statistics, *catalog, disk);
  }
  return kSuccess;
}

}  // namespace

void add_stats_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<StatsWords>();
  CLI::App* stats = app.add_subcommand("stats", "Print a store's figures and draw its levels");
  stats->footer(
      "Level 0 contains flushed memtables; each further level is larger. The lighter part of a bar is deletions.\n"
      "\nExamples\n"
      "  varve stats ./shop\n"
      "  varve stats ./shop --json");
  add_store_words(*stats, words->place);
  add_json_words(*stats, words->json, "Print them as JSON");
  stats->callback([words, &exit_code] { exit_code = print_statistics(*words); });
}

}  // namespace varve::tool
