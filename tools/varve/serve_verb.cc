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
  verb->add_option("--data", words->data, "Directory of the store; made if it is absent")->required();
  verb->add_option("--listen", words->listen,
                   "ADDRESS:PORT; other addresses than this machine's own need accounts and TLS")
      ->capture_default_str();
  verb->add_option(
      "--account", words->accounts,
      "NAME:@FILE, a file with KEY or KEY:KEY2 in base64 that not everybody may read; several times. NAME:KEY and "
      "NAME:KEY:KEY2 show the keys to whoever sees the command line. Without it, on an address of this machine "
      "alone, the development account of client libraries with its public key");
  auto* const certificate = verb->add_option("--tls-cert", words->tls_certificate, "Certificate chain, a PEM file");
  auto* const key = verb->add_option("--tls-key", words->tls_key, "Its private key, a PEM file");
  certificate->needs(key);
  key->needs(certificate);
  verb->add_option("--metrics", words->metrics,
                   "ADDRESS:PORT of a listener of its own for /metrics, which Prometheus reads, and /health");
  verb->add_option("--status-page", words->status_page,
                   "Who sees the page at /_varve/. auto: browsers on this machine, where --listen is an address of it, "
                   "and tables with the development account alone; figures: whoever reaches --listen, without tables; "
                   "explore: tables too, for whoever is at this machine, without a key; off")
      ->check(CLI::IsMember({"auto", "off", "figures", "explore"}))
      ->capture_default_str();
  verb->add_option("--request-log", words->request_log,
                   "Which requests get a line on the standard error: none (off), those answered with 4xx and 5xx "
                   "(failures), or all. Signatures are left out")
      ->check(CLI::IsMember({"off", "failures", "all"}))
      ->capture_default_str();
  verb->add_option(
      "--memory", words->memory,
      "SIZE, as 512MiB or 2G, 48MiB at least: a quarter each for the cache of blocks, for the write buffer, "
      "and for bodies and unread answers; the rest is for connections and all else. Without it 256MiB each, "
      "or a quarter of the least limit of the control groups, of the process and of the machine, if that "
      "is less");
  verb->callback([words, &exit_code] { exit_code = run_server(*words); });
}

}  // namespace varve::tool
