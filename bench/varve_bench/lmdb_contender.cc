// Owns: LMDB in the race, with the settings that suit this work best.
// Must never: be used for operations without a counterpart in LMDB: direct reads, loads without a log.
//
// Each table is a database in one environment, so that a drop is a drop of LMDB. If there are many tables, they share a
// database. Buffered commits use MDB_NOSYNC: they survive the death of the process, but not a power cut. After a power
// cut the file may be damaged, which is a weaker guarantee than that of the other contenders.
#ifdef VARVE_BENCH_LMDB

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

#include <lmdb.h>

#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/encoded_rows.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr std::size_t kMapBytes = std::size_t{256} << 30;  // address space; a limit for the file
constexpr unsigned kReadersMax = 512;

Status from_lmdb(int error) {
  return error == MDB_SUCCESS ? Status() : Status::io_error(std::string("LMDB: ") + mdb_strerror(error));
}

MDB_val lmdb(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};  // LMDB takes no const pointer, but changes nothing
}

std::string_view view(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

/// A transaction that is aborted unless it was committed.
class Transaction {
 public:
  Status begin(MDB_env* environment, unsigned flags) {
    return from_lmdb(mdb_txn_begin(environment, nullptr, flags, &handle_));
  }
  ~Transaction() {
    if (handle_ != nullptr) mdb_txn_abort(handle_);
  }
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  MDB_txn* get() const noexcept { return handle_; }
  Status commit() { return from_lmdb(mdb_txn_commit(std::exchange(handle_, nullptr))); }

 private:
  MDB_txn* handle_ = nullptr;
};

/// A thread's own read transaction, renewed for each read, because creating one costs more than a get.
struct Reader {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  ~Reader() { end(); }
  void end() {
    if (transaction != nullptr) mdb_txn_abort(transaction);
    transaction = nullptr;
  }
};
thread_local Reader thread_reader;

class LmdbContender final : public Contender {
 public:
  explicit LmdbContender(const Settings& settings)
      : shares_one_(settings.tables > kTables),
        reads_ahead_(!settings.scattered_reads),
        version_bytes_(settings.versions ? sizeof(std::uint64_t) : 0) {}
  ~LmdbContender() override {
    thread_reader.end();  // those of other threads ended with their threads
    if (environment_ != nullptr) mdb_env_close(environment_);
  }

  Status open(const std::string& directory) {
    std::filesystem::create_directories(directory);
    if (Status made = from_lmdb(mdb_env_create(&environment_)); !made.ok()) return made;
    mdb_env_set_maxdbs(environment_, kTables);
    mdb_env_set_maxreaders(environment_, kReadersMax);
    if (Status sized = from_lmdb(mdb_env_set_mapsize(environment_, kMapBytes)); !sized.ok()) return sized;
    Status opened =
        from_lmdb(mdb_env_open(environment_, directory.c_str(), MDB_NOTLS | (reads_ahead_ ? 0 : MDB_NORDAHEAD), 0600));
    if (!opened.ok()) return opened;
    Transaction transaction;
    if (Status begun = transaction.begin(environment_, 0); !begun.ok()) return begun;
    for (std::uint32_t table = 0; table < kTables; ++table) {
      const std::string name = std::to_string(table);
      opened = from_lmdb(mdb_dbi_open(transaction.get(), name.c_str(), MDB_CREATE, &databases_[table]));
      if (!opened.ok()) return opened;
    }
    return transaction.commit();
  }

  std::string back_end() const override { return "mmap, page cache"; }

  /// Returns the bytes of pages in use, because the file itself never shrinks.
  std::uint64_t table_bytes() const override {
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(environment_, &info);
    mdb_env_stat(environment_, &stat);
    std::uint64_t pages = info.me_last_pgno + 1;
    Transaction transaction;
    MDB_cursor* cursor = nullptr;
    constexpr MDB_dbi kFreePages = 0;
    if (!transaction.begin(environment_, MDB_RDONLY).ok()) return 0;
    if (mdb_cursor_open(transaction.get(), kFreePages, &cursor) != MDB_SUCCESS) return 0;
    MDB_val key{};
    MDB_val list{};
    while (mdb_cursor_get(cursor, &key, &list, MDB_NEXT) == MDB_SUCCESS) {
      std::size_t count = 0;
      std::memcpy(&count, list.mv_data, sizeof count);
      pages -= std::min<std::uint64_t>(pages, count);
    }
    mdb_cursor_close(cursor);
    return pages * stat.ms_psize;
  }

  Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
             Promise promise) override {
    const unsigned flags = check == Check::kAbsent ? MDB_NOOVERWRITE : 0;
    return write(promise, [&](MDB_txn* transaction) {
      for (const Row& row : rows) {
        Status put = put_one(transaction, table, key_of(table, partition, row.key), stored(row), flags);
        if (!put.ok()) return put;
      }
      return Status();
    });
  }

  Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) override {
    return write(promise, [&](MDB_txn* transaction) {
      for (const Row& row : rows) {
        const std::string key = key_of(table, partition, row.key);
        MDB_val name = lmdb(key);
        const int deleted = mdb_del(transaction, database_of(table), &name, nullptr);
        if (deleted != MDB_NOTFOUND && deleted != MDB_SUCCESS) return from_lmdb(deleted);
      }
      return Status();
    });
  }

  Status replace_unchanged(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                           Promise promise) override {
    const std::uint64_t known = known_.of(partition);
    Status written = write(promise, [&](MDB_txn* transaction) -> Status {
      for (const Row& row : rows) {
        const std::string key = key_of(table, partition, row.key);
        MDB_val name = lmdb(key);
        MDB_val value{};
        const int found = mdb_get(transaction, database_of(table), &name, &value);
        if (found != MDB_SUCCESS && found != MDB_NOTFOUND) return from_lmdb(found);
        if ((found == MDB_SUCCESS ? version_of(view(value)) : 0) != known) return Status(Code::kPreconditionFailed);
        Status put = put_one(transaction, table, key, with_version(known + 1, value_of(row)), 0);
        if (!put.ok()) return put;
      }
      return Status();
    });
    if (written.ok()) known_.set(partition, known + 1);
    return written;
  }

  /// kFiles: appends in one transaction, which is LMDB's bulk load.
  Status load(std::uint32_t table, std::uint64_t count, LoadWay way) override {
    switch (way) {
      case LoadWay::kBatches: return load_in_batches(*this, table, count);
      case LoadWay::kNoLog: return Status::unsupported("there is no log to leave out");
      case LoadWay::kFiles: break;
    }
    return write(Promise::kDurable, [&](MDB_txn* transaction) {
      for (std::uint64_t n = 0; n < count; ++n) {
        const Keys keys = keys_of(n);
        Status put = put_one(transaction, table, key_of(table, keys.partition, keys.row),
                             value_of({keys.row, payload_of(n)}), MDB_APPEND);
        if (!put.ok()) return put;
      }
      return Status();
    });
  }

  Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) override {
    const Result<MDB_txn*> reading = begin_read();
    if (!reading.ok()) return reading.status();
    const std::string key = key_of(table, partition, row);
    MDB_val name = lmdb(key);
    MDB_val value{};
    const int found = mdb_get(*reading, database_of(table), &name, &value);
    Status decoded = from_lmdb(found == MDB_NOTFOUND ? MDB_SUCCESS : found);
    if (found == MDB_SUCCESS) decoded = answer_row(answer(), partition, row, body(view(value)));
    mdb_txn_reset(*reading);
    if (!decoded.ok()) return decoded;
    return found == MDB_SUCCESS;
  }

  /// Reads one key after the other, because LMDB has no other way.
  Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                         std::size_t /*in_flight*/) override {
    return get_one_by_one(*this, table, keys);
  }

  Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                       Scanned scanned) override {
    const std::string begin = *format::encode_partition(id_of(table), partition);
    return walk(table, begin, format::end_of_prefix(begin), count_max, EntryReader(answer(), scanned));
  }
  Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) override {
    const std::string begin = format::encode_table(id_of(table));
    return walk(table, begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), scanned));
  }
  Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) override {
    return walk(table, *format::encode_partition(id_of(table), partition),
                format::end_of_prefix(format::encode_table(id_of(table))), count_max,
                EntryReader(answer(), Scanned::kMade));
  }
  Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                    std::int32_t group) override {
    const std::string begin =
        partition ? *format::encode_partition(id_of(table), *partition) : format::encode_table(id_of(table));
    return walk(table, begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), Scanned::kMade, group));
  }

  Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                         Promise promise) override {
    const std::string key = key_of(table, keys.partition, keys.row);
    return write(promise, [&](MDB_txn* transaction) -> Status {
      const Result<std::optional<std::string_view>> found = find(transaction, table, key);
      if (!found.ok()) return found.status();
      if (!*found) return Status::corruption("an entity that was loaded is not there");
      const Result<std::string> changed = with_property(keys, **found, name, text);
      return changed.ok() ? put_one(transaction, table, key, *changed, 0) : changed.status();
    });
  }

  Result<bool> replace_if_as_read(std::uint32_t table, std::string_view partition, const Row& row, bool conflict,
                                  Promise promise) override {
    const std::string key = key_of(table, partition, row.key);
    const Result<MDB_txn*> reading = begin_read();
    if (!reading.ok()) return reading.status();
    const Result<std::optional<std::string_view>> read = find(*reading, table, key);
    Status decoded = read.ok() ? Status() : read.status();
    const bool is_there = read.ok() && read->has_value();
    const std::uint64_t known = is_there ? version_of(**read) + (conflict ? 1 : 0) : 0;
    if (is_there) decoded = decode_row({std::string(partition), row.key}, body(**read));
    mdb_txn_reset(*reading);
    if (!decoded.ok()) return decoded;
    if (!is_there) return false;
    bool replaced = false;
    const Status written = write(promise, [&](MDB_txn* transaction) -> Status {
      const Result<std::optional<std::string_view>> found = find(transaction, table, key);
      if (!found.ok()) return found.status();
      replaced = *found && version_of(**found) == known;
      return replaced ? put_one(transaction, table, key, stored(row), 0) : Status();
    });
    if (!written.ok()) return written;
    return replaced;
  }

  Result<bool> erase(std::uint32_t table, const Keys& keys, Promise promise) override {
    const std::string key = key_of(table, keys.partition, keys.row);
    bool erased = false;
    const Status written = write(promise, [&](MDB_txn* transaction) {
      MDB_val name = lmdb(key);
      const int deleted = mdb_del(transaction, database_of(table), &name, nullptr);
      erased = deleted == MDB_SUCCESS;
      return from_lmdb(deleted == MDB_NOTFOUND ? MDB_SUCCESS : deleted);
    });
    if (!written.ok()) return written;
    return erased;
  }

  Result<bool> transfer(std::uint32_t table, const Keys& from, const Keys& to, std::string_view payload,
                        Promise promise) override {
    const Status written = write(promise, [&](MDB_txn* transaction) -> Status {
      for (const Keys* keys : {&from, &to}) {
        const std::string key = key_of(table, keys->partition, keys->row);
        const Result<std::optional<std::string_view>> found = find(transaction, table, key);
        if (!found.ok()) return found.status();
        if (!*found) return Status::corruption("an entity that was loaded is not there");
        if (Status given = answer_row(answer(), keys->partition, keys->row, body(**found)); !given.ok()) return given;
        if (Status put = put_one(transaction, table, key, stored({keys->row, payload}), 0); !put.ok()) return put;
      }
      return Status();
    });
    if (!written.ok()) return written;
    return true;
  }

  Status create_table(std::uint32_t /*table*/) override {
    return Status::unsupported("an environment has a few databases, declared when it is opened");
  }
  Status drop_table(std::uint32_t table) override {
    constexpr int kEmpty = 0;
    if (shares_one_) return drop_prefix(format::encode_table(id_of(table)));
    return write(Promise::kDurable,
                 [&](MDB_txn* transaction) { return from_lmdb(mdb_drop(transaction, database_of(table), kEmpty)); });
  }
  Status reclaim(std::uint32_t /*table*/) override { return Status(); }
  Status wait_until_idle() override { return Status(); }
  Status compact() override { return Status(); }
  bool compacts() const noexcept override { return false; }

 private:
  template <typename Body>
  Status write(Promise promise, const Body& body) {
    if (Status promised = promise_from_now(promise); !promised.ok()) return promised;
    Transaction transaction;
    if (Status begun = transaction.begin(environment_, 0); !begun.ok()) return begun;
    if (Status done = body(transaction.get()); !done.ok()) return done;
    return transaction.commit();
  }

  /// Sets the flag for the promise. A row of the race has one promise, so the flag changes only between rows.
  Status promise_from_now(Promise promise) {
    if (promise_.load(std::memory_order_acquire) == promise) return Status();
    const std::lock_guard lock(promise_mutex_);
    const int buffered = promise == Promise::kBuffered ? 1 : 0;
    Status set = from_lmdb(mdb_env_set_flags(environment_, MDB_NOSYNC, buffered));
    promise_.store(promise, std::memory_order_release);
    return set;
  }

  Status put_one(MDB_txn* transaction, std::uint32_t table, std::string_view key, std::string_view value,
                 unsigned flags) {
    MDB_val name = lmdb(key);
    MDB_val content = lmdb(value);
    const int put = mdb_put(transaction, database_of(table), &name, &content, flags);
    return put == MDB_KEYEXIST ? Status::exists("the key is there") : from_lmdb(put);
  }

  /// Returns a read transaction, which the caller resets and does not end.
  Result<MDB_txn*> begin_read() {
    Reader& reader = thread_reader;
    if (reader.transaction != nullptr && reader.environment == environment_) {
      if (Status renewed = from_lmdb(mdb_txn_renew(reader.transaction)); !renewed.ok()) return renewed;
      return reader.transaction;
    }
    reader.environment = environment_;
    Status begun = from_lmdb(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reader.transaction));
    if (!begun.ok()) return begun;
    return reader.transaction;
  }

  Result<std::uint64_t> walk(std::uint32_t table, const std::string& begin, const std::string& end,
                             std::uint64_t count_max, EntryReader reader) {
    const Result<MDB_txn*> reading = begin_read();
    if (!reading.ok()) return reading.status();
    MDB_cursor* cursor = nullptr;
    if (Status opened = from_lmdb(mdb_cursor_open(*reading, database_of(table), &cursor)); !opened.ok()) return opened;
    MDB_val key = lmdb(begin);
    MDB_val value{};
    std::uint64_t count = 0;
    Status visited;
    for (int found = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
         found == MDB_SUCCESS && view(key) < end && count < count_max && visited.ok();
         found = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      const Result<bool> taken = reader.take(view(key), body(view(value)));
      visited = taken.status();
      if (taken.ok() && *taken) ++count;
    }
    mdb_cursor_close(cursor);
    mdb_txn_reset(*reading);
    if (!visited.ok()) return visited;
    return count;
  }

  /// Drops a table that shares its database with others. It uses the row's promise, whose writers run beside it.
  Status drop_prefix(const std::string& begin) {
    const std::string end = format::end_of_prefix(begin);
    return write(promise_.load(), [&](MDB_txn* transaction) {
      MDB_cursor* cursor = nullptr;
      if (Status opened = from_lmdb(mdb_cursor_open(transaction, databases_[0], &cursor)); !opened.ok()) return opened;
      MDB_val key = lmdb(begin);
      MDB_val value{};
      int found = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
      while (found == MDB_SUCCESS && view(key) < end) {
        found = mdb_cursor_del(cursor, 0);
        if (found == MDB_SUCCESS) found = mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT);
      }
      mdb_cursor_close(cursor);
      const bool is_at_end = found == MDB_NOTFOUND || found == EINVAL;  // EINVAL: no entry follows it
      return from_lmdb(is_at_end ? MDB_SUCCESS : found);
    });
  }

  Result<std::optional<std::string_view>> find(MDB_txn* transaction, std::uint32_t table, const std::string& key) {
    MDB_val name = lmdb(key);
    MDB_val value{};
    const int found = mdb_get(transaction, database_of(table), &name, &value);
    if (found == MDB_NOTFOUND) return std::optional<std::string_view>();
    if (found != MDB_SUCCESS) return from_lmdb(found);
    return std::optional<std::string_view>(view(value));
  }

  MDB_dbi database_of(std::uint32_t table) const { return databases_[shares_one_ ? 0 : table]; }
  /// Returns the value as it is stored. If versions are used, a version precedes it.
  std::string stored(const Row& row) {
    return version_bytes_ == 0 ? value_of(row) : with_version(++last_version_, value_of(row));
  }
  std::string_view body(std::string_view value) const { return value.substr(version_bytes_); }

  MDB_env* environment_ = nullptr;
  std::array<MDB_dbi, kTables> databases_{};
  std::mutex promise_mutex_;
  std::atomic<Promise> promise_{Promise::kDurable};
  KnownVersions known_;
  /// Whether tables are prefixes of one database. This is used for many tables, because LMDB checks all open databases
  /// in each transaction.
  bool shares_one_;
  bool reads_ahead_;
  std::size_t version_bytes_;
  std::atomic<std::uint64_t> last_version_{0};
};

}  // namespace

Result<std::unique_ptr<Contender>> open_lmdb(const std::string& directory, const Settings& settings) {
  if (settings.direct_reads) return Status::unsupported("it reads through the page cache alone");
  auto contender = std::make_unique<LmdbContender>(settings);
  if (Status opened = contender->open(directory); !opened.ok()) return opened;
  return std::unique_ptr<Contender>(std::move(contender));
}

}  // namespace varve::bench

#endif
