// Owns: parsing a README's list of rooms, and the rules that follow from it (rooms.h).
#include "tests/support/rooms.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

namespace varve::test {
namespace {

constexpr std::size_t kRootFilesMax = 20;
constexpr std::size_t kRoomFilesMax = 40;
/// The public headers cannot be split into rooms, because their installed paths never change.
constexpr std::string_view kPublicHeaders = "api/include/varve";
constexpr std::size_t kPublicHeadersMax = 60;
constexpr std::size_t kReadmeLinesMax = 40;

/// Returns an include's path from the top of the tree. Public headers are included by their installed path.
std::string included_path(const std::string& name) {
  return name.starts_with("varve/") ? "api/include/" + name : name;
}

/// Returns a room's index in the order, or the order's size if it is not listed.
std::size_t place_of(const Rooms& rooms, const std::string& room) {
  return static_cast<std::size_t>(std::find(rooms.order.begin(), rooms.order.end(), room) - rooms.order.begin());
}

}  // namespace

Rooms rooms_of(std::string layer, std::string_view readme) {
  static const std::regex entry(R"(^[0-9]+\. \[([a-z_/.]+)\])");
  Rooms rooms{std::move(layer), {}};
  std::istringstream lines{std::string(readme)};
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, found, entry)) rooms.order.push_back(found[1]);
  }
  return rooms;
}

std::string room_of(const Rooms& rooms, std::string_view path) {
  const std::string folder = folder_of(path);
  if (folder == rooms.layer) return ".";
  const std::string below = folder.substr(rooms.layer.size() + 1);
  std::string longest;
  for (const std::string& room : rooms.order) {
    if ((below == room || below.starts_with(room + "/")) && room.size() > longest.size()) longest = room;
  }
  return longest.empty() ? below : longest;
}

Offences check_room(const Rooms& rooms, const SourceFile& file) {
  const std::string room = room_of(rooms, file.path);
  const std::size_t place = place_of(rooms, room);
  if (place == rooms.order.size()) {
    return {{file.path, 1, "lies in a room that " + rooms.layer + "/README.md does not list; add it to the order"}};
  }
  Offences offences;
  for (const Include& include : tokenize(file.text).includes) {
    const std::string path = included_path(include.name);
    if (!path.starts_with(rooms.layer + "/")) continue;
    const std::string other = room_of(rooms, path);
    if (place_of(rooms, other) <= place) continue;
    offences.push_back({file.path, include.line,
                        "\"" + include.name + "\" lies in " + rooms.layer + "/" + other + ", above " + rooms.layer +
                            "/" + room + " in the order of " + rooms.layer +
                            "/README.md; move one of the two, or hand " + "in what is needed"});
  }
  return offences;
}

Offences check_room_sizes(const Rooms& rooms, const std::vector<SourceFile>& files) {
  std::map<std::string, std::size_t> counts;
  for (const SourceFile& file : files) ++counts[folder_of(file.path)];
  Offences offences;
  for (const auto& [folder, count] : counts) {
    const std::size_t room_most = folder == kPublicHeaders ? kPublicHeadersMax : kRoomFilesMax;
    const std::size_t most = folder == rooms.layer ? kRootFilesMax : room_most;
    if (count <= most) continue;
    offences.push_back({folder, 1,
                        std::to_string(count) + " files of C++; at most " + std::to_string(most) +
                            " may lie here, make a room of some of them"});
  }
  return offences;
}

Offences check_room_readme(const SourceFile& readme, bool (*exists)(const std::string& path)) {
  static const std::regex named(R"(`([A-Za-z_0-9/.]+\.(h|cc|md|txt))`)");
  Offences offences;
  std::vector<std::string> wanted = {"Door:", "May include:", "Read first:"};
  std::istringstream lines(readme.text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    wanted.erase(std::remove_if(wanted.begin(), wanted.end(), [&](const auto& word) { return line.starts_with(word); }),
                 wanted.end());
    for (std::sregex_iterator at(line.begin(), line.end(), named), end; at != end; ++at) {
      const std::string name = (*at)[1];
      const bool found = exists(folder_of(readme.path) + "/" + name) || exists(name) || exists(included_path(name));
      if (!found) offences.push_back({readme.path, number, "names `" + name + "`, which does not exist; correct it"});
    }
  }
  for (const std::string& word : wanted) {
    offences.push_back({readme.path, 1, "has no line that begins with \"" + word + "\"; add one"});
  }
  if (number > kReadmeLinesMax) {
    offences.push_back({readme.path, kReadmeLinesMax + 1,
                        std::to_string(number) + " lines; a room's README has at most " +
                            std::to_string(kReadmeLinesMax) + ", shorten it"});
  }
  return offences;
}

}  // namespace varve::test
