// Owns: the line editor, and reading lines from a pipe (line_input.h).
// Must never: offer file names as completions.
#include "tools/varve/shell/line_input.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <editline/readline.h>
#include <unistd.h>

#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

constexpr int kHistoryLinesMax = 1000;

// The editor calls functions without a context, so this state cannot belong to an object.
Complete& completion() {
  static Complete complete;
  return complete;
}
std::vector<std::string>& candidates() {
  static std::vector<std::string> found;
  return found;
}

/// Returns a candidate, which the editor frees.
char* next_candidate(const char* /*begun*/, int state) {
  static std::size_t at = 0;
  if (state == 0) at = 0;
  return at < candidates().size() ? ::strdup(candidates()[at++].c_str()) : nullptr;
}

char** complete_word(const char* begun, int start, int /*end*/) {
  rl_attempted_completion_over = 1;  // file names are never completions
  candidates() = completion()(std::string_view(rl_line_buffer).substr(0, static_cast<std::size_t>(start)), begun);
  // Removes unsafe names, because the editor writes candidates to the terminal unchanged.
  std::erase_if(candidates(), [](const std::string& name) { return shown_lines(name) != name; });
  return candidates().empty() ? nullptr : rl_completion_matches(begun, next_candidate);
}

}  // namespace

Result<LineInput> LineInput::open(Complete complete) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    Result<Lines> lines = Lines::open("-");
    if (!lines.ok()) return lines.status();
    return LineInput(*std::move(lines));
  }
  LineInput input{std::optional<Lines>()};
  completion() = std::move(complete);
  rl_readline_name = "varve";
  rl_attempted_completion_function = complete_word;
  using_history();
  stifle_history(kHistoryLinesMax);
  if (const char* const home = std::getenv("HOME"); home != nullptr) {
    input.history_path_ = std::string(home) + "/.varve_history";
    (void)read_history(input.history_path_.c_str());  // The file may not exist yet.
  }
  input.keeps_history_ = true;
  return input;
}

LineInput::LineInput(LineInput&& other) noexcept
    : lines_(std::move(other.lines_)),
      history_path_(std::move(other.history_path_)),
      keeps_history_(std::exchange(other.keeps_history_, false)) {}

LineInput::~LineInput() {
  if (keeps_history_ && !history_path_.empty()) (void)write_history(history_path_.c_str());
}

std::optional<Result<std::string>> LineInput::next(const std::string& prompt) {
  if (lines_) {
    std::string line;
    if (!lines_->next(&line)) return std::nullopt;
    if (lines_->too_long()) return Status::too_large("the line is longer than 16 MiB, the most that is allowed");
    return line;
  }
  char* const typed = readline(prompt.c_str());
  if (typed == nullptr) return std::nullopt;
  std::string line(typed);
  std::free(typed);
  if (!line.empty()) add_history(line.c_str());
  return line;
}

}  // namespace varve::tool
