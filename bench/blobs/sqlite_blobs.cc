// Owns: contents in a table of SQLite, in the race of blobs.
// Must never: sync less than the row promises.
//
// The log is a WAL, and each commit is synced. The connection is used under a mutex, because SQLite has one writer.
#ifdef VARVE_BENCH_SQLITE
#include <mutex>

#include <sqlite3.h>

#include "bench/blobs/contender.h"

namespace varve::bench {

namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

class SqliteBlobs final : public BlobContender {
 public:
  Status open(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    if (code != SQLITE_OK) return failure();
    for (const char* text : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                             "CREATE TABLE contents(name TEXT PRIMARY KEY, content BLOB NOT NULL)"}) {
      if (sqlite3_exec(opened, text, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
    }
    sqlite3_stmt* put = nullptr;
    const char* const text = "INSERT OR REPLACE INTO contents(name, content) VALUES(?1, ?2)";
    if (sqlite3_prepare_v2(opened, text, -1, &put, nullptr) != SQLITE_OK) return failure();
    put_.reset(put);
    return Status();
  }

  Status put(int /*thread*/, const std::string& name, std::string_view content) override {
    const std::lock_guard lock(mutex_);
    sqlite3_bind_text(put_.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
    sqlite3_bind_blob64(put_.get(), 2, content.data(), content.size(), SQLITE_STATIC);
    const int code = sqlite3_step(put_.get());
    sqlite3_reset(put_.get());
    return code == SQLITE_DONE ? Status() : failure();
  }

 private:
  Status failure() const { return Status::io_error(std::string("SQLite: ") + sqlite3_errmsg(database_.get())); }

  std::mutex mutex_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> put_;
};

}  // namespace

Result<std::unique_ptr<BlobContender>> open_sqlite_blobs(const std::string& directory) {
  auto blobs = std::make_unique<SqliteBlobs>();
  if (Status opened = blobs->open(directory + "/blobs.db"); !opened.ok()) return opened;
  return std::unique_ptr<BlobContender>(std::move(blobs));
}

}  // namespace varve::bench
#endif
