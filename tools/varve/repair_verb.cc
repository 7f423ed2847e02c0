// Owns: `repair`: creating a new store from all data of a damaged one that verifies, and reporting the rest.
// Must never: write to the damaged store, or report a repair with losses as complete.
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

struct RepairWords {
  Place place;
  std::string target;
  bool json = false;
};

// -- Text output -----------------------------------------------------------------------------------------------------

/// Returns a text such as "3 whole, 1 damaged, 1 missing".
std::string count_text(const RepairedFileCount& files) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view word) {
    if (count > 0) text += (text.empty() ? "" : ", ") + with_commas(count) + " " + std::string(word);
  };
  add(files.whole, "whole");
  add(files.damaged, "damaged");
  add(files.missing, "missing");
  return text.empty() ? "none" : text;
}

/// Returns "myaccount/Orders 'eu' '0001'". For the store's own rows it returns "catalog accounts 'myaccount' ''".
std::string key_text(const RepairKey& key) {
  const std::string table = key.account.empty() ? "catalog " + key.table : key.account + "/" + key.table;
  return table + " '" + key.partition_key + "' '" + key.row_key + "'";
}

std::string range_text(const RepairLoss& loss) {
  if (!loss.first && !loss.last) return "anywhere";
  const std::string from = loss.first ? "from " + key_text(*loss.first) : "from the first entity";
  return from + (loss.last ? " to " + key_text(*loss.last) : " to the last entity");
}

std::string time_text(const RepairLoss& loss) {
  std::string text;
  if (loss.oldest) text += ", written from " + loss.oldest->to_string();
  if (loss.newest) text += std::string(loss.oldest ? "" : ", written") + " up to " + loss.newest->to_string();
  return text;
}

void print_loss(const RepairLoss& loss) {
  std::cout << "lost      " << loss.file << ", offset " << loss.offset;
  if (loss.bytes > 0) std::cout << ", " << with_commas(loss.bytes) << " bytes";
  std::cout << ": " << loss.what << "\n          ";
  if (loss.entries_max > 0)
    std::cout << "at most " << counted(loss.entries_max, "version", "versions") << " of entities, ";
  std::cout << range_text(loss) << time_text(loss) << "\n";
  if (loss.entities_possibly_stale == 0) return;
  std::cout << "          " << counted(loss.entities_possibly_stale, "entity", "entities")
            << " there, saved from elsewhere, may be older than they were, or deleted since\n";
}

void print_losses(const RepairReport& report) {
  for (const std::string& finding : report.findings) std::cout << "found     " << finding << "\n";
  for (const RepairLoss& loss : report.losses) print_loss(loss);
  if (report.loss_count > report.losses.size()) {
    std::cout << "lost      " << with_commas(report.loss_count - report.losses.size()) << " parts more\n";
  }
  for (const std::string& account : report.remade_accounts) std::cout << "remade    account " << account << "\n";
  for (const std::string& table : report.renamed_tables) {
    std::cout << "renamed   " << table << ", whose name was lost\n";
  }
  if (report.entities_left_out > 0) {
    std::cout << "left out  " << counted(report.entities_left_out, "entity", "entities")
              << " of tables that nothing names, which may have been dropped\n";
  }
  if (!report.options_are_known) std::cout << "options   the store's limits and default durability were lost\n";
}

void print(const RepairReport& report, const std::string& target, std::chrono::nanoseconds elapsed) {
  std::cout << "repaired  into " << target << " in " << duration_text(elapsed) << "\n"
            << "read      CURRENT: " << count_text(report.current) << "; manifests: " << count_text(report.manifests)
            << "; log: " << count_text(report.log_segments) << "; tables: " << count_text(report.table_files) << "\n"
            << "saved     " << counted(report.accounts, "account", "accounts") << ", "
            << counted(report.tables, "table", "tables") << ", "
            << (report.queues > 0 ? counted(report.queues, "queue", "queues") + ", " : std::string())
            << (report.containers > 0 ? counted(report.containers, "container", "containers") + ", " : std::string())
            << counted(report.entities, "entity", "entities") << ", " << bytes_text(report.value_bytes) << "\n"
            << "written   " << counted(report.written_files, "file", "files") << " of "
            << bytes_text(report.written_bytes) << "\n";
  if (report.indexes > 0) std::cout << "built     " << counted(report.indexes, "index", "indexes") << "\n";
  for (const std::string& index : report.unbuilt_indexes) std::cout << "not built " << index << "\n";
  print_losses(report);
  if (report.lost_nothing()) {
    std::cout << (report.was_sound() ? "the store was sound" : "nothing was lost") << "\n";
    return;
  }
  std::cout << counted(report.loss_count, "part is", "parts are") << " lost";
  if (report.entities_possibly_stale > 0) {
    std::cout << ", and " << counted(report.entities_possibly_stale, "entity", "entities")
              << " of those saved may be older than they were";
  }
  std::cout << "\n";
}

// -- JSON output -----------------------------------------------------------------------------------------------------

Json json_of(const RepairedFileCount& files) {
  return {{"whole", files.whole}, {"damaged", files.damaged}, {"missing", files.missing}};
}

Json json_of(const std::optional<RepairKey>& key) {
  if (!key) return nullptr;
  return {
      {"account", key->account}, {"table", key->table}, {"PartitionKey", key->partition_key}, {"RowKey", key->row_key}};
}

Json json_of(const std::optional<DateTime>& time) {
  return time ? Json(time->to_string()) : Json(nullptr);
}

Json json_of(const RepairLoss& loss) {
  return {{"file", loss.file},
          {"offset", loss.offset},
          {"bytes", loss.bytes},
          {"what", loss.what},
          {"entries_max", loss.entries_max},
          {"first", json_of(loss.first)},
          {"last", json_of(loss.last)},
          {"oldest", json_of(loss.oldest)},
          {"newest", json_of(loss.newest)},
          {"entities_possibly_stale", loss.entities_possibly_stale}};
}

void print_json(const RepairReport& report, std::chrono::nanoseconds elapsed) {
  Json losses = Json::array();
  for (const RepairLoss& loss : report.losses) losses.push_back(json_of(loss));
  const Json json{{"lost_nothing", report.lost_nothing()},
                  {"was_sound", report.was_sound()},
                  {"current", json_of(report.current)},
                  {"manifests", json_of(report.manifests)},
                  {"log_segments", json_of(report.log_segments)},
                  {"log_buffers", json_of(report.log_buffers)},
                  {"table_files", json_of(report.table_files)},
                  {"files_are_certain", report.files_are_certain},
                  {"options_are_known", report.options_are_known},
                  {"log_records", report.log_records},
                  {"commits", report.commits},
                  {"torn_bytes", report.torn_bytes},
                  {"read_bytes", report.read_bytes},
                  {"accounts", report.accounts},
                  {"tables", report.tables},
                  {"queues", report.queues},
                  {"containers", report.containers},
                  {"entities", report.entities},
                  {"value_bytes", report.value_bytes},
                  {"indexes", report.indexes},
                  {"unbuilt_indexes", report.unbuilt_indexes},
                  {"written_files", report.written_files},
                  {"written_bytes", report.written_bytes},
                  {"version", report.version.to_string()},
                  {"entities_possibly_stale", report.entities_possibly_stale},
                  {"entities_left_out", report.entities_left_out},
                  {"renamed_tables", report.renamed_tables},
                  {"remade_accounts", report.remade_accounts},
                  {"finding_count", report.finding_count},
                  {"findings", report.findings},
                  {"loss_count", report.loss_count},
                  {"losses", losses},
                  {"seconds", std::chrono::duration<double>(elapsed).count()}};
  // Keys may contain any text. An invalid byte in a message must not make the output fail.
  std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

int repair_store(const RepairWords& words) {
  if (Status possible = check_same_kind(words.place.store, words.target); !possible.ok()) return fail(possible);
  const Result<std::shared_ptr<RadosConnection>> cluster = cluster_of(words.place.store);
  if (!cluster.ok()) return fail(cluster.status());
  StoreOptions options;
  if (*cluster != nullptr) options.env = (**cluster).env();
  Progress progress("entities", 0);
  const Result<RepairReport> report =
      Store::repair(words.place.store, words.target, options,
                    [&](const RepairReport& so_far) { progress.update(so_far.entities, so_far.value_bytes); });
  const std::chrono::nanoseconds elapsed = progress.elapsed();
  progress.clear();
  if (!report.ok()) return fail(report.status());
  if (words.json) {
    print_json(*report, elapsed);
  } else {
    print(*report, words.target, elapsed);
  }
  return report->lost_nothing() ? kSuccess : kDamaged;
}

}  // namespace

void add_repair_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<RepairWords>();
  CLI::App* verb = app.add_subcommand("repair", "Save the intact content of a damaged store to a new store");
  verb->footer(
      "TARGET must be absent or empty; it becomes a sound store. STORE is only read, and must not be open for\n"
      "writing. Saves the newest versions that can still be read, with their Timestamps and ETags, and guesses\n"
      "nothing. Names each part that cannot be read, with its range of keys. Entities of that range that were\n"
      "saved from other files may be older than they were. Exit code 0 if nothing was lost, 3 if something was.\n"
      "Parts that the device fails to read are lost parts too.\n"
      "\nExamples\n"
      "  varve repair ./shop ./shop-repaired\n"
      "  varve repair ./shop ./shop-repaired --json");
  add_store_words(*verb, words->place);
  verb->add_option("TARGET", words->target,
                   "Directory of the repaired store; absent or empty. For a store on Ceph: an address of the same pool")
      ->required();
  add_json_words(*verb, words->json, "Print the report as JSON");
  verb->callback([words, &exit_code] { exit_code = repair_store(*words); });
}

}  // namespace varve::tool
