#include "tools/varve/blob/blob_verbs.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/blob/blob_text.h"
#include "tools/varve/blob/container_verbs.h"
#include "tools/varve/blob/lease_verbs.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/terminal.h"
#include "varve/limits.h"

namespace varve::tool {

namespace {

struct BlobWords {
  BlobPlace place;
  BlobConditionWords conditions;
  BlobListing listing;
  std::uint64_t top = 0;
  std::string target;
  std::string target_container;
  std::string durability;
  bool is_long = false;
  bool json = false;
};

// -- list -------------------------------------------------------------------------------------------------------------

void print_blob_prefix(const std::string& prefix, const BlobWords& words) {
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"prefix", prefix}}.dump() << "\n";
  } else {
    std::cout << (words.is_long ? std::string(44, ' ') : std::string()) << for_output(prefix) << "\n";
  }
}

void print_blob_entry(const BlobListed& entry, const BlobWords& words) {
  if (!entry.prefix.empty()) return print_blob_prefix(entry.prefix, words);
  if (words.json) return print_blob(entry.blob, true);
  if (words.is_long) return print_blob_line(entry.blob);
  std::cout << for_output(entry.blob.name) << "\n";
}

/// Prints how the listing goes on after --top entries.
void print_continuation(const std::string& continuation) {
  if (!std::cout) return;
  std::cout.flush();
  std::cerr << "there is more; continue with --continuation '" << continuation << "'\n";
}

int list_blobs(const BlobWords& words) {
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  page_long_output();
  BlobListing listing = words.listing;
  for (std::uint64_t left = words.top > 0 ? words.top : UINT64_MAX; left > 0;) {
    listing.page_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, limits::kBlobPageMax));
    const Result<BlobPage> page = (*access)->list(listing);
    if (!page.ok()) return fail(with_nearest_blobs(**access, words.place, page.status()));
    for (const BlobListed& entry : page->entries) print_blob_entry(entry, words);
    if (!page->continuation || !std::cout) return kSuccess;
    listing.continuation = *page->continuation;
    left -= std::min<std::uint64_t>(left, page->entries.size());
  }
  print_continuation(listing.continuation);
  return kSuccess;
}

// -- show, delete, copy -----------------------------------------------------------------------------------------------

int show_blob(const BlobWords& words) {
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<BlobState> blob = (*access)->state(words.place.blob);
  if (!blob.ok()) return fail(with_nearest_blobs(**access, words.place, blob.status()));
  print_blob(*blob, words.json);
  return kSuccess;
}

int delete_blob(const BlobWords& words) {
  const Result<BlobConditions> conditions = blob_conditions_of(words.conditions);
  if (!conditions.ok()) return fail(conditions.status());
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  BlobChangeOptions options;
  options.conditions = *conditions;
  options.durability = durability_of(words.durability);
  const Status removed = (*access)->remove(words.place.blob, options);
  if (!removed.ok()) return fail(with_blob_hint(with_nearest_blobs(**access, words.place, removed)));
  if (const Status closed = (*access)->close(); !closed.ok()) return fail(closed);
  if (words.json) std::cout << nlohmann::ordered_json{{"deleted", true}}.dump() << "\n";
  return kSuccess;
}

int copy_blob(const BlobWords& words) {
  const Result<BlobConditions> conditions = blob_conditions_of(words.conditions);
  if (!conditions.ok()) return fail(conditions.status());
  if (Status named = check_blob_name(words.target); !named.ok()) return fail(named.in_file("NEW_BLOB"));
  BlobPlace target = words.place;
  target.blob = words.target;
  if (!words.target_container.empty()) target.container = words.target_container;
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(target);
  if (!access.ok()) return fail(access.status());
  BlobChangeOptions options;
  options.conditions = *conditions;
  options.durability = durability_of(words.durability);
  const Result<BlobState> copied = (*access)->copy(target.blob, words.place.container, words.place.blob, options);
  if (copied.ok()) return finish_blob_change(**access, *copied, words.json);
  // The nearest blob is one of the source, which only the access to its container lists.
  const bool is_of_source = copied.status().service_error() == "BlobNotFound" && !words.target_container.empty();
  if (is_of_source) return fail(copied.status().with_hint("`varve blob list` prints the names of the blobs"));
  const bool is_there = (*access)->container().ok();
  return fail(with_blob_hint(with_nearest_blobs(**access, is_there ? words.place : target, copied.status())));
}

// -- Words ------------------------------------------------------------------------------------------------------------

CLI::App* add_blob_verb(CLI::App& group, const char* name, const char* about, const char* footer,
                        const std::shared_ptr<BlobWords>& words, int (*run)(const BlobWords&), int& exit_code) {
  CLI::App* verb = group.add_subcommand(name, about);
  verb->footer(footer);
  if (std::string_view(name) == "list") {
    add_container_words(*verb, words->place);
  } else {
    add_blob_words(*verb, words->place);
  }
  verb->callback([words, run, &exit_code] { exit_code = run(*words); });
  return verb;
}

void add_blob_list(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobWords>();
  CLI::App* verb = add_blob_verb(
      group, "list", "Print the names of a container's blobs, in their order",
      "With --delimiter /, names with a / after the prefix are folded into one entry each, like folders.\n"
      "\nExamples\n"
      "  varve blob list ./shop photos\n"
      "  varve blob list ./shop photos --prefix eu/ --delimiter / --long\n"
      "  varve blob list ./shop photos --top 1000 --json",
      words, &list_blobs, exit_code);
  verb->add_option("--prefix", words->listing.prefix, "Only names with this prefix");
  verb->add_option("--delimiter", words->listing.delimiter,
                   "Fold names that have this text after the prefix, up to and with the text");
  verb->add_option("--top", words->top, "Number of entries to print; default: all")->check(whole_number(1));
  verb->add_option("--continuation", words->listing.continuation,
                   "Continue where an earlier list with the same prefix and delimiter stopped");
  verb->add_flag("--uncommitted", words->listing.with_uncommitted,
                 "Also names that have staged blocks alone, as an interrupted put --resume leaves them");
  verb->add_flag("--long", words->is_long, "Also print the length in bytes and the time of the last change")
      ->group(kOutputGroup);
  add_json_words(*verb, words->json, "Print one JSON object a line, with properties, metadata and tags");
}

void add_blob_show(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobWords>();
  CLI::App* verb = add_blob_verb(group, "show", "Print the properties, the metadata and the tags of a blob",
                                 "Examples\n"
                                 "  varve blob show ./shop photos eu/ann.jpg\n"
                                 "  varve blob show ./shop photos eu/ann.jpg --json",
                                 words, &show_blob, exit_code);
  add_json_words(*verb, words->json, "Print JSON");
}

void add_blob_delete(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobWords>();
  CLI::App* verb = add_blob_verb(group, "delete", "Delete a blob, and the blocks that are staged under its name",
                                 "Examples\n"
                                 "  varve blob delete ./shop photos eu/ann.jpg\n"
                                 "  varve blob delete ./shop photos eu/ann.jpg --if-match '*' --durability sync",
                                 words, &delete_blob, exit_code);
  verb->add_option("--if-match", words->conditions.if_match, "The ETag that the blob must have, or *");
  add_lease_word(*verb, words->conditions.lease, "blob");
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print {\"deleted\":true}");
}

void add_blob_copy(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<BlobWords>();
  CLI::App* verb = add_blob_verb(
      group, "copy", "Copy a blob to another name of its account; prints the copy's ETag",
      "No content is copied: both blobs share it, whatever its length. The copy has the properties, the metadata and "
      "the tags of the blob. A blob with the new name is replaced.\n"
      "\nExamples\n"
      "  varve blob copy ./shop photos eu/ann.jpg eu/ann-2026.jpg\n"
      "  varve blob copy ./shop photos eu/ann.jpg ann.jpg --to archive --if-absent",
      words, &copy_blob, exit_code);
  verb->add_option("NEW_BLOB", words->target, "Name of the copy")->required();
  verb->add_option("--to", words->target_container, "Container of the copy; default: CONTAINER")
      ->type_name("CONTAINER");
  add_blob_condition_words(*verb, words->conditions);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the copy's state as JSON");
}

}  // namespace

void add_blob_condition_words(CLI::App& verb, BlobConditionWords& words) {
  CLI::Option* const match =
      verb.add_option("--if-match", words.if_match, "The ETag that the replaced blob must have, or *");
  verb.add_flag("--if-absent", words.if_absent, "Only if there is no such blob")->excludes(match);
  add_lease_word(verb, words.lease, "replaced blob");
}

Result<BlobConditions> blob_conditions_of(const BlobConditionWords& words) {
  BlobConditions conditions;
  if (Status leased = add_lease_condition(words.lease, conditions); !leased.ok()) return leased;
  if (words.if_absent) conditions.if_none_match = ETag::any();
  if (words.if_match.empty()) return conditions;
  const Result<ETag> etag = ETag::parse(words.if_match);
  if (!etag.ok()) return etag.status().in_file("--if-match");
  conditions.if_match = *etag;
  return conditions;
}

Status with_blob_hint(const Status& failure) {
  if (!failure.hint().empty()) return failure;
  const std::string_view error = failure.service_error();
  if (error == "LeaseIdMissing") {
    return failure.with_hint(
        "another holder has a lease of the blob; give its id by --lease, or end it with `varve blob lease`");
  }
  if (error == "InvalidBlobType")
    return failure.with_hint("it is an append blob; delete it first, or use another name");
  if (error == "BlobAlreadyExists") return failure.with_hint("without --if-absent the blob is replaced");
  if (error == "BlobArchived") return failure.with_hint("a client of the blob service must give it another tier first");
  return failure;
}

int finish_blob_change(BlobAccess& access, const BlobState& blob, bool json) {
  if (const Status closed = access.close(); !closed.ok()) return fail(closed);
  if (json) {
    print_blob(blob, true);
  } else {
    std::cout << blob.etag.to_string() << "\n";
  }
  return kSuccess;
}

void add_blob_verbs(CLI::App& app, int& exit_code) {
  add_container_verbs(app, exit_code);
  CLI::App* group = app.add_subcommand("blob", "Put, get, list, show, copy, delete or lease blobs: files in a store");
  group->require_subcommand(1);
  add_blob_put(*group, exit_code);
  add_blob_get(*group, exit_code);
  add_blob_list(*group, exit_code);
  add_blob_show(*group, exit_code);
  add_blob_copy(*group, exit_code);
  add_blob_delete(*group, exit_code);
  add_blob_lease(*group, exit_code);
}

}  // namespace varve::tool
