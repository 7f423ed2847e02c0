#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

void one_table(Stage& stage) {
  stage.account();
  stage.table("Orders");
}

void rows(Stage& stage) {
  one_table(stage);
  stage.batch(
      "Orders",
      {{StageKind::kInsert, "p", "a", "1"}, {StageKind::kInsert, "p", "b", "2"}, {StageKind::kInsert, "p", "c", "3"}});
  stage.write("Orders", {StageKind::kInsert, "q", "a", "4"});
}

void two_tables(Stage& stage) {
  rows(stage);
  stage.table("Archive");
}

void inserts_sync(Stage& stage) {
  for (int i = 0; i < 6; ++i) stage.write("Orders", {StageKind::kInsert, "p", std::to_string(i), stage.letters(40)});
}

void inserts_buffered(Stage& stage) {
  for (int i = 0; i < 8; ++i) {
    stage.write("Orders", {StageKind::kInsert, "p", std::to_string(i), stage.letters(40)}, Durability::kBuffered);
  }
  stage.sync();
  stage.write("Orders", {StageKind::kInsert, "p", "last", "x"}, Durability::kBuffered);
}

void mixed_durability(Stage& stage) {
  for (int i = 0; i < 12; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "p", std::to_string(i % 5), stage.letters(300)},
                i % 3 == 2 ? Durability::kSync : Durability::kBuffered);
  }
}

void replaces(Stage& stage) {
  for (int i = 0; i < 4; ++i) stage.write("Orders", {StageKind::kReplace, "p", "a", stage.letters(20), true});
}

void merges(Stage& stage) {
  stage.write("Orders", {StageKind::kMerge, "p", "a", "x", true});
  stage.write("Orders", {StageKind::kMerge, "p", "a", "y"}, Durability::kBuffered);
  stage.write("Orders", {StageKind::kInsertOrMerge, "p", "new", "z"});
  stage.write("Orders", {StageKind::kInsertOrMerge, "p", "b", "z"});
}

void removes(Stage& stage) {
  stage.write("Orders", {StageKind::kRemove, "p", "a", "", true});
  stage.write("Orders", {StageKind::kRemove, "p", "b", ""}, Durability::kBuffered);
  stage.write("Orders", {StageKind::kInsert, "p", "a", "again"});
}

void batches(Stage& stage) {
  for (int i = 0; i < 3; ++i) {
    stage.batch("Orders",
                {{StageKind::kInsert, "p", "n" + std::to_string(i), stage.letters(60)},
                 {StageKind::kReplace, "p", "a", stage.letters(60), true},
                 {StageKind::kInsertOrMerge, "p", "c", stage.letters(60)}},
                i == 1 ? Durability::kBuffered : Durability::kSync);
  }
  stage.batch("Orders", {{StageKind::kRemove, "p", "a", ""}, {StageKind::kRemove, "p", "b", ""}});
}

/// Writes batches of several sectors, pages and disk changes each.
void large_batches(Stage& stage) {
  for (int i = 0; i < 3; ++i) stage.fill("Orders", "large", i * 20, 20, 2000, Durability::kSync);
}

void large_entities(Stage& stage) {
  for (int i = 0; i < 3; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "p", "big" + std::to_string(i), stage.letters(32'000)},
                i == 1 ? Durability::kBuffered : Durability::kSync);
  }
}

/// Fills the first log segment, which has a mebibyte, and begins the next.
void log_rolls(Stage& stage) {
  stage.fill("Orders", "roll", 0, 60, 20'000, Durability::kSync);
}

void log_rolls_buffered(Stage& stage) {
  stage.fill("Orders", "roll", 0, 60, 20'000, Durability::kBuffered);
  stage.sync();
}

/// Fills two segments. A flush releases them, and two checkpoints lead the log into the one that is recycled.
void log_recycled(Stage& stage) {
  stage.fill("Orders", "old", 0, 300, 12'000, Durability::kSync);
  stage.compact();
  for (int i = 0; i < 2; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "p", "turn" + std::to_string(i), "x"});
    stage.checkpoint("/copy" + std::to_string(i));
  }
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "new", stage.letters(5000)});
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "buffered", "x"}, Durability::kBuffered);
}

void transactions(Stage& stage) {
  stage.transact({{"Orders", {StageKind::kRemove, "p", "a", ""}}, {"Archive", {StageKind::kInsert, "2026", "a", "1"}}});
  stage.transact({{"Orders", {StageKind::kInsertOrReplace, "p", "b", "x"}},
                  {"Orders", {StageKind::kInsertOrReplace, "q", "a", "y"}}},
                 Durability::kBuffered);
  stage.transact({{"Archive", {StageKind::kInsertOrReplace, "2025", "b", stage.letters(5000)}},
                  {"Orders", {StageKind::kRemove, "q", "a", ""}}});
}

void tags(Stage& stage) {
  stage.write("Orders", {StageKind::kInsert, "p", "t1", "x"}, Durability::kSync, "position 1");
  stage.write("Orders", {StageKind::kInsert, "p", "t2", "x"}, Durability::kBuffered, "position 2");
  stage.write("Orders", {StageKind::kInsert, "p", "t3", "x"}, Durability::kSync);
  stage.write("Orders", {StageKind::kInsert, "p", "t4", "x"}, Durability::kSync, "position 4");
}

void tags_and_flushes(Stage& stage) {
  tags(stage);
  stage.compact();
  stage.write("Orders", {StageKind::kInsert, "p", "t5", "x"}, Durability::kBuffered, "position 5");
}

/// Pauses between commits, so that the log's end is marked and later continued.
void idle_moments(Stage& stage) {
  for (int i = 0; i < 3; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "p", "idle", std::to_string(i)},
                i == 0 ? Durability::kBuffered : Durability::kSync);
    stage.machine().clock.advance(std::chrono::seconds(3));
    stage.sync();
  }
}

void clock_steps_back(Stage& stage) {
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "a", "before"});
  stage.machine().clock.set_wall(stage.machine().clock.wall() - io::kTicksPerSecond * 3600);
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "a", "after"});
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "b", "after"}, Durability::kBuffered);
}

void four_writers(Stage& stage) {
  std::vector<io::Thread> threads;
  for (int w = 0; w < 4; ++w) {
    auto thread = stage.machine().scheduler().start("writer", [&stage, w] {
      for (int i = 0; i < 4; ++i) {
        stage.write("Orders",
                    {StageKind::kInsertOrReplace, "p" + std::to_string(w), std::to_string(i), stage.letters(100)},
                    (w + i) % 3 == 0 ? Durability::kBuffered : Durability::kSync);
      }
    });
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
}

void one_hot_partition(Stage& stage) {
  std::vector<io::Thread> threads;
  for (int w = 0; w < 4; ++w) {
    auto thread = stage.machine().scheduler().start("writer", [&stage, w] {
      for (int i = 0; i < 4; ++i) {
        stage.write("Orders", {StageKind::kInsertOrMerge, "hot", "row", std::to_string(w) + "/" + std::to_string(i)});
      }
    });
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
}

void writers_and_a_sync(Stage& stage) {
  auto writer = stage.machine().scheduler().start("writer", [&stage] {
    for (int i = 0; i < 6; ++i) {
      stage.write("Orders", {StageKind::kInsertOrReplace, "w", std::to_string(i), stage.letters(50)},
                  Durability::kBuffered);
    }
  });
  for (int i = 0; i < 3; ++i)
    stage.write("Orders", {StageKind::kInsertOrReplace, "m", std::to_string(i), stage.letters(50)});
}

}  // namespace

std::vector<Scenario> commit_scripts() {
  return {
      {.name = "insert-sync", .prepare = one_table, .run = inserts_sync, .two_levels = true},
      {.name = "insert-buffered", .prepare = one_table, .run = inserts_buffered, .two_levels = true},
      {.name = "mixed-durability", .prepare = one_table, .run = mixed_durability},
      {.name = "buffered-by-default",
       .tuning = {.default_durability = Durability::kBuffered},
       .prepare = one_table,
       .run = mixed_durability},
      {.name = "replace", .prepare = rows, .run = replaces},
      {.name = "merge", .prepare = rows, .run = merges},
      {.name = "remove", .prepare = rows, .run = removes},
      {.name = "batch", .prepare = rows, .run = batches},
      {.name = "large-batch", .prepare = one_table, .run = large_batches},
      {.name = "large-entity", .prepare = one_table, .run = large_entities},
      {.name = "log-roll", .prepare = one_table, .run = log_rolls},
      {.name = "log-roll-buffered", .prepare = one_table, .run = log_rolls_buffered},
      {.name = "log-recycled", .prepare = one_table, .run = log_recycled},
      {.name = "transaction", .prepare = two_tables, .run = transactions},
      {.name = "tag", .prepare = rows, .run = tags},
      {.name = "tag-and-flush", .prepare = rows, .run = tags_and_flushes},
      {.name = "idle-log", .prepare = one_table, .run = idle_moments},
      {.name = "clock-steps-back", .prepare = rows, .run = clock_steps_back},
      {.name = "four-writers", .prepare = one_table, .run = four_writers, .has_threads = true},
      {.name = "hot-partition", .prepare = one_table, .run = one_hot_partition, .has_threads = true},
      {.name = "writers-and-sync", .prepare = one_table, .run = writers_and_a_sync, .has_threads = true},
  };
}

}  // namespace varve::lab
