// Owns: the proof that the layers' rooms follow their rules, and that each rule about rooms can fail.
// Method: every rule is run over the whole tree, and over small files with a planted offence.
#include "tests/support/rooms.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve::test::rooms_test {
namespace {

const std::vector<std::string> kCpp = {".h", ".cc"};

/// The folders whose README lists rooms.
const std::vector<std::string> kLayers = {"io", "format", "engine", "api", "api/rest", "tools/serve", "tools/varve"};

bool exists_in_tree(const std::string& path) {
  return std::filesystem::exists(std::filesystem::path(VARVE_SOURCE_DIR) / path);
}

/// Returns the README of a folder, or an empty text if it has none.
std::string readme_in(const std::string& folder) {
  for (SourceFile& file : read_sources(VARVE_SOURCE_DIR, folder, {".md"})) {
    if (file.path == folder + "/README.md") return std::move(file.text);
  }
  return "";
}

/// Returns the files of a layer, without those of another listed layer below it.
std::vector<SourceFile> files_of(const std::string& layer) {
  std::vector<SourceFile> files = read_sources(VARVE_SOURCE_DIR, layer, kCpp);
  std::vector<SourceFile> own;
  for (SourceFile& file : files) {
    if (layer == "api" && file.path.starts_with("api/rest/")) continue;
    own.push_back(std::move(file));
  }
  return own;
}

TEST(Rooms, IncludesNeverPointUp) {
  for (const std::string& layer : kLayers) {
    const Rooms rooms = rooms_of(layer, readme_in(layer));
    EXPECT_GE(rooms.order.size(), 3U) << layer << "/README.md: lists no rooms";
    for (const SourceFile& file : files_of(layer)) {
      for (const Offence& offence : check_room(rooms, file)) ADD_FAILURE() << offence.to_string();
    }
  }
}

TEST(Rooms, AreSmallEnoughToBeSeenAtOnce) {
  for (const std::string& layer : kLayers) {
    for (const Offence& offence : check_room_sizes(rooms_of(layer, readme_in(layer)), files_of(layer))) {
      ADD_FAILURE() << offence.to_string();
    }
  }
}

TEST(Rooms, EachHasAReadmeThatNamesWhatIsThere) {
  for (const std::string& layer : kLayers) {
    const Rooms rooms = rooms_of(layer, readme_in(layer));
    std::set<std::string> folders;
    for (const SourceFile& file : files_of(layer)) {
      const std::string folder = folder_of(file.path);
      const std::string room = room_of(rooms, file.path);
      folders.insert(room == "." ? layer : layer + "/" + room);
      if (!readme_in(folder).empty()) folders.insert(folder);
    }
    for (const std::string& folder : folders) {
      const std::string text = readme_in(folder);
      if (text.empty()) {
        ADD_FAILURE() << folder
                      << "/README.md:1: is missing; say there what the room is for, its door and what to read";
        continue;
      }
      for (const Offence& offence : check_room_readme({folder + "/README.md", text}, exists_in_tree)) {
        ADD_FAILURE() << offence.to_string();
      }
    }
  }
}

TEST(RoomsRule, ReadsTheOrderFromTheList) {
  const Rooms rooms = rooms_of("io", "# io\n\n1. [.](README.md): the seam\n2. [posix](posix/README.md): files\n");
  EXPECT_EQ(rooms.order, (std::vector<std::string>{".", "posix"}));
  EXPECT_EQ(room_of(rooms, "io/file.h"), ".");
  EXPECT_EQ(room_of(rooms, "io/posix/lock.h"), "posix");
  EXPECT_EQ(room_of(rooms, "io/other/lock.h"), "other");
}

TEST(RoomsRule, FindsIncludesThatPointUp) {
  const Rooms rooms{"io", {".", "posix", "uring"}};
  const std::string text = "#include \"io/file.h\"\n#include \"io/posix/a.h\"\n#include \"io/uring/b.h\"\n";
  const auto lines = [&](const std::string& path) {
    std::vector<std::size_t> found;
    for (const Offence& offence : check_room(rooms, {path, text})) found.push_back(offence.line);
    return found;
  };
  EXPECT_EQ(lines("io/x.cc"), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(lines("io/posix/x.cc"), (std::vector<std::size_t>{3}));
  EXPECT_EQ(lines("io/uring/x.cc"), (std::vector<std::size_t>{}));
  EXPECT_EQ(lines("io/other/x.cc"), (std::vector<std::size_t>{1})) << "the room is not listed";
}

TEST(RoomsRule, KnowsPublicHeadersByTheirInstalledNames) {
  const Rooms rooms{"api", {"model", "include/varve"}};
  EXPECT_EQ(check_room(rooms, {"api/model/x.cc", "#include \"varve/store.h\"\n"}).size(), 1U);
}

TEST(RoomsRule, FindsRoomsThatAreTooLarge) {
  const Rooms rooms{"io", {".", "posix"}};
  std::vector<SourceFile> files(21, SourceFile{"io/x.h", ""});
  EXPECT_EQ(check_room_sizes(rooms, files).size(), 1U);
  files.assign(40, SourceFile{"io/posix/x.h", ""});
  EXPECT_TRUE(check_room_sizes(rooms, files).empty());
  files.push_back({"io/posix/y.h", ""});
  EXPECT_EQ(check_room_sizes(rooms, files).size(), 1U);
  files.assign(60, SourceFile{"api/include/varve/x.h", ""});
  EXPECT_TRUE(check_room_sizes(rooms, files).empty());
  files.push_back({"api/include/varve/y.h", ""});
  EXPECT_EQ(check_room_sizes(rooms, files).size(), 1U);
}

TEST(RoomsRule, FindsReadmesThatLackALineOrNameNothing) {
  const auto exists = [](const std::string& path) {
    return path == "io/posix/file.h" || path == "api/include/varve/x.h";
  };
  const std::string good = "Door: `file.h`\nMay include: io\nRead first: `varve/x.h`\n";
  const auto count = [&](const std::string& text) {
    return check_room_readme({"io/posix/README.md", text}, exists).size();
  };
  EXPECT_EQ(count(good), 0U);
  EXPECT_EQ(count(good + "`lost.h`\n"), 1U);
  EXPECT_EQ(count("Door: `file.h`\nMay include: io\n"), 1U);
  EXPECT_EQ(count(good + std::string(38, '\n')), 1U);
}

}  // namespace
}  // namespace varve::test::rooms_test
