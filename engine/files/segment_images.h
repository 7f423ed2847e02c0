// Owns: bringing the log's segments into memory, one behind the other: many reads at once, and the next segment's while
// the one before it is walked.
// Must never: have more than two segments in memory, or tell of a segment's failure before it is that one's turn.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/result.h"
#include "engine/files/file_image.h"
#include "engine/files/file_set.h"
#include "io/env.h"

namespace varve::engine {

/// One thread.
class SegmentImages {
 public:
  /// All outlive it.
  SegmentImages(const io::Env& env, io::Directory& directory,
                const std::map<std::uint64_t, LiveSegment>& segments) noexcept
      : env_(env), directory_(directory), next_(segments.begin()), end_(segments.end()) {}
  SegmentImages(const SegmentImages&) = delete;
  SegmentImages& operator=(const SegmentImages&) = delete;

  /// The next segment, as the device has it; there is one left. Errors: kCorruption (it is missing, it is larger than a
  /// segment can be), those of Directory::open and ReadableFile::read_exactly.
  Result<FileImage> next();

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
  Status make_queue();
  void wait_for_all() noexcept;

  const io::Env& env_;
  io::Directory& directory_;
  Place next_;
  const Place end_;
  bool has_begun_ = false;
  Reading reading_;
  std::unique_ptr<io::ReadQueue> queue_;  // ends before what it reads into
};

}  // namespace varve::engine
