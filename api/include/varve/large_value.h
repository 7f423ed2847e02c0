// SPDX-License-Identifier: Apache-2.0
// Owns: writing and reading large values: contents of any length that entities own.
// Must never: hold a whole content in memory, or show a content that no entity names.
//
//   Result<Table> people = store->create_table("myaccount", "People", {.has_large_values = true});
//   Result<LargeValueWriter> writer = people->write_large_value();
//   while (more) Status added = writer->append(piece);     // memory of about 3 MiB
//   Result<LargeValue> photo = writer->finish();           // no entity names it yet
//   people->insert(Entity("sales", "0007").set("Photo", *photo));
//
//   Result<LargeValueReader> reader = people->open_large_value("sales", "0007", "Photo");
//   Result<std::size_t> got = reader->read(offset, buffer);
//
// A property of the type LargeValue names a content. The store counts how many properties name each content, in the
// commit that writes the entity. The commit that takes away the last one removes the content: a delete of the entity, a
// replace or a merge with another value, or a drop of the table. A LargeValue that was read may be given to other
// entities of the account; they share the content, and no byte is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "result.h"
#include "status.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Writes one content as a stream. Movable; one thread at a time may use it.
///
/// The content is removed in the background when the writer ends, or after a crash, unless an entity names it by then. So
/// the writer must exist until the commit that names the content has succeeded. When the last entity has let go of the
/// content, the writer does not keep it. A later write may name it again if it has at most 1 MiB, and is refused
/// (LargeValueNotFound) if it is longer. Source: BX-04, BX-20.
class VARVE_EXPORT LargeValueWriter {
 public:
  LargeValueWriter(LargeValueWriter&&) noexcept;
  LargeValueWriter& operator=(LargeValueWriter&&) noexcept;
  ~LargeValueWriter();

  /// Adds bytes at the end. Needs about 3 MiB of memory at most. Errors: those of any write; kNotFound (TableNotFound: the
  /// account of the table was dropped), kTooLarge (RequestBodyTooLarge: the limit of a content), kInvalidArgument
  /// (InvalidInput: the content is finished). After any error but InvalidInput the writer cannot be used any more: begin
  /// another one.
  Status append(std::string_view bytes);
  /// Bytes that were added.
  std::uint64_t length() const noexcept;
  /// Ends the content, and returns the value that names it. Any number of entities of the table's account may get it, in
  /// tables that may have large values. A second call returns the same value. Errors: that of an append that failed;
  /// kClosed, kOutOfMemory.
  Result<LargeValue> finish();

  /// The implementation. Not for users.
  struct State;

 private:
  friend class Table;
  explicit LargeValueWriter(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Reads one content, also after no entity names it any more: it keeps the state of the store readable that it was opened
/// at, as a BlobReader does. Movable; any thread may read.
class VARVE_EXPORT LargeValueReader {
 public:
  LargeValueReader(LargeValueReader&&) noexcept;
  LargeValueReader& operator=(LargeValueReader&&) noexcept;
  ~LargeValueReader();

  /// Returns the value that is read.
  LargeValue value() const noexcept;
  /// Bytes of the content.
  std::uint64_t length() const noexcept { return value().length(); }
  /// Fills the buffer with the content from `offset` on. Returns the number of bytes, which is less than the buffer has
  /// only at the end of the content. Bytes that do not match their hash are kCorruption, and none of them is returned.
  /// Other errors: kClosed, kLocked, kIoError, kTooManyFiles, kOutOfMemory. Source: BX-07, BX-09, BX-11.
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const;
  /// Returns the CRC-64 of the whole content (BB-04), which the writer computed. Errors: as read().
  Result<std::uint64_t> crc64() const;

  /// The implementation. Not for users.
  struct State;

 private:
  friend struct LargeValueOpener;
  explicit LargeValueReader(std::unique_ptr<const State> state) noexcept;
  std::unique_ptr<const State> state_;
};

/// An entity, and readers of its large values, all of one moment. Source: BX-22, BX-24.
struct OpenedEntity {
  Entity entity;
  /// In the order of the names. Nothing for a name that the entity does not have, or that is no LargeValue.
  std::vector<std::optional<LargeValueReader>> values;
};

}  // namespace varve
