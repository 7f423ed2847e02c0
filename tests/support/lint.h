// Owns: the rules of the house that a compiler does not check, each a function from a source file to its offences.
// Must never: read a file or know where the repository lies, so that planted offences can show that a rule still bites.
#pragma once

#include <cstddef>
#include <functional>
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
/// that it is read once, and is at most 500 lines long. The head may follow a licence line, but no other line.
Offences check_head_and_length(const SourceFile& file);

/// The first line is exactly the licence line, `// SPDX-License-Identifier: Apache-2.0`. For installed headers, which
/// people copy without the rest of the tree.
Offences check_licence_line(const SourceFile& file);

/// The text is the Apache License 2.0, byte for byte. For the file LICENSE.
Offences check_licence_text(const SourceFile& file);

/// NOTICE names every Debian development package (`...-dev`) that `installer` lists. `installer` is
/// tools/install-packages.
Offences check_notice(const SourceFile& installer, const SourceFile& notice);

/// x.cc includes x.h, where there is one, before all else: so that x.h includes what it uses is seen each time x.cc
/// compiles. Takes all files of a layer, since only they say which headers there are.
Offences check_own_header_first(const std::vector<SourceFile>& files);

/// A type that other files could name has one definition in all files given. Two of one name in headers that no file
/// includes together pass the compiler, and break the program where the linker takes functions of the one for the
/// other's. Forward declarations, specialisations and what stands in an unnamed namespace are no definitions.
Offences check_one_definition(const std::vector<SourceFile>& files);

/// Each link of a Markdown file to a path, `[text](path)` or `[text](path#section)`, leads to something that exists.
/// Blocks of code have no links. `exists` is asked with the path from the root of the repository.
Offences check_links(const SourceFile& file, const std::function<bool(const std::string&)>& exists);

/// No mark of unfinished work, and a newline at the end. For every file.
Offences check_finished(const SourceFile& file);

}  // namespace varve::test
