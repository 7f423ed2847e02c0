#include "tools/varve/blob/named_container.h"

#include <utility>
#include <vector>

#include "tools/varve/reach/reach.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"

namespace varve::tool {

namespace {

/// Goes through the server that has the store open. If there is none, opens the store by `open`.
Result<std::unique_ptr<BlobAccess>> reach_container_by(const BlobPlace& place,
                                                       Result<OpenedStore> (*open)(const Place& place)) {
  const std::string& account = place.place.account;
  if (is_address(place.place.store)) return container_at_address(place.place.store, account, place.container);
  std::unique_ptr<BlobAccess> served = container_through_server_of(place.place.store, account, place.container);
  if (served != nullptr) return served;
  Result<OpenedStore> opened = open(place.place);
  if (!opened.ok()) return opened.status();
  return container_in(*std::move(opened), account, place.container);
}

void add_account_option(CLI::App& verb, BlobPlace& place) {
  verb.add_option("--account", place.place.account, "Account that the container belongs to")
      ->capture_default_str()
      ->group("Place");
}

void add_container_name(CLI::App& verb, BlobPlace& place) {
  verb.add_option("CONTAINER", place.container,
                  "Name of the container: 3 to 63 lower-case letters, digits and hyphens; or $root, $logs, $web")
      ->required();
}

std::string container_hint(BlobAccess& access, const BlobPlace& place) {
  const Result<ContainerPage> page = access.containers(ListOptions());
  std::vector<std::string> names;
  if (page.ok()) {
    for (const ContainerState& listed : page->containers) {
      if (listed.name == place.container) return "";
      names.push_back(listed.name);
    }
    const std::string nearest = hint_among("container", place.container, names);
    return nearest.empty() ? "`varve container create` creates a container" : nearest;
  }
  if (access.local() == nullptr) return "";
  const Result<AccountPage> accounts = access.local()->list_accounts();
  if (!accounts.ok()) return "";
  for (const AccountInfo& account : accounts->accounts) names.push_back(account.name);
  return hint_among("account", place.place.account, names);
}

/// Returns the nearest name among the blobs of the same folder.
std::string blob_hint(BlobAccess& access, const BlobPlace& place) {
  BlobListing listing;
  listing.prefix = place.blob.substr(0, place.blob.rfind('/') + 1);
  listing.delimiter = "/";
  listing.page_max = 1000;
  const Result<BlobPage> page = access.list(listing);
  std::vector<std::string> names;
  if (page.ok()) {
    for (const BlobListed& listed : page->entries) {
      if (!listed.prefix.empty()) continue;
      if (listed.blob.name == place.blob) return "";
      names.push_back(listed.blob.name);
    }
  }
  const std::string nearest = hint_among("blob", place.blob, names);
  return nearest.empty() ? "`varve blob list` prints the names of the blobs" : nearest;
}

}  // namespace

void add_account_words(CLI::App& verb, BlobPlace& place) {
  add_reach_words(verb, place.place);
  add_account_option(verb, place);
}

void add_container_words(CLI::App& verb, BlobPlace& place) {
  add_reach_words(verb, place.place);
  add_container_name(verb, place);
  add_account_option(verb, place);
}

void add_blob_words(CLI::App& verb, BlobPlace& place) {
  add_reach_words(verb, place.place);
  add_container_name(verb, place);
  verb.add_option("BLOB", place.blob, "Name of the blob: up to 1024 characters; / is one of them")->required();
  add_account_option(verb, place);
}

Result<std::unique_ptr<BlobAccess>> reach_blobs_briefly(const BlobPlace& place) {
  return reach_container_by(place, [](const Place& of) {
    StoreOptions options;
    options.read_only = true;
    return open_here(of.store, options);
  });
}

Result<std::unique_ptr<BlobAccess>> reach_blobs(const BlobPlace& place) {
  return reach_container_by(place, &open_for_writing);
}

Result<std::unique_ptr<BlobAccess>> reach_or_make_blobs(const BlobPlace& place) {
  return reach_container_by(place, &open_or_make);
}

Status with_nearest_blobs(BlobAccess& access, const BlobPlace& place, const Status& failure) {
  if (failure.code() != Code::kNotFound || !failure.hint().empty()) return failure;
  const bool is_blob = failure.service_error() == "BlobNotFound";
  const std::string hint = is_blob ? blob_hint(access, place) : container_hint(access, place);
  return hint.empty() ? failure : failure.with_hint(hint);
}

}  // namespace varve::tool
