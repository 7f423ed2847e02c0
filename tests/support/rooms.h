// Owns: the rules about rooms: folders of a layer, in a written order, each with a README.
// Must never: read a file, so that planted offences can show that a rule still bites.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/lint.h"
#include "tests/support/source_text.h"

namespace varve::test {

/// A layer's folder, and its rooms from the lowest to the highest as its README lists them: "base", "include/varve".
/// "." is the layer's folder itself.
struct Rooms {
  std::string layer;
  std::vector<std::string> order;
};

/// Reads the numbered list of `readme`: each line is like "1. [base](base/README.md): what it is".
Rooms rooms_of(std::string layer, std::string_view readme);

/// The room of a layer that a path lies in: the longest that `rooms` lists, or the path's folder if it lists none.
std::string room_of(const Rooms& rooms, std::string_view path);

/// A file lies in a listed room, and includes files of its own room or of a lower one.
Offences check_room(const Rooms& rooms, const SourceFile& file);

/// A layer's folder holds at most 20 files of C++, a room at most 40.
Offences check_room_sizes(const Rooms& rooms, const std::vector<SourceFile>& files);

/// A room's README has at most 40 lines and the lines "Door:", "May include:" and "Read first:", and names files that
/// exist. `exists` answers for a path from the top of the tree.
Offences check_room_readme(const SourceFile& readme, bool (*exists)(const std::string& path));

}  // namespace varve::test
