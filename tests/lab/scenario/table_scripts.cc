#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

void table_in_memory(Stage& stage) {
  stage.account();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, 20, 50);
}

void flushed_table(Stage& stage) {
  table_in_memory(stage);
  stage.fill("Orders", "q", 0, 60, 500);
  stage.compact();
  stage.table("Neighbour");
  stage.fill("Neighbour", "n", 0, 20, 100);
}

void an_account(Stage& stage) {
  stage.account();
}

void empty_table(Stage& stage) {
  stage.account();
  stage.table("Loaded");
  stage.table("Orders");
}

void accounts(Stage& stage) {
  stage.account();
  stage.account("another1");
  stage.drop_account("another1");
  stage.account("another1");
}

void tables(Stage& stage) {
  for (const char* name : {"First", "Second", "Third"}) stage.table(name);
  stage.write("Second", {StageKind::kInsert, "p", "r", "x"});
}

void policies(Stage& stage) {
  stage.policies("Orders", 3);
  stage.policies("Orders", 5);
  stage.policies("Orders", 0);
}

void expires(Stage& stage) {
  stage.expiring_table("Sessions");
  stage.fill("Sessions", "p", 0, 20, 50);
  stage.expiry("Orders", true);
  stage.fill("Orders", "p", 0, 10, 300);
  stage.compact();
  stage.expiry("Orders", false);
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "000001", "endless"});
  stage.write("Sessions", {StageKind::kInsertOrMerge, "p", "000001", "renewed"});
}

void drops(Stage& stage) {
  stage.drop_table("Orders");
  stage.table("Fresh");
  stage.write("Fresh", {StageKind::kInsert, "p", "000001", "new"});
}

void recreates(Stage& stage) {
  stage.drop_table("Orders");
  stage.table("Orders");
  stage.write("Orders", {StageKind::kInsert, "p", "000001", "new"});
  stage.drop_table("Orders");
  stage.table("Orders");
}

void drops_and_compacts(Stage& stage) {
  stage.drop_table("Orders");
  stage.compact();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, 20, 50);
  stage.compact();
}

void drops_an_account(Stage& stage) {
  stage.drop_account();
  stage.account();
  stage.table("Orders");
  stage.compact();
}

void drops_beside_a_writer(Stage& stage) {
  auto writer = stage.machine().scheduler().start("writer", [&stage] {
    for (int i = 0; i < 6; ++i) {
      stage.write("Neighbour", {StageKind::kInsertOrReplace, "w", std::to_string(i), stage.letters(50)},
                  i % 2 == 0 ? Durability::kSync : Durability::kBuffered);
    }
  });
  stage.drop_table("Orders");
}

void loads_sorted(Stage& stage) {
  stage.load("Loaded", 120, 300);
}

void loads_unsorted(Stage& stage) {
  stage.load("Loaded", 121, 300, 7);
}

void loads_what_expires(Stage& stage) {
  stage.expiring_table("Loaded");
  stage.load("Loaded", 121, 300, 7);
  stage.compact();
  stage.write("Loaded", {StageKind::kInsertOrMerge, "loaded", "000003", "renewed"});
}

void loads_and_gives_up(Stage& stage) {
  stage.load("Loaded", 100, 300, 1, false);
  stage.table("After");
}

void loads_twice(Stage& stage) {
  stage.load("Loaded", 60, 300);
  stage.drop_table("Loaded");
  stage.load("Loaded", 60, 300);
  stage.write("Loaded", {StageKind::kInsertOrReplace, "loaded", "000003", "changed"});
}

void loads_and_compacts(Stage& stage) {
  stage.load("Loaded", 80, 300);
  stage.fill("Loaded", "loaded", 0, 20, 100);
  stage.compact();
}

void loads_beside_a_writer(Stage& stage) {
  auto writer = stage.machine().scheduler().start("writer", [&stage] {
    for (int i = 0; i < 6; ++i) {
      stage.write("Orders", {StageKind::kInsertOrReplace, "w", std::to_string(i), stage.letters(50)},
                  i % 2 == 0 ? Durability::kSync : Durability::kBuffered);
    }
  });
  stage.load("Loaded", 80, 300);
}

}  // namespace

std::vector<Scenario> table_scripts() {
  return {
      {.name = "accounts", .prepare = nullptr, .run = accounts},
      {.name = "tables", .prepare = an_account, .run = tables},
      {.name = "policies", .prepare = table_in_memory, .run = policies},

      {.name = "expiry", .prepare = table_in_memory, .run = expires, .two_levels = true},
      {.name = "drop-table", .prepare = table_in_memory, .run = drops, .two_levels = true},
      {.name = "drop-flushed-table", .prepare = flushed_table, .run = drops},
      {.name = "recreate-table", .prepare = flushed_table, .run = recreates},
      {.name = "drop-and-compact", .prepare = flushed_table, .run = drops_and_compacts},
      {.name = "drop-account", .prepare = flushed_table, .run = drops_an_account},
      {.name = "drop-beside-writer", .prepare = flushed_table, .run = drops_beside_a_writer, .has_threads = true},
      {.name = "load-sorted", .prepare = an_account, .run = loads_sorted},
      {.name = "load-unsorted", .prepare = an_account, .run = loads_unsorted},
      {.name = "load-into-empty-table", .prepare = empty_table, .run = loads_sorted},
      {.name = "load-expiring", .prepare = an_account, .run = loads_what_expires},
      {.name = "load-given-up", .prepare = an_account, .run = loads_and_gives_up},
      {.name = "load-drop-load", .prepare = an_account, .run = loads_twice},
      {.name = "load-and-compact", .prepare = an_account, .run = loads_and_compacts},
      {.name = "load-beside-writer", .prepare = empty_table, .run = loads_beside_a_writer, .has_threads = true},
  };
}

}  // namespace varve::lab
