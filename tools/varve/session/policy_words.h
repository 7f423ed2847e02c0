// Owns: the words that print or change access policies, and the policies as they are printed.
// Must never: reach a store. The verbs do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "varve/access_policy.h"
#include "varve/result.h"

namespace varve::tool {

/// What a line does with access policies. Without any of these it prints them.
struct PolicyWords {
  /// The id of the policy to add or replace, with what it permits.
  std::string set;
  std::string permissions;
  std::string start;
  std::string expiry;
  /// The id of the policy to remove.
  std::string removed;
  bool clears = false;
};

/// Adds the options. `letters` are the permissions of the kind of resource, such as `raup`.
void add_policy_words(CLI::App& verb, PolicyWords& words, const char* letters);

/// Returns whether the words change policies.
bool changes_policies(const PolicyWords& words) noexcept;
/// Returns the mistake in the combination of the words, or an empty text.
std::string misuse_of(const PolicyWords& words);

/// Parses the letters of permissions, as Permissions::parse().
using ParseLetters = Result<Permissions> (*)(std::string_view letters);
/// Returns the present policies with the change of the words. Errors: kNotFound (no policy has the id of --remove),
/// kInvalidArgument (InvalidXmlNodeValue: a time, or permissions).
Result<std::vector<AccessPolicy>> changed_policies(std::vector<AccessPolicy> present, const PolicyWords& words,
                                                   ParseLetters parse);

/// Prints a policy a line, with `-` for what it leaves out; or one JSON array.
void print_policies(const std::vector<AccessPolicy>& policies, bool json);

}  // namespace varve::tool
