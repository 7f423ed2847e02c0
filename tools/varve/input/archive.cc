#include "tools/varve/input/archive.h"

#include <array>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include "tools/varve/input/stop_signal.h"

namespace varve::tool {

namespace {

using namespace std::string_view_literals;

constexpr std::array kMagics = {"\x1F\x8B"sv, "BZh"sv, "\x28\xB5\x2F\xFD"sv,
                                "\xFD"
                                "7zXZ\0"sv,
                                "PK\x03\x04"sv};
constexpr std::size_t kArchiveReadBytes = std::size_t{64} << 10;
constexpr std::size_t kTarMagicOffset = 257;

/// Returns whether the way in which a member is packed needs little memory, whatever the member claims. `format` is
/// libarchive's name of format and method. Of zip's methods only two do: others carry a dictionary of any size.
bool needs_little_memory(std::string_view format) noexcept {
  return !format.starts_with("ZIP") || format.ends_with("(deflation)") || format.ends_with("(uncompressed)");
}

}  // namespace

bool is_xz(std::string_view first_bytes) noexcept {
  return first_bytes.starts_with(kMagics[3]);
}

bool is_tar(std::string_view first_bytes) noexcept {
  return first_bytes.size() > kTarMagicOffset && first_bytes.substr(kTarMagicOffset).starts_with("ustar");
}

bool is_packed(std::string_view first_bytes) noexcept {
  for (const std::string_view magic : kMagics) {
    if (first_bytes.starts_with(magic)) return true;
  }
  return is_tar(first_bytes);
}

bool is_packing_unclear(std::string_view first_bytes) noexcept {
  for (const std::string_view magic : kMagics) {
    if (first_bytes.size() < magic.size() && magic.starts_with(first_bytes)) return true;
  }
  return false;
}

std::unique_ptr<Archive> Archive::open(std::unique_ptr<ByteInput> below, std::string name) {
  return std::unique_ptr<Archive>(new Archive(std::move(below), std::move(name)));
}

Archive::Archive(std::unique_ptr<ByteInput> below, std::string name)
    : below_(std::move(below)), name_(std::move(name)), buffer_(kArchiveReadBytes), reader_(::archive_read_new()) {
  // Each by name: libarchive would run other programs for some that are missing here.
  ::archive_read_support_filter_gzip(reader_);
  ::archive_read_support_filter_bzip2(reader_);
  ::archive_read_support_filter_zstd(reader_);
  ::archive_read_support_format_raw(reader_);
  ::archive_read_support_format_empty(reader_);
  ::archive_read_support_format_tar(reader_);
  ::archive_read_support_format_zip_streamable(reader_);
}

Archive::~Archive() {
  ::archive_read_free(reader_);
}

ssize_t Archive::read_below(archive*, void* self, const void** bytes) {
  auto& own = *static_cast<Archive*>(self);
  const std::size_t got = own.below_->read(own.buffer_.data(), own.buffer_.size());
  *bytes = own.buffer_.data();
  const InputEnd end = own.below_->end();
  return end == InputEnd::kSignal || end == InputEnd::kError ? -1 : static_cast<ssize_t>(got);
}

/// Returns the error of the input below, or that of the archive.
Status Archive::fault() const {
  if (below_->end() == InputEnd::kError) return below_->status();
  const char* reason = ::archive_error_string(reader_);
  return Status::io_error(name_ + ": cannot be expanded: " + (reason == nullptr ? "the data is damaged" : reason));
}

Result<std::optional<std::string>> Archive::next_member() {
  const std::optional<std::string> none;
  if (is_empty_) return none;
  if (!opened_ && ::archive_read_open(reader_, this, nullptr, &read_below, nullptr) != ARCHIVE_OK) {
    return below_->end() == InputEnd::kSignal ? Result<std::optional<std::string>>(none) : fault();
  }
  opened_ = true;
  for (;;) {
    if (stop_signal_seen() != 0) return none;
    archive_entry* entry = nullptr;
    const int result = ::archive_read_next_header(reader_, &entry);
    if (below_->end() == InputEnd::kSignal) return none;
    if (result == ARCHIVE_EOF) {
      // To libarchive, zeros are the end of a tar archive.
      if (!any_member_ && ::archive_filter_bytes(reader_, 0) > 0) {
        return Status::invalid_argument(name_ +
                                        ": the archive has no file in it; it is empty, or its bytes are only zeros");
      }
      // A packed file without a byte in it is an empty file.
      is_empty_ = !std::exchange(any_member_, true);
      return is_empty_ ? Result<std::optional<std::string>>(std::string()) : none;
    }
    if (result < ARCHIVE_WARN) return fault();
    any_member_ = true;
    if (::archive_format(reader_) == ARCHIVE_FORMAT_RAW) return std::optional(std::string());
    const char* path = ::archive_entry_pathname(entry);
    if (::archive_entry_filetype(entry) != AE_IFREG || path == nullptr) continue;
    const char* format = ::archive_format_name(reader_);
    if (format != nullptr && !needs_little_memory(format)) {
      return Status::invalid_argument(name_ + ": the member " + path + " is packed as " + format +
                                      "; unpack the archive, and give its files");
    }
    return std::optional(std::string(path));
  }
}

std::size_t MemberInput::read(char* bytes, std::size_t size) {
  if (end() != InputEnd::kNone) return 0;
  // An archive can expand without end.
  if (const int number = stop_signal_seen(); number != 0) return end_by_signal(number);
  if (archive_->is_empty_) return end_of_file();
  const auto got = ::archive_read_data(archive_->reader_, bytes, size);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) return end_of_file();
  if (archive_->below_->end() == InputEnd::kSignal) return end_like(*archive_->below_);
  return end_by_error(archive_->fault());
}

std::uint64_t MemberInput::file_bytes_read() const noexcept {
  return archive_->below_->file_bytes_read();
}

}  // namespace varve::tool
