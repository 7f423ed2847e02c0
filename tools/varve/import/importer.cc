#include "tools/varve/import/importer.h"

#include <utility>

#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

/// These limits keep a transaction far below the service's 4 MiB, and all collected rows below some tens of MiB.
constexpr std::size_t kTransactionBytes = std::size_t{1} << 20;
constexpr std::size_t kPendingRowsMax = 20'000;
constexpr std::size_t kPendingBytesMax = std::size_t{32} << 20;

bool is_the_rows_fault(const Status& status) {
  return exit_code_of(status) == kRefused && status.service_error() != "TableNotFound";
}

}  // namespace

Importer::Importer(ImportTarget& target, ImportMode mode, WriteOptions options, Refusal refusal, RowContents* contents)
    : target_(target), mode_(mode), options_(options), refusal_(std::move(refusal)), contents_(contents) {}

Status Importer::add(const RowPlace& place, Entity entity, const std::vector<std::string>& contents) {
  if (const Status checked = target_.check(entity); !checked.ok()) {
    refuse({place, with_remedy(checked, entity)});
    return Status();
  }
  if (contents_ != nullptr && !contents.empty()) return add_with_contents(place, entity, contents);
  ++counts_.read;
  const std::size_t bytes = accounted_size_bytes(entity);
  const std::string partition_key = entity.partition_key();
  Pending& pending = pending_[partition_key];
  if (Status made = make_room(pending, entity, bytes); !made.ok()) return made;
  const Result<bool> repeated = is_repeated(entity);
  if (!repeated.ok()) return repeated.status();
  pending.row_keys.insert(entity.row_key());
  pending.bytes += bytes;
  pending.places.push_back(place);
  pending.repeated.push_back(*repeated);
  pending.entities.push_back(std::move(entity));
  pending_bytes_ += bytes;
  if (++pending_rows_ >= kPendingRowsMax || pending_bytes_ >= kPendingBytesMax) return write_all();
  return Status();
}

/// Writes the row at once, because its contents exist only as long as their writers until an entity names them.
Status Importer::add_with_contents(const RowPlace& place, const Entity& entity,
                                   const std::vector<std::string>& contents) {
  if (const auto earlier = pending_.find(entity.partition_key()); earlier != pending_.end()) {
    if (Status written = write(earlier->second); !written.ok()) return written;  // rows of a key keep their order
  }
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  const Result<bool> repeated = is_repeated(entity);
  if (!repeated.ok()) return repeated.status();
  const Result<ValueAccess*> values = target_.values();
  if (!values.ok()) return values.status();
  const Result<ETag> etag = contents_->write(**values, operation_of(entity), contents, options_);
  if (etag.code() == Code::kCancelled) return etag.status();
  if (!etag.ok() && !is_the_rows_fault(etag.status())) return etag.status();
  ++counts_.read;
  if (etag.ok()) {
    count_imported(*repeated);
  } else {
    ++counts_.refused;
    refusal_({place, with_remedy(etag.status(), entity)});
  }
  return Status();
}

Status Importer::make_room(Pending& pending, const Entity& entity, std::size_t bytes) {
  const bool full = pending.entities.size() == limits::kTransactionOperationsMax ||
                    pending.bytes + bytes > kTransactionBytes || pending.row_keys.contains(entity.row_key());
  return full ? write(pending) : Status();
}

/// Returns whether this import wrote an entity of the key. No collected row has this key.
Result<bool> Importer::is_repeated(const Entity& entity) {
  // With kInsert, a row of an existing key is refused anyway.
  if (mode_ == ImportMode::kInsert || !seen_.add(entity.partition_key(), entity.row_key()) || !target_.is_ready())
    return false;
  ReadOptions keys_only;
  keys_only.select = {"PartitionKey"};
  const Result<std::optional<Entity>> found = target_.table().get(entity.partition_key(), entity.row_key(), keys_only);
  if (found.ok()) return found->has_value() && (*found)->timestamp() > target_.begun();
  if (is_the_rows_fault(found.status())) return false;  // The write reports it again, and counts the row.
  return found.status();
}

void Importer::refuse(const RefusedRow& row) {
  ++counts_.read;
  ++counts_.refused;
  refusal_(row);
}

Status Importer::finish() {
  if (Status written = write_all(); !written.ok()) return written;
  return target_.is_ready() || counts_.refused > 0 ? Status() : target_.create();
}

Status Importer::write_all() {
  for (auto& [partition_key, pending] : pending_) {
    if (Status written = write(pending); !written.ok()) return written;
  }
  pending_.clear();
  return Status();
}

WriteOperation Importer::operation_of(const Entity& entity) const {
  using Kind = WriteOperation::Kind;
  switch (mode_) {
    case ImportMode::kInsertOrReplace: return {Kind::kInsertOrReplace, entity, ETag()};
    case ImportMode::kInsertOrMerge: return {Kind::kInsertOrMerge, entity, ETag()};
    case ImportMode::kInsert: break;
  }
  return {Kind::kInsert, entity, ETag()};
}

Status Importer::write(Pending& pending) {
  if (pending.entities.empty()) return Status();
  if (!target_.is_ready()) {
    if (Status created = target_.create(); !created.ok()) return created;
  }
  EntityGroupTransaction transaction;
  for (const Entity& entity : pending.entities) transaction.add(operation_of(entity));
  const Result<std::vector<ETag>> etags = target_.table().execute(transaction, options_);
  if (etags.ok()) {
    for (const bool repeated : pending.repeated) count_imported(repeated);
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
    const Result<ETag> etag = target_.table().write(operation_of(pending.entities[i]), options_);
    if (etag.ok()) {
      count_imported(pending.repeated[i]);
    } else if (is_the_rows_fault(etag.status())) {
      ++counts_.refused;
      refusal_({pending.places[i], with_remedy(etag.status(), pending.entities[i])});
    } else {
      return etag.status();
    }
  }
  return Status();
}

}  // namespace varve::tool
