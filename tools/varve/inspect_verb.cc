// Owns: `varve inspect`: what stands in one file of a store.
// Must never: open a store, or need one: a file that lies alone can be looked at.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include "format/bytes.h"
#include "format/root.h"
#include "tools/varve/inspect.h"
#include "tools/varve/outcome.h"
#include "tools/varve/verbs.h"

namespace varve::tool {

namespace {

struct InspectWords {
  std::string path;
  InspectOptions options;
  bool json = false;
};

Result<std::string> content_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status::invalid_argument(path + " is a directory; inspect takes one of its files");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::io_error(path + ": cannot be read: " + std::generic_category().message(errno));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return Status::io_error(path + ": could not be read whole");
  return bytes;
}

std::string_view type_name(format::FileType type) noexcept {
  switch (type) {
    case format::FileType::kRoot: return "CURRENT";
    case format::FileType::kManifest: return "manifest";
    case format::FileType::kLogSegment: return "log segment";
    case format::FileType::kLogBuffer: return "log buffer";
    case format::FileType::kTable: return "table file";
    case format::FileType::kValueFile: return "value file";
  }
  return "file";
}

/// The type that stands in the header, where it is one that this program can show; else what the name says.
format::FileType type_of(const std::string& bytes, const std::string& name) {
  const std::uint16_t stored = bytes.size() < format::kFileHeaderBytes ? std::uint16_t{0} : format::load_u16(&bytes[8]);
  if (stored >= static_cast<std::uint16_t>(format::FileType::kRoot) &&
      stored <= static_cast<std::uint16_t>(format::FileType::kTable)) {
    return static_cast<format::FileType>(stored);
  }
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
    case format::FileType::kValueFile: break;
  }
  out.damage(std::nullopt, Status::unsupported("this program shows no value files"));
}

/// A file may have been renamed or copied over another one.
void check_name(const std::string& name, const format::FileHeader& header, InspectOutput& out) {
  const Result<format::FileId> id = format::parse_file_name(name);
  if (!id.ok() || (id->type == header.type && id->number == header.number) || !out.status().ok()) return;
  out.damage(0, Status::corruption("the file is called " + name + ", and was written as " +
                                   format::file_name(header.type, header.number)));
}

int inspect_file(const InspectWords& words) {
  const Result<std::string> bytes = content_of(words.path);
  if (!bytes.ok()) return fail(bytes.status());
  const std::string name = std::filesystem::path(words.path).filename().string();
  InspectOutput out(std::cout, words.json);
  if (bytes->empty() && (name == "LOCK" || name == "BALLAST")) {
    out.item(0, "end", {word_field("state", "whole: this file has no content")});
    return kSuccess;
  }
  const Result<format::FileHeader> header = format::decode_file_header(*bytes, type_of(*bytes, name));
  if (header.ok()) {
    out.item(0, "header",
             {word_field("type", type_name(header->type)), number_field("format_version", header->format_version),
              number_field("number", header->number), hex_field("seed", header->seed),
              number_field("size_bytes", bytes->size())});
    inspect_content(*bytes, *header, words.options, out);
    check_name(name, *header, out);
  } else {
    out.damage(0, header.status());
  }
  return out.status().ok() ? kSuccess : exit_code_of(out.status());
}

}  // namespace

void add_inspect_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<InspectWords>();
  CLI::App* verb = app.add_subcommand("inspect", "Show what stands in one file of a store, whole or damaged");
  verb->footer(
      "\nReads CURRENT, MANIFEST-*, *.wal, *.buf and *.sst, wherever they lie, and changes nothing. Each line begins "
      "with\nthe offset in the file. Shows everything up to the first damage and where that is; exit code 3 then.\n"
      "FORMAT.md explains the words.");
  verb->add_option("FILE", words->path, "File to show")->required();
  verb->add_flag("--blocks", words->options.blocks, "Of a table file: each block");
  verb->add_flag("--entries", words->options.entries, "Of a table file: each entry");
  verb->add_flag("--json", words->json, "As JSON Lines");
  verb->callback([words, &exit_code] { exit_code = inspect_file(*words); });
}

}  // namespace varve::tool
