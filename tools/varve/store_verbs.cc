// Owns: the verbs on a whole store: verify, compact.
// Must never: change the content of a store.
#include <functional>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/varve/backup/backup_verbs.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/text/store_text.h"

namespace varve::tool {

namespace {

struct StoreWords {
  Place place;
  bool json = false;
};

void print_report(const VerifyReport& report, std::chrono::nanoseconds elapsed) {
  std::cout << "log       " << with_commas(report.recovery.log_records) << " records, "
            << with_commas(report.recovery.commits) << " commits, " << bytes_text(report.recovery.log_bytes)
            << ": every checksum holds\n"
            << "tables    " << counted(report.table_files, "file", "files") << ", "
            << bytes_text(report.table_file_bytes) << "\n"
            << "state     " << how_it_was_left(report.recovery) << "\n"
            << "catalog   " << counted(report.accounts, "account", "accounts") << ", "
            << counted(report.tables, "table", "tables") << "\n"
            << "entities  " << with_commas(report.entities) << ", " << with_commas(report.properties) << " properties, "
            << bytes_text(report.value_bytes) << "\n";
  if (report.indexes > 0) {
    std::cout << "indexes   " << with_commas(report.indexes) << ", "
              << counted(report.index_entries, "entry", "entries") << ", compared with the entities\n";
  }
  if (report.queues > 0) {
    std::cout << "queues    " << with_commas(report.queues) << ", " << counted(report.messages, "message", "messages")
              << "\n";
  }
  if (report.containers > 0) {
    std::cout << "blobs     " << with_commas(report.blobs) << " in "
              << counted(report.containers, "container", "containers") << ", " << bytes_text(report.content_bytes)
              << " of contents\n";
  }
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
                                      {"indexes", report.indexes},
                                      {"index_entries", report.index_entries},
                                      {"queues", report.queues},
                                      {"messages", report.messages},
                                      {"containers", report.containers},
                                      {"blobs", report.blobs},
                                      {"content_bytes", report.content_bytes},
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

/// Verifies the store, or a checkpoint of it if a server has the store open.
Result<VerifyReport> verify_state(const std::string& store, const std::function<void(const VerifyReport&)>& progress) {
  if (is_address(store)) return open_here(store, StoreOptions()).status();
  const Result<ServedCheckpoint> checkpoint = checkpoint_by_server_of(store);
  if (!checkpoint.ok()) return checkpoint.status();
  if (!(*checkpoint).path.empty()) return Store::verify((*checkpoint).path, {}, progress);
  const Result<std::shared_ptr<RadosConnection>> cluster = cluster_of(store);
  if (!cluster.ok()) return cluster.status();
  StoreOptions options;
  if (*cluster != nullptr) options.env = (**cluster).env();
  Result<VerifyReport> report = Store::verify(store, options, progress);
  if (report.code() == Code::kLocked) return locked_by_holder(report.status(), store);
  return report;
}

int verify_store(const StoreWords& words) {
  if (has_backups(words.place.store)) return verify_backups(words.place.store, words.json);
  Progress progress("entities", 0);
  const Result<VerifyReport> report = verify_state(
      words.place.store, [&](const VerifyReport& so_far) { progress.update(so_far.entities, so_far.value_bytes); });
  progress.clear();
  if (!report.ok()) return fail_verification(report.status());
  if (words.json) {
    print_report_json(*report);
  } else {
    print_report(*report, progress.elapsed());
  }
  return report->sound() ? kSuccess : fail_verification();
}

/// Returns the progress of a compaction. Everything is read once for each level that it passes.
std::string compaction_so_far(const Statistics& before, const Statistics& now) {
  return bytes_text(now.flushed_bytes) + " flushed, " + bytes_text(now.compaction_read_bytes) + " read of about " +
         bytes_text(table_bytes_of(before) + now.flushed_bytes) + ", " + bytes_text(now.compaction_written_bytes) +
         " written";
}

int compact_store(const StoreWords& words) {
  Result<OpenedStore> store = open_for_writing(words.place);
  if (store.code() == Code::kLocked) {
    return fail(store.status().with_hint("whoever has the store open compacts it by and by; that needs no verb"));
  }
  if (!store.ok()) return fail(store.status());
  const Result<Statistics> before = (*store)->statistics();
  if (!before.ok()) return fail(before.status());
  Progress progress("bytes", 0);
  const Status compacted = progress.while_running([&] { return (*store)->compact(); },
                                                  [&] {
                                                    const Result<Statistics> now = (*store)->statistics();
                                                    return now.ok() ? compaction_so_far(*before, *now) : "";
                                                  });
  progress.clear();
  if (!compacted.ok()) return fail(compacted);
  const Result<Statistics> after = (*store)->statistics();
  if (!after.ok()) return fail(after.status());
  if (Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"flushed_bytes", after->flushed_bytes},
                                        {"read_bytes", after->compaction_read_bytes},
                                        {"written_bytes", after->compaction_written_bytes},
                                        {"compactions", after->compactions},
                                        {"table_files", table_files_of(*after)},
                                        {"table_file_bytes", table_bytes_of(*after)},
                                        {"seconds", std::chrono::duration<double>(progress.elapsed()).count()}}
                     .dump()
              << "\n";
    return kSuccess;
  }
  std::cout << "compacted in " << duration_text(progress.elapsed()) << ": " << bytes_text(after->flushed_bytes)
            << " flushed, " << bytes_text(after->compaction_read_bytes) << " read and "
            << bytes_text(after->compaction_written_bytes) << " written by "
            << counted(after->compactions, "compaction", "compactions") << "\n"
            << picture_of_levels(*after);
  return kSuccess;
}

}  // namespace

void add_store_verbs(CLI::App& app, int& exit_code) {
  auto checked = std::make_shared<StoreWords>();
  CLI::App* verify = app.add_subcommand("verify", "Read everything in a store and report whether it is sound");
  verify->footer(
      "Reads every byte of the log, every entity and the catalog, compares each index with the entities, and changes "
      "nothing. If `varve serve` has the store open, verifies a checkpoint of it. No other program may have the store "
      "open for writing. If something does not "
      "verify, names the file and the offset; the exit code is 3 then. A directory of backups is verified too.\n"
      "\nExamples\n"
      "  varve verify ./shop\n"
      "  varve verify ./shop --json");
  add_store_words(*verify, checked->place);
  add_json_words(*verify, checked->json, "Print the report as JSON");
  verify->callback([checked, &exit_code] { exit_code = verify_store(*checked); });

  auto compacted = std::make_shared<StoreWords>();
  CLI::App* compact = app.add_subcommand("compact", "Write everything to table files and merge them");
  compact->footer(
      "This is never required: a store compacts itself while it is open. Use it before you archive or ship a store, or "
      "to free the space of deleted data at once.\n"
      "\nExamples\n"
      "  varve compact ./shop\n"
      "  varve compact ./shop --json");
  add_store_words(*compact, compacted->place);
  add_json_words(*compact, compacted->json, "Print the report as JSON");
  compact->callback([compacted, &exit_code] { exit_code = compact_store(*compacted); });
}

}  // namespace varve::tool
