#include "tools/varve/importer.h"

#include <utility>

#include "tools/varve/outcome.h"

namespace varve::tool {

namespace {

/// A row's transaction stays well below the service's 4 MiB, and all that is gathered below some tens of MiB.
constexpr std::size_t kTransactionBytes = std::size_t{1} << 20;
constexpr std::size_t kPendingRowsMax = 20'000;
constexpr std::size_t kPendingBytesMax = std::size_t{32} << 20;

bool is_the_rows_fault(const Status& status) {
  return exit_code_of(status) == kRefused && status.service_error() != "TableNotFound";
}

}  // namespace

Importer::Importer(Table& table, ImportMode mode, WriteOptions options, Refusal refusal)
    : table_(table), mode_(mode), options_(options), refusal_(std::move(refusal)) {}

Status Importer::add(std::uint64_t line, Entity entity) {
  ++counts_.read;
  const std::size_t bytes = accounted_size_bytes(entity);
  const std::string partition_key = entity.partition_key();
  Pending& pending = pending_[partition_key];
  const bool full = pending.entities.size() == limits::kTransactionOperationsMax ||
                    pending.bytes + bytes > kTransactionBytes || pending.row_keys.contains(entity.row_key());
  if (full) {
    if (Status written = write(pending); !written.ok()) return written;
  }
  pending.row_keys.insert(entity.row_key());
  pending.bytes += bytes;
  pending.lines.push_back(line);
  pending.entities.push_back(std::move(entity));
  pending_bytes_ += bytes;
  if (++pending_rows_ >= kPendingRowsMax || pending_bytes_ >= kPendingBytesMax) return finish();
  return Status();
}

void Importer::refuse(std::uint64_t line, const Status& reason) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(line, reason);
}

Status Importer::finish() {
  for (auto& [partition_key, pending] : pending_) {
    if (Status written = write(pending); !written.ok()) return written;
  }
  pending_.clear();
  return Status();
}

void Importer::add_operation(EntityGroupTransaction& transaction, const Entity& entity) const {
  switch (mode_) {
    case ImportMode::kInsertOrReplace: transaction.insert_or_replace(entity); break;
    case ImportMode::kInsertOrMerge: transaction.insert_or_merge(entity); break;
    case ImportMode::kInsert: transaction.insert(entity); break;
  }
}

Status Importer::write(Pending& pending) {
  if (pending.entities.empty()) return Status();
  EntityGroupTransaction transaction;
  for (const Entity& entity : pending.entities) add_operation(transaction, entity);
  const Result<std::vector<ETag>> etags = table_.execute(transaction, options_);
  if (etags.ok()) {
    counts_.imported += pending.entities.size();
  } else if (!is_the_rows_fault(etags.status())) {
    return etags.status();
  } else if (Status written = write_singly(pending); !written.ok()) {
    return written;
  }
  pending_rows_ -= pending.entities.size();
  pending_bytes_ -= pending.bytes;
  pending = Pending();
  return Status();
}

Status Importer::write_singly(Pending& pending) {
  for (std::size_t i = 0; i < pending.entities.size(); ++i) {
    const Result<ETag> etag = write_one(pending.entities[i]);
    if (etag.ok()) {
      ++counts_.imported;
    } else if (is_the_rows_fault(etag.status())) {
      ++counts_.refused;
      refusal_(pending.lines[i], etag.status());
    } else {
      return etag.status();
    }
  }
  return Status();
}

Result<ETag> Importer::write_one(const Entity& entity) {
  switch (mode_) {
    case ImportMode::kInsertOrReplace: return table_.insert_or_replace(entity, options_);
    case ImportMode::kInsertOrMerge: return table_.insert_or_merge(entity, options_);
    case ImportMode::kInsert: break;
  }
  return table_.insert(entity, options_);
}

}  // namespace varve::tool
