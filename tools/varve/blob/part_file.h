// Owns: the file with the beginning of a blob, which an interrupted `blob get --resume` leaves, and the next one goes on
// with.
// Must never: go on with bytes of another state of the blob, or give the file its name before it was compared with the
// blob's checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/crc64.h"
#include "tools/varve/base/owned_descriptor.h"
#include "tools/varve/reach/blob_access.h"
#include "varve/blob.h"
#include "varve/status.h"

namespace varve::tool {

/// The file `FILE.<number of the blob's ETag>.varve-part`. It stays until finish(). One program at a time may use it.
class PartFile {
 public:
  PartFile(std::string path, const BlobState& blob);

  /// Opens or creates the file, and removes those of other states of the blob that no program writes. If the blob's
  /// checksum is not known, compares the file with the blob, and cuts it where they differ. Errors: kIoError, kLocked
  /// (another program writes the file), those of reading the blob.
  Status open(BlobSource& blob);
  /// Returns the bytes of the blob that the file has.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Adds the next bytes. Errors: kIoError.
  Status append(std::string_view bytes);
  /// Compares the checksum, and gives the file its name. Afterwards it is on the device. Errors: kIoError (also if the
  /// checksum differs: the file is then removed).
  Status finish();

 private:
  Status failed(int error) const;
  Status read_back(BlobSource& blob);
  void remove_earlier() const;

  std::string target_;
  std::string part_;
  const BlobState blob_;
  OwnedDescriptor file_;
  format::Crc64 crc64_;
  std::uint64_t bytes_ = 0;
};

}  // namespace varve::tool
