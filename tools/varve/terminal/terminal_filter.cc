#include "tools/varve/terminal/terminal_filter.h"

#include <unistd.h>

#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

TerminalFilter::TerminalFilter(std::ostream& stream, int descriptor)
    : stream_(stream), below_(stream.rdbuf()), target_(below_), filters_(isatty(descriptor) == 1) {
  if (filters_) stream_.rdbuf(this);
}

TerminalFilter::~TerminalFilter() {
  if (!filters_) return;
  write(true);
  target_->pubsync();
  stream_.rdbuf(below_);
}

/// Writes the waiting text. At the end of the output this includes an incomplete character.
bool TerminalFilter::write(bool is_end) {
  const std::size_t whole = is_end ? waiting_.size() : whole_characters(waiting_);
  const std::string shown = shown_lines(std::string_view(waiting_).substr(0, whole));
  waiting_.erase(0, whole);
  return target_->sputn(shown.data(), static_cast<std::streamsize>(shown.size())) ==
         static_cast<std::streamsize>(shown.size());
}

void TerminalFilter::write_command(const char* command) {
  write(true);
  target_->sputn(command, static_cast<std::streamsize>(std::char_traits<char>::length(command)));
}

TerminalFilter::int_type TerminalFilter::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  waiting_.push_back(traits_type::to_char_type(c));
  return write(false) ? c : traits_type::eof();
}

std::streamsize TerminalFilter::xsputn(const char* text, std::streamsize size) {
  waiting_.append(text, static_cast<std::size_t>(size));
  return write(false) ? size : 0;
}

int TerminalFilter::sync() {
  return target_->pubsync();
}

}  // namespace varve::tool
