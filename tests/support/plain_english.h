// Owns: finding English that is hard to read: words and sentences that the style of this project avoids.
// Must never: read a file, so that planted sentences can show that a rule works.
#pragma once

#include "tests/support/lint.h"
#include "tests/support/source_text.h"

namespace varve::test {

/// Returns the lines of comments and documents that are hard to read. In C++ and scripts only comments are checked. In
/// Markdown every line outside of code blocks is checked. Each line counts at most once. A line counts if
/// - it contains a listed word or pair of words (kWords and kPairs in plain_english.cc),
/// - it contains a clause in place of a noun: "what" or "who", then a verb of kVerbs, and then no article,
/// - it begins with a word of kOpenings,
/// - a sentence of more than 40 words ends in it.
Offences find_hard_english(const SourceFile& file);

}  // namespace varve::test
