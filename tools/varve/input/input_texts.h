// Owns: the texts of one input: a file as it is, expanded, or each member of an archive, in UTF-8.
// Must never: keep a whole file in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/varve/input/byte_input.h"
#include "varve/result.h"

namespace varve::tool {

class Archive;

struct InputText {
  /// The name for messages: "standard input", "cities.csv", "world.zip: cities.csv".
  std::string name;
  /// The name of the file or member, without folders.
  std::string file_name;
  bool is_member = false;
  /// The member's path in its archive.
  std::string member;
  /// The ending of the text's own name in lower case, without that of its packing: "csv". Empty if there is none.
  std::string ending;
  std::unique_ptr<ByteInput> bytes;
};

class InputTexts {
 public:
  /// Opens the file at `path`, or standard input if it is "-". `encoding` passed check_encoding(); if it is empty, the
  /// first bytes of each text decide between UTF-8 and UTF-16. Errors: kIoError, which names the path.
  static Result<InputTexts> open(const std::string& path, const std::string& encoding = "");
  /// As open(), for an input that is open. `name` is its name for messages.
  static InputTexts of(std::unique_ptr<ByteInput> input, std::string name);
  InputTexts(InputTexts&&) noexcept;
  InputTexts& operator=(InputTexts&&) = delete;
  ~InputTexts();

  /// Returns the next text, or nothing at the end and after a signal. The text before it may not be used any more.
  /// Errors: kIoError, kInvalidArgument (text in UTF-32).
  Result<std::optional<InputText>> next();

  /// Returns whether the same texts can be read again.
  /// Returns the bytes of a regular file, and 0 for every other input.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }

 private:
  InputTexts() = default;
  Result<std::optional<InputText>> text_of(std::string name, std::string_view file_name,
                                           std::unique_ptr<ByteInput> bytes) const;

  std::string path_;
  std::string encoding_;
  std::uint64_t total_bytes_ = 0;
  std::unique_ptr<ByteInput> plain_;
  std::shared_ptr<Archive> archive_;
};

/// Returns the files that the words name, in their order. A word with `*`, `?` or `[` that is no file is a pattern, as
/// in a shell. Errors: kInvalidArgument (no file matches a pattern).
Result<std::vector<std::string>> files_of(const std::vector<std::string>& words);

}  // namespace varve::tool
