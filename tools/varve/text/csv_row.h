// Owns: writing a row of CSV in the format of RFC 4180, so that import can read it.
// Must never: lose a blank, a quote or a line break of a field.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace varve::tool {

void write_csv_row(std::ostream& out, const std::vector<std::string>& fields);

}  // namespace varve::tool
