// Owns: reading the log's segments into memory, one after another. It makes many reads at once, and reads the next
// segment while the caller processes the previous one.
// Must never: use memory for more than two segments at once, or report a segment's failure before the caller asks for
// that segment.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/file_image.h"
#include "engine/manifest/file_set.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread may use it.
class SegmentImages {
 public:
  /// All arguments must outlive this object.
  SegmentImages(const io::Env& env, io::Directory& directory,
                const std::map<std::uint64_t, LiveSegment>& segments) noexcept;
  SegmentImages(const SegmentImages&) = delete;
  SegmentImages& operator=(const SegmentImages&) = delete;

  /// Returns the next segment as the device has it. At least one must be left. Errors: kCorruption (it is missing, or
  /// larger than a segment can be), those of Directory::open() and ReadableFile::read_exactly().
  Result<FileImage> next();
  /// Takes back the memory of a processed image for the segment after the next one. The system need not clear used
  /// memory again, which takes longer than reading a file.
  void take_back(FileImage image) noexcept { spare_ = std::move(image); }

 private:
  using Place = std::map<std::uint64_t, LiveSegment>::const_iterator;
  struct Reading {
    Status status;
    std::unique_ptr<io::ReadableFile> file;
    FileImage image;
  };

  /// Starts to read the segment at next_, if there is one.
  void begin();
  Status ask_for(const NamedFile& name);
  Result<FileImage> image_of(std::uint64_t bytes) noexcept;
  Status make_queue();
  void wait_for_all() noexcept;

  const io::Env& env_;
  io::Directory& directory_;
  Place next_;
  const Place end_;
  std::uint64_t room_bytes_ = 0;  // of an image
  bool has_begun_ = false;
  Reading reading_;
  FileImage spare_;
  std::unique_ptr<io::ReadQueue> queue_;  // last member: it ends before the memory that it reads into
};

}  // namespace varve::engine
