// Owns: `varve serve`: the options of the command line.
// Must never: name an option of the server or its default. tools/serve/settings/option_table.h has them all.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "tools/serve/serve.h"
#include "tools/serve/serve_plan.h"
#include "tools/serve/settings/config_text.h"
#include "tools/serve/transport/line_writer.h"
#include "tools/serve/transport/log.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

using serve::OptionId;
using serve::OptionRule;

struct ServeWords {
  serve::SettingSources sources;
  bool prints = false;
};

/// Returns whether a descriptor accepts a message soon. A full standard error would delay the end of a server.
bool takes_a_message(int descriptor) {
  constexpr int kPatience = 200;  // ms
  pollfd waiting{descriptor, POLLOUT, 0};
  return ::poll(&waiting, 1, kPatience) == 1;
}

int end_with(ExitCode code) {
  serve::finish_log();
  return code;
}

/// Reports why the server did not start, or did not end well. A log of JSON has nothing else in it, so it takes the
/// failure as a line of its own.
int fail_to_serve(const Status& failed, ExitCode code) {
  if (serve::log_format() == serve::LogFormat::kJson) {
    const std::string hint = hint_of(failed);
    serve::log_problem(failed.to_string() + (hint.empty() ? "" : "; hint: " + hint));
    return end_with(code);
  }
  end_with(code);
  if (!takes_a_message(STDERR_FILENO)) return code;
  if (code == kUsage) return fail(code, failed.message());
  return fail(failed);
}

int run_server(const serve::SettingSources& sources, const std::string& data) {
  name_store_in_hints(data);
  serve::LineWriter output(STDOUT_FILENO);  // written at once, since scripts wait for it; its reader may be slow
  const auto print_standby = [&](std::uint16_t metrics_port) {
    output.write("varve: standby for " + data + ", which another process serves\n");
    if (metrics_port != 0) output.write("varve: metrics at port " + std::to_string(metrics_port) + "\n");
  };
  const auto print_places = [&](const serve::ServedPlaces& places) {
    output.write("varve: serving " + data + " at " + places.url + "\n");
    if (!places.queues_url.empty()) output.write("varve: serving queues at " + places.queues_url + "\n");
    if (!places.blobs_url.empty()) output.write("varve: serving blobs at " + places.blobs_url + "\n");
    if (!places.status_page.empty()) output.write("varve: status page at " + places.status_page + "\n");
    if (places.metrics_port != 0) output.write("varve: metrics at port " + std::to_string(places.metrics_port) + "\n");
  };
  const Status served = serve::serve_until_signal(sources, print_places, print_standby);
  return served.ok() ? end_with(kSuccess) : fail_to_serve(served, exit_code_of(served));
}

int print_config(const serve::Settings& settings) {
  const Result<std::string> text = serve::config_text(settings);
  if (!text.ok()) return fail(text.status());
  std::cout << *text;
  return kSuccess;
}

int run_verb(const ServeWords& words) {
  const Result<serve::Settings> settings = serve::load_settings(words.sources);
  if (words.prints) return settings.ok() ? print_config(*settings) : fail(settings.status());
  serve::set_log_format(serve::live_options(serve::known_settings(words.sources)).log_format);
  if (!settings.ok()) return fail_to_serve(settings.status(), exit_code_of(settings.status()));
  if (const Status complete = serve::check_complete(*settings); !complete.ok()) return fail_to_serve(complete, kUsage);
  return run_server(words.sources, (*settings).text(OptionId::kData));
}

/// Adds one option of the table to the command line.
void add_option(CLI::App& verb, const OptionRule& rule, const std::shared_ptr<ServeWords>& words) {
  const std::string name = "--" + std::string(rule.name);
  const auto take = [words, id = rule.id](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) words->sources.command_line.add(id, {text});
  };
  CLI::Option* const option = verb.add_option_function<std::vector<std::string>>(name, take, std::string(rule.help));
  option->type_name(std::string(rule.form));
  if (rule.kind != serve::ValueKind::kTexts) option->expected(1);
  if (!rule.choices.empty()) {
    option->check(CLI::IsMember(std::vector<std::string>(rule.choices.begin(), rule.choices.end())));
  }
  if (!rule.standard.empty()) option->default_str(std::string(rule.standard));
}

}  // namespace

void add_serve_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("serve", "Serve a store's tables over HTTP, to clients of Azure Table storage");
  verb->footer(
      "Prints its addresses, and serves until SIGTERM or Ctrl-C.\n"
      "\nExamples\n"
      "  varve serve --data ./shop --listen 127.0.0.1:10002\n"
      "  varve serve --config serve.toml\n"
      "  varve serve --config serve.toml --print-config");
  const auto words = std::make_shared<ServeWords>();
  verb->add_option(
          "--config", words->sources.config,
          "Configuration file in TOML, with these options as names: listen = \"127.0.0.1:10002\". An option on "
          "the command line wins. SIGHUP reads the file, the certificate and the keys again")
      ->type_name("FILE");
  verb->add_flag("--print-config", words->prints,
                 "Print the settings as a configuration file, with keys masked, and end");
  for (const OptionRule& rule : serve::option_rules()) add_option(*verb, rule, words);
  verb->callback([words, &exit_code] { exit_code = run_verb(*words); });
}

}  // namespace varve::tool
