// Owns: whether output has colours, and which.
// Must never: put a colour into a file or a pipe, unless the person asked for it.
#pragma once

#include <cstdint>
#include <ostream>

namespace varve::tool {

enum class ColourUse : std::uint8_t { kAuto, kAlways, kNever };
/// Sets the use for the rest of the program. Without a call it is kAuto: colours are on a terminal that has them (TERM
/// is not "dumb"), unless NO_COLOR is set.
void set_colour(ColourUse use) noexcept;

/// Returns whether a terminal can move its cursor. "dumb" terminals and those without a TERM cannot.
bool has_terminal_commands() noexcept;
/// Returns whether text for the descriptor has colours.
bool has_colours(int descriptor) noexcept;

/// The looks of text. kPlain ends each other look.
enum class Look : std::uint8_t { kPlain, kError, kHint, kHead, kFaint };
/// Returns the terminal command for a look.
const char* command_of(Look look) noexcept;

/// Writes the look to std::cout or std::cerr, past the filter of terminal commands. Writes nothing if the stream has no
/// colours, and to other streams.
std::ostream& operator<<(std::ostream& stream, Look look);

}  // namespace varve::tool
