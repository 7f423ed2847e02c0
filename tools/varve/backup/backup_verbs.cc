// Owns: the verbs about backups: backup, backups, restore; and verify for a directory of backups.
// Must never: print a success before everything is durable.
#include "tools/varve/backup/backup_verbs.h"

#include <iostream>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/serve/local/store_identity.h"
#include "tools/varve/backup/backup.h"
#include "tools/varve/backup/backup_source.h"
#include "tools/varve/backup/table_restore.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/text/store_text.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

struct BackupWords {
  Place place;
  std::string directory;
  std::string backup;
  std::uint64_t kept = 0;
  bool json = false;
};

std::string content_text(std::uint64_t files, std::uint64_t bytes) {
  return counted(files, "file", "files") + " of " + bytes_text(bytes);
}

/// Counts bytes for the progress on a terminal.
class BytesProgress {
 public:
  BytesRead count() {
    return [this](std::uint64_t bytes) {
      bytes_ += bytes;
      progress_.update(++pieces_, bytes_);
    };
  }
  Progress& progress() noexcept { return progress_; }

 private:
  Progress progress_{"pieces", 0};
  std::uint64_t pieces_ = 0;
  std::uint64_t bytes_ = 0;
};

void print(const BackupCounts& made, const PruneCounts& pruned, const BackupWords& words,
           std::chrono::nanoseconds elapsed) {
  if (words.json) {
    std::cout << Json{{"backup", made.name},
                      {"version", made.version},
                      {"files", made.files},
                      {"bytes", made.bytes},
                      {"files_new", made.files_new},
                      {"bytes_new", made.bytes_new},
                      {"backups_removed", pruned.backups},
                      {"bytes_removed", pruned.bytes},
                      {"seconds", std::chrono::duration<double>(elapsed).count()}}
                     .dump()
              << "\n";
    return;
  }
  std::cout << "backup   " << made.name << " in " << duration_text(elapsed) << "\n"
            << "version  " << made.version << "\n"
            << "content  " << content_text(made.files, made.bytes) << ", of which "
            << content_text(made.files_new, made.bytes_new) << " are new\n";
  if (pruned.backups == 0) return;
  std::cout << "removed  " << counted(pruned.backups, "backup", "backups") << ", "
            << content_text(pruned.contents, pruned.bytes) << "\n";
}

int back_up(const BackupWords& words) {
  const Status possible = check_is_directory(words.place.store, "`varve export` writes its tables to files");
  if (!possible.ok()) return fail(possible);
  BytesProgress progress;
  // The lock of the backups comes first, so that two backups do not both make a checkpoint.
  const Result<std::string> store = serve::store_id_in(words.place.store);
  if (!store.ok()) return fail(store.status());
  Result<BackupPlace> place = BackupPlace::open_for(words.directory, *store);
  if (!place.ok()) return fail(place.status());
  Result<BackupSource> source = make_backup_source(words.place.store);
  if (!source.ok()) return fail(source.status());
  const Result<BackupCounts> made = make_backup((*source).path, (*source).store, *place, progress.count());
  (*source).kept.reset();
  progress.progress().clear();
  if (!made.ok()) return fail(made.status());
  PruneCounts pruned;
  if (words.kept > 0) {
    const Result<PruneCounts> removed = (*place).prune(words.kept);
    if (!removed.ok()) return fail(removed.status());
    pruned = *removed;
  }
  print(*made, pruned, words, progress.progress().elapsed());
  return kSuccess;
}

int list_backups(const BackupWords& words) {
  const Result<BackupPlace> place = BackupPlace::open(words.directory);
  if (!place.ok()) return fail(place.status());
  const Result<std::vector<std::string>> names = (*place).names();
  if (!names.ok()) return fail(names.status());
  for (const std::string& name : *names) {
    const Result<BackupManifest> manifest = (*place).manifest(name);
    if (!manifest.ok()) return fail(manifest.status());
    if (words.json) {
      std::cout << Json{{"backup", name},
                        {"store", (*manifest).store},
                        {"version", (*manifest).version},
                        {"files", (*manifest).files.size()},
                        {"bytes", (*manifest).bytes()}}
                       .dump()
                << "\n";
    } else {
      std::cout << name << "  " << (*manifest).version << "  "
                << content_text((*manifest).files.size(), (*manifest).bytes()) << "\n";
    }
  }
  return kSuccess;
}

/// Returns the list of the requested backup, or of the newest one. Sets `name` to its name.
Result<BackupManifest> chosen_manifest(const BackupPlace& place, std::string& name) {
  if (name.empty()) {
    const Result<std::vector<std::string>> names = place.names();
    if (!names.ok()) return names.status();
    if ((*names).empty()) return Status::not_found("there is no finished backup").with_service_error("BackupNotFound");
    name = (*names).back();
  }
  return place.manifest(name);
}

int restore(BackupWords& words) {
  const Result<BackupPlace> place = BackupPlace::open(words.directory);
  if (!place.ok()) return fail(place.status());
  const Result<BackupManifest> manifest = chosen_manifest(*place, words.backup);
  if (!manifest.ok()) return fail(manifest.status());
  BytesProgress progress;
  std::uint64_t entities = 0;
  bool lacks_ends = false;
  if (words.place.table.empty()) {
    const Status possible = check_is_directory(words.place.store, "restore table by table: name the TABLE");
    if (!possible.ok()) return fail(possible);
    const Result<VerifyReport> report = restore_store(*place, *manifest, words.place.store, progress.count());
    if (!report.ok()) return fail(report.status());
    entities = (*report).entities;
  } else {
    if (Status named = check_place(words.place); !named.ok()) return fail(named);
    if (Status sound = (*place).verify(*manifest, progress.count()); !sound.ok()) return fail(sound);
    const Result<RestoredTable> restored = restore_table(*place, *manifest, words.place);
    if (!restored.ok()) return fail(restored.status());
    entities = (*restored).entities;
    lacks_ends = (*restored).has_lost_ends;
  }
  progress.progress().clear();
  if (words.json) {
    std::cout << Json{{"backup", words.backup}, {"version", (*manifest).version}, {"entities", entities}}.dump()
              << "\n";
  } else {
    std::cout << "restored " << counted(entities, "entity", "entities") << " of backup " << words.backup << " into "
              << words.place.store << ", verified, in " << duration_text(progress.progress().elapsed()) << "\n";
  }
  if (lacks_ends) print_hint("the table has its rule of expiry; restored entities end once they are written again");
  return kSuccess;
}

}  // namespace

bool has_backups(const std::string& directory) {
  return BackupPlace::is_one(directory);
}

int verify_backups(const std::string& directory, bool as_json) {
  const Result<BackupPlace> place = BackupPlace::open(directory);
  if (!place.ok()) return fail(place.status());
  const Result<std::vector<std::string>> names = (*place).names();
  if (!names.ok()) return fail(names.status());
  BytesProgress progress;
  int exit_code = kSuccess;
  for (const std::string& name : *names) {
    const Result<BackupManifest> manifest = (*place).manifest(name);
    const Status sound = manifest.ok() ? (*place).verify(*manifest, progress.count()) : manifest.status();
    if (!sound.ok()) exit_code = exit_code_of(sound);
    progress.progress().clear();
    if (as_json) {
      std::cout << Json{{"backup", name}, {"sound", sound.ok()}, {"fault", sound.ok() ? "" : sound.to_string()}}.dump()
                << "\n";
    } else {
      std::cout << name << "  " << (sound.ok() ? "sound" : sound.to_string()) << "\n";
    }
  }
  return exit_code;
}

void add_backup_verbs(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<BackupWords>();
  CLI::App* backup = app.add_subcommand("backup", "Add the present content of a store to a directory of backups");
  backup->footer(
      "Works beside a server that has the store open, and beside its writers. Everything acknowledged before the\n"
      "start is in the backup. Contents that an earlier backup has are not copied again. Each backup is whole on its\n"
      "own: `varve verify DIRECTORY` checks all of them, `varve backups` lists them, `varve restore` writes one back.\n"
      "\n"
      "Examples\n"
      "  varve backup ./shop ./backups\n"
      "  varve backup ./shop ./backups --keep 30");
  add_store_words(*backup, words->place);
  backup->add_option("DIRECTORY", words->directory, "Directory of the backups; absent, empty, or of this store")
      ->required();
  backup->add_option("--keep", words->kept, "Remove all backups but the newest ones of this number")
      ->check(whole_number(1));
  add_json_words(*backup, words->json, "Print the report as JSON");
  backup->callback([words, &exit_code] { exit_code = back_up(*words); });

  auto listed = std::make_shared<BackupWords>();
  CLI::App* list = app.add_subcommand("backups", "List the backups in a directory, the oldest first");
  list->add_option("DIRECTORY", listed->directory, "Directory of the backups")->required();
  list->footer(
      "Examples\n"
      "  varve backups ./backups\n"
      "  varve backups ./backups --json");
  add_json_words(*list, listed->json, "Print one JSON object a line");
  list->callback([listed, &exit_code] { exit_code = list_backups(*listed); });

  auto restored = std::make_shared<BackupWords>();
  CLI::App* verb = app.add_subcommand("restore", "Write a store or one table back from a backup, and verify it");
  verb->footer(
      "Without --table, STORE must be absent or empty. With --table, the store may exist and may be in use by a\n"
      "server, but it must not have the table; the entities get new Timestamps.\n"
      "\n"
      "Examples\n"
      "  varve restore ./backups ./shop-restored\n"
      "  varve restore ./backups ./new-shop --table Orders");
  verb->add_option("DIRECTORY", restored->directory, "Directory of the backups")->required();
  add_named_store_words(*verb, restored->place);
  verb->add_option("--backup", restored->backup,
                   "Name of the backup, as `varve backups` prints it; default: the newest");
  verb->add_option("--table", restored->place.table, "Restore only this table");
  verb->add_option("--account", restored->place.account, "Account that the table belongs to")->capture_default_str();
  add_json_words(*verb, restored->json, "Print the report as JSON");
  verb->callback([restored, &exit_code] { exit_code = restore(*restored); });
}

}  // namespace varve::tool
