// Owns: bringing the log's segments into memory, one behind the other: many reads at once, and the next segment's while
// the one before it is walked.
// Must never: have memory for more than two segments at once, or tell of a segment's failure before it is that one's
// turn.
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

/// One thread.
class SegmentImages {
 public:
  /// All outlive it.
  SegmentImages(const io::Env& env, io::Directory& directory,
                const std::map<std::uint64_t, LiveSegment>& segments) noexcept;
  SegmentImages(const SegmentImages&) = delete;
  SegmentImages& operator=(const SegmentImages&) = delete;

  /// The next segment, as the device has it; there is one left. Errors: kCorruption (it is missing, it is larger than a
  /// segment can be), those of Directory::open and ReadableFile::read_exactly.
  Result<FileImage> next();
  /// One that nobody needs any more: the segment after the next one has its memory. What was used once need not be
  /// cleared by the system again, which takes longer than reading a file does.
  void take_back(FileImage image) noexcept { spare_ = std::move(image); }

 private:
  using Place = std::map<std::uint64_t, LiveSegment>::const_iterator;
  struct Reading {
    Status status;
    std::unique_ptr<io::ReadableFile> file;
    FileImage image;
  };

  /// Asks for the segment at next_, if there is one.
  void begin();
  Status ask_for(const std::string& name);
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
  std::unique_ptr<io::ReadQueue> queue_;  // ends before what it reads into
};

}  // namespace varve::engine
