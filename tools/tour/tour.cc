// Owns: the quickstart's tour of a store full of Debian packages: what a table store does, each step with its time.
// Must never: show a figure that it did not just measure.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "tools/tour/kills.h"
#include "tools/tour/writer.h"
#include "tools/varve/terminal/progress.h"
#include "varve/store.h"

namespace varve::tour {

namespace {

constexpr const char* kTable = "Packages";
constexpr std::uint64_t kPromises = 20'000;

class Stopwatch {
 public:
  std::string text() const { return tool::duration_text(std::chrono::steady_clock::now() - begun_); }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

void say(const char* step, const std::string& what, const std::string& time) {
  std::printf("  %-26s %-62s %10s\n", step, what.c_str(), time.c_str());
}

std::string text_of(const Entity& entity, std::string_view property) {
  const Result<std::string> text = entity.get<std::string>(property);
  return text.ok() ? *text : "";
}

Status show_get(Table& table) {
  (void)table.get("libs", "zlib1g");  // The first access to a page of memory is not part of a get's cost.
  const Stopwatch watch;
  const Result<std::optional<Entity>> entity = table.get("libs", "libxxhash0");
  const std::string time = watch.text();
  if (!entity.ok()) return entity.status();
  if (!*entity) return Status::not_found("the package index has no libs/libxxhash0");
  say("point get",
      "libs/libxxhash0: version " + text_of(**entity, "Version") + ", " +
          std::to_string((*entity)->properties().size()) + " properties",
      time);
  return Status();
}

Status show_range(Table& table) {
  Scan scan;
  scan.range = ScanRange::rows_with_prefix("devel", "g++");
  scan.read.select = {"Version"};
  const Stopwatch watch;
  const Result<Page> page = table.scan(scan);
  const std::string time = watch.text();
  if (!page.ok()) return page.status();
  std::string names =
      page->entities.empty() ? "" : page->entities.front().row_key() + " to " + page->entities.back().row_key();
  say("RowKey range", "devel/g++*: " + std::to_string(page->entities.size()) + " packages, " + names, time);
  return Status();
}

Status show_transaction(Table& table) {
  Scan scan;
  scan.range = ScanRange::partition("games");
  scan.page_entities_max = 100;
  const Result<Page> page = table.scan(scan);
  if (!page.ok()) return page.status();
  EntityGroupTransaction transaction;
  for (const Entity& entity : page->entities) {
    Entity change(entity.partition_key(), entity.row_key());
    change.set("Played", true);
    transaction.merge(std::move(change), entity.etag());
  }
  const Stopwatch watch;
  const Result<std::vector<ETag>> etags = table.execute(transaction);
  const std::string time = watch.text();
  if (!etags.ok()) return etags.status();
  say("transaction", "games: " + std::to_string(etags->size()) + " entities merged, each under its ETag, durable",
      time);
  return Status();
}

Status show_stale_etag(Table& table) {
  const Result<std::optional<Entity>> read = table.get("libs", "zlib1g");
  if (!read.ok()) return read.status();
  if (!*read) return Status::not_found("the package index has no libs/zlib1g");
  Entity mine = **read;
  const Result<ETag> theirs = table.merge(Entity("libs", "zlib1g").set("Seen", true), ETag::any());
  if (!theirs.ok()) return theirs.status();
  const Stopwatch watch;
  const Status refused = table.replace(mine, mine.etag()).status();
  const std::string time = watch.text();
  if (refused.code() != Code::kPreconditionFailed) return Status::corruption("the store accepted a stale ETag");
  say("stale ETag", "replace of libs/zlib1g refused: " + std::string(refused.service_error()), time);
  return Status();
}

/// The table files of the store, and the bytes that compaction has written.
struct TableSpace {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t rewritten_bytes = 0;
};

Result<TableSpace> table_space(const Store& store) {
  const Result<Statistics> statistics = store.statistics();
  if (!statistics.ok()) return statistics.status();
  TableSpace space;
  for (const LevelStatistics& level : statistics->levels) {
    space.files += level.files;
    space.bytes += level.bytes;
  }
  space.rewritten_bytes = statistics->compaction_written_bytes;
  return space;
}

Status show_compact(Store& store) {
  const Stopwatch watch;
  if (Status compacted = store.compact(); !compacted.ok()) return compacted;
  const std::string time = watch.text();
  const Result<TableSpace> space = table_space(store);
  if (!space.ok()) return space.status();
  say("compact",
      "all of it in " + std::to_string(space->files) + (space->files == 1 ? " table file, " : " table files, ") +
          tool::bytes_text(space->bytes),
      time);
  return Status();
}

/// Waits until compaction has freed the space of the dropped table. It runs in the background, beside other work.
Status show_space_given_back(const Store& store, const TableSpace& before, const Stopwatch& since_drop) {
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks; ++look) {
    const Result<TableSpace> now = table_space(store);
    if (!now.ok()) return now.status();
    if (now->bytes < before.bytes / 10) {
      say("space given back",
          tool::bytes_text(before.bytes - now->bytes) + " of table files, " +
              tool::bytes_text(now->rewritten_bytes - before.rewritten_bytes) + " rewritten for it",
          since_drop.text());
      return Status();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Status::corruption("the space of a dropped table did not come back");
}

Status show_drop(Store& store) {
  const Result<Table> table = store.open_table(kAccount, kTable);
  if (!table.ok()) return table.status();
  const Result<TableSpace> before = table_space(store);
  if (!before.ok()) return before.status();
  const Stopwatch watch;
  if (Status dropped = store.drop_table(kAccount, kTable); !dropped.ok()) return dropped;
  const std::string time = watch.text();
  if (table->get("libs", "zlib1g").status().service_error() != "TableNotFound")
    return Status::corruption("a dropped table still answers");
  say("table drop", "Packages, with all its entities: one durable commit", time);
  return show_space_given_back(store, *before, watch);
}

Status with_store(const std::string& path, const std::function<Status(Store&)>& work) {
  const Stopwatch watch;
  const Result<std::unique_ptr<Store>> store = Store::open(path);
  if (!store.ok()) return store.status();
  const Result<Statistics> statistics = (*store)->statistics();
  if (!statistics.ok()) return statistics.status();
  say("open",
      tool::with_commas(statistics->memtable_entries) + " entries from " +
          tool::bytes_text(statistics->recovery.log_bytes) + " of log, every checksum verified",
      watch.text());
  if (Status worked = work(**store); !worked.ok()) return worked;
  return (*store)->close();
}

Status show_kill(const std::string& program, const std::string& path) {
  const Stopwatch watch;
  const Result<Account> account = kill_a_writer(program, path, kPromises, 0, Memory::kDefault);
  if (!account.ok()) return account.status();
  say("kill -9 of 16 writers",
      tool::with_commas(account->acknowledged) + " transactions acknowledged, " + tool::with_commas(account->lost) +
          " lost, " + tool::with_commas(account->torn) + " torn",
      watch.text());
  if (!account->kept()) return Status::corruption("the store lost or damaged acknowledged data; see the counts above");
  return drop_ledger(path);
}

Status tour(const std::string& program, const std::string& path) {
  Status shown = with_store(path, [](Store& store) {
    Result<Table> table = store.open_table(kAccount, kTable);
    if (!table.ok()) return table.status();
    for (const auto& step : {&show_get, &show_range, &show_transaction, &show_stale_etag}) {
      if (Status status = step(*table); !status.ok()) return status;
    }
    return Status();
  });
  if (!shown.ok()) return shown;
  if (Status killed = show_kill(program, path); !killed.ok()) return killed;
  return with_store(path, [](Store& store) {
    const Status compacted = show_compact(store);
    return compacted.ok() ? show_drop(store) : compacted;
  });
}

}  // namespace
}  // namespace varve::tour

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const auto number = [&](int argument) { return std::strtoul(argv[argument], nullptr, 10); };
  if (argc == 6 && verb == "--writer") {
    return varve::tour::run_writer(argv[2], static_cast<int>(number(3)), static_cast<std::uint32_t>(number(4)),
                                   varve::tour::Memory{static_cast<std::uint32_t>(number(5))});
  }
  const bool scarce = argc == 5 && verb == "--kills" && std::string(argv[4]) == "--scarce-memory";
  const bool kills = (argc == 4 && verb == "--kills") || scarce;
  if (argc != 2 && !kills) {
    std::fprintf(stderr,
                 "usage: varve-tour STORE\n"
                 "         shows the operations of a store on the table Packages that tools/quickstart imports\n"
                 "       varve-tour --kills N STORE [--scarce-memory]\n"
                 "         kills 16 writers N times and counts lost data; --scarce-memory kills them in the middle of\n"
                 "         flushes, compactions and drops of tables\n");
    return 2;
  }
  std::error_code error;
  const std::string found = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string program = error ? argv[0] : found;
  const auto memory = scarce ? varve::tour::Memory::kScarce : varve::tour::Memory::kDefault;
  const varve::Status shown =
      kills ? varve::tour::kill_writers(program, argv[3], number(2), memory) : varve::tour::tour(program, argv[1]);
  if (!shown.ok()) std::fprintf(stderr, "varve-tour: %s\n", shown.to_string().c_str());
  return shown.ok() ? 0 : 1;
}
