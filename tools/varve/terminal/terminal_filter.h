// Owns: the last filter before a terminal: all output of the program reaches it as text.
// Must never: change a byte that is written to a file or a pipe.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace varve::tool {

/// Filters a stream while it is alive. If the stream's descriptor is a terminal, control characters, direction marks
/// and bytes that are not UTF-8 are written as escapes. Line feeds stay. The program's own terminal commands (progress)
/// bypass the stream.
class TerminalFilter final : public std::streambuf {
 public:
  TerminalFilter(std::ostream& stream, int descriptor);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  /// Writes a terminal command of the program, after the text so far.
  void write_command(const char* command);
  /// @{
  /// The buffer that gets the filtered text.
  std::streambuf* below() const noexcept { return target_; }
  void write_to(std::streambuf* target) noexcept { target_ = target; }
  /// @}

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool write(bool is_end);

  std::ostream& stream_;
  std::streambuf* const below_;
  std::streambuf* target_;
  const bool filters_;
  std::string waiting_;  // the beginning of a character that is not complete yet
};

}  // namespace varve::tool
