// Owns: a row of CSV as RFC 4180 has it, readable again by import.
// Must never: lose a blank, a quote or a line break of a field.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace varve::tool {

void write_csv_row(std::ostream& out, const std::vector<std::string>& fields);

}  // namespace varve::tool
