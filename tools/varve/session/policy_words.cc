#include "tools/varve/session/policy_words.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

/// Reads a time that may be left out.
Status read_policy_time(const std::string& word, const char* option, std::optional<DateTime>& time) {
  if (word.empty()) return Status();
  const Result<DateTime> parsed = parse_access_time(word);
  if (!parsed.ok()) return parsed.status().in_file(option);
  time = *parsed;
  return Status();
}

Result<AccessPolicy> policy_of(const PolicyWords& words, ParseLetters parse) {
  AccessPolicy policy{words.set};
  if (Status read = read_policy_time(words.start, "--start", policy.start); !read.ok()) return read;
  if (Status read = read_policy_time(words.expiry, "--expiry", policy.expiry); !read.ok()) return read;
  if (words.permissions.empty()) return policy;
  const Result<Permissions> permissions = parse(words.permissions);
  if (!permissions.ok()) return permissions.status().in_file("--permissions");
  policy.permissions = *permissions;
  return policy;
}

auto policy_with(std::vector<AccessPolicy>& policies, const std::string& id) {
  return std::find_if(policies.begin(), policies.end(), [&](const AccessPolicy& one) { return one.id == id; });
}

}  // namespace

void add_policy_words(CLI::App& verb, PolicyWords& words, const char* letters) {
  verb.add_option("--set", words.set, "Add the policy with this id, or replace it; the others stay");
  verb.add_option("--permissions", words.permissions,
                  std::string("What the policy of --set permits: letters of ") + letters);
  verb.add_option("--start", words.start,
                  "When the policy of --set begins, such as 2026-03-03 or 2026-03-03T10:20:30Z");
  verb.add_option("--expiry", words.expiry, "When the policy of --set ends");
  verb.add_option("--remove", words.removed, "Remove the policy with this id");
  verb.add_flag("--clear", words.clears, "Remove all policies");
}

bool changes_policies(const PolicyWords& words) noexcept {
  return !words.set.empty() || !words.removed.empty() || words.clears;
}

std::string misuse_of(const PolicyWords& words) {
  const int changes = (words.set.empty() ? 0 : 1) + (words.removed.empty() ? 0 : 1) + (words.clears ? 1 : 0);
  if (changes > 1) return "give one of --set, --remove and --clear";
  const bool has_terms = !words.permissions.empty() || !words.start.empty() || !words.expiry.empty();
  return has_terms && words.set.empty() ? "--permissions, --start and --expiry need --set" : "";
}

Result<std::vector<AccessPolicy>> changed_policies(std::vector<AccessPolicy> present, const PolicyWords& words,
                                                   ParseLetters parse) {
  if (words.clears) return std::vector<AccessPolicy>();
  if (!words.removed.empty()) {
    const auto found = policy_with(present, words.removed);
    if (found == present.end()) {
      return Status::not_found("there is no access policy " + words.removed)
          .with_hint("the same verb without --remove prints all access policies");
    }
    present.erase(found);
  }
  if (!words.set.empty()) {
    Result<AccessPolicy> policy = policy_of(words, parse);
    if (!policy.ok()) return policy.status();
    const auto found = policy_with(present, words.set);
    if (found == present.end()) {
      present.push_back(*std::move(policy));
    } else {
      *found = *std::move(policy);
    }
  }
  return present;
}

void print_policies(const std::vector<AccessPolicy>& policies, bool json) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const AccessPolicy& policy : policies) {
    const std::string permissions = policy.permissions ? policy.permissions->to_string() : "-";
    const std::string start = policy.start ? access_time_text(*policy.start) : "-";
    const std::string expiry = policy.expiry ? access_time_text(*policy.expiry) : "-";
    if (!json) {
      std::cout << for_output(policy.id) << "  " << permissions << "  " << start << "  " << expiry << "\n";
      continue;
    }
    nlohmann::ordered_json one{{"id", policy.id}};
    if (policy.permissions) one["permissions"] = permissions;
    if (policy.start) one["start"] = start;
    if (policy.expiry) one["expiry"] = expiry;
    all.push_back(std::move(one));
  }
  if (json) std::cout << all.dump() << "\n";
}

}  // namespace varve::tool
