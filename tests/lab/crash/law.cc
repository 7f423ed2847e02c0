#include "tests/lab/crash/law.h"

#include <set>
#include <utility>

#include "engine/recovery/recovery.h"
#include "format/log/file_header.h"
#include "format/log/warm_list.h"
#include "tests/lab/content/index_comparison.h"
#include "tests/lab/scenario/judgement.h"

namespace varve::lab {
namespace {

/// Names of two writes that no scenario makes.
constexpr std::string_view kProbeAccount = "probeaccount";
constexpr std::string_view kProbeTable = "Probe";

/// Checks that the store accepts writes with versions above every version that any reader may have seen.
std::string write_on(Store& store, std::uint64_t highest_version, Content& content) {
  if (Status made = store.create_account(kProbeAccount); !made.ok()) return "a write: " + made.to_string();
  Result<Table> table = store.create_table(kProbeAccount, kProbeTable);
  if (!table.ok()) return "a write: " + table.status().to_string();
  const Entity entity = Entity("p", "r").set("V", "v");
  const Result<ETag> etag = table->insert(entity);
  if (!etag.ok()) return "a write: " + etag.status().to_string();
  if (etag->timestamp().ticks <= highest_version) return "a version was given twice, or went back";
  content[account_name(kProbeAccount)] = {};
  content[table_name(kProbeAccount, kProbeTable)] = {};
  content[entity_name(kProbeAccount, kProbeTable, "p", "r")] = row_of(entity, etag->timestamp().ticks);
  return {};
}

std::string compare_indexes(const Remains& remains, std::uint64_t seed, bool is_compacted) {
  const CopyMachine machine(remains, seed);
  return index_difference(machine.env, machine.files->path("store"), is_compacted);
}

/// Builds the indexes that no build has ended, and gives the space of dropped ones back.
std::string end_builds(Store& store, Content& content) {
  const Result<TablePage> tables = store.list_tables(kAccount);
  if (tables.code() == Code::kNotFound) return {};
  if (!tables.ok()) return "a list of tables: " + tables.status().to_string();
  for (const TableInfo& table : tables->tables) {
    const Result<std::vector<IndexInfo>> indexes = store.indexes(kAccount, table.name);
    if (!indexes.ok()) return "a list of indexes: " + indexes.status().to_string();
    for (const IndexInfo& index : *indexes) {
      const Status built = store.create_index(kAccount, table.name, index.definition);
      if (!built.ok()) return "a build after the crash: " + built.to_string();
      content[index_name(kAccount, table.name, index.definition.name)] = index_row(IndexState::kReady);
    }
  }
  const Status compacted = store.compact();
  return compacted.ok() ? "" : "a compaction: " + compacted.to_string();
}

std::string check_content(const Store& store, const Content& expected) {
  const Result<Content> found = read_content(store);
  if (!found.ok()) return "a read: " + found.status().to_string();
  return difference(expected, *found);
}

std::string check_closed(const Remains& remains, const Tuning& tuning, std::uint64_t seed, const Content& expected) {
  const CopyMachine machine(remains, seed);
  const std::string path = machine.files->path("store");
  if (std::string files = check_files(remains, path); !files.empty()) return "after a close: " + files;
  Result<StoreOptions> options = make_options(tuning, machine.env);
  if (!options.ok()) return options.status().to_string();
  const Result<VerifyReport> report = Store::verify(path, *options);
  if (!report.ok()) return "verify after a close: " + report.status().to_string();
  if (!report->sound()) return "verify after a close: " + report->findings.front();
  if (!report->recovery.clean) return "a closed store is not clean";
  options->read_only = true;
  options->create_if_absent = false;
  const Result<std::unique_ptr<Store>> again = open_as_standby(path, *options);
  if (!again.ok()) return "the next open: " + again.status().to_string();
  const std::string differs = check_content(**again, expected);
  return differs.empty() ? "" : "after the next open: " + differs;
}

/// Checks a checkpoint. If it was acknowledged, it must open. Otherwise it may also be no store. If it opens, it
/// contains one state.
std::string check_checkpoint(const Image& image, const CheckpointBegun& begun, const Ledger& ledger,
                             std::uint64_t seed) {
  const CopyMachine machine(image.remains, seed);
  Result<StoreOptions> options = make_options({}, machine.env);
  if (!options.ok()) return options.status().to_string();
  options->read_only = true;
  options->create_if_absent = false;
  const Result<std::unique_ptr<Store>> opened = open_as_standby(begun.path, *options);
  if (!opened.ok()) {
    if (begun.version) return "an acknowledged checkpoint does not open: " + opened.status().to_string();
    return {};
  }
  const Result<Statistics> statistics = (*opened)->statistics();
  if (!statistics.ok()) return statistics.status().to_string();
  // A store that only reads ends no work, so this is the version that the open recovered.
  const std::uint64_t version = statistics->visible_version.ticks;
  if (begun.version && version != *begun.version) return "a checkpoint opens at another version than it told";
  const std::string differs = check_content(**opened, *ledger.content_at(version));
  return differs.empty() ? "" : "in a checkpoint: " + differs;
}

}  // namespace

std::string check_files(const Remains& remains, std::string_view path) {
  const CopyMachine machine(remains, 1);
  const Result<std::unique_ptr<io::Directory>> directory = machine.env.files.open_directory(path);
  if (!directory.ok()) return directory.status().to_string();
  const Result<engine::Recovered> recovered = engine::read_store(machine.env, **directory, false);
  if (!recovered.ok()) return recovered.status().to_string();
  const Result<std::vector<io::DirectoryEntry>> found = (*directory)->list();
  if (!found.ok()) return found.status().to_string();
  std::set<std::string> named{"CURRENT"};
  if (!remains.pool) named.insert("LOCK");
  named.insert(format::file_name(format::FileType::kManifest, recovered->root.root().manifest_number));
  for (const auto& [number, segment] : recovered->files.segments) {
    named.insert(format::file_name(format::FileType::kLogSegment, number));
  }
  for (const auto& [number, entry] : recovered->files.value_files) {
    named.insert(format::file_name(format::FileType::kLogSegment, number));
  }
  for (const auto& [number, entry] : recovered->files.tables) {
    named.insert(format::file_name(format::FileType::kTable, number));
  }
  for (const io::DirectoryEntry& entry : *found) {
    if (named.erase(entry.name) == 0 && entry.name != format::kWarmListName) {
      return "a file that nothing names: " + entry.name;
    }
  }
  return named.empty() ? "" : "a file is missing: " + *named.begin();
}

std::string check_image(const Image& image, const Ledger& ledger, const Tuning& tuning, std::uint64_t seed) {
  Opened opened = open_copy(image.remains, seed, tuning);
  if (!opened.store) return "does not open: " + opened.status.to_string();
  const Result<Statistics> statistics = opened.store->statistics();
  if (!statistics.ok()) return statistics.status().to_string();
  const Result<Content> found = read_content(*opened.store);
  if (!found.ok()) return "a read: " + found.status().to_string();
  const Judgement judged =
      judge_opened(ledger, image.mark, image.killed, image.remains, statistics->visible_version.ticks, *found);
  if (!judged.broken.empty()) return judged.broken;
  for (const CheckpointBegun& begun : image.checkpoints) {
    if (std::string wrong = check_checkpoint(image, begun, ledger, seed + 1); !wrong.empty()) return wrong;
  }
  Content content = *found;
  if (std::string wrong = write_on(*opened.store, image.mark.highest_version, content); !wrong.empty()) return wrong;
  if (tuning.has_indexes) {
    if (std::string wrong = compare_indexes(image.remains, seed + 3, false); !wrong.empty()) return wrong;
    if (std::string wrong = end_builds(*opened.store, content); !wrong.empty()) return wrong;
  }
  if (Status closed = opened.store->close(); !closed.ok()) return "a close: " + closed.to_string();
  opened.store.reset();
  const MachineFiles& files = *opened.machine->files;
  if (const std::string stray = files.stray(files.path("store")); !stray.empty()) {
    return "an object that no entry names: " + stray;
  }
  const Remains closed = opened.machine->files->snapshot();
  if (tuning.has_indexes) {
    const std::string wrong = compare_indexes(closed, seed + 4, true);
    if (!wrong.empty()) return "after a compaction and a close: " + wrong;
  }
  return check_closed(closed, tuning, seed + 2, content);
}

}  // namespace varve::lab
