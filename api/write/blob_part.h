// Owns: the blobs of a transaction: what they add to the commit of its entities and messages.
// Must never: let a blob be changed without the entities, or the entities without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/blob/content_owners.h"
#include "api/core/store_core.h"
#include "api/write/blob_change.h"
#include "api/write/blob_writer_state.h"
#include "api/write/copy_change.h"
#include "varve/blob.h"
#include "varve/blob_write.h"
#include "varve/result.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL BlobWrite::State {
  enum class Kind : std::uint8_t { kPublish, kPut, kRemove, kCopy };
  Kind kind = Kind::kPublish;
  std::shared_ptr<const Container::State> container;
  std::string blob;
  /// The writer of kPublish, or null if it was moved away. That of kPut is made for the commit.
  std::unique_ptr<BlobWriter::State> writer;
  std::string content;             // of kPut
  BlobWriteOptions write_options;  // of kPut
  BlobConditions conditions;       // of kRemove
  // of kCopy
  std::shared_ptr<const Container::State> source;
  std::string source_blob;
  BlobCopyOptions copy_options;
  Guid copy_id;
};

/// One attempt to commit the blobs.
class VARVE_LOCAL BlobPart {
 public:
  /// Returns the bytes of content that the write brings to the commit, or has in memory.
  static std::size_t content_bytes(const BlobWrite& write) noexcept;
  /// Checks the write, and writes what must be in the store before the commit. Called once, before the first attempt.
  /// Errors: those of the verbs; kInvalidArgument (InvalidInput: a container of another store, a writer that cannot
  /// publish).
  static Status prepare(const StoreCore& core, BlobWrite& write);

  /// Plans prepared writes, which outlive the object. Errors name the operation by its index in `writes` plus
  /// `first_index`: those of the verbs of Container; kInvalidArgument (InvalidInput: a blob that is written twice).
  static Result<std::unique_ptr<BlobPart>> make(StoreCore& core, std::vector<BlobWrite*> writes,
                                                std::size_t first_index);

  std::vector<std::uint64_t> locks() const;
  std::vector<format::TableId> tables() const;
  std::uint64_t bytes() const noexcept;

  /// Judges the writes by the states before the commit, and adds their rows.
  Refusal finish(const engine::ReadView& view, format::BatchBuilder& batch);
  /// Returns whether another attempt may succeed: the plan was overtaken, or a container, or the source of a copy, has
  /// another id now. `failure` is the error of the commit. Errors: kNotFound (ContainerNotFound), those of reading.
  Result<bool> may_go_on(const Status& failure) const;
  /// Returns the states of the blobs that were written. Allocates nothing. Called once.
  std::vector<BlobState> committed(engine::CommitVersion version) noexcept;

 private:
  BlobPart(StoreCore& core, std::vector<BlobWrite*> writes, std::size_t first_index)
      : core_(core), writes_(std::move(writes)), first_index_(first_index) {}
  Status blamed(const Status& status, std::size_t index) const {
    return status.at_operation(static_cast<std::uint32_t>(first_index_ + index));
  }
  Status plan_all();
  Status check_each_once() const;
  void plan_owners();
  Refusal judge_all(const engine::ReadView& view, std::span<const engine::Newest> states, format::BatchBuilder& batch);

  StoreCore& core_;
  const std::vector<BlobWrite*> writes_;
  const std::size_t first_index_;
  std::vector<std::unique_ptr<BlobCopying>> copyings_;
  std::vector<BlobVerb> verbs_;  // with room for all: attempts point to them
  std::vector<BlobAttempt> attempts_;
  std::map<format::TableId, ContentOwners> owners_;  // by the id of an account's contents
  std::vector<BlobState> written_;                   // with room for all
  bool is_overtaken_ = false;
  bool has_work_ = false;
};

}  // namespace varve
