// SPDX-License-Identifier: Apache-2.0
// Owns: the changes of blobs that a StoreTransaction commits beside entities and messages.
// Must never: change a store.
//
//   Result<BlobWriter> photo = photos->write("0007.jpg");
//   while (more) Status added = photo->append(piece);   // not visible yet, however long it takes
//   transaction->publish(*std::move(photo)).insert(employees, employee).remove(photos, "0007-old.jpg");
//   Result<std::vector<ETag>> committed = transaction->commit();   // all of it, or nothing
#pragma once

#include <memory>
#include <string>

#include "blob.h"
#include "version.h"

namespace varve {

/// A change of one blob in a StoreTransaction. Movable; use it from one thread at a time. If it has a writer that no
/// commit publishes, the writer's content is removed in the background when the object ends.
class VARVE_EXPORT BlobWrite {
 public:
  /// Makes a write with the BlobWriter or Container verb of the same name. Of the options, the durability does not count:
  /// a transaction has one durability. Nothing is checked before the commit.
  /// @{
  static BlobWrite publish(BlobWriter writer);
  static BlobWrite put(const Container& container, std::string blob, std::string content,
                       BlobWriteOptions options = {});
  static BlobWrite remove(const Container& container, std::string blob, const BlobChangeOptions& options = {});
  static BlobWrite copy(const Container& container, std::string blob, const Container& source, std::string source_blob,
                        BlobCopyOptions options = {});
  /// @}

  BlobWrite(BlobWrite&&) noexcept;
  BlobWrite& operator=(BlobWrite&&) noexcept;
  ~BlobWrite();

  /// The implementation. Not for users.
  struct State;

 private:
  friend class BlobPart;
  explicit BlobWrite(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve
