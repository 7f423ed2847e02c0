#include "tools/varve/session/words.h"

#include <charconv>
#include <string>
#include <system_error>

#include "tools/varve/reach/reach.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

constexpr const char* kPlaceGroup = "Place";

CLI::Option* add_store(CLI::App& verb, Place& place, const std::string& about) {
  return verb.add_option("STORE", place.store, about)->required()->each(&name_store_in_hints);
}

void add_table(CLI::App& verb, Place& place) {
  verb.add_option("TABLE", place.table, "Name of the table, in upper or lower case")->required();
  verb.add_option("--account", place.account, "Account that the table belongs to")
      ->capture_default_str()
      ->group(kPlaceGroup);
}

}  // namespace

void add_store_words(CLI::App& verb, Place& place) {
  add_store(verb, place, "Directory of the store, or its address rados:POOL/NAME on Ceph")->envname(kStoreVariable);
}

void add_named_store_words(CLI::App& verb, Place& place) {
  add_store(verb, place, "Directory of the store, or its address rados:POOL/NAME on Ceph");
}

void add_json_words(CLI::App& verb, bool& json, const std::string& about) {
  verb.add_flag("--json", json, about)->group(kOutputGroup);
}

void add_reach_words(CLI::App& verb, Place& place) {
  add_store(verb, place,
            "Directory of the store, also while `varve serve` has it open; its address rados:POOL/NAME on Ceph; or the "
            "http(s):// address of a service")
      ->envname(kStoreVariable);
  verb.add_option_function<std::string>("--key-file", &set_key_file,
                                        "For an address: file with the account's key, a SAS, or a connection string. "
                                        "Default: AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or "
                                        "AZURE_STORAGE_SAS_TOKEN of the environment")
      ->group(kPlaceGroup);
  verb.add_option_function<std::string>("--ca-file", &set_certificates,
                                        "For an https:// address: PEM file of the authorities to trust")
      ->group(kPlaceGroup);
}

void add_table_words(CLI::App& verb, Place& place) {
  add_reach_words(verb, place);
  add_table(verb, place);
}

void add_named_table_words(CLI::App& verb, Place& place) {
  add_named_store_words(verb, place);
  add_table(verb, place);
}

void add_durability_words(CLI::App& verb, std::string& word) {
  verb.add_option("--durability", word,
                  "sync: on the device before the verb ends; buffered: survives a kill, but maybe not a power cut")
      ->check(CLI::IsMember({"sync", "buffered"}));
}

CLI::Validator whole_number(std::uint64_t least) {
  const std::string wanted = "must be a whole number of at least " + std::to_string(least);
  return CLI::Validator(
      [least, wanted](const std::string& text) {
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= least;
        return is_number ? std::string() : wanted;
      },
      "");
}

}  // namespace varve::tool
