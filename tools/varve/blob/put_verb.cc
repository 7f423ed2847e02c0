// Owns: the verb `blob put`: a file as a blob.
// Must never: publish a part of a file, or hold a whole file in memory.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/varve/blob/blob_text.h"
#include "tools/varve/blob/blob_verbs.h"
#include "tools/varve/blob/block_put.h"
#include "tools/varve/content/content_input.h"
#include "tools/varve/input/file_input.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

struct BlobPutWords {
  BlobPlace place;
  std::string file;
  BlobConditionWords conditions;
  BlobProperties properties;
  std::vector<std::string> metadata;
  std::vector<std::string> tags;
  std::string durability;
  bool resumes = false;
  bool compresses = false;
  bool json = false;
};

Result<BlobWriteOptions> put_options_of(const BlobPutWords& words) {
  BlobWriteOptions options;
  const Result<BlobConditions> conditions = blob_conditions_of(words.conditions);
  if (!conditions.ok()) return conditions.status();
  Result<std::vector<MetadataPair>> metadata = parse_blob_metadata(words.metadata);
  if (!metadata.ok()) return metadata.status();
  Result<std::vector<BlobTag>> tags = parse_blob_tags(words.tags);
  if (!tags.ok()) return tags.status();
  options.properties = words.properties;
  options.conditions = *conditions;
  options.metadata = *std::move(metadata);
  options.tags = *std::move(tags);
  options.durability = durability_of(words.durability);
  options.compresses = words.compresses;
  return options;
}

/// Writes the file as one stream.
Result<BlobState> put_as_stream(BlobSink& sink, FileInput& input) {
  const Status read = read_content(input, true, [&sink](std::string_view piece) { return sink.append(piece); });
  if (!read.ok()) return read;
  return sink.publish();
}

/// Writes the file, as one stream or as blocks. The conditions are judged before the file is read.
Result<BlobState> put_file(BlobAccess& access, const BlobPutWords& words, FileInput& input,
                           const BlobWriteOptions& options, BlockPutFigures& figures) {
  Result<std::unique_ptr<BlobSink>> sink = access.write(words.place.blob, options);
  if (!sink.ok()) return sink.status();
  if (!words.resumes) return put_as_stream(**sink, input);
  (*sink).reset();
  Progress progress("MB", input.total_bytes());
  return put_as_blocks(access, words.place.blob, input, options, [&](const BlockPutFigures& now) {
    figures = now;
    progress.update(now.bytes / kMegabyte, now.bytes);
  });
}

Status with_put_hint(const Status& failure, bool resumes) {
  if (failure.service_error() == "InvalidBlobOrBlock") {
    return failure.with_hint(resumes
                                 ? "another program stages blocks under this name; a put without --resume replaces them"
                                 : "another program stages blocks under this name; use another name");
  }
  // Staged blocks outlive the connection, whatever the last request did.
  const bool is_lost = failure.code() == Code::kUnknown || failure.code() == Code::kIoError;
  if (is_lost && resumes && failure.hint().empty()) {
    return failure.with_hint("the blocks that were written stay; the same line goes on after them");
  }
  if (failure.code() == Code::kNoSpace) {
    return failure.with_hint(resumes ? "free space, then give the same line again: it goes on after the "
                                       "staged blocks, which the store keeps for a week"
                                     : "nothing was stored; free space, then give the same line again");
  }
  return with_blob_hint(failure);
}

/// Reports that a signal ended the put.
int stopped_put(const FileInput& input, const BlobPutWords& words, const BlockPutFigures& figures) {
  print_hint(words.resumes ? "no blob was stored; the same line goes on after " + bytes_text(figures.bytes)
                           : std::string("nothing was stored; with --resume, the next line would go on"));
  return 128 + input.stop_signal();
}

int put_blob(const BlobPutWords& words) {
  const Result<BlobWriteOptions> options = put_options_of(words);
  if (!options.ok()) return fail(options.status());
  if (Status named = check_blob_name(words.place.blob); !named.ok()) return fail(named.in_file("BLOB"));
  stop_reading_on_signals();
  const Result<std::unique_ptr<FileInput>> input = FileInput::open(words.file);
  if (!input.ok()) return fail(input.status());
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  BlockPutFigures figures;
  const Result<BlobState> put = put_file(**access, words, **input, *options, figures);
  if (put.ok()) {
    if (figures.kept_bytes > 0) {
      print_hint(bytes_text(figures.kept_bytes) + " of " + bytes_text(figures.bytes) + " were in the store already");
    }
    return finish_blob_change(**access, *put, words.json);
  }
  if (put.code() == Code::kCancelled) return stopped_put(**input, words, figures);
  return fail(with_put_hint(with_nearest_blobs(**access, words.place, put.status()), words.resumes));
}

void add_property_options(CLI::App& verb, BlobProperties& properties) {
  verb.add_option("--type", properties.content_type, "Content-Type, such as image/jpeg");
  verb.add_option("--encoding", properties.content_encoding, "Content-Encoding, such as gzip");
  verb.add_option("--language", properties.content_language, "Content-Language, such as en");
  verb.add_option("--disposition", properties.content_disposition, "Content-Disposition");
  verb.add_option("--cache-control", properties.cache_control, "Cache-Control, such as no-store");
}

}  // namespace

void add_blob_put(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobPutWords>();
  CLI::App* verb = group.add_subcommand("put", "Write a blob from a file or standard input; prints its ETag");
  verb->footer(
      "A blob of this name is replaced as a whole, when all of the file was read. Readers see the old content or the "
      "new one. If the put fails, nothing was stored.\n"
      "\n"
      "With --resume, the file is written as blocks. If the line is interrupted, the blocks stay in the store for a "
      "week. The same line then goes on: it reads the file again, compares each block by its CRC-64, and writes those "
      "that are missing or differ.\n"
      "\nExamples\n"
      "  varve blob put ./shop photos eu/ann.jpg ann.jpg --type image/jpeg\n"
      "  varve blob put ./shop backups disk.img disk.img --resume\n"
      "  tar c films | varve blob put ./shop backups films.tar - --if-absent");
  add_blob_words(*verb, words->place);
  verb->add_option("FILE", words->file, "File to read; - is standard input")->required();
  verb->add_flag("--resume", words->resumes, "Go on where an interrupted put with --resume ended");
  verb->add_flag("--compress", words->compresses,
                 "Compress each part of 1 MiB that shrinks by an eighth, unless the first part does not or there is an "
                 "--encoding");
  add_property_options(*verb, words->properties);
  verb->add_option("--metadata", words->metadata, "Metadata of the blob as NAME=VALUE; may be repeated")
      ->expected(1)
      ->take_all();
  verb->add_option("--tag", words->tags, "Tag of the blob as NAME=VALUE; may be repeated, up to 10 times")
      ->expected(1)
      ->take_all();
  add_blob_condition_words(*verb, words->conditions);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the blob's state as JSON");
  verb->callback([words, &exit_code] { exit_code = put_blob(*words); });
}

}  // namespace varve::tool
