// Owns: the rule that the public headers of the core mark what libvarve.so must export (varve/version.h).
// Must never: read a file, as the rules of lint.h.
#pragma once

#include <set>
#include <string>

#include "tests/support/lint.h"

namespace varve::test {

/// Checks that these have the mark VARVE_EXPORT: every function that a public header declares and does not define,
/// every class with such a function, and every class with a virtual function. Templates need no mark.
Offences check_exports(const SourceFile& header);

/// Returns the names of the marked functions and classes, without their namespaces, for example "Store".
std::set<std::string> exported_names(const SourceFile& header);

}  // namespace varve::test
