// Owns: the rules of the project that a compiler does not check. Each is a function from a source file to its offences.
// Must never: read a file or know the path of the repository, so that planted offences can show that a rule works.
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

  /// Returns "engine/engine.h:12: message", in the format of compilers.
  std::string to_string() const { return path + ":" + std::to_string(line) + ": " + message; }
};

using Offences = std::vector<Offence>;

/// Checks that layers include only lower layers. api includes engine, format, and the two headers of io that a caller
/// passes in. engine includes format and io. io and format include neither each other nor a higher layer. Every layer
/// may include the leaf headers, such as varve/status.h.
Offences check_layers(const SourceFile& file);

/// Checks that a file contains no system call, and no header or constant that leads to one. For every layer except io.
Offences check_system_calls(const SourceFile& file);

/// Checks that a file uses threads, locks, clocks and randomness only through io. For every layer except io. Programs
/// are not checked, since they are not replayed from a seed.
Offences check_threads_and_clocks(const SourceFile& file);

/// Checks that a layer's file states at its head what it owns. It has at most 500 lines, except the one header for C.
/// A header must also state what it must never do, and have `#pragma once`. The head may follow a licence line, but no
/// other line.
Offences check_head_and_length(const SourceFile& file);

/// Checks that the first line is exactly the licence line, `// SPDX-License-Identifier: Apache-2.0`. For installed
/// headers, which people copy without the rest of the tree.
Offences check_licence_line(const SourceFile& file);

/// Checks that the text is the Apache License 2.0, byte for byte. For the file LICENSE.
Offences check_licence_text(const SourceFile& file);

/// Checks that NOTICE names every Debian development package (`...-dev`) that `installer` lists. `installer` is
/// tools/install-packages.
Offences check_notice(const SourceFile& installer, const SourceFile& notice);

/// Checks that x.cc includes x.h, if it exists, before all other headers. So each compilation of x.cc shows that x.h
/// includes what it uses. Takes all files of a layer, to know its headers.
Offences check_own_header_first(const std::vector<SourceFile>& files);

/// Checks that a type with external linkage has one definition in all given files. Two definitions of one name in
/// headers that no file includes together pass the compiler. The program breaks if the linker uses functions of one
/// type for the other. Forward declarations, specialisations and types in an unnamed namespace are no definitions.
Offences check_one_definition(const std::vector<SourceFile>& files);

/// Checks that each link of a Markdown file to a path, `[text](path)` or `[text](path#section)`, leads to a file that
/// exists. Blocks of code have no links. `exists` answers for a path from the root of the repository.
Offences check_links(const SourceFile& file, const std::function<bool(const std::string&)>& exists);

/// Checks that a file has no mark of unfinished work, and ends with a newline. For every file.
Offences check_finished(const SourceFile& file);

}  // namespace varve::test
