// Owns: the text form of permissions, and the rule that key intervals must obey (access.h).
// Must never: accept two texts for one set of permissions.
#include "varve/access.h"

#include <algorithm>
#include <array>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

struct Letter {
  char letter;
  Permission permission;
};
constexpr std::array<Letter, 5> kLetters = {{{'r', Permission::kQuery},
                                             {'a', Permission::kAdd},
                                             {'u', Permission::kUpdate},
                                             {'d', Permission::kRemove},
                                             {'p', Permission::kProcess}}};

Status check_bound(const std::optional<KeyBound>& bound) {
  if (!bound) return Status();
  for (const std::string_view text : {std::string_view(bound->partition_key),
                                      bound->row_key ? std::string_view(*bound->row_key) : std::string_view()}) {
    if (!format::is_valid_utf8(text)) {
      return service_error::invalid_input("the bound " + quoted(text) + " is not valid UTF-8");
    }
  }
  return Status();
}

}  // namespace

Result<Permissions> Permissions::parse(std::string_view letters) {
  Permissions permissions;
  std::string_view rest = letters;
  for (const Letter& known : kLetters) {
    if (rest.empty() || rest.front() != known.letter || !all().contains({known.permission})) continue;
    permissions.bits_ = static_cast<std::uint8_t>(permissions.bits_ | static_cast<std::uint8_t>(known.permission));
    rest.remove_prefix(1);
  }
  if (rest.empty()) return permissions;
  return service_error::invalid_xml_node_value("the permissions " + quoted(letters) +
                                               " must be some of the letters raud, each once and in that order");
}

Result<Permissions> Permissions::parse_for_queue(std::string_view letters) {
  Permissions permissions;
  for (const char letter : letters) {
    const auto* const known = std::find_if(kLetters.begin(), kLetters.end(),
                                           [letter](const Letter& candidate) { return candidate.letter == letter; });
    const bool is_usable = known != kLetters.end() && all_for_queues().contains({known->permission}) &&
                           !permissions.contains({known->permission});
    if (!is_usable) {
      return service_error::invalid_xml_node_value("the permissions " + quoted(letters) +
                                                   " must be some of the letters raup, each once");
    }
    permissions.bits_ = static_cast<std::uint8_t>(permissions.bits_ | static_cast<std::uint8_t>(known->permission));
  }
  return permissions;
}

std::string Permissions::to_string() const {
  std::string letters;
  for (const Letter& known : kLetters) {
    if (contains({known.permission})) letters.push_back(known.letter);
  }
  return letters;
}

Status check_key_interval(const KeyInterval& interval) {
  if (Status checked = check_bound(interval.from); !checked.ok()) return checked;
  return check_bound(interval.to);
}

}  // namespace varve
