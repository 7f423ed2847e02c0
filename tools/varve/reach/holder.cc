#include "tools/varve/reach/holder.h"

#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace varve::tool {
namespace {

/// Returns the process of a line of /proc/locks if the line is a lock by flock on this inode. An example of a line:
/// `3: FLOCK  ADVISORY  WRITE 714 fe:01:131090 0 EOF`.
pid_t process_of(const std::string& line, const std::string& place) {
  std::istringstream words(line);
  std::string number, kind, advisory, mode, file;
  pid_t process = 0;
  words >> number >> kind >> advisory >> mode >> process >> file;
  return words && kind == "FLOCK" && file == place ? process : 0;
}

std::string place_of(const struct stat& file) {
  std::ostringstream text;
  text << std::hex;
  const auto two_digits = [&text](unsigned part) { text << (part < 16 ? "0" : "") << part << ":"; };
  two_digits(gnu_dev_major(file.st_dev));
  two_digits(gnu_dev_minor(file.st_dev));
  text << std::dec << file.st_ino;
  return text.str();
}

}  // namespace

std::optional<Holder> find_holder(const std::string& store) {
  for (const std::string& path : {store, store + "/LOCK"}) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) continue;
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
      const pid_t process = process_of(line, place_of(file));
      if (process <= 0) continue;
      Holder holder{process, ""};
      std::ifstream name("/proc/" + std::to_string(process) + "/comm");
      std::getline(name, holder.program);
      return holder;
    }
  }
  return std::nullopt;
}

}  // namespace varve::tool
