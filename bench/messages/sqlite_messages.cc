// Owns: a queue in a table of SQLite, in the race of messages.
// Must never: sync less than the row promises.
//
// The log is a WAL. One connection syncs each commit, and makes puts and deletes. The other one does not sync, and makes
// takes, which may be lost in a power cut as Varve's may. A connection is used under a mutex: SQLite has one writer.
#ifdef VARVE_BENCH_SQLITE
#include <chrono>
#include <mutex>

#include <sqlite3.h>

#include "bench/messages/contender.h"

namespace varve::bench {

namespace {

constexpr std::int64_t kHoldSeconds = 3600;

Status failure(sqlite3* database) {
  return Status::io_error(std::string("SQLite: ") + sqlite3_errmsg(database));
}

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// A connection and its prepared statements.
class Connection {
 public:
  Status open(const std::string& path, const char* synchronous) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    if (code != SQLITE_OK) return failure(opened);
    sqlite3_busy_timeout(opened, 60'000);
    if (Status mode = run("PRAGMA journal_mode=WAL"); !mode.ok()) return mode;
    return run((std::string("PRAGMA synchronous=") + synchronous).c_str());
  }
  Status run(const char* text) {
    return sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr) == SQLITE_OK ? Status() : failure(get());
  }
  Status prepare(const char* text, Statement& statement) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_.get(), text, -1, &made, nullptr) != SQLITE_OK) return failure(get());
    statement.reset(made);
    return Status();
  }
  /// Steps a statement that returns no row.
  Status step(const Statement& statement) {
    const int code = sqlite3_step(statement.get());
    sqlite3_reset(statement.get());
    return code == SQLITE_DONE ? Status() : failure(get());
  }
  sqlite3* get() const noexcept { return database_.get(); }

 private:
  Database database_;
};

class SqliteMessages final : public MessageContender {
 public:
  Status open(const std::string& path) {
    if (Status opened = durable_.open(path, "FULL"); !opened.ok()) return opened;
    Status made = durable_.run(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, visible INTEGER NOT NULL, deliveries INTEGER NOT NULL,"
        " receipt INTEGER NOT NULL, text TEXT NOT NULL);"
        "CREATE INDEX by_time ON messages(visible, id);"
        "CREATE TABLE records(id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    if (made.ok()) made = buffered_.open(path, "NORMAL");
    if (made.ok()) {
      made = durable_.prepare("INSERT INTO messages(visible, deliveries, receipt, text) VALUES(unixepoch(), 0, 0, ?1)",
                              put_);
    }
    if (made.ok()) made = durable_.prepare("INSERT INTO records(id, text) VALUES(?1, ?2)", record_);
    if (made.ok()) made = durable_.prepare("DELETE FROM messages WHERE id = ?1 AND receipt = ?2", remove_);
    if (made.ok()) {
      made = buffered_.prepare(
          "UPDATE messages SET visible = unixepoch() + ?1, deliveries = deliveries + 1, receipt = receipt + 1"
          " WHERE id = (SELECT id FROM messages WHERE visible <= unixepoch() ORDER BY visible, id LIMIT 1)"
          " RETURNING id, receipt, text",
          take_);
    }
    return made;
  }

  Status put(int /*thread*/, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    sqlite3_bind_text(put_.get(), 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return durable_.step(put_);
  }

  Status put_with_record(int /*thread*/, std::uint64_t record, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (Status begun = durable_.run("BEGIN IMMEDIATE"); !begun.ok()) return begun;
    sqlite3_bind_int64(record_.get(), 1, static_cast<sqlite3_int64>(record));
    sqlite3_bind_text(record_.get(), 2, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    if (Status inserted = durable_.step(record_); !inserted.ok()) return inserted;
    sqlite3_bind_text(put_.get(), 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    if (Status put = durable_.step(put_); !put.ok()) return put;
    return durable_.run("COMMIT");
  }

  Result<std::optional<Taken>> take(int /*thread*/) override {
    const std::lock_guard lock(mutex_);
    sqlite3_bind_int64(take_.get(), 1, kHoldSeconds);
    std::optional<Taken> taken;
    int code = sqlite3_step(take_.get());
    if (code == SQLITE_ROW) {
      taken = Taken{static_cast<std::uint64_t>(sqlite3_column_int64(take_.get(), 0)),
                    static_cast<std::uint64_t>(sqlite3_column_int64(take_.get(), 1)),
                    std::string(static_cast<const char*>(sqlite3_column_blob(take_.get(), 2)),
                                static_cast<std::size_t>(sqlite3_column_bytes(take_.get(), 2)))};
      code = sqlite3_step(take_.get());
    }
    sqlite3_reset(take_.get());
    if (code != SQLITE_DONE) return failure(buffered_.get());
    return taken;
  }

  Status remove(int /*thread*/, const Taken& taken) override {
    const std::lock_guard lock(mutex_);
    sqlite3_bind_int64(remove_.get(), 1, static_cast<sqlite3_int64>(taken.first));
    sqlite3_bind_int64(remove_.get(), 2, static_cast<sqlite3_int64>(taken.second));
    if (Status removed = durable_.step(remove_); !removed.ok()) return removed;
    return sqlite3_changes(durable_.get()) == 1 ? Status() : Status::corruption("SQLite: the message is not there");
  }

 private:
  std::mutex mutex_;
  Connection durable_;
  Connection buffered_;
  Statement put_;
  Statement record_;
  Statement remove_;
  Statement take_;
};

}  // namespace

Result<std::unique_ptr<MessageContender>> open_sqlite_messages(const std::string& directory) {
  auto messages = std::make_unique<SqliteMessages>();
  if (Status opened = messages->open(directory + "/queue.db"); !opened.ok()) return opened;
  return std::unique_ptr<MessageContender>(std::move(messages));
}

}  // namespace varve::bench
#endif
