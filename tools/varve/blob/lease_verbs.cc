#include "tools/varve/blob/lease_verbs.h"

#include <array>
#include <charconv>
#include <iostream>
#include <memory>
#include <system_error>

#include <nlohmann/json.hpp>

#include "tools/varve/blob/blob_verbs.h"
#include "tools/varve/blob/named_container.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

using Action = LeaseRequest::Action;

struct LeaseWords {
  BlobPlace place;
  std::string action;
  std::string id;
  std::string new_id;
  std::string duration = "infinite";
  std::string period;
  std::string if_match;
  bool json = false;
};

struct NamedAction {
  const char* name;
  Action action;
  /// Whether the action names the present lease, and is refused without its id.
  bool needs_id;
};

constexpr std::array<NamedAction, 5> kActions = {{{"acquire", Action::kAcquire, false},
                                                  {"renew", Action::kRenew, true},
                                                  {"change", Action::kChange, true},
                                                  {"release", Action::kRelease, true},
                                                  {"break", Action::kBreak, false}}};

const NamedAction& action_of(const std::string& name) {
  for (const NamedAction& action : kActions) {
    if (name == action.name) return action;
  }
  return kActions.front();
}

Result<Guid> guid_of_word(const std::string& word, std::string_view option) {
  const Result<Guid> parsed = Guid::parse(word);
  return parsed.ok() ? parsed : parsed.status().in_file(option);
}

/// Parses whole seconds. The store checks their range.
Result<std::chrono::seconds> seconds_of_word(const std::string& word, std::string_view option) {
  std::uint16_t seconds = 0;
  const auto [stopped, error] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  if (error == std::errc() && stopped == word.data() + word.size()) return std::chrono::seconds(seconds);
  return Status::invalid_argument("\"" + word + "\" is no number of seconds").in_file(option);
}

/// Checks that the line has the options that its action uses, and no others.
Status check_lease_words(const LeaseWords& words, const NamedAction& action) {
  if (action.needs_id && words.id.empty()) {
    return Status::invalid_argument(words.action + " needs --id, the id of the present lease");
  }
  if ((action.action == Action::kChange) != !words.new_id.empty()) {
    return Status::invalid_argument(words.new_id.empty() ? "change needs --new-id" : "--new-id goes with change alone");
  }
  if (action.action == Action::kBreak && !words.id.empty()) {
    return Status::invalid_argument("break needs no --id; it ends the lease of any holder");
  }
  if (action.action != Action::kBreak && !words.period.empty()) {
    return Status::invalid_argument("--period goes with break alone");
  }
  if (action.action != Action::kAcquire && words.duration != "infinite") {
    return Status::invalid_argument("--duration goes with acquire alone");
  }
  return Status();
}

Result<LeaseRequest> lease_request_of(const LeaseWords& words) {
  const NamedAction& action = action_of(words.action);
  LeaseRequest request;
  request.action = action.action;
  if (!words.id.empty()) {
    const Result<Guid> id = guid_of_word(words.id, "--id");
    if (!id.ok()) return id.status();
    request.id = *id;
    if (action.action == Action::kAcquire) request.proposed = *id;
  }
  if (!words.new_id.empty()) {
    const Result<Guid> id = guid_of_word(words.new_id, "--new-id");
    if (!id.ok()) return id.status();
    request.proposed = *id;
  }
  if (words.duration != "infinite") {
    const Result<std::chrono::seconds> duration = seconds_of_word(words.duration, "--duration");
    if (!duration.ok()) return duration.status();
    request.duration = *duration;
  }
  if (!words.period.empty()) {
    const Result<std::chrono::seconds> period = seconds_of_word(words.period, "--period");
    if (!period.ok()) return period.status();
    request.break_period = *period;
  }
  return request;
}

/// Prints the id of the lease, or the seconds that are left after a break.
void print_lease(const LeaseWords& words, Action action, const LeaseAnswer& answer) {
  nlohmann::ordered_json json;
  std::string line;
  switch (action) {
    case Action::kRelease: json = {{"released", true}}; break;
    case Action::kBreak:
      json = {{"seconds_left", answer.left.count()}};
      line = std::to_string(answer.left.count());
      break;
    default: json = {{"lease", answer.id.to_string()}}; line = answer.id.to_string();
  }
  if (words.json) line = json.dump();
  if (!line.empty()) std::cout << line << "\n";
}

Status with_lease_hint(const Status& failure) {
  if (failure.service_error() != "LeaseAlreadyPresent") return failure;
  return failure.with_hint("wait until the lease ends, or end it: the action break needs no id");
}

int change_lease(const LeaseWords& words, bool is_of_blob) {
  const NamedAction& action = action_of(words.action);
  if (Status checked = check_lease_words(words, action); !checked.ok()) return fail(kUsage, checked);
  const Result<LeaseRequest> request = lease_request_of(words);
  if (!request.ok()) return fail(request.status());
  BlobChangeOptions options;
  const Result<BlobConditions> conditions = blob_conditions_of({.if_match = words.if_match});
  if (!conditions.ok()) return fail(conditions.status());
  options.conditions = *conditions;
  if (is_of_blob) {
    if (Status named = check_blob_name(words.place.blob); !named.ok()) return fail(named.in_file("BLOB"));
  }
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<LeaseAnswer> changed = (*access)->lease(words.place.blob, *request, options);
  if (!changed.ok()) return fail(with_lease_hint(with_nearest_blobs(**access, words.place, changed.status())));
  if (const Status closed = (*access)->close(); !closed.ok()) return fail(closed);
  print_lease(words, action.action, *changed);
  return kSuccess;
}

void add_lease_words(CLI::App& verb, LeaseWords& words) {
  verb.add_option("ACTION", words.action, "What to do with the lease")
      ->check(CLI::IsMember({"acquire", "renew", "change", "release", "break"}))
      ->required();
  verb.add_option(
          "--id", words.id,
          "Id of the present lease, for renew, change and release; for acquire, the id to take, default: a new one")
      ->type_name("GUID");
  verb.add_option("--new-id", words.new_id, "With change: the id that the lease gets")->type_name("GUID");
  verb.add_option("--duration", words.duration, "With acquire: 15 to 60 seconds, or infinite")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb.add_option("--period", words.period,
                  "With break: 0 to 60 seconds until the lease ends; default: its end, or at once without an end")
      ->type_name("SECONDS");
}

}  // namespace

void add_blob_lease(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<LeaseWords>();
  CLI::App* verb = group.add_subcommand("lease", "Acquire, renew, change, release or break the lease of a blob");
  verb->footer(
      "While a lease is held, a write of the blob needs --lease with its id. acquire, renew and change print the id; "
      "break "
      "prints the seconds that are left.\n"
      "\nExamples\n"
      "  varve blob lease ./shop photos eu/ann.jpg acquire --duration 60\n"
      "  id=$(varve blob lease ./shop photos eu/ann.jpg acquire) && \\\n"
      "      varve blob put ./shop photos eu/ann.jpg ann.jpg --lease $id");
  add_blob_words(*verb, words->place);
  add_lease_words(*verb, *words);
  verb->add_option("--if-match", words->if_match, "The ETag that the blob must have, or *");
  add_json_words(*verb, words->json, "Print the id, or the seconds that are left, as JSON");
  verb->callback([words, &exit_code] { exit_code = change_lease(*words, true); });
}

void add_container_lease(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<LeaseWords>();
  CLI::App* verb = group.add_subcommand("lease", "Acquire, renew, change, release or break the lease of a container");
  verb->footer(
      "While a lease is held, a drop of the container needs --lease with its id. Blobs are written as before.\n"
      "\nExamples\n"
      "  varve container lease ./shop photos acquire\n"
      "  id=$(varve container lease ./shop photos acquire) && \\\n"
      "      varve container lease ./shop photos release --id $id --json");
  add_container_words(*verb, words->place);
  add_lease_words(*verb, *words);
  add_json_words(*verb, words->json, "Print the id, or the seconds that are left, as JSON");
  verb->callback([words, &exit_code] { exit_code = change_lease(*words, false); });
}

void add_lease_word(CLI::App& verb, std::string& word, const std::string& what) {
  verb.add_option("--lease", word, "Id of your lease of the " + what)->type_name("GUID");
}

Status add_lease_condition(const std::string& word, BlobConditions& conditions) {
  if (word.empty()) return Status();
  const Result<Guid> id = guid_of_word(word, "--lease");
  if (!id.ok()) return id.status();
  conditions.lease = *id;
  return Status();
}

}  // namespace varve::tool
