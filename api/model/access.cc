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
constexpr std::array<Letter, 9> kLetters = {{{'r', Permission::kQuery},
                                             {'a', Permission::kAdd},
                                             {'c', Permission::kCreate},
                                             {'w', Permission::kWrite},
                                             {'u', Permission::kUpdate},
                                             {'d', Permission::kRemove},
                                             {'p', Permission::kProcess},
                                             {'l', Permission::kList},
                                             {'t', Permission::kTags}}};
/// Letters of blobs that name permissions for what the store does not have (BS-12).
constexpr std::string_view kIdleBlobLetters = "xyfmeopi";

const Letter* find_letter(char letter) {
  const auto* const known = std::find_if(kLetters.begin(), kLetters.end(),
                                         [letter](const Letter& candidate) { return candidate.letter == letter; });
  return known == kLetters.end() ? nullptr : known;
}

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
    permissions.bits_ = static_cast<std::uint16_t>(permissions.bits_ | static_cast<std::uint16_t>(known.permission));
    rest.remove_prefix(1);
  }
  if (rest.empty()) return permissions;
  return service_error::invalid_xml_node_value("the permissions " + quoted(letters) +
                                               " must be some of the letters raud, each once and in that order");
}

Result<Permissions> Permissions::parse_for_queue(std::string_view letters) {
  Permissions permissions;
  for (const char letter : letters) {
    const Letter* const known = find_letter(letter);
    const bool is_usable = known != nullptr && all_for_queues().contains({known->permission}) &&
                           !permissions.contains({known->permission});
    if (!is_usable) {
      return service_error::invalid_xml_node_value("the permissions " + quoted(letters) +
                                                   " must be some of the letters raup, each once");
    }
    permissions.bits_ = static_cast<std::uint16_t>(permissions.bits_ | static_cast<std::uint16_t>(known->permission));
  }
  return permissions;
}

Result<Permissions> Permissions::parse_for_blob(std::string_view letters) {
  Permissions permissions;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool is_repeated = letters.find(letters[i], i + 1) != std::string_view::npos;
    const Letter* const known = find_letter(letters[i]);
    const bool is_usable = known != nullptr && all_for_blobs().contains({known->permission});
    if (is_repeated || (!is_usable && kIdleBlobLetters.find(letters[i]) == std::string_view::npos)) {
      return service_error::invalid_xml_node_value("the permissions " + quoted(letters) +
                                                   " must be some of the letters racwdxyltfmeopi, each once");
    }
    if (!is_usable) continue;
    permissions.bits_ = static_cast<std::uint16_t>(permissions.bits_ | static_cast<std::uint16_t>(known->permission));
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
