// Owns: the quoting of CSV fields (csv_row.h).
// Must never: quote a field that a reader understands without quotes.
#include "tools/varve/text/csv_row.h"

#include <iostream>
#include <string_view>

#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

std::string quoted(const std::string& field) {
  constexpr std::string_view kBlank = " \t";  // import removes it at the ends of a field without quotes
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
  // On a terminal the output is rows to read, not a file: commands are escaped, and only the line feed ends a row.
  const bool is_shown = out.rdbuf() == std::cout.rdbuf() && is_terminal_output();
  for (std::size_t i = 0; i < fields.size(); ++i)
    out << (i == 0 ? "" : ",") << quoted(is_shown ? for_output(fields[i]) : fields[i]);
  out << (is_shown ? "\n" : "\r\n");
}

}  // namespace varve::tool
