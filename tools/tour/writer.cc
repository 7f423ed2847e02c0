#include "tools/tour/writer.h"

#include <thread>
#include <vector>

#include <unistd.h>

#include "varve/store.h"

namespace varve::tour {

namespace {

constexpr std::uint64_t kScarceBytes = std::uint64_t{4} << 20;
constexpr std::size_t kPaddingBytes = 1024;

bool say(int pipe, const Promise& promise) {
  return ::write(pipe, &promise, sizeof promise) == sizeof promise;
}

/// Returns bytes that differ from row to row, so that compression does not remove them.
std::string padding(const Promise& promise, int row) {
  std::uint64_t state = (std::uint64_t{promise.thread} << 40) ^ (std::uint64_t{promise.number} << 8) ^
                        (std::uint64_t{promise.round} << 52) ^ static_cast<std::uint64_t>(row);
  std::string text(kPaddingBytes, ' ');
  for (char& c : text) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>('!' + (state >> 33) % 90);
  }
  return text;
}

void write_ledger(Table table, Promise next, int pipe, Memory memory) {
  WriteOptions options;
  options.durability = next.thread % 2 == 0 ? Durability::kSync : Durability::kBuffered;
  for (;; ++next.number) {
    EntityGroupTransaction transaction;
    for (int row = 0; row < kLedgerRowsEach; ++row) {
      Entity entity(partition_of(next), row_of(next) + "." + std::to_string(row));
      if (memory == Memory::kScarce) entity.set("Padding", padding(next, row));
      transaction.insert(std::move(entity));
    }
    if (!table.execute(transaction, options).ok() || !say(pipe, next)) return;
  }
}

Status fill(Table& table, const Promise& promise) {
  WriteOptions options;
  options.durability = Durability::kBuffered;
  for (int batch = 0; batch < kDroppedTableBatches; ++batch) {
    EntityGroupTransaction transaction;
    for (int row = 0; row < kDroppedTableRowsEach; ++row) {
      transaction.insert(Entity("batch " + std::to_string(batch), std::to_string(row))
                             .set("Padding", padding(promise, batch * kDroppedTableRowsEach + row)));
    }
    if (Status status = table.execute(transaction, options).status(); !status.ok()) return status;
  }
  return Status();
}

void make_and_drop(Store& store, Promise next, int pipe) {
  for (;; ++next.number) {
    Result<Table> table = store.create_table(kAccount, table_of(next));
    if (!table.ok() || !fill(*table, next).ok()) return;
    next.kind = Promise::Kind::kTableFilled;
    if (!say(pipe, next)) return;
    if (!store.drop_table(kAccount, table_of(next)).ok()) return;
    next.kind = Promise::Kind::kTableDropped;
    if (!say(pipe, next)) return;
  }
}

Result<Table> ledger_of(Store& store) {
  Result<Table> made = store.create_table(kAccount, kLedger);
  return made.code() == Code::kExists ? store.open_table(kAccount, kLedger) : std::move(made);
}

}  // namespace

Result<StoreOptions> options_for(Memory memory) {
  StoreOptions options;
  if (memory == Memory::kDefault) return options;
  ResourceOptions scarce;
  scarce.write_buffer_bytes = kScarceBytes;
  scarce.block_cache_bytes = kScarceBytes;
  Result<std::shared_ptr<Resources>> resources = Resources::create(scarce);
  if (!resources.ok()) return resources.status();
  options.resources = *std::move(resources);
  return options;
}

int run_writer(const std::string& store_path, int pipe, std::uint32_t round, Memory memory) {
  const Result<StoreOptions> options = options_for(memory);
  if (!options.ok()) return 1;
  const Result<std::unique_ptr<Store>> store = Store::open(store_path, *options);
  if (!store.ok()) return 1;
  const Result<Table> ledger = ledger_of(**store);
  if (!ledger.ok()) return 1;
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < kLedgerThreads; ++thread) {
    threads.emplace_back(write_ledger, *ledger, Promise{Promise::Kind::kCommitted, round, thread, 0}, pipe, memory);
  }
  for (std::uint32_t thread = 0; memory == Memory::kScarce && thread < kDropThreads; ++thread) {
    threads.emplace_back([&, thread] {
      make_and_drop(**store, Promise{Promise::Kind::kCommitted, round, thread, 0}, pipe);
    });
  }
  return 0;
}

}  // namespace varve::tour
