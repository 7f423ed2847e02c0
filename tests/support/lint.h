// Owns: the rules of the house that a compiler does not check, each a function from a source file to its offences.
// Must never: read a file or know where the repository lies, so that planted offences can show that a rule still bites.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/source_text.h"

namespace varve::test {

struct Offence {
  std::string path;
  std::size_t line = 0;
  std::string message;

  /// "engine/engine.h:12: message", as compilers write it.
  std::string to_string() const { return path + ":" + std::to_string(line) + ": " + message; }
};

using Offences = std::vector<Offence>;

/// Layers include downwards only: api -> engine, format, and of io the two doors a caller hands in; engine -> format,
/// io; io and format know neither each other nor anything above. varve/status.h and varve/result.h are open to all.
Offences check_layers(const SourceFile& file);

/// No system call, and no header or constant that leads to one. For every layer but io.
Offences check_system_calls(const SourceFile& file);

/// No thread, lock, clock or randomness but those of io. For every layer but io; programs are not
/// replayed from a seed.
Offences check_threads_and_clocks(const SourceFile& file);

/// A file of a layer says at its head what it owns, a header also what it must never do and
/// that it is read once, and is at most 500 lines long.
Offences check_head_and_length(const SourceFile& file);

/// x.cc includes x.h, where there is one, before all else: so that x.h includes what it uses is seen each time x.cc
/// compiles. Takes all files of a layer, since only they say which headers there are.
Offences check_own_header_first(const std::vector<SourceFile>& files);

/// A type that other files could name has one definition in all files given. Two of one name in headers that no file
/// includes together pass the compiler, and break the program where the linker takes functions of the one for the
/// other's. Forward declarations, specialisations and what stands in an unnamed namespace are no definitions.
Offences check_one_definition(const std::vector<SourceFile>& files);

/// No mark of unfinished work, and a newline at the end. For every file.
Offences check_finished(const SourceFile& file);

}  // namespace varve::test
