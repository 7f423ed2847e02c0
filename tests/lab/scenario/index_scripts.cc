#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

constexpr Tuning kIndexed{.has_indexes = true};
constexpr int kIndexedRows = 140;  // more than one part of a build

IndexDefinition by_value() {
  return {"ByValue", {{"V", true}, {"RowKey"}}, {"W"}};
}

IndexDefinition by_unique_value() {
  return {"ByUniqueValue", {{"V"}}, {}, true};
}

void rows_in_files(Stage& stage) {
  stage.account();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, kIndexedRows, 30);
  stage.compact();
}

void indexed_rows(Stage& stage) {
  rows_in_files(stage);
  stage.declare_index("Orders", by_value());
  stage.build_index("Orders", by_value());
}

void ended_rows(Stage& stage) {
  stage.account();
  stage.dated_table("Sessions");
  stage.fill("Sessions", "p", 0, 20, 30);
  stage.declare_index("Sessions", by_value());
  stage.build_index("Sessions", by_value());
  stage.expiring_table("Aged");
  stage.declare_index("Aged", by_value());
  stage.build_index("Aged", by_value());
}

/// Changes, removes and adds an entity. The keys contain `row`, which is below 10.
void write_some(Stage& stage, const std::string& row) {
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "00000" + row, "changed " + row}, Durability::kBuffered);
  stage.write("Orders", {StageKind::kRemove, "p", "00013" + row, ""});
  stage.write("Orders", {StageKind::kInsert, "q", row, stage.letters(20)}, Durability::kBuffered);
}

void builds_beside_writes(Stage& stage) {
  stage.declare_index("Orders", by_value());
  write_some(stage, "1");
  stage.build_index("Orders", by_value(), [&stage] { write_some(stage, "2"); });
  write_some(stage, "3");
}

void builds_a_unique_index(Stage& stage) {
  stage.declare_index("Orders", by_unique_value());
  write_some(stage, "1");
  stage.build_index("Orders", by_unique_value(), [&stage] {
    write_some(stage, "2");
    stage.transact({{"Orders", {StageKind::kRemove, "p", "000001", ""}},
                    {"Orders", {StageKind::kInsert, "q", "moved", "changed 1"}}});  // a value of an entity before
  });
  stage.write("Orders", {StageKind::kRemove, "q", "moved", ""}, Durability::kBuffered);
  stage.write("Orders", {StageKind::kInsert, "p", "000001", "changed 1"});
  write_some(stage, "3");
}

void drops_an_index(Stage& stage) {
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "000001", "before"});
  stage.drop_index("Orders", "ByValue");
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "000002", "after"});
  stage.compact();
  stage.declare_index("Orders", by_value());
}

void drops_in_a_build(Stage& stage) {
  stage.declare_index("Orders", by_value());
  stage.build_index(
      "Orders", by_value(), [&stage] { stage.drop_index("Orders", "ByValue"); }, Code::kNotFound);
  stage.declare_index("Orders", by_value());
  stage.build_index(
      "Orders", by_value(), [&stage] { stage.drop_table("Orders"); }, Code::kNotFound);
  stage.table("Orders");
  stage.write("Orders", {StageKind::kInsert, "p", "000001", "new"});
}

void writes_with_an_index(Stage& stage) {
  stage.write("Orders", {StageKind::kInsert, "q", "1", "inserted"});
  stage.write("Orders", {StageKind::kReplace, "p", "000001", "replaced", true});
  stage.write("Orders", {StageKind::kMerge, "p", "000002", "merged"}, Durability::kBuffered);
  stage.write("Orders", {StageKind::kInsertOrMerge, "q", "2", "merged"});
  stage.write("Orders", {StageKind::kRemove, "p", "000003", ""}, Durability::kBuffered);
  stage.batch("Orders", {{StageKind::kInsertOrReplace, "p", "000004", "of a batch"},
                         {StageKind::kRemove, "p", "000005", ""},
                         {StageKind::kInsertOrMerge, "p", "000006", "of a batch"}});
  stage.transact({{"Orders", {StageKind::kInsertOrReplace, "q", "3", "of a transaction"}},
                  {"Orders", {StageKind::kRemove, "p", "000007", ""}}});
  stage.compact();
  stage.write("Orders", {StageKind::kInsertOrReplace, "p", "000001", "inserted"});
}

void an_empty_table(Stage& stage) {
  stage.account();
  stage.table("Loaded");
  stage.declare_index("Loaded", by_value());
  stage.build_index("Loaded", by_value());
}

void loads_an_indexed_table(Stage& stage) {
  stage.load_indexed("Loaded", "ByValue", kIndexedRows, 30);
  stage.write("Loaded", {StageKind::kInsertOrReplace, "loaded", "000001", "changed"});
  stage.write("Loaded", {StageKind::kRemove, "loaded", "000002", ""}, Durability::kBuffered);
  stage.compact();
}

void compacts_what_has_ended(Stage& stage) {
  std::vector<Stage::Write> writes;
  for (int row = 10; row < 20; ++row) {
    writes.push_back({StageKind::kInsertOrReplace, "p", "0000" + std::to_string(row), "ended", false, true});
  }
  stage.batch("Sessions", writes);
  stage.compact();
  stage.write("Sessions", {StageKind::kInsert, "p", "000010", "again"});
  stage.write("Aged", {StageKind::kInsert, "p", "1", "aged"});
  stage.write("Aged", {StageKind::kInsertOrReplace, "p", "1", "aged again"}, Durability::kBuffered);
  stage.write("Sessions", {StageKind::kInsertOrReplace, "p", "000001", "ended", false, true}, Durability::kBuffered);
  stage.compact();
}

}  // namespace

std::vector<Scenario> index_scripts() {
  return {
      {.name = "index-build", .tuning = kIndexed, .prepare = rows_in_files, .run = builds_beside_writes},
      {.name = "index-unique-build", .tuning = kIndexed, .prepare = rows_in_files, .run = builds_a_unique_index},
      {.name = "index-drop", .tuning = kIndexed, .prepare = indexed_rows, .run = drops_an_index},
      {.name = "index-drop-in-build", .tuning = kIndexed, .prepare = rows_in_files, .run = drops_in_a_build},
      {.name = "index-writes", .tuning = kIndexed, .prepare = indexed_rows, .run = writes_with_an_index},
      {.name = "index-load", .tuning = kIndexed, .prepare = an_empty_table, .run = loads_an_indexed_table},
      {.name = "index-expiry", .tuning = kIndexed, .prepare = ended_rows, .run = compacts_what_has_ended},
  };
}

}  // namespace varve::lab
