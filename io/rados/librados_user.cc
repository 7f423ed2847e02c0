// Owns: parsing CEPH_ARGS (librados_user.h).
// Must never: fail. A word without a value is as if it were absent.
#include "io/rados/librados_user.h"

#include <array>
#include <vector>

namespace varve::io {

namespace {

constexpr std::string_view kBlanks = " \t\n";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(kBlanks);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end);
  }
}

struct UserOption {
  std::string_view spelling;
  std::string_view prefix;  // of the value
  std::string RadosUser::*part;
};

constexpr std::array<UserOption, 9> kUserOptions{{{"--id", "client.", &RadosUser::name},
                                                  {"--user", "client.", &RadosUser::name},
                                                  {"-i", "client.", &RadosUser::name},
                                                  {"--name", "", &RadosUser::name},
                                                  {"-n", "", &RadosUser::name},
                                                  {"--cluster", "", &RadosUser::cluster},
                                                  {"--conf", "", &RadosUser::configuration},
                                                  {"--config", "", &RadosUser::configuration},
                                                  {"-c", "", &RadosUser::configuration}}};

}  // namespace

RadosUser parse_rados_user(std::string_view arguments) {
  RadosUser user;
  const std::vector<std::string_view> words = words_of(arguments);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string_view spelling = words[i].substr(0, equals);
    for (const UserOption& option : kUserOptions) {
      if (spelling != option.spelling) continue;
      std::string_view value;
      if (equals != std::string_view::npos) {
        value = words[i].substr(equals + 1);
      } else if (i + 1 < words.size()) {
        value = words[++i];
      }
      if (!value.empty()) user.*option.part = std::string(option.prefix).append(value);
      break;
    }
  }
  return user;
}

}  // namespace varve::io
