#include "tests/lab/scenario/objects.h"
#include "tests/lab/scenario/scripts.h"

namespace varve::lab {
namespace {

using StageKind = Stage::Kind;

constexpr std::size_t kLongBytes = 20'000;  // has a row of its own, and a place in a value file

void with_messages(Stage& stage) {
  stage.account();
  Objects objects(stage);
  objects.queue();
  objects.put("0001");
  objects.put("0002" + stage.letters(kLongBytes));
  objects.put("0003", Durability::kBuffered);
}

void with_blobs(Stage& stage) {
  stage.account();
  Objects objects(stage);
  objects.container();
  objects.put_blob("short", "short");
  objects.write_blob("long", stage.letters(kLongBytes));
}

void with_all(Stage& stage) {
  with_messages(stage);
  stage.table("Orders");
  Objects objects(stage);
  objects.container();
  objects.put_blob("short", "short");
  objects.write_blob("long", stage.letters(kLongBytes));
  objects.value_table("People");
  objects.write_value("People", "1", stage.letters(kLongBytes));
  stage.compact();
}

void takes_and_deletes(Stage& stage) {
  Objects objects(stage);
  objects.take();
  objects.put("0004", Durability::kBuffered);
  objects.remove();
  objects.take(Durability::kSync);
  objects.release("0005");
  objects.put("0006" + stage.letters(kLongBytes));
  objects.take();
  objects.remove(Durability::kBuffered);
  objects.take();
  stage.compact();
  objects.put("0007");
}

void clears_and_drops(Stage& stage) {
  Objects objects(stage);
  objects.take();
  objects.clear();
  objects.put("0004");
  objects.drop_queue();
  stage.compact();
  objects.queue();
  objects.put("0005", Durability::kBuffered);
}

void commits_together(Stage& stage) {
  Objects objects(stage);
  objects.take();
  objects.transact({.table = "Orders", .row = "1", .text = "0004", .removes_taken = true, .blob = "b", .bytes = "new"});
  objects.take();
  const Objects::Joint copies{
      .table = "Orders", .row = "2", .text = "0005", .removes_taken = true, .blob = "copy", .source = "long"};
  objects.transact(copies, Durability::kBuffered);
  objects.transact({.table = "Orders", .row = "3", .text = "0006", .blob = "long", .bytes = stage.letters(kLongBytes)});
  stage.compact();
  objects.take(Durability::kSync);
  objects.transact({.table = "Orders", .row = "1", .removes_taken = true});
}

void writes_blobs(Stage& stage) {
  Objects objects(stage);
  objects.write_blob("short", stage.letters(kLongBytes));
  objects.copy("copy", "long", Durability::kBuffered);
  objects.put_blob("long", "now short", Durability::kBuffered);
  objects.remove_blob("copy");
  stage.compact();
  objects.write_blob("another", stage.letters(kLongBytes), Durability::kBuffered);
  objects.remove_blob("short", Durability::kBuffered);
}

void commits_blocks(Stage& stage) {
  Objects objects(stage);
  const Objects::Blocks two{{"1", stage.letters(300)}, {"2", stage.letters(kLongBytes)}};
  objects.stage_blocks("film", two);
  objects.commit_blocks("film", two);
  objects.copy("copy", "film");
  const Objects::Blocks one{{"3", stage.letters(kLongBytes)}};
  objects.stage_blocks("film", one, Durability::kBuffered);
  objects.commit_blocks("film", one);
  objects.remove_blob("copy", Durability::kBuffered);
  objects.stage_blocks("left", {{"1", "never committed"}});
}

void appends_to_logs(Stage& stage) {
  Objects objects(stage);
  objects.append_blob("log");
  objects.append("log", "first ");
  objects.append("log", stage.letters(kLongBytes), Durability::kBuffered);
  objects.copy("copy", "log");
  objects.append("log", " mine", Durability::kBuffered);
  objects.append("copy", " its");
  objects.remove_blob("log");
  objects.drop_container();
  stage.compact();
  objects.container();
  objects.put_blob("long", "anew");
}

void writes_large_values(Stage& stage) {
  Objects objects(stage);
  objects.write_value("People", "1", stage.letters(kLongBytes), Durability::kBuffered);
  objects.write_value("People", "2", "short");
  stage.write("People", {StageKind::kRemove, "p", "1", ""});
  stage.compact();
  objects.write_value("People", "2", stage.letters(kLongBytes));
  stage.drop_table("People");
}

void opens_with_objects(Stage& stage) {
  (void)stage.open();
  Objects objects(stage);
  objects.take();
  objects.remove();
  objects.put("0009");
  objects.put_blob("new", "new");
}

}  // namespace

std::vector<Scenario> object_scripts() {
  return {
      {.name = "queue-messages", .prepare = with_messages, .run = takes_and_deletes},
      {.name = "queue-clear", .prepare = with_messages, .run = clears_and_drops},
      {.name = "outbox", .prepare = with_all, .run = commits_together},
      {.name = "blob-writes", .prepare = with_blobs, .run = writes_blobs},
      {.name = "blob-blocks", .prepare = with_blobs, .run = commits_blocks},
      {.name = "blob-appends", .prepare = with_blobs, .run = appends_to_logs},
      {.name = "large-contents", .prepare = with_all, .run = writes_large_values},
      {.name = "recover-objects",
       .prepare = with_all,
       .ending = Ending::kKilled,
       .run = opens_with_objects,
       .opens = true},
  };
}

}  // namespace varve::lab
