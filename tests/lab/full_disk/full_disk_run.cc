// Owns: one store and its cycles of a full disk and new room.
// Must never: count a failed write as done.
#include <algorithm>
#include <utility>

#include "tests/lab/full_disk/full_disk.h"

namespace varve::lab {

namespace {

constexpr std::string_view kDiskAccount = "account1";
constexpr std::string_view kTable = "Rows";
constexpr std::uint64_t kDiskSlots = 24;
constexpr std::uint64_t kValueBytesMax = 30'000;
constexpr int kWritesMax = 5'000;  // enough to fill a disk of a few megabytes
constexpr int kWritesBetweenLooks = 100;
constexpr std::uint64_t kRoomMax = 300 << 10;
constexpr std::uint64_t kCyclesForATakeover = 4;

}  // namespace

FullDiskRun::FullDiskRun(std::uint64_t seed, FullDiskWorld world)
    : state_(seed),
      world_(std::move(world)),
      objects_(
          std::string(kDiskAccount), [this](std::uint64_t bound) { return below(bound); },
          [this](const std::function<Status()>& change) { return with_patience(change); }) {}

std::uint64_t FullDiskRun::random() {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Status FullDiskRun::open() {
  Result<std::unique_ptr<Store>> opened = world_.open();
  if (!opened.ok()) return opened.status();
  store_ = *std::move(opened);
  return Status();
}

std::string FullDiskRun::run(std::uint64_t cycles) {
  if (Status opened = open(); !opened.ok()) return "it does not open: " + opened.to_string();
  if (Status made = store_->create_account(kDiskAccount); !made.ok()) return "no account: " + made.to_string();
  if (Status made = store_->create_table(kDiskAccount, kTable).status(); !made.ok())
    return "no table: " + made.to_string();
  if (Status made = objects_.make(*store_); !made.ok()) return "no queue or container: " + made.to_string();
  for (std::uint64_t number = 0; number < cycles && broken_.empty(); ++number) cycle(number);
  if (broken_.empty()) reopen();
  store_.reset();
  return broken_;
}

void FullDiskRun::cycle(std::uint64_t number) {
  constexpr std::uint64_t kReopenEvery = 40;
  if (Status made = make_spare(number); !made.ok()) return broken("no table to be dropped", made);
  if (Status made = objects_.make_spare(*store_); !made.ok())
    return broken("no queue or container to be dropped", made);
  fill_up();
  look_while_full();
  drop_while_full(number);
  take_over_while_full();
  const bool reopens_full = number % kReopenEvery == kReopenEvery - 1;
  if (reopens_full && broken_.empty()) compare();
  world_.give_room();
  resume();
  report_.count("cycles");
  if (reopens_full && broken_.empty()) reopen();
}

Status FullDiskRun::with_patience(const std::function<Status()>& write) {
  Status written = write();
  for (int step = 0; step < world_.resume_steps && written.code() == Code::kNoSpace; ++step) {
    world_.pass_time();
    written = write();
  }
  return written;
}

Status FullDiskRun::make_spare(std::uint64_t number) {
  const std::string name = "Spare" + std::to_string(number % 2);
  const auto make = [&] { return store_->create_table(kDiskAccount, name).status(); };
  if (Status made = with_patience(make); !made.ok()) return made;
  spare_ = name;
  Result<Table> table = store_->open_table(kDiskAccount, name);
  if (!table.ok()) return table.status();
  const Result<Page> page = table->scan(Scan{});
  if (!page.ok()) return page.status();
  if (!page->entities.empty()) broken("a table that was made again is not empty");
  const Entity entity = Entity("p", "r").set("V", std::string(1000, 'x'));
  return with_patience([&] { return table->insert(entity).status(); });
}

Status FullDiskRun::write(std::string_view name, const std::string& row, const std::string& value) {
  WriteOptions options;
  options.durability = below(2) == 0 ? Durability::kSync : Durability::kBuffered;
  Result<Table> table = store_->open_table(kDiskAccount, name);
  if (!table.ok()) return table.status();
  const Status done = table->insert_or_replace(Entity("p", row).set("V", value), options).status();
  if (done.ok()) report_.count("writes");
  return done;
}

std::string FullDiskRun::random_value() {
  std::string value(1 + below(kValueBytesMax), ' ');
  for (char& c : value) c = static_cast<char>('!' + random() % 90);
  return value;
}

Status FullDiskRun::write_one() {
  const std::string row = "slot" + std::to_string(below(kDiskSlots));
  std::string value = random_value();
  const Status done = write(kTable, row, value);
  if (done.ok()) rows_[row] = std::move(value);
  return done;
}

void FullDiskRun::fill_up() {
  const std::uint64_t room = below(kRoomMax);
  for (int writes = 0; writes < kWritesMax; ++writes) {
    // Space that the store frees meanwhile, mainly by its log, is taken away as well.
    if (writes % kWritesBetweenLooks == 0) world_.leave_room(room);
    // Overwritten data frees its space. So the table that will be dropped grows too.
    const Status written = writes % 4 == 3   ? objects_.write_one(*store_, random_value())
                           : writes % 2 == 0 ? write_one()
                                             : write(spare_, std::to_string(writes), random_value());
    if (written.code() == Code::kNoSpace) return report_.count("times full");
    if (!written.ok()) return broken("a write failed otherwise", written);
  }
  broken("the disk does not become full");
}

void FullDiskRun::look_while_full() {
  const Result<Table> table = store_->open_table(kDiskAccount, kTable);
  if (!table.ok()) return broken("a table does not open while the disk is full", table.status());
  for (const auto& [row, value] : rows_) {
    const Result<std::optional<Entity>> found = table->get("p", row);
    if (!found.ok()) return broken("a read fails while the disk is full", found.status());
    const Value* const held = *found ? (*found)->find("V") : nullptr;
    const std::string* const text = held == nullptr ? nullptr : held->get_if<std::string>();
    if (text == nullptr || *text != value) return broken("a row is wrong while the disk is full: " + row);
    report_.count("reads while full");
  }
  judge(objects_.look_while_full(*store_));
}

void FullDiskRun::drop_while_full(std::uint64_t number) {
  if (!broken_.empty()) return;
  const Status dropped = store_->drop_table(kDiskAccount, spare_);
  if (!dropped.ok()) return broken("a drop fails while the disk is full, in cycle " + std::to_string(number), dropped);
  spare_.clear();
  judge(objects_.drop_spare(*store_));
  report_.count("drops while full");
}

/// Buffered commits would die with the former owner.
void FullDiskRun::take_over_while_full() {
  if (!broken_.empty() || !world_.take_over || below(kCyclesForATakeover) != 0) return;
  const Status synced = store_->sync();
  if (!synced.ok()) return broken("buffered commits are not synced while the disk is full", synced);
  Result<std::unique_ptr<Store>> taken = world_.take_over(std::move(store_));
  if (!taken.ok()) return broken("a takeover fails while the disk is full", taken.status());
  store_ = *std::move(taken);
  compare();
  report_.count("takeovers while full");
}

void FullDiskRun::resume() {
  if (!broken_.empty()) return;
  const Status written = with_patience([&] { return write_one(); });
  if (!written.ok()) return broken("writes do not resume soon after there is room", written);
  const Result<Statistics> statistics = store_->statistics();
  if (!statistics.ok() || statistics->health != Health::kHealthy)
    broken("the store writes and does not call it health");
  judge(objects_.consume(*store_));
}

void FullDiskRun::compare() {
  const Result<Table> table = store_->open_table(kDiskAccount, kTable);
  if (!table.ok()) return broken("the table does not open", table.status());
  Rows found;
  Scan scan;
  for (bool more = true; more;) {
    const Result<Page> page = table->scan(scan);
    if (!page.ok()) return broken("a scan fails", page.status());
    for (const Entity& entity : page->entities) {
      const Value* const held = entity.find("V");
      const std::string* const text = held == nullptr ? nullptr : held->get_if<std::string>();
      found[entity.row_key()] = text == nullptr ? std::string() : *text;
    }
    more = page->continuation.has_value();
    if (more) scan.continuation = *page->continuation;
  }
  if (found != rows_) broken("the rows are not those of the model");
  const Result<TablePage> tables = store_->list_tables(kDiskAccount);
  if (!tables.ok()) return broken("tables are not listed", tables.status());
  if (tables->tables.size() != 1 + (spare_.empty() ? 0u : 1u)) broken("a dropped table is there, or one is not");
  judge(objects_.compare(*store_));
  report_.count("comparisons");
}

void FullDiskRun::reopen() {
  if (Status closed = store_->close(); !closed.ok()) return broken("it does not close", closed);
  store_.reset();
  StoreOptions options;
  options.env = &world_.env();
  const Result<VerifyReport> report = Store::verify(world_.path, options);
  if (!report.ok()) return broken("verification fails", report.status());
  if (!report->sound()) return broken("verification finds: " + report->findings.front());
  if (Status opened = open(); !opened.ok()) return broken("it does not open again", opened);
  compare();
  report_.count("reopened and verified");
}

}  // namespace varve::lab
