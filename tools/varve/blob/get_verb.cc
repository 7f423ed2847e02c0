// Owns: the verb `blob get`: a blob as a file.
// Must never: give a file its name before all of the blob was written.
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "tools/varve/blob/blob_verbs.h"
#include "tools/varve/blob/part_file.h"
#include "tools/varve/content/byte_range.h"
#include "tools/varve/content/content_output.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

struct BlobGetWords {
  BlobPlace place;
  std::string file;
  std::string range;
  bool resumes = false;

  bool is_to_file() const { return !file.empty() && file != "-"; }
};

ReadContent reading_of_blob(BlobSource& blob) {
  return [&blob](std::uint64_t offset, std::span<char> buffer) { return blob.read(offset, buffer); };
}

/// Returns the failure of a read with what to do about it.
Status with_get_hint(const Status& failure, bool resumes) {
  if (failure.service_error() == "ConditionNotMet") {
    return failure.with_hint("the blob was changed while it was read; give the same line again");
  }
  if (resumes && failure.code() == Code::kIoError && failure.hint().empty()) {
    return failure.with_hint("the part that was written stays; the same line goes on after it");
  }
  return with_blob_hint(failure);
}

int ended_get(const Status& done, const BlobGetWords& words) {
  if (done.ok()) return kSuccess;
  if (done.code() != Code::kCancelled) return fail(with_get_hint(done, words.resumes));
  if (words.resumes) print_hint("the part that was written stays; the same line goes on after it");
  return 128 + stop_signal_seen();
}

Status get_to_part_file(BlobSource& blob, const std::string& path) {
  PartFile file(path, blob.state());
  if (Status opened = file.open(blob); !opened.ok()) return opened;
  if (file.bytes() > 0) print_hint("goes on after " + bytes_text(file.bytes()));
  const ContentPart rest{file.bytes(), blob.state().length - file.bytes()};
  const Status copied =
      copy_content(reading_of_blob(blob), rest, true, [&](std::string_view piece) { return file.append(piece); });
  return copied.ok() ? file.finish() : copied;
}

/// Returns whether the path is something else than a file, for example a pipe.
bool is_no_file(const std::string& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

int get_blob(const BlobGetWords& words) {
  if (words.resumes && (!words.is_to_file() || is_no_file(words.file))) {
    return fail(kUsage, "--resume needs FILE with the name of a file");
  }
  const std::optional<WantedRange> range =
      words.range.empty() ? std::optional<WantedRange>(WantedRange()) : parse_range(words.range);
  stop_reading_on_signals();
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<std::unique_ptr<BlobSource>> blob = (*access)->read(words.place.blob);
  if (!blob.ok()) return fail(with_blob_hint(with_nearest_blobs(**access, words.place, blob.status())));
  const std::uint64_t length = (*blob)->state().length;
  const Result<ContentPart> part =
      words.range.empty() ? ContentPart{0, length} : part_of_content(*range, length, "blob");
  if (!part.ok()) return fail(part.status());
  if (!words.is_to_file()) return content_to_output(reading_of_blob(**blob), *part);
  return ended_get(words.resumes ? get_to_part_file(**blob, words.file)
                                 : content_to_file(reading_of_blob(**blob), *part, words.file),
                   words);
}

}  // namespace

void add_blob_get(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobGetWords>();
  CLI::App* verb = group.add_subcommand("get", "Read a blob to a file or standard output");
  verb->footer(
      "The file gets its name when all of the blob was written. An earlier file of this name stays until then. Each "
      "byte is compared with the store's hashes.\n"
      "\n"
      "With --resume, an interrupted line leaves FILE.NUMBER.varve-part. The same line then goes on after it, if the "
      "blob is the same, and compares the whole file with the blob's CRC-64.\n"
      "\nExamples\n"
      "  varve blob get ./shop photos eu/ann.jpg ann.jpg\n"
      "  varve blob get ./shop backups disk.img disk.img --resume\n"
      "  varve blob get ./shop backups photos.tar | tar t\n"
      "  varve blob get ./shop backups photos.tar --range 0-99");
  add_blob_words(*verb, words->place);
  verb->add_option("FILE", words->file, "File to write; default: standard output, which - names too");
  CLI::Option* const range =
      verb->add_option("--range", words->range, "Only these bytes: 0-99, 100- or, for the last 500, -500")
          ->check(byte_range());
  verb->add_flag("--resume", words->resumes, "Go on where an interrupted get with --resume ended")->excludes(range);
  verb->callback([words, &exit_code] { exit_code = get_blob(*words); });
}

}  // namespace varve::tool
