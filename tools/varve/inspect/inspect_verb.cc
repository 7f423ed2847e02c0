// Owns: `varve inspect`: showing the content of one file of a store.
// Must never: open a store, or require one. A single file can be inspected alone.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/bytes.h"
#include "format/log/root.h"
#include "format/log/warm_list.h"
#include "tools/varve/inspect/inspect.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"

namespace varve::tool {

namespace {

struct InspectWords {
  std::string path;
  InspectOptions options;
  bool json = false;
};

/// The most bytes of a file. No file of a store is larger.
constexpr off_t kBytesMax = off_t{1} << 36;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::size_t kSectorBytes = 4096;
/// Replaces a byte that could not be read. It is not zero, because zero means "never written" in a log.
constexpr char kUnreadableByte = '\xE5';

struct FileContent {
  std::string bytes;
  /// The error of an unreadable part. Ok if everything was read.
  Status unreadable;
};

Status cannot_read(const std::string& path, int error) {
  return Status::io_error(path + ": cannot be read: " + std::generic_category().message(error));
}

Status check_kind(const std::string& path, const struct stat& status) {
  const auto refused = [&path](std::string_view kind) {
    return Status::invalid_argument(path + " is " + std::string(kind) + "; give one of the files of a store");
  };
  if (S_ISDIR(status.st_mode)) return refused("a directory");
  if (S_ISFIFO(status.st_mode)) return refused("a pipe");
  if (S_ISSOCK(status.st_mode)) return refused("a socket");
  if (!S_ISREG(status.st_mode)) return refused("a device");
  if (status.st_size > kBytesMax) return refused("larger than any file of a store");
  return Status();
}

/// Closes the file in its destructor.
class InspectedFile {
 public:
  explicit InspectedFile(std::string path) : path_(std::move(path)) {}
  InspectedFile(const InspectedFile&) = delete;
  InspectedFile& operator=(const InspectedFile&) = delete;
  ~InspectedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Reads the file. Parts that cannot be read are skipped sector by sector.
  Result<FileContent> read() {
    struct stat status {};
    // Checks the kind first, because opening a device can have an effect. O_NONBLOCK is needed because a pipe may get
    // this name in between.
    if (::stat(path_.c_str(), &status) != 0) return cannot_read(path_, errno);
    if (Status kind = check_kind(path_, status); !kind.ok()) return kind;
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return cannot_read(path_, errno);
    if (Status kind = check_kind(path_, status); !kind.ok()) return kind;
    FileContent content;
    std::size_t wanted = kReadBytes;
    for (;;) {
      const std::size_t at = content.bytes.size();
      content.bytes.resize(at + wanted);
      const ssize_t got = ::pread(descriptor_, content.bytes.data() + at, wanted, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) {
        content.bytes.resize(at);
        continue;
      }
      if (got >= 0) {
        content.bytes.resize(at + static_cast<std::size_t>(got));
        if (got == 0) return content;
        wanted = kReadBytes;
      } else if (!skip(content, at, wanted, status, errno)) {
        return content.unreadable;
      }
    }
  }

 private:
  /// Continues after a read error with a smaller piece, or after the damaged sector. Returns false if the file's end is
  /// unknown.
  bool skip(FileContent& content, std::size_t at, std::size_t& wanted, const struct stat& status, int error) const {
    const std::size_t sector_left = kSectorBytes - at % kSectorBytes;
    const auto size = static_cast<std::size_t>(status.st_size);
    content.bytes.resize(at);
    if (wanted > sector_left) {
      wanted = sector_left;
      return true;
    }
    if (content.unreadable.ok()) {
      content.unreadable = Status::io_error(path_ + ": cannot be read at offset " + std::to_string(at) + ": " +
                                            std::generic_category().message(error));
    }
    if (at >= size) return false;
    content.bytes.resize(at + std::min(sector_left, size - at), kUnreadableByte);
    return true;
  }

  const std::string path_;
  int descriptor_ = -1;
};

std::string_view type_name(format::FileType type) noexcept {
  switch (type) {
    case format::FileType::kRoot: return "CURRENT";
    case format::FileType::kManifest: return "manifest";
    case format::FileType::kLogSegment: return "log segment";
    case format::FileType::kLogBuffer: return "log buffer";
    case format::FileType::kTable: return "table file";
    case format::FileType::kValueFile: return "value file";
    case format::FileType::kWarmList: return "list of cached blocks";
  }
  return "file";
}

/// Returns the type in the header if this program can show it. Otherwise it returns the type of the name.
format::FileType type_of(const std::string& bytes, const std::string& name) {
  const std::uint16_t stored = bytes.size() < format::kFileHeaderBytes ? std::uint16_t{0} : format::load_u16(&bytes[8]);
  if (stored >= static_cast<std::uint16_t>(format::FileType::kRoot) &&
      stored <= static_cast<std::uint16_t>(format::FileType::kTable)) {
    return static_cast<format::FileType>(stored);
  }
  const bool is_warm_list = stored == static_cast<std::uint16_t>(format::FileType::kWarmList);
  if (is_warm_list || name == format::kWarmListName) return format::FileType::kWarmList;
  const Result<format::FileId> id = format::parse_file_name(name);
  return id.ok() ? id->type : format::FileType::kRoot;
}

void inspect_content(std::string_view bytes, const format::FileHeader& header, const InspectOptions& options,
                     InspectOutput& out) {
  switch (header.type) {
    case format::FileType::kRoot: return inspect_root(bytes, out);
    case format::FileType::kManifest: return inspect_manifest(bytes, header, out);
    case format::FileType::kLogSegment: return inspect_segment(bytes, header, out);
    case format::FileType::kLogBuffer: return inspect_log_buffer(bytes, header, out);
    case format::FileType::kTable: return inspect_table(bytes, header, options, out);
    case format::FileType::kWarmList: return inspect_warm_list(bytes, out);
    case format::FileType::kValueFile: break;
  }
  out.damage(std::nullopt, Status::unsupported("inspect does not support value files"));
}

/// Checks the name. A file may have been renamed or copied over another file.
void check_name(const std::string& name, const format::FileHeader& header, InspectOutput& out) {
  const Result<format::FileId> id = format::parse_file_name(name);
  if (!id.ok() || (id->type == header.type && id->number == header.number) || !out.status().ok()) return;
  out.damage(0, Status::corruption("the file is called " + name + ", but was written as " +
                                   format::file_name(header.type, header.number)));
}

int show_content(const InspectWords& words, const std::string& bytes) {
  const std::string name = std::filesystem::path(words.path).filename().string();
  InspectOutput out(std::cout, words.json);
  if (bytes.empty() && (name == "LOCK" || name == "BALLAST")) {
    out.item(0, "end", {word_field("state", "whole: this file has no content")});
    return kSuccess;
  }
  const Result<format::FileHeader> header = format::decode_file_header(bytes, type_of(bytes, name));
  if (header.ok()) {
    out.item(0, "header",
             {word_field("type", type_name(header->type)), number_field("format_version", header->format_version),
              number_field("number", header->number), hex_field("seed", header->seed),
              number_field("size_bytes", bytes.size())});
    inspect_content(bytes, *header, words.options, out);
    check_name(name, *header, out);
  } else {
    out.damage(0, header.status());
  }
  return out.status().ok() ? kSuccess : exit_code_of(out.status());
}

int inspect_file(const InspectWords& words) {
  const Result<FileContent> content = InspectedFile(words.path).read();
  if (!content.ok()) return fail(content.status());
  page_long_output();
  const int shown = show_content(words, content->bytes);
  // The damage in the unreadable part comes from the replacement bytes. The device's error is the reason.
  return content->unreadable.ok() ? shown : fail(content->unreadable);
}

}  // namespace

void add_inspect_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<InspectWords>();
  CLI::App* verb = app.add_subcommand("inspect", "Show the content of one file of a store, intact or damaged");
  verb->footer(
      "Reads CURRENT, MANIFEST-*, *.wal, *.buf and *.sst in any directory, and changes nothing. Each line\n"
      "begins with the offset in the file. If the file is damaged, prints everything before the first damage\n"
      "and its place; the exit code is 3 then. Skips and names each part that cannot be read; the exit code is\n"
      "4 then. FILE must be a regular file. FORMAT.md explains the words.\n"
      "\nExamples\n"
      "  varve inspect ./shop/CURRENT\n"
      "  varve inspect ./shop/CURRENT --json");
  verb->add_option("FILE", words->path, "File to show")->required();
  verb->add_flag("--blocks", words->options.blocks, "Table files: show each block");
  verb->add_flag("--entries", words->options.entries, "Table files: show each entry");
  add_json_words(*verb, words->json, "Print JSON Lines");
  verb->callback([words, &exit_code] { exit_code = inspect_file(*words); });
}

}  // namespace varve::tool
