// Owns: the texts of an import, one after another, each opened as rows.
// Must never: open two texts at once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/varve/input/input_texts.h"
#include "tools/varve/rows/row_source.h"

namespace varve::tool {

/// How the texts become rows.
struct ImportRules {
  /// `csv`, `jsonl` or `json`. Empty: the text's name and its first bytes decide.
  std::string format;
  /// The encoding of the texts. Empty: the first bytes decide between UTF-8 and UTF-16.
  std::string encoding;
  /// A pattern of the members that are read. Empty: all are.
  std::string member;
  /// Where a JSON text has its records.
  std::optional<std::string> records;
  RowShape shape;
  CsvDialect dialect;
};

struct OpenText {
  std::string name;
  std::unique_ptr<Lines> lines;
  std::unique_ptr<RowSource> rows;
};

/// A member of an archive that is not read.
struct LeftOut {
  std::string name;
  bool is_packed = false;  // it is an archive or packed in its turn
};

class ImportTexts {
 public:
  /// `rules` must outlive the object.
  ImportTexts(const ImportRules& rules, std::vector<std::string> files) : rules_(rules), files_(std::move(files)) {}

  /// Opens the next text. Returns nothing at the end, and if a signal asked for it (stop_signal_seen()). Errors, which
  /// name the text: those of InputTexts; those of the row sources; kUnsupported (the format is not known, or is
  /// known and not read).
  Result<std::optional<OpenText>> next();

  /// Returns the bytes of all files, or 0 if they are not known.
  std::uint64_t total_bytes() const;
  /// Returns the bytes of the files before the present one.
  std::uint64_t bytes_before() const noexcept { return bytes_before_; }
  /// Returns whether all texts were opened.
  bool is_at_end() const noexcept { return !texts_ && next_file_ == files_.size(); }
  /// Returns whether one text after another is imported.
  bool has_several() const noexcept { return files_.size() > 1 || texts_of_file_ > 1; }
  /// Returns members of archives that were left out, each with the reason.
  const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

 private:
  Result<std::optional<InputText>> next_text();
  Result<std::optional<OpenText>> open(InputText text);
  Result<std::unique_ptr<RowSource>> rows_of(Lines& lines, const std::string& format,
                                             const std::string& file_name) const;

  const ImportRules& rules_;
  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::optional<InputTexts> texts_;
  std::size_t texts_of_file_ = 0;
  std::uint64_t bytes_before_ = 0;
  bool was_packed_ = false;  // the last member
  std::vector<LeftOut> left_out_;
};

/// Opens each regular file and reads its header, if there are several files. Then a fault of a later file is found
/// before a row of an earlier one is imported. Errors: as ImportTexts::next().
Status check_files(const ImportRules& rules, const std::vector<std::string>& files);

}  // namespace varve::tool
