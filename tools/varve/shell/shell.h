// Owns: the commands of `varve shell`: their actions and their output.
// Must never: end because a command failed. It prints the reason and continues.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/session/session.h"
#include "tools/varve/shell/command_line.h"
#include "varve/store.h"

namespace varve::tool {

class Shell {
 public:
  /// `rows_max` is the number of rows of one page of a query. The command `more` prints the next page. `store` must
  /// outlive the shell.
  Shell(Store& store, Place place, std::uint64_t rows_max);

  /// Carries out one line. Returns false if the line requests the end.
  bool run(const std::string& line);
  /// Reports a line that was not carried out.
  void refuse(std::string_view reason);
  /// Returns the number of failed commands.
  std::uint64_t failures() const noexcept { return failures_; }
  std::string prompt() const;
  std::vector<std::string> complete(std::string_view before, std::string_view begun) const;

 private:
  using Words = std::vector<LineWord>;
  struct Command {
    std::string_view name;
    std::string_view usage;
    std::string_view about;
    std::size_t words_min;  // after the name
    std::size_t words_max;
    Status (Shell::*run)(const std::string& line, const Words& words);
  };
  static const std::vector<Command>& commands();

  Status use(const std::string& line, const Words& words);
  Status tables(const std::string& line, const Words& words);
  Status query(const std::string& line, const Words& words);
  Status more(const std::string& line, const Words& words);
  Status get(const std::string& line, const Words& words);
  Status count(const std::string& line, const Words& words);
  Status insert(const std::string& line, const Words& words);
  Status remove(const std::string& line, const Words& words);
  Status stats(const std::string& line, const Words& words);
  Status help(const std::string& line, const Words& words);

  /// Returns the chosen table. Errors: kInvalidArgument (no table was chosen).
  Result<Table> table() const;
  Result<std::vector<std::string>> table_names() const;
  /// Prints the next page of the present query.
  Status print_page();
  void learn_names(const std::vector<Entity>& entities);

  Store& store_;
  Place place_;
  const std::uint64_t rows_max_;
  std::optional<Scan> open_query_;  // the present query, if more rows may follow
  std::uint64_t rows_left_ = 0;     // the rest of its --top
  std::set<std::string, std::less<>> property_names_;
  std::uint64_t failures_ = 0;
};

}  // namespace varve::tool
