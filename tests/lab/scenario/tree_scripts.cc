#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

/// So small that a few dozen entities fill a memtable.
constexpr Tuning kScarce{.write_buffer_bytes = 96 << 10, .block_cache_bytes = 64 << 10, .file_bytes = 8 << 10};

void rows_in_memory(Stage& stage) {
  stage.account();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, 60, 300);
}

void one_file(Stage& stage) {
  rows_in_memory(stage);
  stage.compact();
}

void three_tables_in_files(Stage& stage) {
  stage.account();
  for (const char* name : {"First", "Second", "Third"}) {
    stage.table(name);
    stage.fill(name, "p", 0, 60, 800);
    stage.compact();
  }
}

void flushes(Stage& stage) {
  stage.compact();
  stage.write("Orders", {StageKind::kInsert, "p", "after", "x"});
}

void merges_two_files(Stage& stage) {
  stage.fill("Orders", "p", 30, 60, 300);
  stage.compact();
}

void merges_again_and_again(Stage& stage) {
  for (int i = 0; i < 4; ++i) {
    stage.fill("Orders", "p", i * 15, 40, 200, i % 2 == 0 ? Durability::kSync : Durability::kBuffered);
    stage.compact();
  }
}

void deletes_and_merges(Stage& stage) {
  for (int i = 0; i < 3; ++i) {
    std::vector<Stage::Write> writes;
    for (int row = i * 20; row < i * 20 + 20; ++row) {
      std::string key = std::to_string(row);
      writes.push_back({StageKind::kRemove, "p", std::string(6 - key.size(), '0') + key, ""});
    }
    stage.batch("Orders", writes);
  }
  stage.compact();
}

void keeps_what_a_snapshot_reads(Stage& stage) {
  const Result<Snapshot> snapshot = stage.store().snapshot();
  stage.fill("Orders", "p", 0, 40, 100);
  stage.compact();
  stage.fill("Orders", "p", 20, 40, 100);
  stage.compact();
}

void appends_beside(Stage& stage) {
  stage.fill("Second", "z", 100, 20, 800);
  stage.compact();
  stage.fill("Third", "z", 100, 20, 800);
  stage.compact();
}

void is_short_of_memory(Stage& stage) {
  for (int i = 0; i < 6; ++i) stage.fill("Orders", "p" + std::to_string(i % 2), i * 10, 20, 900, Durability::kSync);
}

void is_short_of_memory_buffered(Stage& stage) {
  for (int i = 0; i < 6; ++i) stage.fill("Orders", "p" + std::to_string(i % 2), i * 10, 20, 900);
  stage.sync();
}

void drops_while_it_flushes(Stage& stage) {
  stage.fill("Orders", "p", 0, 40, 900);
  stage.table("Other");
  stage.fill("Other", "p", 0, 40, 900);
  stage.drop_table("Other");
  stage.fill("Orders", "q", 0, 40, 900);
}

void compacts_beside_a_writer(Stage& stage) {
  auto writer = stage.machine().scheduler().start("writer", [&stage] {
    for (int i = 0; i < 6; ++i) {
      stage.write("Orders", {StageKind::kInsertOrReplace, "w", std::to_string(i), stage.letters(50)},
                  i % 2 == 0 ? Durability::kSync : Durability::kBuffered);
    }
  });
  stage.compact();
  stage.compact();
}

/// Above the size from which a value stays in the log.
constexpr std::size_t kLargeBytes = 17'000;

void large_values(Stage& stage) {
  stage.account();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, 6, kLargeBytes, Durability::kSync);
}

void leaves_large_values_in_the_log(Stage& stage) {
  stage.compact();
  stage.write("Orders", {StageKind::kInsert, "p", "small", "x"});
  stage.fill("Orders", "q", 0, 4, kLargeBytes);
  stage.compact();
}

/// Removes all values of one value file, and all values but one of another.
void lets_value_files_go(Stage& stage) {
  stage.compact();
  stage.table("Other");
  stage.fill("Other", "p", 0, 4, kLargeBytes, Durability::kSync);
  stage.compact();
  stage.drop_table("Other");
  stage.fill("Orders", "p", 0, 5, 20, Durability::kSync);
  stage.compact();
}

}  // namespace

std::vector<Scenario> tree_scripts() {
  return {
      {.name = "flush", .prepare = rows_in_memory, .run = flushes, .two_levels = true},
      {.name = "flush-of-recovered", .prepare = rows_in_memory, .ending = Ending::kKilled, .run = flushes},
      {.name = "merge-two-files", .prepare = one_file, .run = merges_two_files},
      {.name = "merge-repeatedly", .prepare = one_file, .run = merges_again_and_again},
      {.name = "merge-deletes", .prepare = one_file, .run = deletes_and_merges},
      {.name = "merge-under-snapshot", .prepare = one_file, .run = keeps_what_a_snapshot_reads},
      {.name = "copy-runs", .prepare = three_tables_in_files, .run = appends_beside},
      {.name = "scarce-memory", .tuning = kScarce, .prepare = rows_in_memory, .run = is_short_of_memory},
      {.name = "scarce-memory-buffered",
       .tuning = kScarce,
       .prepare = rows_in_memory,
       .run = is_short_of_memory_buffered},
      {.name = "drop-while-flushing", .tuning = kScarce, .prepare = rows_in_memory, .run = drops_while_it_flushes},
      {.name = "large-values", .prepare = large_values, .run = leaves_large_values_in_the_log},
      {.name = "large-values-recovered",
       .prepare = large_values,
       .ending = Ending::kKilled,
       .run = leaves_large_values_in_the_log},
      {.name = "large-values-gone", .prepare = large_values, .run = lets_value_files_go},
      {.name = "compact-beside-writer", .prepare = one_file, .run = compacts_beside_a_writer, .has_threads = true},
  };
}

}  // namespace varve::lab
