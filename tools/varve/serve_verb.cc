// Owns: `varve serve`: the options of the command line.
// Must never: do the server's work. tools/serve does it.
#include <string>

#include <poll.h>
#include <unistd.h>

#include "tools/serve/serve.h"
#include "tools/serve/transport/line_writer.h"
#include "tools/varve/outcome.h"
#include "tools/varve/verbs.h"

namespace varve::tool {

namespace {

/// Returns whether a descriptor accepts a message soon. A full standard error would delay the end of a server.
bool takes_a_message(int descriptor) {
  constexpr int kPatience = 200;  // ms
  pollfd waiting{descriptor, POLLOUT, 0};
  return ::poll(&waiting, 1, kPatience) == 1;
}

int run_server(const serve::ServeOptions& words) {
  serve::LineWriter output(STDOUT_FILENO);  // written at once, since scripts wait for it; its reader may be slow
  const Status served = serve::serve_until_signal(words, [&](const serve::ServedPlaces& places) {
    output.write("varve: serving " + words.data + " at " + places.url + "\n");
    if (!places.status_page.empty()) output.write("varve: status page at " + places.status_page + "\n");
    if (places.metrics_port != 0) output.write("varve: metrics at port " + std::to_string(places.metrics_port) + "\n");
  });
  if (served.ok()) return kSuccess;
  return takes_a_message(STDERR_FILENO) ? fail(served) : exit_code_of(served);
}

}  // namespace

void add_serve_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("serve", "Serve a store's tables over HTTP, to clients of Azure Table storage");
  const auto words = std::make_shared<serve::ServeOptions>();
  verb->add_option("--data", words->data, "Directory of the store; created if it is absent")->required();
  verb->add_option("--listen", words->listen,
                   "ADDRESS:PORT. An address that other machines can reach needs --account, --tls-cert and --tls-key")
      ->capture_default_str();
  verb->add_option(
      "--account", words->accounts,
      "NAME:@FILE; the file has KEY or KEY:KEY2 in base64, and other users must not have access to it. May be "
      "repeated. NAME:KEY and NAME:KEY:KEY2 show the keys to everyone who can see the command line. Default, on an "
      "address of this machine only: the development account of client libraries, whose key is public");
  auto* const certificate =
      verb->add_option("--tls-cert", words->tls_certificate, "PEM file with the certificate chain; needs --tls-key");
  auto* const key = verb->add_option("--tls-key", words->tls_key, "PEM file with the private key; needs --tls-cert");
  certificate->needs(key);
  key->needs(certificate);
  verb->add_option("--metrics", words->metrics,
                   "ADDRESS:PORT of a separate listener for /metrics (Prometheus) and /health");
  verb->add_option(
          "--status-page", words->status_page,
          "Who may see the page at /_varve/. auto: browsers on this machine, if --listen is an address of it; tables "
          "are shown with the development account only. figures: everyone who can reach --listen, without "
          "tables. explore: as figures, and tables for browsers on this machine, without a key. off: nobody")
      ->check(CLI::IsMember({"auto", "off", "figures", "explore"}))
      ->capture_default_str();
  verb->add_option(
          "--request-log", words->request_log,
          "Requests that get a line on standard error: none (off), those answered with 4xx or 5xx (failures), or "
          "all. Lines contain no signatures")
      ->check(CLI::IsMember({"off", "failures", "all"}))
      ->capture_default_str();
  verb->add_option(
      "--memory", words->memory,
      "SIZE, such as 512MiB or 2G; at least 48MiB. One quarter each goes to the block cache, to the write buffer, "
      "and to bodies and unread answers; connections and everything else use the rest. Default: 256MiB for each of "
      "the three, or a quarter of the smallest memory limit (of the control groups, the process and the machine) if "
      "that is less");
  verb->callback([words, &exit_code] { exit_code = run_server(*words); });
}

}  // namespace varve::tool
