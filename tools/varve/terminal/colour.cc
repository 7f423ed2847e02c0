#include "tools/varve/terminal/colour.h"

#include <cstdlib>
#include <iostream>
#include <string_view>

#include <unistd.h>

#include "tools/varve/terminal/terminal_filter.h"

namespace varve::tool {

namespace {

ColourUse& chosen_colour_use() noexcept {
  static ColourUse use = ColourUse::kAuto;
  return use;
}

bool is_set(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

void set_colour(ColourUse use) noexcept {
  chosen_colour_use() = use;
}

bool has_terminal_commands() noexcept {
  return is_set("TERM") && std::string_view(std::getenv("TERM")) != "dumb";
}

bool has_colours(int descriptor) noexcept {
  const ColourUse use = chosen_colour_use();
  if (use != ColourUse::kAuto) return use == ColourUse::kAlways;
  return isatty(descriptor) == 1 && !is_set("NO_COLOR") && has_terminal_commands();
}

const char* command_of(Look look) noexcept {
  switch (look) {
    case Look::kPlain: return "\033[0m";
    case Look::kError: return "\033[1;31m";
    case Look::kHint: return "\033[36m";
    case Look::kHead: return "\033[1;34m";
    case Look::kFaint: return "\033[2m";
  }
  return "";
}

std::ostream& operator<<(std::ostream& stream, Look look) {
  const bool is_output = &stream == &std::cout;
  if (!is_output && &stream != &std::cerr) return stream;
  const int descriptor = is_output ? STDOUT_FILENO : STDERR_FILENO;
  if (!has_colours(descriptor)) return stream;
  if (auto* const filter = dynamic_cast<TerminalFilter*>(stream.rdbuf())) {
    filter->write_command(command_of(look));
  } else if (isatty(descriptor) != 1) {  // text for a terminal without the filter passes it later, and stays plain
    stream << command_of(look);
  }
  return stream;
}

}  // namespace varve::tool
