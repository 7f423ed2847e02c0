// Owns: the quoting of CSV fields (csv_row.h).
// Must never: quote where a reader does not need it.
#include "tools/varve/csv_row.h"

#include <string_view>

namespace varve::tool {

namespace {

std::string quoted(const std::string& field) {
  constexpr std::string_view kBlank = " \t";  // import takes it away at the ends of a field without quotes
  const bool blank_end = !field.empty() && (kBlank.find(field.front()) != std::string_view::npos ||
                                            kBlank.find(field.back()) != std::string_view::npos);
  if (!blank_end && field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

void write_csv_row(std::ostream& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) out << (i == 0 ? "" : ",") << quoted(fields[i]);
  out << "\r\n";
}

}  // namespace varve::tool
