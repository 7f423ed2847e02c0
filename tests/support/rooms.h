// Owns: the rules about rooms: folders of a layer in a documented order, each with a README.
// Must never: read a file, so that planted offences can show that a rule works.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/lint.h"
#include "tests/support/source_text.h"

namespace varve::test {

/// A layer's folder, and its rooms from the lowest to the highest, as its README lists them: "base", "include/varve".
/// "." is the layer's folder itself.
struct Rooms {
  std::string layer;
  std::vector<std::string> order;
};

/// Reads the numbered list of `readme`. Each line has the form "1. [base](base/README.md): description".
Rooms rooms_of(std::string layer, std::string_view readme);

/// Returns the room that contains a path: the longest room in `rooms`, or the path's folder if `rooms` contains none.
std::string room_of(const Rooms& rooms, std::string_view path);

/// Checks that a file is in a listed room, and includes only files of its own room or of a lower room.
Offences check_room(const Rooms& rooms, const SourceFile& file);

/// Checks that a layer's folder contains at most 20 files of C++, and a room at most 40. There are at most
/// 45 public headers.
Offences check_room_sizes(const Rooms& rooms, const std::vector<SourceFile>& files);

/// Checks a room's README. It has at most 40 lines and the lines "Door:", "May include:" and "Read first:", and names
/// only existing files. `exists` returns whether a path from the top of the tree exists.
Offences check_room_readme(const SourceFile& readme, bool (*exists)(const std::string& path));

}  // namespace varve::test
