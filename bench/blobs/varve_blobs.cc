#include "bench/blobs/varve_blobs.h"

#include <algorithm>
#include <vector>

#include "bench/blobs/content.h"
#include "bench/varve_bench/forget_files.h"

namespace varve::bench {

namespace {

BlobWriteOptions durable() {
  BlobWriteOptions options;
  options.durability = Durability::kSync;
  return options;
}

}  // namespace

Result<std::unique_ptr<VarveBlobs>> VarveBlobs::open(const std::string& directory, Memory memory) {
  std::unique_ptr<VarveBlobs> blobs(new VarveBlobs(directory));
  if (Status opened = blobs->open_store(memory); !opened.ok()) return opened;
  Store& store = *blobs->store_;
  if (Status made = store.create_account(kAccount); !made.ok()) return made;
  if (Status made = store.create_table(kAccount, "Records").status(); !made.ok()) return made;
  if (Status made = store.create_container(kAccount, "blobs").status(); !made.ok()) return made;
  if (Status named = blobs->open_names(); !named.ok()) return named;
  return blobs;
}

Status VarveBlobs::open_store(Memory memory) {
  ResourceOptions budgets;
  budgets.write_buffer_bytes = memory.write_buffer;
  budgets.block_cache_bytes = memory.cache;
  Result<std::shared_ptr<Resources>> resources = Resources::create(budgets);
  if (!resources.ok()) return resources.status();
  StoreOptions options;
  options.create_if_absent = true;
  options.resources = *std::move(resources);
  Result<std::unique_ptr<Store>> store = Store::open(directory_ + "/store", options);
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  return Status();
}

Status VarveBlobs::open_names() {
  Result<Table> records = store_->open_table(kAccount, "Records");
  if (!records.ok()) return records.status();
  records_.emplace(*std::move(records));
  Result<Container> blobs = store_->open_container(kAccount, "blobs");
  if (!blobs.ok()) return blobs.status();
  blobs_.emplace(*std::move(blobs));
  return Status();
}

Status VarveBlobs::close() {
  blobs_.reset();
  records_.reset();
  Status closed = store_->close();
  store_.reset();
  return closed;
}

Status VarveBlobs::reopen_cold(Memory memory) {
  if (Status closed = close(); !closed.ok()) return closed;
  forget_files(directory_);
  if (Status opened = open_store(memory); !opened.ok()) return opened;
  return open_names();
}

Status VarveBlobs::write_stream(const std::string& name, std::uint64_t bytes) {
  Result<BlobWriter> writer = blobs_->write(name, durable());
  if (!writer.ok()) return writer.status();
  Status added = for_pieces(bytes, [&](std::uint64_t, std::string_view piece) { return writer->append(piece); });
  return added.ok() ? writer->publish().status() : added;
}

Status VarveBlobs::read_stream(const std::string& name, std::uint64_t bytes) {
  const Result<BlobReader> reader = blobs_->read(name);
  if (!reader.ok()) return reader.status();
  std::vector<char> piece(kPieceBytes);
  for (std::uint64_t offset = 0; offset < bytes; offset += kPieceBytes) {
    const Result<std::size_t> got = reader->read(offset, piece);
    if (!got.ok()) return got.status();
    if (*got != std::min<std::uint64_t>(kPieceBytes, bytes - offset)) return Status::corruption("a blob is short");
    if (Status same = check_piece(offset, {piece.data(), *got}); !same.ok()) return same;
  }
  return Status();
}

Status VarveBlobs::put(const std::string& name, std::string_view content) {
  return blobs_->put(name, content, durable()).status();
}

Status VarveBlobs::insert(std::uint64_t number, std::string_view bytes) {
  return records_->insert(record_of(number, bytes), {.durability = Durability::kSync}).status();
}

Entity record_of(std::uint64_t number, std::string_view bytes) {
  constexpr std::uint64_t kPartitions = 100;
  Entity entity("p" + std::to_string(number % kPartitions), std::to_string(number));
  entity.add("Content", Binary{std::string(bytes)});
  return entity;
}

}  // namespace varve::bench
