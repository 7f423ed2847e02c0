#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

constexpr Tuning kScarceMemory{.write_buffer_bytes = 96 << 10, .block_cache_bytes = 64 << 10, .file_bytes = 8 << 10};

void some_rows(Stage& stage) {
  stage.account();
  stage.table("Orders");
  stage.fill("Orders", "p", 0, 30, 100);
  stage.write("Orders", {StageKind::kInsert, "q", "sync", "x"});
  stage.write("Orders", {StageKind::kInsert, "q", "buffered", "x"}, Durability::kBuffered);
}

void files_and_log(Stage& stage) {
  some_rows(stage);
  stage.compact();
  stage.fill("Orders", "p", 20, 30, 100, Durability::kSync);
  stage.table("Dropped");
  stage.fill("Dropped", "p", 0, 20, 100, Durability::kSync);
  stage.drop_table("Dropped");
}

void several_segments(Stage& stage) {
  some_rows(stage);
  stage.fill("Orders", "roll", 0, 60, 20'000, Durability::kSync);
  stage.write("Orders", {StageKind::kInsert, "q", "tail", "x"}, Durability::kBuffered);
}

/// Writes a log that is much larger than the memory of the next open.
void a_long_log(Stage& stage) {
  some_rows(stage);
  for (int i = 0; i < 40; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "long", std::to_string(i), stage.letters(8000)},
                i % 4 == 0 ? Durability::kSync : Durability::kBuffered);
  }
}

void opens(Stage& stage) {
  (void)stage.open();
  stage.write("Orders", {StageKind::kInsertOrReplace, "q", "opened", "x"});
}

void creates(Stage& stage) {
  (void)stage.open();
  stage.account();
}

void closes(Stage& stage) {
  stage.write("Orders", {StageKind::kInsertOrReplace, "q", "closing", "x"}, Durability::kBuffered);
  (void)stage.close();
}

void reopens(Stage& stage) {
  for (int i = 0; i < 3; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "q", "session", std::to_string(i)},
                i == 1 ? Durability::kBuffered : Durability::kSync);
    (void)stage.reopen();
  }
}

void opens_to_read(Stage& stage) {
  (void)stage.open(true);
  stage.read_all();
  (void)stage.reopen();
  stage.write("Orders", {StageKind::kInsertOrReplace, "q", "opened", "x"});
}

/// Makes one manifest edit per flush. There are enough edits that the manifest is rewritten.
void many_edits(Stage& stage) {
  for (int i = 0; i < 24; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "edit", std::to_string(i), "x"}, Durability::kBuffered);
    stage.compact();
  }
}

void checkpoints(Stage& stage) {
  stage.checkpoint("/checkpoint");
  stage.write("Orders", {StageKind::kInsertOrReplace, "q", "after", "x"});
}

void checkpoints_twice(Stage& stage) {
  stage.checkpoint("/checkpoint");
  stage.write("Orders", {StageKind::kInsertOrReplace, "q", "between", "x"});
  stage.compact();
  stage.checkpoint("/checkpoint2");
}

void checkpoints_beside_a_writer(Stage& stage) {
  auto writer = stage.machine().scheduler().start("writer", [&stage] {
    for (int i = 0; i < 6; ++i) {
      stage.write("Orders", {StageKind::kInsertOrReplace, "w", std::to_string(i), stage.letters(50)},
                  i % 2 == 0 ? Durability::kSync : Durability::kBuffered);
    }
  });
  stage.checkpoint("/checkpoint");
}

void plan(Stage& stage, std::string_view sync_point, io::FaultEffect effect, std::uint64_t skip = 0) {
  io::FaultRule rule;
  rule.sync_point = sync_point;
  rule.effect = effect;
  rule.skip_count = skip;
  stage.machine().files->faults().add(rule);
}

void writes_on(Stage& stage, std::string_view row) {
  for (int i = 0; i < 3; ++i) {
    stage.write("Orders", {StageKind::kInsertOrReplace, "q", std::string(row) + std::to_string(i), "x"},
                i == 1 ? Durability::kBuffered : Durability::kSync);
  }
}

void fails_to_write(Stage& stage) {
  writes_on(stage, "failing");
  stage.read_all();
  (void)stage.reopen();
  writes_on(stage, "after");
}

void a_log_write_fails(Stage& stage) {
  plan(stage, "log group commit", io::FaultEffect::kError, 1);
  fails_to_write(stage);
}

void a_log_write_fails_afterwards(Stage& stage) {
  plan(stage, "log group commit", io::FaultEffect::kErrorAfterwards, 1);
  fails_to_write(stage);
}

void fails_to_flush(Stage& stage) {
  stage.fill("Orders", "p", 0, 40, 100);
  stage.compact();
  stage.compact();
  writes_on(stage, "after");
}

void a_table_sync_fails(Stage& stage) {
  plan(stage, "table file", io::FaultEffect::kSyncFailsCacheKept);
  fails_to_flush(stage);
}

void a_manifest_sync_fails(Stage& stage) {
  plan(stage, "manifest append", io::FaultEffect::kSyncFailsCacheReverted);
  fails_to_flush(stage);
}

void a_footer_fails(Stage& stage) {
  plan(stage, "log segment footer", io::FaultEffect::kError);
  stage.fill("Orders", "roll", 0, 60, 20'000, Durability::kSync);
  (void)stage.reopen();
  writes_on(stage, "after");
}

void the_disk_fills_up(Stage& stage) {
  stage.machine().files->set_capacity_bytes(stage.machine().files->used_bytes() + (64 << 10));
  for (int i = 0; i < 6; ++i) stage.fill("Orders", "full", i * 20, 20, 2000, Durability::kSync);
  stage.read_all();
  stage.machine().files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  stage.machine().clock.advance(std::chrono::seconds(2));
  writes_on(stage, "after");
}

void drops_on_a_full_disk(Stage& stage) {
  stage.machine().files->set_capacity_bytes(stage.machine().files->used_bytes() + (16 << 10));
  for (int i = 0; i < 3; ++i) stage.fill("Orders", "full", i * 20, 20, 2000, Durability::kSync);
  stage.drop_table("Orders");
  stage.compact();
  (void)stage.close();
}

}  // namespace

std::vector<Scenario> whole_store_scripts() {
  return {
      {.name = "create-store", .prepare = nullptr, .run = creates, .opens = true, .two_levels = true},
      {.name = "open-closed", .prepare = files_and_log, .run = opens, .opens = true},
      {.name = "recover-killed",
       .prepare = files_and_log,
       .ending = Ending::kKilled,
       .run = opens,
       .opens = true,
       .two_levels = true},
      {.name = "recover-power-cut", .prepare = files_and_log, .ending = Ending::kPowerCut, .run = opens, .opens = true},
      {.name = "recover-segments", .prepare = several_segments, .ending = Ending::kKilled, .run = opens, .opens = true},
      {.name = "recover-scarce-memory",
       .tuning = kScarceMemory,
       .prepare = a_long_log,
       .ending = Ending::kKilled,
       .run = opens,
       .opens = true},
      {.name = "open-to-read",
       .prepare = files_and_log,
       .ending = Ending::kKilled,
       .run = opens_to_read,
       .opens = true},
      {.name = "close", .prepare = files_and_log, .run = closes},
      {.name = "reopen", .prepare = some_rows, .run = reopens},
      {.name = "manifest-anew", .prepare = some_rows, .run = many_edits},
      {.name = "checkpoint", .prepare = some_rows, .run = checkpoints},
      {.name = "checkpoint-files", .prepare = files_and_log, .run = checkpoints_twice},
      {.name = "checkpoint-beside-writer",
       .prepare = files_and_log,
       .run = checkpoints_beside_a_writer,
       .has_threads = true},
      {.name = "log-write-fails", .prepare = some_rows, .run = a_log_write_fails, .has_faults = true},
      {.name = "log-write-fails-afterwards",
       .prepare = some_rows,
       .run = a_log_write_fails_afterwards,
       .has_faults = true},
      {.name = "table-sync-fails", .prepare = some_rows, .run = a_table_sync_fails, .has_faults = true},
      {.name = "manifest-sync-fails", .prepare = some_rows, .run = a_manifest_sync_fails, .has_faults = true},
      {.name = "footer-fails", .prepare = some_rows, .run = a_footer_fails, .has_faults = true},
      {.name = "full-disk", .prepare = some_rows, .run = the_disk_fills_up, .has_faults = true},
      {.name = "drop-on-full-disk", .prepare = some_rows, .run = drops_on_a_full_disk, .has_faults = true},
  };
}

}  // namespace varve::lab
