// Owns: a content that was opened for reading: that of a blob, or a large value of an entity.
// Must never: show two states of a content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/service/operation.h"
#include "varve/blob.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

class ReadableContent {
 public:
  /// Opens what the request names, on a thread that may wait. The address of a large value is `$values/` and its number;
  /// it has no lease and no other state than its number, its length and its CRC-64. Errors: those of Container::read() and
  /// Store::open_large_value(); kNotFound (BlobNotFound: no entity owns such a content).
  static Result<std::shared_ptr<const ReadableContent>> open(const BlobCall& call, Store& store,
                                                             const BlobReadOptions& options);

  ReadableContent() = default;
  virtual ~ReadableContent() = default;
  ReadableContent(const ReadableContent&) = delete;
  ReadableContent& operator=(const ReadableContent&) = delete;

  virtual const BlobState& state() const noexcept = 0;
  /// As BlobReader::read().
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const = 0;
};

/// Returns whether the request is about a large value.
bool names_large_value(const BlobTarget& target) noexcept;
/// Checks that clients may do this with a large value: they read it. Only a write of its entity changes it. Errors:
/// kInvalidArgument (UnsupportedHttpVerb). Source: BX-01.
Status check_value_operation(Operation operation);

}  // namespace varve::serve
