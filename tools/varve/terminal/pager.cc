#include "tools/varve/terminal/pager.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/varve/terminal/colour.h"
#include "tools/varve/terminal/terminal_filter.h"

namespace varve::tool {

namespace {

std::string pager_command() {
  for (const char* variable : {"VARVE_PAGER", "PAGER"}) {
    if (const char* const command = std::getenv(variable)) return command;
  }
  return "less -FRX";
}

/// Below the filter of standard output. Holds a screenful, and then feeds a pager.
class PagedOutput final : public std::streambuf {
 public:
  PagedOutput(std::streambuf* below, std::string command, std::size_t rows, std::size_t columns)
      : below_(below), command_(std::move(command)), rows_(rows), columns_(columns) {
    if (isatty(STDERR_FILENO) == 1) below_errors_ = std::cerr.rdbuf(errors_.rdbuf());
  }

  bool is_running() const noexcept { return process_ > 0; }

  /// Returns whether the pager ended before the output did.
  bool finish() {
    if (!is_running()) {
      below_->sputn(held_.data(), static_cast<std::streamsize>(held_.size()));
      below_->pubsync();
      held_.clear();
      show_errors();
      return false;
    }
    ::close(input_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    show_errors();
    return is_left_;
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char text = traits_type::to_char_type(c);
    return xsputn(&text, 1) == 1 ? c : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (is_running()) return feed(text, static_cast<std::size_t>(size)) ? size : 0;
    held_.append(text, static_cast<std::size_t>(size));
    if (!is_longer_than_screen(text, static_cast<std::size_t>(size))) return size;
    if (!start()) {  // without a pager the terminal gets everything
      rows_ = SIZE_MAX;
      const bool is_written = below_->sputn(held_.data(), static_cast<std::streamsize>(held_.size())) ==
                              static_cast<std::streamsize>(held_.size());
      held_.clear();
      return is_written ? size : 0;
    }
    const bool is_fed = feed(held_.data(), held_.size());
    held_.clear();
    return is_fed ? size : 0;
  }

  /// The end of a page is no reason to show less than a screen.
  int sync() override { return is_left_ ? -1 : 0; }

 private:
  void show_errors() {
    if (below_errors_ == nullptr) return;
    std::cerr.rdbuf(std::exchange(below_errors_, nullptr));
    std::cerr << errors_.str();
  }

  bool is_longer_than_screen(const char* text, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (text[i] == '\n' || ++column_ == columns_) {
        ++used_rows_;
        column_ = 0;
      }
    }
    return used_rows_ >= rows_;
  }

  bool start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    std::cerr.flush();
    const pid_t process = ::fork();
    if (process == 0) run_pager(ends[0]);
    ::close(ends[0]);
    if (process < 0) {
      ::close(ends[1]);
      return false;
    }
    process_ = process;
    input_ = ends[1];
    std::signal(SIGINT, SIG_IGN);  // the pager has the keyboard; when it ends, so does this program
    return true;
  }

  [[noreturn]] void run_pager(int input) const {
    if (::dup2(input, STDIN_FILENO) < 0) ::_exit(126);
    std::signal(SIGPIPE, SIG_DFL);
    ::execl("/bin/sh", "sh", "-c", command_.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }

  bool feed(const char* text, std::size_t size) {
    while (size > 0 && !is_left_) {
      const ssize_t written = ::write(input_, text, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        is_left_ = true;
        break;
      }
      text += written;
      size -= static_cast<std::size_t>(written);
    }
    return !is_left_;
  }

  std::streambuf* const below_;
  std::streambuf* below_errors_ = nullptr;
  std::ostringstream errors_;  // shown after the output
  const std::string command_;
  std::size_t rows_;
  const std::size_t columns_;
  std::size_t used_rows_ = 0;
  std::size_t column_ = 0;
  std::string held_;
  pid_t process_ = -1;
  int input_ = -1;
  bool is_left_ = false;
};

struct Paging {
  bool is_forbidden = false;
  std::unique_ptr<PagedOutput> output;
};

Paging& paging() noexcept {
  static Paging state;
  return state;
}

}  // namespace

void use_no_pager() noexcept {
  paging().is_forbidden = true;
}

void page_long_output() {
  if (paging().is_forbidden || paging().output != nullptr || !has_terminal_commands()) return;
  if (isatty(STDOUT_FILENO) != 1 || isatty(STDIN_FILENO) != 1) return;
  auto* const filter = dynamic_cast<TerminalFilter*>(std::cout.rdbuf());
  const std::string command = pager_command();
  winsize size{};
  if (filter == nullptr || command.empty() || command == "cat") return;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col == 0) return;
  std::cout.flush();
  paging().output = std::make_unique<PagedOutput>(filter->below(), command, size.ws_row - 1U, size.ws_col);
  filter->write_to(paging().output.get());
}

bool has_running_pager() noexcept {
  return paging().output != nullptr && paging().output->is_running();
}

bool finish_paging() {
  if (paging().output == nullptr) return false;
  const bool is_left = paging().output->finish();
  return is_left;
}

}  // namespace varve::tool
