// Owns: the last gate before a terminal: what a program prints there reaches it as text.
// Must never: change a byte that goes to a file or a pipe.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace varve::tool {

/// While it lives, a stream whose descriptor is a terminal writes control characters, direction marks and bytes that
/// are not UTF-8 as escapes. Line feeds stay. Our own commands to the terminal (progress) do not go through the stream.
class TerminalFilter final : public std::streambuf {
 public:
  TerminalFilter(std::ostream& stream, int descriptor);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool write(bool is_end);

  std::ostream& stream_;
  std::streambuf* const below_;
  const bool filters_;
  std::string waiting_;  // a character of which a part is to come
};

}  // namespace varve::tool
