// Owns: the limit, the allocation and the single read.
// Must never: allocate before checking the limit.
#include "engine/base/whole_file.h"

#include <memory>
#include <span>

#include "format/log/file_header.h"

namespace varve::engine {

Result<std::unique_ptr<io::ReadableFile>> open_whole_file(io::Directory& directory, std::string_view name,
                                                          std::uint64_t bytes_max, io::ReadMode mode) {
  Result<std::unique_ptr<io::ReadableFile>> file = directory.open(name, mode);
  if (!file.ok()) return file;
  const std::uint64_t size = (*file)->size_bytes();
  if (size <= bytes_max) return file;
  return Status::corruption("has " + std::to_string(size) + " bytes; it can have at most " + std::to_string(bytes_max))
      .in_file(format::named_file(name));
}

Result<std::string> read_whole_file(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                    io::ReadMode mode) {
  const Result<std::unique_ptr<io::ReadableFile>> file = open_whole_file(directory, name, bytes_max, mode);
  if (!file.ok()) return file.status();
  std::string bytes(static_cast<std::size_t>((*file)->size_bytes()), '\0');
  if (Status read = (*file)->read_exactly(0, std::as_writable_bytes(std::span<char>(bytes.data(), bytes.size())));
      !read.ok())
    return read;
  return bytes;
}

Result<FileImage> read_file_image(io::Directory& directory, std::string_view name, std::uint64_t bytes_max,
                                  io::ReadMode mode) {
  const Result<std::unique_ptr<io::ReadableFile>> file = open_whole_file(directory, name, bytes_max, mode);
  if (!file.ok()) return file.status();
  Result<FileImage> image = FileImage::allocate((*file)->size_bytes());
  if (!image.ok()) return image;
  if (Status read = (*file)->read_exactly(0, image->bytes()); !read.ok()) return read;
  return image;
}

}  // namespace varve::engine
