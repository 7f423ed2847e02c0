// Owns: a program that keeps its store on Ceph. docs/ceph.md shows it from its first #include to its first function's end.
// Must never: include anything but installed headers.
#include <cstdio>
#include <memory>
#include <string>

#include <varve/rados.h>
#include <varve/store.h>

/// Opens the store, or creates it. `ceph` receives the connection, which must outlive the store.
varve::Result<std::unique_ptr<varve::Store>> open_on_ceph(const std::string& address,
                                                          std::unique_ptr<varve::RadosConnection>& ceph) {
  auto connected = varve::RadosConnection::open(address);
  if (!connected.ok()) return connected.status();
  ceph = *std::move(connected);
  varve::StoreOptions options;
  options.env = ceph->env();
  options.create_if_absent = true;
  return varve::Store::open(address, options);
}

/// Counts the runs of the program in the store.
static varve::Result<int> count_run(varve::Store& store) {
  if (varve::Status made = store.create_account("shop"); !made.ok() && made.code() != varve::Code::kExists) return made;
  auto table = store.create_table("shop", "Runs");
  if (table.code() == varve::Code::kExists) table = store.open_table("shop", "Runs");
  if (!table.ok()) return table.status();
  auto runs = table->count(varve::Scan());
  if (!runs.ok()) return runs.status();
  const int run = static_cast<int>(runs->entities) + 1;
  auto inserted = table->insert(varve::Entity("program", std::to_string(run)));
  if (!inserted.ok()) return inserted.status();
  return run;
}

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s rados:POOL/NAME\n", words[0]);
    return 2;
  }
  std::unique_ptr<varve::RadosConnection> ceph;
  varve::Status failed;
  {
    const auto store = open_on_ceph(words[1], ceph);
    failed = store.status();
    if (store.ok()) {
      const varve::Result<int> run = count_run(**store);
      failed = run.ok() ? (*store)->close() : run.status();
      if (failed.ok()) std::printf("run %d\n", *run);
    }
  }
  if (failed.ok()) return 0;
  std::fprintf(stderr, "%s\n%s\n", failed.to_string().c_str(), std::string(failed.hint()).c_str());
  return 1;
}
