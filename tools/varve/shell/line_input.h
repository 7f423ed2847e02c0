// Owns: reading the shell's lines from a terminal, with history and completion, or from a file or pipe.
// Must never: write lines to the history that the user did not type.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/input/lines.h"

namespace varve::tool {

/// Returns the possible words that begin with `begun`, given the line before it.
using Complete = std::function<std::vector<std::string>(std::string_view before, std::string_view begun)>;

/// At most one object exists in a process, because the editor is global.
class LineInput {
 public:
  /// Opens the input. Errors: kIoError.
  static Result<LineInput> open(Complete complete);
  LineInput(LineInput&& other) noexcept;
  LineInput& operator=(LineInput&&) = delete;
  ~LineInput();

  /// Returns the next line, or nothing at the end. status() then reports an error that ended the input. Errors:
  /// kTooLarge (a line that is too long); further lines may follow it.
  std::optional<Result<std::string>> next(const std::string& prompt);
  Status status() const { return lines_ ? lines_->status() : Status(); }
  bool is_terminal() const noexcept { return !lines_.has_value(); }

 private:
  explicit LineInput(std::optional<Lines> lines) : lines_(std::move(lines)) {}

  std::optional<Lines> lines_;  // absent if the input is a terminal
  std::string history_path_;
  bool keeps_history_ = false;
};

}  // namespace varve::tool
