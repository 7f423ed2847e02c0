// Owns: the command line as a whole.
// Must never: do the work of a verb.
#include <charconv>
#include <csignal>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/varve/base/descriptor_limit.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/terminal_filter.h"
#include "varve/version.h"

namespace varve::tool {

void add_store_words(CLI::App& verb, Place& place) {
  verb.add_option("STORE", place.store, "Directory of the store")->required()->each(&name_store_in_hints);
}

void add_reach_words(CLI::App& verb, Place& place) {
  verb.add_option(
          "STORE", place.store,
          "Directory of the store, also while `varve serve` has it open; or the http(s):// address of a service")
      ->required()
      ->each(&name_store_in_hints);
  verb.add_option_function<std::string>("--key-file", &set_key_file,
                                        "For an address: file with the account's key, a SAS, or a connection string. "
                                        "Default: AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or "
                                        "AZURE_STORAGE_SAS_TOKEN of the environment");
  verb.add_option_function<std::string>("--ca-file", &set_certificates,
                                        "For an https:// address: PEM file of the authorities to trust");
}

void add_table_words(CLI::App& verb, Place& place) {
  add_reach_words(verb, place);
  verb.add_option("TABLE", place.table, "Name of the table, in upper or lower case")->required();
  verb.add_option("--account", place.account, "Account that the table belongs to")->capture_default_str();
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

namespace {

constexpr const char* kFooter = R"(
Examples
  varve import ./shop Orders orders.csv --partition-key region --row-key id
  varve query ./shop Orders --partition eu --prefix 00 --top 10
  varve get ./shop Orders eu 0001
  varve put ./shop Orders eu 0002 Customer=Ann Lines=3
  varve shell ./shop
  varve export ./shop Orders --format jsonl > orders.jsonl
  varve table drop ./shop Orders
  varve verify ./shop
  varve stats ./shop
  varve inspect ./shop/CURRENT

Exit codes
  0  done
  1  refused: the entity, table or store does not exist or exists already, the ETag differs, a value is not valid,
     rows were not imported, or a person did not confirm a drop
  2  the command line is not valid, or lacks --yes (account drop without a terminal)
  3  the store is damaged; the message names file and offset
  4  the machine: no space, no permission, an I/O error, or another program has the store open
  128 and more: a signal stopped the import, after the rows read so far
  141  the reader of standard output is gone, as with `| head`; changes to the store were made before)";

/// Opens a substitute for each closed standard stream. The next opened file would otherwise get the stream's number,
/// and messages would be written into the store. Reading from and writing to the substitute fail.
bool hold_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) return false;
  }
  return true;
}

/// Returns whether the first word is no verb. CLI11 would only report that a verb is missing.
bool names_no_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  return app.get_subcommands([argv](const CLI::App* verb) { return verb->check_name(argv[1]); }).empty();
}

int run(int argc, char** argv) {
  if (!hold_standard_streams()) return kMachine;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that closes the pipe must not end an operation on a store
  ::umask(S_IRWXG | S_IRWXO);     // only the owner may read a store
  raise_descriptor_limit();       // a large store has more files than the soft limit allows
  const TerminalFilter output(std::cout, STDOUT_FILENO);
  const TerminalFilter errors(std::cerr, STDERR_FILENO);
  CLI::App app("varve: a table store in a directory. `varve VERB --help` explains a verb.", "varve");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "varve " VARVE_VERSION);
  int exit_code = kSuccess;
  add_import_verb(app, exit_code);
  add_export_verb(app, exit_code);
  add_query_verb(app, exit_code);
  add_shell_verb(app, exit_code);
  add_entity_verbs(app, exit_code);
  add_table_verbs(app, exit_code);
  add_store_verbs(app, exit_code);
  add_stats_verb(app, exit_code);
  add_inspect_verb(app, exit_code);
  add_checkpoint_verb(app, exit_code);
  add_repair_verb(app, exit_code);
#ifdef VARVE_HAS_SERVER
  add_backup_verbs(app, exit_code);
  add_transfer_verbs(app, exit_code);
  add_serve_verb(app, exit_code);
  add_manual_verb(app, exit_code);
#endif
  if (names_no_verb(app, argc, argv)) {
    return fail(kUsage, "there is no verb '" + std::string(argv[1]) + "'; `varve --help` lists the verbs");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? kSuccess : kUsage;
  }
  std::cout.flush();
  if (!std::cout && exit_code == kSuccess) return fail_output("standard output could not be written");
  return exit_code;
}

}  // namespace
}  // namespace varve::tool

int main(int argc, char** argv) {
  return varve::tool::run(argc, argv);
}
