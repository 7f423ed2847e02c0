// Pattern: an index beside the store. Notes are searched by their words in SQLite's FTS5. Each write of a note puts a
// message in the same commit, so none is forgotten. The indexer takes a message, reads the note as it is now, and writes
// the index. It deletes the message last. Since it copies the present state, a message may be delivered twice, late, or
// after a newer one.
#include <algorithm>
#include <chrono>
#include <vector>

#include <sqlite3.h>
#include <varve/queue.h>
#include <varve/store_transaction.h>

#include "example.h"

namespace {

using namespace varve;
using patterns::Example;
using namespace std::chrono_literals;

/// A full-text index of the notes, by their RowKeys.
class TextIndex {
 public:
  explicit TextIndex(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) fail();
    run("CREATE VIRTUAL TABLE IF NOT EXISTS notes USING fts5(id UNINDEXED, text)", {});
  }
  ~TextIndex() { sqlite3_close(database_); }
  TextIndex(const TextIndex&) = delete;
  TextIndex& operator=(const TextIndex&) = delete;

  /// Makes the index say what the note says. Nothing means that the note is gone.
  void set(const std::string& id, const std::optional<std::string>& text) {
    run("BEGIN", {});
    run("DELETE FROM notes WHERE id = ?1", {id});
    if (text) run("INSERT INTO notes(id, text) VALUES(?1, ?2)", {id, *text});
    run("COMMIT", {});
  }
  std::vector<std::string> find(const std::string& words) {
    return run("SELECT id FROM notes WHERE notes MATCH ?1 ORDER BY id", {words});
  }
  std::size_t size() { return run("SELECT id FROM notes", {}).size(); }

 private:
  [[noreturn]] void fail() const {
    Example::must(Status::io_error(std::string("SQLite: ") + sqlite3_errmsg(database_)));
    std::abort();
  }
  /// Returns the first column of each row.
  std::vector<std::string> run(const char* text, const std::vector<std::string>& values) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, text, -1, &statement, nullptr) != SQLITE_OK) fail();
    for (std::size_t i = 0; i < values.size(); ++i) {
      sqlite3_bind_text(statement, static_cast<int>(i + 1), values[i].data(), static_cast<int>(values[i].size()),
                        SQLITE_STATIC);
    }
    std::vector<std::string> rows;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      rows.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) fail();
    return rows;
  }

  sqlite3* database_ = nullptr;
};

class Notes {
 public:
  explicit Notes(Example& example)
      : store_(example.store()),
        notes_(example.table("Notes")),
        changed_(Example::must(store_.create_queue("examples", "changed-notes"))) {}

  /// Writes the note, and the message that it changed.
  void write(const std::string& id, const std::string& text) {
    StoreTransaction transaction = Example::must(store_.begin_transaction());
    transaction.insert_or_replace(notes_, Entity("notes", id).set("Text", text)).put(changed_, id);
    Example::must(transaction.commit());
  }
  void remove(const std::string& id) {
    StoreTransaction transaction = Example::must(store_.begin_transaction());
    transaction.remove(notes_, "notes", id, ETag::any()).put(changed_, id);
    Example::must(transaction.commit());
  }

  /// Writes the index for each message. If `forgets` is true, the indexer stops before it deletes the messages.
  void index(TextIndex& index, bool forgets = false) {
    for (;;) {
      const std::vector<ReceivedMessage> changes = Example::must(changed_.get({.count = 32, .hold = kHold}));
      if (changes.empty()) return;
      for (const ReceivedMessage& change : changes) {
        const Result<std::optional<Entity>> note = notes_.get("notes", change.text);
        if (!note.ok()) Example::must(note.status());
        std::optional<std::string> text;
        if (note->has_value()) text = Example::must((*note)->get<std::string>("Text"));
        index.set(change.text, text);
        if (!forgets) Example::must(changed_.remove(change));
      }
    }
  }
  /// Waits until the messages that a stopped indexer held are visible again.
  void index_after_the_hold(TextIndex& text_index) {
    const GetOptions waiting{.hold = 1ms, .wait = 10 * kHold};
    if (!Example::must(changed_.get(waiting)).empty()) {
      while (waiting_messages() > 0) index(text_index);
    }
  }
  std::uint64_t waiting_messages() { return Example::must(changed_.figures()).messages; }

 private:
  static constexpr auto kHold = 100ms;
  Store& store_;
  Table notes_;
  Queue changed_;
};

using Found = std::vector<std::string>;

}  // namespace

int main() {
  Example example("A full-text index beside the store, kept up to date by a queue");
  Notes notes(example);
  TextIndex index(example.directory() + "/index.db");
  notes.write("1", "apples and pears");
  notes.write("2", "apples and plums");
  example.show(index.find("apples").empty(), "written, and not indexed yet");
  notes.index(index);
  example.show(index.find("apples") == Found{"1", "2"} && index.find("plums") == Found{"2"}, "indexed: found by words");

  notes.write("2", "only cherries");
  notes.remove("1");
  notes.index(index, true);
  example.show(index.find("apples").empty() && index.find("cherries") == Found{"2"} && notes.waiting_messages() == 2,
               "changed and deleted, and the indexer stopped before it deleted the messages");
  notes.write("3", "apples again");
  notes.index_after_the_hold(index);
  example.show(notes.waiting_messages() == 0, "its successor does the messages once more");
  example.show(index.find("apples") == Found{"3"} && index.find("cherries") == Found{"2"} && index.size() == 2,
               "the index says what the notes say");
  return example.end();
}
