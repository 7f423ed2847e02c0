// Owns: orders in a table of SQLite, for questions over many of them.
// Must never: give SQLite less memory than Varve: both have 512 MiB.
#ifdef VARVE_BENCH_SQLITE
#include <sqlite3.h>

#include "bench/indexes/orders.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

struct CloseOrders {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeOrders {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeOrders>;

class SqliteOrders final : public OrderContender {
 public:
  Status open(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    if (code != SQLITE_OK) return failure();
    for (const char* text : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=OFF", "PRAGMA cache_size=-524288",
                             "CREATE TABLE orders(partition TEXT, row TEXT, number TEXT, country TEXT, total INTEGER,"
                             " text TEXT, PRIMARY KEY(partition, row)) WITHOUT ROWID"}) {
      if (sqlite3_exec(opened, text, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
    }
    return Status();
  }

  Status fill(std::uint64_t count) override {
    Statement insert;
    if (Status made = prepare("INSERT INTO orders VALUES(?1, ?2, ?3, ?4, ?5, ?6)", insert); !made.ok()) return made;
    if (sqlite3_exec(database_.get(), "BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
    for (std::uint64_t n = 0; n < count; ++n) {
      const Entity order = order_of(n);
      bind(insert, 1, order.partition_key());
      bind(insert, 2, order.row_key());
      bind(insert, 3, *order.get<std::string>("Number"));
      bind(insert, 4, *order.get<std::string>("Country"));
      sqlite3_bind_int64(insert.get(), 5, *order.get<std::int64_t>("Total"));
      bind(insert, 6, *order.get<std::string>("Text"));
      if (sqlite3_step(insert.get()) != SQLITE_DONE) return failure();
      sqlite3_reset(insert.get());
    }
    return sqlite3_exec(database_.get(), "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK ? Status() : failure();
  }

  Result<std::vector<Group>> group() override {
    Statement select;
    const std::string text =
        "SELECT count(*), sum(total) FROM orders WHERE total < " + std::to_string(kTotalBound) + " GROUP BY country";
    if (Status made = prepare(text.c_str(), select); !made.ok()) return made;
    std::vector<Group> groups;
    int code = sqlite3_step(select.get());
    for (; code == SQLITE_ROW; code = sqlite3_step(select.get())) {
      groups.push_back(
          {static_cast<std::uint64_t>(sqlite3_column_int64(select.get(), 0)), sqlite3_column_int64(select.get(), 1)});
    }
    if (code != SQLITE_DONE) return failure();
    return groups;
  }

 private:
  static void bind(const Statement& statement, int column, std::string_view text) {
    sqlite3_bind_text(statement.get(), column, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  Status prepare(const char* text, Statement& statement) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_.get(), text, -1, &made, nullptr) != SQLITE_OK) return failure();
    statement.reset(made);
    return Status();
  }
  Status failure() const { return Status::io_error(std::string("SQLite: ") + sqlite3_errmsg(database_.get())); }

  std::unique_ptr<sqlite3, CloseOrders> database_;
};

}  // namespace

Result<std::unique_ptr<OrderContender>> open_sqlite_orders(const std::string& directory) {
  auto orders = std::make_unique<SqliteOrders>();
  if (Status opened = orders->open(directory + "/orders.db"); !opened.ok()) return opened;
  return std::unique_ptr<OrderContender>(std::move(orders));
}

}  // namespace varve::bench
#endif
