// Owns: where the shell's lines come from: a person at a terminal, with history and completion, or a file or pipe.
// Must never: write history that nobody typed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/lines.h"

namespace varve::tool {

/// The words that may stand where one begins with `begun`, given the line before it.
using Complete = std::function<std::vector<std::string>(std::string_view before, std::string_view begun)>;

/// One at a time in a process: the editor below is one.
class LineInput {
 public:
  /// Errors: kIoError.
  static Result<LineInput> open(Complete complete);
  LineInput(LineInput&& other) noexcept;
  LineInput& operator=(LineInput&&) = delete;
  ~LineInput();

  /// Nothing at the end, of which status() tells whether it is that of the input. Errors: kTooLarge (a line that was
  /// not kept whole); others follow it.
  std::optional<Result<std::string>> next(const std::string& prompt);
  Status status() const { return lines_ ? lines_->status() : Status(); }
  bool is_terminal() const noexcept { return !lines_.has_value(); }

 private:
  explicit LineInput(std::optional<Lines> lines) : lines_(std::move(lines)) {}

  std::optional<Lines> lines_;  // where no terminal is
  std::string history_path_;
  bool keeps_history_ = false;
};

}  // namespace varve::tool
