// Owns: the verbs on a store as a whole: verify, stats, compact.
// Must never: change what a store holds.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/varve/outcome.h"
#include "tools/varve/progress.h"
#include "tools/varve/verbs.h"

namespace varve::tool {

namespace {

struct StoreWords {
  Place place;
  bool json = false;
};

std::string how_it_was_left(const RecoveryStatistics& recovery) {
  if (recovery.clean) return "closed cleanly";
  std::string text = "not closed; recovered to its last whole commit";
  if (recovery.commits_from_buffer > 0)
    text += ", " + with_commas(recovery.commits_from_buffer) + " commits from the log buffer";
  if (recovery.torn_bytes > 0) text += ", a torn tail of " + bytes_text(recovery.torn_bytes) + " left out";
  return text;
}

void print_report(const VerifyReport& report, std::chrono::nanoseconds elapsed) {
  std::cout << "log       " << with_commas(report.recovery.log_records) << " records, "
            << with_commas(report.recovery.commits) << " commits, " << bytes_text(report.recovery.log_bytes)
            << ": every checksum holds\n"
            << "tables    " << with_commas(report.table_files) << " files, " << bytes_text(report.table_file_bytes)
            << "\n"
            << "state     " << how_it_was_left(report.recovery) << "\n"
            << "catalog   " << with_commas(report.accounts) << " accounts, " << with_commas(report.tables)
            << " tables\n"
            << "entities  " << with_commas(report.entities) << ", " << with_commas(report.properties) << " properties, "
            << bytes_text(report.value_bytes) << "\n";
  for (const std::string& finding : report.findings) std::cout << "damaged   " << finding << "\n";
  std::cout << (report.sound() ? "sound" : with_commas(report.finding_count) + " findings") << ", read in "
            << duration_text(elapsed) << "\n";
}

void print_report_json(const VerifyReport& report) {
  std::cout << nlohmann::ordered_json{{"sound", report.sound()},
                                      {"accounts", report.accounts},
                                      {"tables", report.tables},
                                      {"entities", report.entities},
                                      {"properties", report.properties},
                                      {"value_bytes", report.value_bytes},
                                      {"table_files", report.table_files},
                                      {"table_file_bytes", report.table_file_bytes},
                                      {"log_records", report.recovery.log_records},
                                      {"commits", report.recovery.commits},
                                      {"log_bytes", report.recovery.log_bytes},
                                      {"closed_cleanly", report.recovery.clean},
                                      {"commits_from_buffer", report.recovery.commits_from_buffer},
                                      {"torn_bytes", report.recovery.torn_bytes},
                                      {"finding_count", report.finding_count},
                                      {"findings", report.findings}}
                   .dump()
            << "\n";
}

int verify_store(const StoreWords& words) {
  Progress progress("entities", 0);
  const Result<VerifyReport> report = Store::verify(
      words.place.store, {}, [&](const VerifyReport& so_far) { progress.update(so_far.entities, so_far.value_bytes); });
  if (!report.ok()) return fail(report.status());
  if (words.json) {
    print_report_json(*report);
  } else {
    print_report(*report, progress.elapsed());
  }
  return report->sound() ? kSuccess : kDamaged;
}

nlohmann::ordered_json levels_of(const Statistics& statistics) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (const LevelStatistics& level : statistics.levels) {
    levels.push_back(
        {{"files", level.files}, {"bytes", level.bytes}, {"entries", level.entries}, {"deletions", level.deletions}});
  }
  return levels;
}

/// A bar for each level that holds anything, as long as its share of all bytes.
void draw_levels(const Statistics& statistics) {
  constexpr std::uint64_t kBarCells = 40;
  std::uint64_t total = 0;
  for (const LevelStatistics& level : statistics.levels) total += level.bytes;
  if (total == 0) return;
  for (std::size_t number = 0; number < statistics.levels.size(); ++number) {
    const LevelStatistics& level = statistics.levels[number];
    if (level.files == 0) continue;
    const std::uint64_t cells = std::max<std::uint64_t>(1, level.bytes * kBarCells / total);
    std::string bar;
    for (std::uint64_t cell = 0; cell < kBarCells; ++cell) bar += cell < cells ? "█" : "·";
    std::cout << "level " << number << "    " << bar << "  " << bytes_text(level.bytes) << " in "
              << with_commas(level.files) << (level.files == 1 ? " file, " : " files, ") << with_commas(level.entries)
              << " entries";
    if (level.deletions > 0) std::cout << ", " << with_commas(level.deletions) << " of them deletions";
    std::cout << "\n";
  }
}

nlohmann::ordered_json figures_of(const Statistics& statistics) {
  return {{"back_end", statistics.back_end},
          {"default_durability", statistics.default_durability == Durability::kSync ? "sync" : "buffered"},
          {"visible_version", statistics.visible_version.to_string()},
          {"entries", statistics.memtable_entries},
          {"memory_bytes", statistics.memtable_bytes},
          {"levels", levels_of(statistics)},
          {"log_bytes", statistics.recovery.log_bytes},
          {"log_records", statistics.recovery.log_records},
          {"commits", statistics.recovery.commits},
          {"dropped_tables", statistics.retired_ids},
          {"closed_cleanly", statistics.recovery.clean}};
}

int print_statistics(const StoreWords& words) {
  Result<std::unique_ptr<Store>> store = open_for_reading(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<Statistics> read = (*store)->statistics();
  if (!read.ok()) return fail(read.status());
  const Statistics& statistics = *read;
  if (words.json) {
    std::cout << figures_of(statistics).dump() << "\n";
    return kSuccess;
  }
  std::cout << "back end   " << statistics.back_end << "\n"
            << "log        " << bytes_text(statistics.recovery.log_bytes) << " in "
            << with_commas(statistics.recovery.log_records) << " records, " << with_commas(statistics.recovery.commits)
            << " commits\n"
            << "memory     " << bytes_text(statistics.memtable_bytes) << " for "
            << with_commas(statistics.memtable_entries) << " entries\n";
  draw_levels(statistics);
  std::cout << "dropped    " << with_commas(statistics.retired_ids) << " tables and accounts\n"
            << "last write " << statistics.visible_version.to_string() << "\n"
            << "state      " << how_it_was_left(statistics.recovery) << "\n";
  return kSuccess;
}

int compact_store(const StoreWords& words) {
  Result<std::unique_ptr<Store>> store = open_for_writing(words.place);
  if (!store.ok()) return fail(store.status());
  Progress progress("bytes", 0);
  if (Status compacted = (*store)->compact(); !compacted.ok()) return fail(compacted);
  const Result<Statistics> figures = (*store)->statistics();
  if (!figures.ok()) return fail(figures.status());
  if (Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  std::cout << "compacted in " << duration_text(progress.elapsed()) << ": "
            << bytes_text(figures->compaction_read_bytes) << " read, "
            << bytes_text(figures->flushed_bytes + figures->compaction_written_bytes) << " written\n";
  draw_levels(*figures);
  return kSuccess;
}

}  // namespace

void add_store_verbs(CLI::App& app, int& exit_code) {
  auto checked = std::make_shared<StoreWords>();
  CLI::App* verify = app.add_subcommand("verify", "Read everything in a store and say whether it is sound");
  verify->footer(
      "\nReads every byte of the log, every entity and the catalog; changes nothing. The store must not be open "
      "for\nwriting. Exit code 3 and the file and offset where something does not verify.");
  add_store_words(*verify, checked->place);
  verify->add_flag("--json", checked->json, "Report as JSON");
  verify->callback([checked, &exit_code] { exit_code = verify_store(*checked); });

  auto compacted = std::make_shared<StoreWords>();
  CLI::App* compact = app.add_subcommand("compact", "Bring everything to table files and merge them");
  compact->footer(
      "\nNever needed, since a store compacts itself while it is open. Use it before a store is archived or shipped,\n"
      "or to give back at once the space of what was deleted.");
  add_store_words(*compact, compacted->place);
  compact->callback([compacted, &exit_code] { exit_code = compact_store(*compacted); });

  auto words = std::make_shared<StoreWords>();
  CLI::App* stats = app.add_subcommand("stats", "Print a store's figures");
  add_store_words(*stats, words->place);
  stats->add_flag("--json", words->json, "As JSON");
  stats->callback([words, &exit_code] { exit_code = print_statistics(*words); });
}

}  // namespace varve::tool
