// Owns: `varve serve`: the words of the command line.
// Must never: do the server's work; tools/serve does.
#include <iostream>

#include "tools/serve/serve.h"
#include "tools/varve/outcome.h"
#include "tools/varve/verbs.h"

namespace varve::tool {

void add_serve_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("serve", "Serve a store's tables over HTTP, to clients of Azure Table storage");
  const auto words = std::make_shared<serve::ServeOptions>();
  verb->add_option("--data", words->data, "Directory of the store; made if it is absent")->required();
  verb->add_option("--listen", words->listen,
                   "ADDRESS:PORT; other addresses than this machine's own need accounts and TLS")
      ->capture_default_str();
  verb->add_option(
      "--account", words->accounts,
      "NAME:KEY or NAME:KEY:KEY2, keys in base64; several times. Without it, on an address of this machine "
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
  verb->callback([words, &exit_code] {
    const Status served = serve::serve_until_signal(*words, [&words](const serve::ServedPlaces& places) {
      std::cout << "varve: serving " << words->data << " at " << places.url << std::endl;  // flushed: scripts wait
      if (!places.status_page.empty()) std::cout << "varve: status page at " << places.status_page << std::endl;
      if (places.metrics_port != 0) std::cout << "varve: metrics at port " << places.metrics_port << std::endl;
    });
    exit_code = served.ok() ? kSuccess : fail(served);
  });
}

}  // namespace varve::tool
