// Owns: expanding gzip, bzip2 and zstd, and the members of tar and zip archives, one after another.
// Must never: write a file, run another program, keep more than one block of a member, or trust a size that an archive
// claims.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/varve/input/byte_input.h"
#include "varve/result.h"

struct archive;

namespace varve::tool {

/// Returns whether the bytes begin a file that Archive or XzInput expands.
bool is_packed(std::string_view first_bytes) noexcept;
bool is_xz(std::string_view first_bytes) noexcept;
/// Returns whether more bytes are needed to know whether they begin a packed file.
bool is_packing_unclear(std::string_view first_bytes) noexcept;
/// Returns whether the bytes begin a tar archive.
bool is_tar(std::string_view first_bytes) noexcept;

class Archive {
 public:
  /// `name` is the file's name, for errors.
  static std::unique_ptr<Archive> open(std::unique_ptr<ByteInput> below, std::string name);
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  /// Goes to the next file in the archive and returns its name. A packed file that is no archive has one member without
  /// a name. Returns nothing at the end, and if a signal asked for it. Errors: kIoError,
  /// kInvalidArgument (a member whose expansion needs much memory, or an archive without a file).
  Result<std::optional<std::string>> next_member();

 private:
  friend class MemberInput;
  Archive(std::unique_ptr<ByteInput> below, std::string name);
  static ssize_t read_below(archive* reader, void* self, const void** bytes);
  Status fault() const;

  std::unique_ptr<ByteInput> below_;
  std::string name_;
  std::vector<char> buffer_;
  archive* reader_ = nullptr;
  bool opened_ = false;
  bool any_member_ = false;
  bool is_empty_ = false;  // the one member is an empty file
};

/// The bytes of an archive's present member.
class MemberInput final : public ByteInput {
 public:
  explicit MemberInput(std::shared_ptr<Archive> archive) : archive_(std::move(archive)) {}

  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override;

 private:
  std::shared_ptr<Archive> archive_;
};

}  // namespace varve::tool
