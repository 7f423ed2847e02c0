// Owns: the content that a request takes from another blob of this server: its state, its part, its pieces, its
// checksums.
// Must never: hold more than a piece of a content in memory, or mix two states of the source.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "api/rest/blobs/blob_range.h"
#include "api/rest/blobs/copy_source.h"
#include "api/rest/blobs/upload.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve::serve {

/// The place of a request among those that read long sources (BlobServiceOptions::long_sources_max).
class SourceSeat {
 public:
  /// Returns false if all places are taken. Sets `seat`, unless the request needs none.
  static bool take(const BlobCall& call, std::uint64_t bytes, std::unique_ptr<SourceSeat>& seat);
  explicit SourceSeat(std::atomic<std::uint32_t>& taken) noexcept : taken_(taken) {}
  ~SourceSeat() { taken_.fetch_sub(1, std::memory_order_relaxed); }
  SourceSeat(const SourceSeat&) = delete;
  SourceSeat& operator=(const SourceSeat&) = delete;

 private:
  std::atomic<std::uint32_t>& taken_;
};

struct SourceContent {
  std::shared_ptr<const BlobReader> reader;
  ContentPart part;
  std::unique_ptr<SourceSeat> seat;
};

/// Returns the failure of a read of the source. A condition that is not met has an error of its own.
Status source_failure(const Status& status);

/// Opens the source, and judges its conditions (x-ms-source-if-...). With `has_range`, the header x-ms-source-range chooses
/// a part. Errors: kNotFound (ContainerNotFound, BlobNotFound), kPreconditionFailed (SourceConditionNotMet), kConflict
/// (BlobArchived), kInvalidArgument (InvalidHeaderValue, InvalidRange), kBusy (no memory for the pieces; too many requests
/// read long sources). Source: BB-21, BC-06, BX-03.
Task<Result<SourceContent>> open_source(const BlobCall& call, const CopySource& source, bool has_range);

/// Reads the part into the sums, and into the writer if it is not null. Compares the sums with those of the headers
/// x-ms-source-content-md5 and x-ms-source-content-crc64. Errors: those of reads and of BlobWriter::append(); those of
/// check_sums(); kIoError (RequestTimedOut: the client has gone). Source: BY-02.
Task<Status> take_source(const BlobCall& call, const SourceContent& content, ContentSums& sums, BodyChecksums stated,
                         BlobWriter* writer);

}  // namespace varve::serve
