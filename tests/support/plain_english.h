// Owns: the search for English that is hard to read: words and sentences that the style of this project avoids.
// Must never: read a file, so that planted sentences can show that a rule still bites.
#pragma once

#include "tests/support/lint.h"
#include "tests/support/source_text.h"

namespace varve::test {

/// The lines of comments and documents that are hard to read. In C++ and scripts only comments count, in Markdown every
/// line but code blocks. A line counts once. It counts if
/// - it has one of the words "told", "tells", "behind", "stands", "whoever", "somebody" and the like,
/// - it has a clause in place of a noun, for example "what is kept" or "who waits",
/// - it begins with "Of", "Missed", "Who" or "Whoever",
/// - a sentence of more than 40 words ends in it.
Offences find_hard_english(const SourceFile& file);

}  // namespace varve::test
